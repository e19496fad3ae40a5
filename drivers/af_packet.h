// SPDX-License-Identifier: BSD-3-Clause
// af_packet inside: the rings that the kernel shares with us, one socket each.

#ifndef SLUICE_DRIVERS_AF_PACKET_H
#define SLUICE_DRIVERS_AF_PACKET_H

#include "driver.h"

#define AF_PACKET_BEYOND_MTU 22 // Ethernet header, two VLAN tags

// Blocks of slots in one mapping. A slot holds one frame; who owns it stands in it.
struct af_packet_ring {
	int fd; // -1: none
	uint8_t *memory;
	size_t bytes;
	uint32_t slot_bytes;
	uint32_t slots_a_block;
	uint32_t block_bytes;
	uint32_t n_slots;
	uint32_t at; // the next slot
};

struct af_packet_receiver {
	struct af_packet_ring ring;
	struct rte_mempool *pool;
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors; // did not fit into a slot
	uint64_t no_memory;
	uint64_t missed; // of the control thread: what the kernel had no slot for
} __attribute__((aligned(64)));

struct af_packet_sender {
	struct af_packet_ring ring;
	uint32_t longest; // without a tag, which the kernel allows on top
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors;
} __attribute__((aligned(64)));

uint16_t af_packet_rx(void *receiver, struct rte_mbuf **, uint16_t);
uint16_t af_packet_tx(void *sender, struct rte_mbuf **, uint16_t);

// Frames that wait in the ring; af_packet_push() makes the kernel go on with them.
uint32_t af_packet_waiting(const struct af_packet_sender *);
void af_packet_push(const struct af_packet_sender *);

// The sockets and rings (af_packet_socket.c). 0 or -1.
int af_packet_receiver_open(struct af_packet_receiver *, const char *interface, uint32_t mtu,
			    uint32_t slots, struct errors *);
int af_packet_sender_open(struct af_packet_sender *, const char *interface, uint32_t mtu,
			  uint32_t slots, struct errors *);
void af_packet_ring_close(struct af_packet_ring *);

#endif
