// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver's own data path: packed rings. A chain lies in neighbouring slots of the one
// ring, and is given back in the slot where it began.

#include "vhost_ring.h"

#define VHOST_PACKED_AVAIL (1u << VRING_PACKED_DESC_F_AVAIL)
#define VHOST_PACKED_USED (1u << VRING_PACKED_DESC_F_USED)

// A place in the ring.
struct vhost_spot {
	uint16_t at;
	bool wrap;
};

static inline struct vhost_spot vhost_packed_spot(const struct vhost_queue *queue)
{
	return (struct vhost_spot){.at = queue->at, .wrap = queue->wrap};
}

static inline void vhost_packed_step(const struct vhost_queue *queue, struct vhost_spot *spot,
				     uint16_t n)
{
	uint32_t at = (uint32_t)spot->at + n;

	if (at >= queue->size) {
		at -= queue->size;
		spot->wrap = !spot->wrap;
	}
	spot->at = (uint16_t)at;
}

// The descriptor at a spot; false: the peer has not given it.
static inline bool vhost_packed_desc(const struct vhost_queue *queue, struct vhost_spot spot,
				     struct vhost_desc *desc)
{
	const volatile struct vring_packed_desc *there = &queue->desc_packed[spot.at];
	uint16_t flags = __atomic_load_n(&there->flags, __ATOMIC_ACQUIRE);

	if (!!(flags & VHOST_PACKED_AVAIL) != spot.wrap ||
	    !!(flags & VHOST_PACKED_USED) == spot.wrap)
		return false;
	*desc = (struct vhost_desc){
	    .address = there->addr, .length = there->len, .flags = flags, .next = there->id};
	return true;
}

// Adds the pieces of a chain, of which the first descriptor was read, and says where it ends;
// false: it makes no sense.
static bool vhost_packed_chain(struct vhost_queue *queue, struct vhost_spot spot,
			       struct vhost_desc desc, bool write, unsigned *pieces,
			       struct vhost_done *done)
{
	for (uint16_t n = 1; vhost_add(queue, &desc, write, pieces); n++) {
		if (!(desc.flags & VRING_DESC_F_NEXT)) {
			*done = (struct vhost_done){.id = desc.next, .slots = n};
			return true;
		}
		vhost_packed_step(queue, &spot, 1);
		if (n == queue->size || !vhost_packed_desc(queue, spot, &desc))
			return false;
	}
	return false;
}

// Gives the peer chains back. The flags of the first come last, so that it sees all or none.
static inline void vhost_packed_give(struct vhost_queue *queue, const struct vhost_done *done,
				     uint16_t n, bool written)
{
	struct vhost_spot first = vhost_packed_spot(queue);
	struct vhost_spot spot = first;
	uint16_t kind = written ? VRING_DESC_F_WRITE : 0;
	uint16_t flags[2] = {kind, kind | VHOST_PACKED_AVAIL | VHOST_PACKED_USED};

	for (uint16_t i = 0; i < n; i++) {
		volatile struct vring_packed_desc *there = &queue->desc_packed[spot.at];

		there->id = done[i].id;
		there->len = done[i].length;
		if (i)
			__atomic_store_n(&there->flags, flags[spot.wrap], __ATOMIC_RELEASE);
		vhost_packed_step(queue, &spot, done[i].slots);
	}
	__atomic_store_n(&queue->desc_packed[first.at].flags, flags[first.wrap], __ATOMIC_RELEASE);
	queue->at = spot.at;
	queue->wrap = spot.wrap;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(*queue->quiet != VRING_PACKED_EVENT_FLAG_DISABLE))
		vhost_call(queue);
}

// A packet that is not in one piece, or longer than a buffer of ours; false: it cannot be received.
static bool vhost_packed_read(struct vhost_queue *queue, struct vhost_spot spot,
			      const struct vhost_desc *desc, struct rte_mbuf *pkt,
			      struct vhost_done *done)
{
	unsigned pieces = 0;
	uint64_t length;

	if (!vhost_packed_chain(queue, spot, *desc, false, &pieces, done)) {
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

// Slots that the peer has given, as far as n; fewer chains may lie in them.
static inline uint16_t vhost_packed_filled(const struct vhost_queue *queue, uint16_t n)
{
	struct vhost_spot spot = vhost_packed_spot(queue);
	struct vhost_desc desc;
	uint16_t filled = 0;

	while (filled < n && vhost_packed_desc(queue, spot, &desc)) {
		vhost_packed_step(queue, &spot, 1);
		filled++;
	}
	return filled;
}

static uint16_t vhost_packed_rx_batch(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct vhost_spot spot = vhost_packed_spot(queue);
	struct vhost_done done[VHOST_BATCH];
	const uint8_t *from[VHOST_BATCH];
	struct vhost_desc desc;
	uint64_t bytes = 0;
	uint16_t got;

	n = vhost_packed_filled(queue, n);
	if (!n)
		return 0;
	if (unlikely(rte_pktmbuf_alloc_bulk(queue->pool, pkts, n))) {
		vhost_count(&queue->no_memory, 1);
		return 0;
	}
	for (got = 0; got < n && vhost_packed_desc(queue, spot, &desc); got++) {
		uint32_t length = desc.length - queue->header;

		from[got] = NULL;
		if (likely(vhost_desc_plain(&desc, false) && desc.length >= queue->header &&
			   length <= rte_pktmbuf_tailroom(pkts[got])))
			from[got] = vhost_locate_whole(queue, desc.address, desc.length);
		if (likely(from[got])) {
			rte_prefetch0(from[got]);
			pkts[got]->data_len = (uint16_t)length;
			pkts[got]->pkt_len = length;
			done[got] = (struct vhost_done){.id = desc.next, .slots = 1};
		} else if (!vhost_packed_read(queue, spot, &desc, pkts[got], &done[got])) {
			break;
		}
		vhost_packed_step(queue, &spot, done[got].slots);
	}
	for (uint16_t i = 0; i < got; i++) {
		if (likely(from[i]))
			rte_memcpy(rte_pktmbuf_mtod(pkts[i], void *), from[i] + queue->header,
				   pkts[i]->data_len);
		bytes += pkts[i]->pkt_len;
	}
	if (unlikely(got < n))
		rte_pktmbuf_free_bulk(pkts + got, n - got);
	if (got)
		vhost_packed_give(queue, done, got, false);
	vhost_count(&queue->packets, got);
	vhost_count(&queue->bytes, bytes);
	return got;
}

uint16_t vhost_packed_rx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t got = 0;

	while (got < n) {
		uint16_t part = n - got < VHOST_BATCH ? n - got : VHOST_BATCH;
		uint16_t now = vhost_packed_rx_batch(queue, pkts + got, part);

		got += now;
		if (now < part)
			break;
	}
	return got;
}

// Writes a packet into as many chains from the spot on as it takes; false: they are too few or too
// small, or one makes no sense. *slots: that were looked at.
static bool vhost_packed_write(struct vhost_queue *queue, struct vhost_spot spot,
			       const struct rte_mbuf *pkt, struct vhost_done *done, uint16_t max,
			       uint16_t *used, uint32_t *slots)
{
	uint64_t left = (uint64_t)queue->header + pkt->pkt_len;
	unsigned pieces = 0;

	*used = 0;
	*slots = 0;
	while (left) {
		struct vhost_done *this = &done[*used];
		unsigned before = pieces;
		struct vhost_desc desc;
		uint64_t room;

		if (*used == max || (*used && !queue->mergeable) ||
		    !vhost_packed_desc(queue, spot, &desc))
			return false;
		if (!vhost_packed_chain(queue, spot, desc, true, &pieces, this)) {
			vhost_broken(queue);
			return false;
		}
		*slots += this->slots;
		if (*slots > queue->size) { // the peer gives more than there is
			vhost_broken(queue);
			return false;
		}
		room = vhost_room(queue, before, pieces);
		this->length = (uint32_t)(room < left ? room : left);
		left -= this->length;
		vhost_packed_step(queue, &spot, this->slots);
		++*used;
	}
	vhost_scatter(queue, pkt, *used);
	return true;
}

// The usual case of the above: one segment, one descriptor.
static inline bool vhost_packed_write_plain(struct vhost_queue *queue, struct vhost_spot spot,
					    const struct rte_mbuf *pkt, struct vhost_done *done)
{
	uint32_t length = queue->header + pkt->data_len;
	struct vhost_desc desc;
	uint8_t *to;

	if (unlikely(pkt->nb_segs > 1 || !vhost_packed_desc(queue, spot, &desc) ||
		     !vhost_desc_plain(&desc, true) || desc.length < length))
		return false;
	to = vhost_locate_whole(queue, desc.address, length);
	if (unlikely(!to))
		return false;
	vhost_header(to, queue->header, 1);
	rte_memcpy(to + queue->header, rte_pktmbuf_mtod(pkt, const void *), pkt->data_len);
	*done = (struct vhost_done){.id = desc.next, .slots = 1, .length = length};
	return true;
}

// Sends up to a batch; returns how many packets were taken, the sent ones in *sent.
static uint16_t vhost_packed_tx_batch(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n,
				      uint16_t *sent, uint64_t *bytes)
{
	struct vhost_done *done = queue->done;
	struct vhost_spot spot = vhost_packed_spot(queue);
	uint16_t taken, given = 0;
	uint32_t all = 0;

	for (taken = 0; taken < n; taken++) {
		uint16_t used = 1;
		uint32_t slots = 1;
		bool fits = vhost_packed_write_plain(queue, spot, pkts[taken], &done[given]);

		if (unlikely(!fits)) {
			fits = vhost_packed_write(queue, spot, pkts[taken], &done[given],
						  VHOST_DONE_MAX - given, &used, &slots);
			// What does not fit into half of the ring never will.
			if (!fits && (queue->broken || !slots || given ||
				      (queue->mergeable && slots < queue->size / 2u)))
				break;
		}
		if (!fits)
			continue;
		all += slots;
		if (unlikely(all > queue->size)) {
			vhost_broken(queue);
			break;
		}
		given += used;
		vhost_packed_step(queue, &spot, (uint16_t)slots);
		*bytes += pkts[taken]->pkt_len;
		++*sent;
	}
	if (given)
		vhost_packed_give(queue, done, given, true);
	return taken;
}

uint16_t vhost_packed_tx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t done = 0, sent = 0;
	uint64_t bytes = 0;

	while (done < n) {
		uint16_t part = n - done < VHOST_BATCH ? n - done : VHOST_BATCH;
		uint16_t now = vhost_packed_tx_batch(queue, pkts + done, part, &sent, &bytes);

		done += now;
		if (now < part)
			break;
	}
	if (done)
		rte_pktmbuf_free_bulk(pkts, done);
	vhost_count(&queue->packets, sent);
	vhost_count(&queue->bytes, bytes);
	vhost_count(&queue->errors, done - sent);
	return done;
}
