// SPDX-License-Identifier: BSD-3-Clause
// What the burst functions of split and packed rings have in common. What a peer writes into shared
// memory is copied once, then checked, then used: it can spoil its own packets and nothing else.

#ifndef SLUICE_DRIVERS_VHOST_RING_H
#define SLUICE_DRIVERS_VHOST_RING_H

#include <unistd.h>

#include <linux/virtio_ring.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "vhost_memory.h"

#define VHOST_BATCH 64
#define VHOST_FRAME_MAX 65535u

// A descriptor of either kind as it was read.
struct vhost_desc {
	uint64_t address;
	uint32_t length;
	uint16_t flags;
	uint16_t next; // split: the descriptor behind it; packed: the buffer's id
} __attribute__((aligned(16)));

// Slots of a ring as they were read: what each chain begins with, and what to call it.
struct vhost_look {
	struct vhost_desc desc[VHOST_BATCH];
	uint16_t id[VHOST_BATCH];
};

// A place in a ring.
struct vhost_spot {
	uint16_t at;
	bool wrap; // packed
};

// How a ring of one kind is read and written.
struct vhost_kind {
	// Reads up to n slots that the peer has filled from a spot on; returns how many it has.
	uint16_t (*look)(struct vhost_queue *, struct vhost_spot, struct vhost_look *, uint16_t n);
	void (*step)(const struct vhost_queue *, struct vhost_spot *, uint32_t slots);
	// Adds the pieces of the chain at a spot, of which the first descriptor was read, and says
	// in *done how many slots it takes and, where it is not known yet, its name; false: it
	// makes no sense.
	bool (*chain)(struct vhost_queue *, struct vhost_spot, struct vhost_desc, bool write,
		      unsigned *pieces, struct vhost_done *done);
	// Gives n chains from queue->at on back to the peer: it sees all or none.
	void (*give)(struct vhost_queue *, const struct vhost_done *, uint16_t n, bool written);
};

static inline void vhost_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void vhost_broken(struct vhost_queue *queue)
{
	__atomic_store_n(&queue->broken, 1, __ATOMIC_RELAXED);
}

static inline void vhost_call(struct vhost_queue *queue)
{
	uint64_t one = 1;

	// A peer whose event cannot be raised looks itself or sleeps on: its loss.
	if (queue->call >= 0 && write(queue->call, &one, sizeof(one)) < 0)
		return;
}

// The compiler must not read again what a peer may have changed since.
static inline void vhost_copied(void)
{
	__asm__ volatile("" ::: "memory");
}

// Adds where a descriptor's bytes are to the queue's pieces; false: they are nowhere, or the
// descriptor is of a kind that was not agreed on.
static inline bool vhost_add(struct vhost_queue *queue, const struct vhost_desc *desc, bool write,
			     unsigned *pieces)
{
	uint64_t address = desc->address;
	uint32_t left = desc->length;

	if (desc->flags & VRING_DESC_F_INDIRECT || !(desc->flags & VRING_DESC_F_WRITE) == write)
		return false;
	while (left) {
		uint32_t there = left;
		uint8_t *at = vhost_locate(queue, address, &there);

		if (!at || *pieces == VHOST_PIECES_MAX)
			return false;
		queue->pieces[(*pieces)++] = (struct vhost_piece){.at = at, .length = there};
		address += there;
		left -= there;
	}
	return true;
}

// Copies what lies in the pieces behind the header to an empty packet; false: no memory.
bool vhost_gather(struct vhost_queue *, unsigned pieces, struct rte_mbuf *);

// Bytes in the pieces from one on.
uint64_t vhost_room(const struct vhost_queue *, unsigned from, unsigned to);

// Writes a header and a packet into the pieces, which are large enough.
void vhost_scatter(struct vhost_queue *, const struct rte_mbuf *, uint16_t buffers);

// A header without offloads, of 10 or 12 bytes. Where the peer's memory already has it, it is not
// written: so the peer's cache keeps the line. It may have any alignment.
static inline void vhost_header(uint8_t *to, uint8_t length, uint16_t buffers)
{
	const uint32_t last = length == 12 ? (uint32_t)buffers << 16 : 0;
	uint64_t there = 0;
	uint32_t behind = 0;

	__builtin_memcpy(&there, to, 8);
	__builtin_memcpy(&behind, to + 8, length == 12 ? 4 : 2);
	if (likely(!(there | (behind ^ last))))
		return;
	__builtin_memset(to, 0, 8);
	__builtin_memcpy(to + 8, &last, length == 12 ? 4 : 2);
}

#endif
