// SPDX-License-Identifier: BSD-3-Clause
// memif's rings without copies, for the client: what lies in the rings are packet buffers. Region 0
// has the rings, the others are DPDK's memory.

#include <rte_mbuf.h>

#include "memif_ring.h"

static bool memif_locate(const struct memif_queue *queue, const uint8_t *addr, uint16_t *region,
			 uint32_t *offset)
{
	for (unsigned i = 1; i < queue->n_regions; i++) {
		uint64_t distance = (uint64_t)(addr - queue->regions[i].addr);

		if (likely(distance < queue->regions[i].size && distance <= UINT32_MAX)) {
			*region = (uint16_t)i;
			*offset = (uint32_t)distance;
			return true;
		}
	}
	return false;
}

// Puts fresh buffers into the slots that are empty.
static void memif_zero_give(struct memif_queue *queue)
{
	uint16_t mask = queue->size - 1;
	uint16_t empty = queue->size - (uint16_t)(queue->given - queue->at);
	struct rte_mbuf *fresh[64];

	while (empty) {
		uint16_t n = empty < RTE_DIM(fresh) ? empty : RTE_DIM(fresh);

		if (unlikely(rte_pktmbuf_alloc_bulk(queue->pool, fresh, n))) {
			memif_count(&queue->no_memory, 1);
			break;
		}
		for (uint16_t i = 0; i < n; i++) {
			uint16_t slot = (uint16_t)(queue->given + i) & mask;
			struct memif_desc *desc = &queue->ring->desc[slot];

			queue->mbufs[slot] = fresh[i];
			memif_locate(queue, rte_pktmbuf_mtod(fresh[i], uint8_t *), &desc->region,
				     &desc->offset);
			desc->length = rte_pktmbuf_tailroom(fresh[i]);
			desc->flags = 0;
		}
		queue->given += n;
		empty -= n;
	}
	__atomic_store_n(&queue->ring->head, queue->given, __ATOMIC_RELEASE);
}

// Takes one packet of at most `filled` slots out of the ring; NULL: its end is missing or a length
// makes no sense. *used: slots.
static struct rte_mbuf *memif_zero_read(struct memif_queue *queue, uint16_t slot, uint16_t filled,
					uint16_t *used)
{
	uint16_t mask = queue->size - 1;
	struct rte_mbuf *head = NULL;
	struct rte_mbuf *last = NULL;
	struct memif_desc desc;
	uint16_t n = 0;

	// Looked through before anything is taken out: the slots keep what is not to be received.
	do {
		if (n == filled)
			return NULL;
		desc = memif_desc_read(queue, slot + n);
		if (desc.length > rte_pktmbuf_tailroom(queue->mbufs[(slot + n) & mask]))
			return NULL;
		queue->mbufs[(slot + n) & mask]->data_len = (uint16_t)desc.length;
		n++;
	} while (desc.flags & MEMIF_DESC_NEXT);
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *seg = queue->mbufs[(slot + i) & mask];

		queue->mbufs[(slot + i) & mask] = NULL;
		if (!head) {
			head = seg;
			head->pkt_len = 0;
		} else {
			last->next = seg;
			head->nb_segs++;
		}
		head->pkt_len += seg->data_len;
		last = seg;
	}
	*used = n;
	return head;
}

static uint16_t memif_rx_zero_ring(struct memif_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t filled, slot, got = 0;
	uint64_t bytes = 0;

	if (!__atomic_load_n(&queue->up, __ATOMIC_ACQUIRE))
		return 0;
	filled = memif_filled(queue);
	if (unlikely(filled > (uint16_t)(queue->given - queue->at))) {
		memif_broken(queue);
		filled = 0;
	}
	slot = queue->at;
	while (got < n && filled) {
		uint16_t used;
		struct rte_mbuf *pkt = memif_zero_read(queue, slot, filled, &used);

		if (unlikely(!pkt)) {
			memif_broken(queue);
			break;
		}
		bytes += pkt->pkt_len;
		pkts[got++] = pkt;
		slot += used;
		filled -= used;
	}
	queue->at = slot;
	// In halves of a burst, so that a slow stream does not pay for each packet.
	if ((uint16_t)(queue->given - slot) + 32u <= queue->size || queue->size < 64)
		memif_zero_give(queue);
	memif_count(&queue->packets, got);
	memif_count(&queue->bytes, bytes);
	return got;
}

uint16_t memif_rx_zero(void *share, struct rte_mbuf **pkts, uint16_t n)
{
	return memif_rx_share(share, pkts, n, memif_rx_zero_ring);
}

// Frees what the peer has read. `given` is the oldest slot that still holds a buffer.
static bool memif_zero_reap(struct memif_queue *queue)
{
	uint16_t mask = queue->size - 1;
	uint16_t tail = __atomic_load_n(&queue->ring->tail, __ATOMIC_ACQUIRE);

	if (unlikely((uint16_t)(tail - queue->given) > (uint16_t)(queue->at - queue->given))) {
		memif_broken(queue);
		return false;
	}
	for (; queue->given != tail; queue->given++) {
		rte_pktmbuf_free_seg(queue->mbufs[queue->given & mask]);
		queue->mbufs[queue->given & mask] = NULL;
	}
	return true;
}

// The packet with all bytes in memory that the peer can see: itself, or a copy for which it is
// freed; NULL: no memory, and it is freed.
static struct rte_mbuf *memif_zero_visible(const struct memif_queue *queue, struct rte_mbuf *pkt)
{
	uint16_t region;
	uint32_t offset;
	struct rte_mbuf *copy;

	for (struct rte_mbuf *seg = pkt; seg; seg = seg->next)
		if (unlikely(
			!memif_locate(queue, rte_pktmbuf_mtod(seg, uint8_t *), &region, &offset))) {
			copy = rte_pktmbuf_copy(pkt, queue->pool, 0, UINT32_MAX);
			rte_pktmbuf_free(pkt);
			return copy;
		}
	return pkt;
}

// Returns the slot behind the packet.
static uint16_t memif_zero_write(struct memif_queue *queue, uint16_t slot, struct rte_mbuf *pkt)
{
	uint16_t mask = queue->size - 1;

	for (struct rte_mbuf *next; pkt; pkt = next, slot++) {
		struct memif_desc *desc = &queue->ring->desc[slot & mask];

		next = pkt->next;
		memif_locate(queue, rte_pktmbuf_mtod(pkt, uint8_t *), &desc->region, &desc->offset);
		desc->length = pkt->data_len;
		desc->flags = next ? MEMIF_DESC_NEXT : 0;
		queue->mbufs[slot & mask] = pkt;
	}
	return slot;
}

uint16_t memif_tx_zero(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct memif_queue *queue = queue_;
	uint16_t free, slot, done = 0, sent = 0;
	uint64_t bytes = 0;

	if (!__atomic_load_n(&queue->up, __ATOMIC_ACQUIRE) || !memif_zero_reap(queue))
		return 0;
	free = queue->size - (uint16_t)(queue->at - queue->given);
	slot = queue->at;
	for (; done < n; done++) {
		struct rte_mbuf *pkt = pkts[done];

		if (unlikely(pkt->nb_segs > queue->size)) {
			rte_pktmbuf_free(pkt);
			memif_count(&queue->errors, 1);
			continue;
		}
		if (pkt->nb_segs > free)
			break;
		pkt = memif_zero_visible(queue, pkt);
		if (unlikely(!pkt || pkt->nb_segs > free)) {
			rte_pktmbuf_free(pkt);
			memif_count(&queue->errors, 1);
			continue;
		}
		bytes += pkt->pkt_len;
		free -= pkt->nb_segs;
		sent++;
		slot = memif_zero_write(queue, slot, pkt);
	}
	if (sent)
		memif_written_until(queue, slot);
	memif_count(&queue->packets, sent);
	memif_count(&queue->bytes, bytes);
	return done;
}

void memif_queue_empty(struct memif_queue *queue)
{
	for (unsigned i = 0; queue->mbufs && i < queue->size; i++) {
		if (queue->mbufs[i])
			rte_pktmbuf_free_seg(queue->mbufs[i]);
		queue->mbufs[i] = NULL;
	}
}
