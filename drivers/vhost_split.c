// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver's own data path: split rings. The peer's available ring names chains of
// descriptors, the used ring gives them back.

#include "vhost_ring.h"

// Chains from queue->at on; too many: the peer's index makes no sense.
static inline uint16_t vhost_split_filled(struct vhost_queue *queue)
{
	uint16_t n = __atomic_load_n(&queue->avail->idx, __ATOMIC_ACQUIRE) - queue->at;

	if (likely(n <= queue->size))
		return n;
	vhost_broken(queue);
	return 0;
}

static inline struct vhost_desc vhost_split_desc(const struct vhost_queue *queue, uint16_t i)
{
	const volatile struct vring_desc *desc = &queue->desc[i];

	return (struct vhost_desc){
	    .address = desc->addr, .length = desc->len, .flags = desc->flags, .next = desc->next};
}

// Reads the heads of n chains; returns how many of them make sense.
static inline uint16_t vhost_split_heads(struct vhost_queue *queue, uint16_t at, uint16_t *heads,
					 uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		heads[i] = queue->avail->ring[(at + i) & (queue->size - 1)];
		if (unlikely(heads[i] >= queue->size)) {
			vhost_broken(queue);
			return i;
		}
		rte_prefetch0((const void *)&queue->desc[heads[i]]);
	}
	return n;
}

// Adds the pieces of a chain, of which the first descriptor was read; false: it makes no sense.
static bool vhost_split_chain(struct vhost_queue *queue, struct vhost_desc desc, bool write,
			      unsigned *pieces)
{
	for (unsigned n = 1; vhost_add(queue, &desc, write, pieces); n++) {
		if (!(desc.flags & VRING_DESC_F_NEXT))
			return true;
		if (desc.next >= queue->size || n == queue->size)
			return false;
		desc = vhost_split_desc(queue, desc.next);
	}
	return false;
}

static inline void vhost_split_use(struct vhost_queue *queue, uint16_t slot, uint16_t head,
				   uint32_t length)
{
	struct vring_used_elem *used =
	    &queue->used->ring[(queue->used_at + slot) & (queue->size - 1)];

	used->id = head;
	used->len = length;
}

// Gives the peer so many chains back, and tells it if it waits for them.
static inline void vhost_split_give(struct vhost_queue *queue, uint16_t n)
{
	queue->at += n;
	queue->used_at += n;
	__atomic_store_n(&queue->used->idx, queue->used_at, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(!(queue->avail->flags & VRING_AVAIL_F_NO_INTERRUPT)))
		vhost_call(queue);
}

// A packet that is not in one piece, or longer than a buffer of ours; false: it cannot be received.
static bool vhost_split_read(struct vhost_queue *queue, const struct vhost_desc *desc,
			     struct rte_mbuf *pkt)
{
	unsigned pieces = 0;
	uint64_t length;

	if (!vhost_split_chain(queue, *desc, false, &pieces)) {
		vhost_broken(queue);
		return false;
	}
	length = vhost_room(queue, 0, pieces);
	if (length < queue->header || length > queue->header + VHOST_FRAME_MAX) {
		vhost_broken(queue);
		return false;
	}
	if (vhost_gather(queue, pieces, pkt))
		return true;
	vhost_count(&queue->no_memory, 1);
	return false;
}

static uint16_t vhost_split_rx_batch(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t filled = vhost_split_filled(queue);
	uint16_t heads[VHOST_BATCH];
	const uint8_t *from[VHOST_BATCH];
	uint64_t bytes = 0;
	uint16_t got;

	if (n > filled)
		n = filled;
	if (!n)
		return 0;
	if (unlikely(rte_pktmbuf_alloc_bulk(queue->pool, pkts, n))) {
		vhost_count(&queue->no_memory, 1);
		return 0;
	}
	filled = vhost_split_heads(queue, queue->at, heads, n);
	for (got = 0; got < filled; got++) {
		struct vhost_desc desc = vhost_split_desc(queue, heads[got]);
		uint32_t length = desc.length - queue->header;

		from[got] = NULL;
		if (likely(vhost_desc_plain(&desc, false) && desc.length >= queue->header &&
			   length <= rte_pktmbuf_tailroom(pkts[got])))
			from[got] = vhost_locate_whole(queue, desc.address, desc.length);
		if (likely(from[got])) {
			rte_prefetch0(from[got]);
			pkts[got]->data_len = (uint16_t)length;
			pkts[got]->pkt_len = length;
		} else if (!vhost_split_read(queue, &desc, pkts[got])) {
			break;
		}
	}
	for (uint16_t i = 0; i < got; i++) {
		if (likely(from[i]))
			rte_memcpy(rte_pktmbuf_mtod(pkts[i], void *), from[i] + queue->header,
				   pkts[i]->data_len);
		bytes += pkts[i]->pkt_len;
		vhost_split_use(queue, i, heads[i], 0);
	}
	if (unlikely(got < n))
		rte_pktmbuf_free_bulk(pkts + got, n - got);
	if (got)
		vhost_split_give(queue, got);
	vhost_count(&queue->packets, got);
	vhost_count(&queue->bytes, bytes);
	return got;
}

uint16_t vhost_split_rx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t got = 0;

	while (got < n) {
		uint16_t part = n - got < VHOST_BATCH ? n - got : VHOST_BATCH;
		uint16_t now = vhost_split_rx_batch(queue, pkts + got, part);

		got += now;
		if (now < part)
			break;
	}
	return got;
}

// Writes a packet into as many of the `filled` chains from slot on as it takes; returns their
// number, 0: they are too few or too small, or one makes no sense.
static uint16_t vhost_split_write(struct vhost_queue *queue, uint16_t slot, uint16_t filled,
				  const struct rte_mbuf *pkt)
{
	uint64_t left = (uint64_t)queue->header + pkt->pkt_len;
	unsigned pieces = 0;
	uint16_t used = 0;

	while (left) {
		unsigned before = pieces;
		uint64_t room;
		uint16_t head;

		if (used == filled || (used && !queue->mergeable))
			return 0;
		if (!vhost_split_heads(queue, queue->at + slot + used, &head, 1))
			return 0;
		if (!vhost_split_chain(queue, vhost_split_desc(queue, head), true, &pieces)) {
			vhost_broken(queue);
			return 0;
		}
		room = vhost_room(queue, before, pieces);
		if (room > left)
			room = left;
		vhost_split_use(queue, slot + used, head, (uint32_t)room);
		left -= room;
		used++;
	}
	vhost_scatter(queue, pkt, used);
	return used;
}

// The usual case of the above: one segment, one descriptor.
static inline bool vhost_split_write_plain(struct vhost_queue *queue, uint16_t slot, uint16_t head,
					   const struct rte_mbuf *pkt)
{
	struct vhost_desc desc = vhost_split_desc(queue, head);
	uint32_t length = queue->header + pkt->data_len;
	uint8_t *to;

	if (unlikely(pkt->nb_segs > 1 || !vhost_desc_plain(&desc, true) || desc.length < length))
		return false;
	to = vhost_locate_whole(queue, desc.address, length);
	if (unlikely(!to))
		return false;
	vhost_header(to, queue->header, 1);
	rte_memcpy(to + queue->header, rte_pktmbuf_mtod(pkt, const void *), pkt->data_len);
	vhost_split_use(queue, slot, head, length);
	return true;
}

// Whether a packet that did not fit never will.
static bool vhost_split_hopeless(const struct vhost_queue *queue, uint16_t filled)
{
	return !queue->broken && (!queue->mergeable || filled >= queue->size / 2);
}

uint16_t vhost_split_tx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t filled = vhost_split_filled(queue);
	uint16_t heads[VHOST_BATCH];
	uint16_t slot = 0, done = 0, sent = 0, known = 0, first = 0;
	uint64_t bytes = 0;

	for (; done < n && slot < filled; done++) {
		uint16_t used = 1;

		if (slot - first >= known) {
			uint16_t part = filled - slot < n - done ? filled - slot : n - done;

			first = slot;
			known = vhost_split_heads(queue, queue->at + slot, heads,
						  part < VHOST_BATCH ? part : VHOST_BATCH);
			if (unlikely(!known))
				break;
		}
		if (unlikely(
			!vhost_split_write_plain(queue, slot, heads[slot - first], pkts[done]))) {
			used = vhost_split_write(queue, slot, filled - slot, pkts[done]);
			if (!used && !vhost_split_hopeless(queue, filled - slot))
				break;
		}
		if (used) {
			bytes += pkts[done]->pkt_len;
			sent++;
		}
		slot += used;
	}
	if (slot)
		vhost_split_give(queue, slot);
	if (done)
		rte_pktmbuf_free_bulk(pkts, done);
	vhost_count(&queue->packets, sent);
	vhost_count(&queue->bytes, bytes);
	vhost_count(&queue->errors, done - sent);
	return done;
}
