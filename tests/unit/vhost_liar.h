// SPDX-License-Identifier: BSD-3-Clause
// A vhost port and a raw peer of it, which speaks the protocol well enough to be let in, and then
// does what a test wants.

#ifndef SLUICE_TESTS_VHOST_LIAR_H
#define SLUICE_TESTS_VHOST_LIAR_H

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include "port_rig.h"

#define LIAR_BYTES (1u << 20)
#define LIAR_RING_SIZE 256
#define LIAR_RINGS_AT(ring) ((ring)*32768u) // descriptors, then what is beside them
#define LIAR_AVAIL_AT(ring) (LIAR_RINGS_AT(ring) + 8192)
#define LIAR_USED_AT(ring) (LIAR_RINGS_AT(ring) + 16384)
#define LIAR_BUFFERS_AT 65536u
#define LIAR_GUEST_AT 0x100000u // where the peer says its memory begins

struct liar {
	struct rig host; // the port, with path, by its own data path
	unsigned faults; // that it has told
	int fd;		 // the peer's end of the socket
	int memory;
	uint8_t *bytes; // the memory: rings 0 (to the peer) and 1, then buffers
};
extern struct liar liar;

// Opens the port.
void liar_host_open(void);
// Connects; the table says that the memory has LIAR_BYTES, its file has so many.
void liar_call(bool packed, uint64_t memory_bytes);
// The same with a whole file and both rings, their places so many bytes further; the port is up.
void liar_open(bool packed, uint64_t shift);
// Hangs up; the port is down.
void liar_close(void);

// Says how large its memory is, and shares a new file of so many bytes. false: nobody hears.
bool liar_memory(uint64_t said_bytes, uint64_t bytes);
// Says where a ring is, how large and where it stands.
bool liar_ring(uint32_t ring, uint32_t size, uint32_t base, uint64_t shift);

// A split ring's descriptor; its first two heads and how far it is filled.
void liar_chain(unsigned ring, unsigned i, struct vring_desc);
void liar_heads(unsigned ring, uint16_t first, uint16_t second, uint16_t n);

#endif
