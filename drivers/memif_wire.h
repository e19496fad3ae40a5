// SPDX-License-Identifier: BSD-3-Clause
// memif's messages, as the protocol (version 2.0) lays them down.

#ifndef SLUICE_DRIVERS_MEMIF_WIRE_H
#define SLUICE_DRIVERS_MEMIF_WIRE_H

#include <sys/socket.h>
#include <sys/un.h>

#include "memif.h"

#define MEMIF_VERSION 0x0200

enum memif_type {
	MEMIF_MSG_NONE,
	MEMIF_MSG_ACK,
	MEMIF_MSG_HELLO,
	MEMIF_MSG_INIT,
	MEMIF_MSG_ADD_REGION,
	MEMIF_MSG_ADD_RING,
	MEMIF_MSG_CONNECT,
	MEMIF_MSG_CONNECTED,
	MEMIF_MSG_DISCONNECT,
};

enum { MEMIF_RING_TO_SERVER = 1 }; // a flag of a ring: in the direction client to server

struct memif_message {
	uint16_t type;
	union {
		struct {
			uint8_t name[32];
			uint16_t min_version;
			uint16_t max_version;
			uint16_t max_region;
			uint16_t max_to_client; // index of the last ring
			uint16_t max_to_server;
			uint8_t max_log2_size;
		} __attribute__((packed)) hello;
		struct {
			uint16_t version;
			uint32_t id;
			uint8_t mode; // 0: Ethernet
			uint8_t secret[24];
			uint8_t name[32];
		} __attribute__((packed)) init;
		struct {
			uint16_t index;
			uint64_t size;
		} __attribute__((packed)) region;
		struct {
			uint16_t flags;
			uint16_t index;
			uint16_t region;
			uint32_t offset;
			uint8_t log2_size;
			uint16_t private_size;
		} __attribute__((packed)) ring;
		struct {
			uint8_t name[32];
		} __attribute__((packed)) connect;
		struct {
			uint32_t code;
			uint8_t reason[96];
		} __attribute__((packed)) disconnect;
		uint8_t space[126];
	} __attribute__((packed));
} __attribute__((packed));

_Static_assert(sizeof(struct memif_message) == 128, "the size is the protocol's");

socklen_t memif_address(const struct memif *, struct sockaddr_un *);

// Sends a message, with a file descriptor unless fd is -1. False: the peer does not take it.
bool memif_send(struct memif *, const struct memif_message *, int fd);

// 1: a message, with the descriptor that came with it or -1; 0: none now; -1: the peer has gone.
int memif_receive(struct memif *, struct memif_message *, int *fd);

#endif
