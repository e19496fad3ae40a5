// SPDX-License-Identifier: BSD-3-Clause
// memif's rings with copies: receiving and sending, for client and server.

#include <string.h>

#include <rte_mbuf.h>
#include <rte_memcpy.h>

#include "memif_ring.h"

// Where a buffer of `length` bytes is, or NULL if it is not within a region.
static uint8_t *memif_buffer(const struct memif_queue *queue, const struct memif_desc *desc,
			     uint32_t length)
{
	const struct memif_region *region;

	if (unlikely(desc->region >= queue->n_regions))
		return NULL;
	region = &queue->regions[desc->region];
	if (unlikely((uint64_t)desc->offset + length > region->size))
		return NULL;
	return region->addr + desc->offset;
}

// Gives the slots that were read back to the peer.
static void memif_read_until(struct memif_queue *queue, uint16_t slot)
{
	struct memif_ring *ring = queue->ring;

	if (queue->client) {
		for (uint16_t i = queue->at; i != slot; i++) {
			struct memif_desc *desc = &ring->desc[i & (queue->size - 1)];

			desc->length = queue->buffer_size;
			desc->flags = 0;
		}
		queue->at = slot;
		__atomic_store_n(&ring->head, (uint16_t)(slot + queue->size), __ATOMIC_RELEASE);
	} else {
		queue->at = slot;
		__atomic_store_n(&ring->tail, slot, __ATOMIC_RELEASE);
	}
}

// Adds bytes to the end of a packet; false: no memory.
static bool memif_append(struct memif_queue *queue, struct rte_mbuf *pkt, const uint8_t *from,
			 uint32_t n)
{
	struct rte_mbuf *last = rte_pktmbuf_lastseg(pkt);

	while (n) {
		uint32_t part = rte_pktmbuf_tailroom(last);

		if (!part) {
			last->next = rte_pktmbuf_alloc(queue->pool);
			if (!last->next)
				return false;
			last = last->next;
			pkt->nb_segs++;
			continue;
		}
		if (part > n)
			part = n;
		memcpy(rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len), from, part);
		last->data_len += part;
		pkt->pkt_len += part;
		from += part;
		n -= part;
	}
	return true;
}

// Copies one packet of at most `filled` slots into `pkt`; returns the slots it took, 0: not to be
// received (counted), and the ring is broken or memory is short.
static uint16_t memif_read(struct memif_queue *queue, uint16_t slot, uint16_t filled,
			   struct rte_mbuf *pkt)
{
	uint16_t used = 0;
	struct memif_desc desc;

	do {
		const uint8_t *from;

		if (unlikely(used == filled)) { // a packet without an end
			memif_broken(queue);
			return 0;
		}
		desc = memif_desc_read(queue, slot + used);
		from = memif_buffer(queue, &desc, desc.length);
		if (unlikely(!from)) {
			memif_broken(queue);
			return 0;
		}
		used++;
		if (likely(!pkt->pkt_len && desc.length <= rte_pktmbuf_tailroom(pkt))) {
			rte_memcpy(rte_pktmbuf_mtod(pkt, void *), from, desc.length);
			pkt->data_len = (uint16_t)desc.length;
			pkt->pkt_len = desc.length;
		} else if (!memif_append(queue, pkt, from, desc.length)) {
			memif_count(&queue->no_memory, 1);
			return 0;
		}
	} while (desc.flags & MEMIF_DESC_NEXT);
	return used;
}

static uint16_t memif_rx_ring(struct memif_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t filled, slot, got = 0;
	uint64_t bytes = 0;

	if (!__atomic_load_n(&queue->up, __ATOMIC_ACQUIRE))
		return 0;
	filled = memif_filled(queue);
	if (n > filled)
		n = filled;
	if (!n)
		return 0;
	if (unlikely(rte_pktmbuf_alloc_bulk(queue->pool, pkts, n))) {
		memif_count(&queue->no_memory, 1);
		return 0;
	}
	slot = queue->at;
	while (got < n && filled) {
		uint16_t used = memif_read(queue, slot, filled, pkts[got]);

		if (unlikely(!used))
			break;
		bytes += pkts[got++]->pkt_len;
		slot += used;
		filled -= used;
	}
	if (unlikely(got < n))
		rte_pktmbuf_free_bulk(pkts + got, n - got);
	memif_read_until(queue, slot);
	memif_count(&queue->packets, got);
	memif_count(&queue->bytes, bytes);
	return got;
}

uint16_t memif_rx(void *share, struct rte_mbuf **pkts, uint16_t n)
{
	return memif_rx_share(share, pkts, n, memif_rx_ring);
}

// Slots from queue->at on that may be written.
static uint16_t memif_writable(struct memif_queue *queue)
{
	struct memif_ring *ring = queue->ring;
	uint16_t n;

	if (queue->client) // the client's buffers: all but those that the server has yet to read
		n = queue->size -
		    (uint16_t)(queue->at - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE));
	else
		n = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) - queue->at;
	if (likely(n <= queue->size))
		return n;
	memif_broken(queue);
	return 0;
}

// A place to write to, in one slot of the ring.
struct memif_hole {
	uint8_t *to;
	uint32_t room;
};

static bool memif_hole_open(struct memif_queue *queue, uint16_t slot, struct memif_hole *hole)
{
	struct memif_desc desc = memif_desc_read(queue, slot);

	hole->room = queue->client ? queue->buffer_size : desc.length;
	hole->to = memif_buffer(queue, &desc, hole->room);
	if (likely(hole->to && hole->room))
		return true;
	memif_broken(queue);
	return false;
}

static void memif_hole_close(struct memif_queue *queue, uint16_t slot, uint32_t length, bool next)
{
	struct memif_desc *desc = &queue->ring->desc[slot & (queue->size - 1)];

	desc->length = length;
	desc->flags = next ? MEMIF_DESC_NEXT : 0;
}

// Copies a packet into at most `free` slots; returns the slots it took, 0: there were too few.
static uint16_t memif_write(struct memif_queue *queue, uint16_t slot, uint16_t free,
			    const struct rte_mbuf *pkt)
{
	struct memif_hole hole;
	uint16_t used = 0;
	uint32_t filled = 0;

	if (!memif_hole_open(queue, slot, &hole))
		return 0;
	for (; pkt; pkt = pkt->next) {
		const uint8_t *from = rte_pktmbuf_mtod(pkt, const uint8_t *);
		uint32_t left = pkt->data_len;

		while (left) {
			uint32_t part = hole.room - filled;

			if (!part) {
				if (used + 1 >= free)
					return 0;
				memif_hole_close(queue, slot + used, filled, true);
				used++;
				if (!memif_hole_open(queue, slot + used, &hole))
					return 0;
				filled = 0;
				continue;
			}
			if (part > left)
				part = left;
			rte_memcpy(hole.to + filled, from, part);
			filled += part;
			from += part;
			left -= part;
		}
	}
	memif_hole_close(queue, slot + used, filled, false);
	return used + 1;
}

uint16_t memif_tx(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct memif_queue *queue = queue_;
	uint16_t free, slot, done = 0, sent = 0;
	uint64_t bytes = 0;

	if (!__atomic_load_n(&queue->up, __ATOMIC_ACQUIRE))
		return 0;
	free = memif_writable(queue);
	slot = queue->at;
	while (done < n && free) {
		uint16_t used = memif_write(queue, slot, free, pkts[done]);

		// What does not fit into a ring that is nearly empty never will.
		if (unlikely(!used && free < queue->size - queue->size / 4))
			break;
		if (unlikely(!used)) {
			memif_count(&queue->errors, 1);
		} else {
			bytes += pkts[done]->pkt_len;
			sent++;
		}
		done++;
		slot += used;
		free -= used;
	}
	if (!done)
		return 0;
	if (sent)
		memif_written_until(queue, slot);
	rte_pktmbuf_free_bulk(pkts, done);
	memif_count(&queue->packets, sent);
	memif_count(&queue->bytes, bytes);
	return done;
}
