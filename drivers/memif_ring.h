// SPDX-License-Identifier: BSD-3-Clause
// What memif's burst functions with and without copies have in common. What a peer writes into
// shared memory is copied once, then checked, then used: it can spoil its own packets and nothing
// else.

#ifndef SLUICE_DRIVERS_MEMIF_RING_H
#define SLUICE_DRIVERS_MEMIF_RING_H

#include <errno.h>
#include <unistd.h>

#include <rte_branch_prediction.h>

#include "memif.h"

static inline void memif_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void memif_broken(struct memif_queue *queue)
{
	__atomic_store_n(&queue->broken, 1, __ATOMIC_RELAXED);
}

static inline struct memif_desc memif_desc_read(const struct memif_queue *queue, uint16_t slot)
{
	const volatile struct memif_desc *desc = &queue->ring->desc[slot & (queue->size - 1)];

	return (struct memif_desc){.flags = desc->flags,
				   .region = desc->region,
				   .length = desc->length,
				   .offset = desc->offset};
}

// Filled slots from queue->at on; too many: the peer's index makes no sense.
static inline uint16_t memif_filled(struct memif_queue *queue)
{
	struct memif_ring *ring = queue->ring;
	uint16_t end = __atomic_load_n(queue->client ? &ring->tail : &ring->head, __ATOMIC_ACQUIRE);
	uint16_t n = end - queue->at;

	if (likely(n <= queue->size))
		return n;
	memif_broken(queue);
	return 0;
}

static inline void memif_written_until(struct memif_queue *queue, uint16_t slot)
{
	struct memif_ring *ring = queue->ring;
	uint64_t one = 1;

	queue->at = slot;
	__atomic_store_n(queue->client ? &ring->head : &ring->tail, slot, __ATOMIC_RELEASE);
	if (likely(__atomic_load_n(&ring->flags, __ATOMIC_RELAXED) & MEMIF_RING_MASK_INT))
		return;
	// A peer that sleeps until it is told: there is no other way to tell it.
	if (queue->event >= 0 && write(queue->event, &one, sizeof(one)) < 0 && errno != EAGAIN)
		memif_broken(queue);
}

// A peer may use any ring, so a worker polls all of its share, another one first each time.
static inline uint16_t memif_rx_share(struct memif_share *share, struct rte_mbuf **pkts, uint16_t n,
				      uint16_t (*rx)(struct memif_queue *, struct rte_mbuf **,
						     uint16_t))
{
	uint16_t at = share->at;
	uint16_t got = 0;

	do {
		got += rx(&share->queues[at], pkts + got, n - got);
		at = at + share->step < share->end ? at + share->step : share->first;
	} while (got < n && at != share->at);
	share->at = at;
	return got;
}

#endif
