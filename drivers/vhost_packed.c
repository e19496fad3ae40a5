// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver's own data path: packed rings. A chain lies in neighbouring slots of the one
// ring, and is given back in the slot where it began.

#include "vhost_burst.h"

#define VHOST_PACKED_AVAIL (1u << VRING_PACKED_DESC_F_AVAIL)
#define VHOST_PACKED_USED (1u << VRING_PACKED_DESC_F_USED)

static inline void vhost_packed_step(const struct vhost_queue *queue, struct vhost_spot *spot,
				     uint32_t slots)
{
	uint32_t at = spot->at + slots;

	if (at >= queue->size) {
		at -= queue->size;
		spot->wrap = !spot->wrap;
	}
	spot->at = (uint16_t)at;
}

// The descriptor in a slot; false: the peer has not given it.
static inline bool vhost_packed_desc(const struct vhost_queue *queue, uint16_t at, bool wrap,
				     struct vhost_desc *desc)
{
	const volatile struct vring_packed_desc *there = &queue->desc_packed[at];
	uint16_t flags = __atomic_load_n(&there->flags, __ATOMIC_ACQUIRE);

	if ((flags & (VHOST_PACKED_AVAIL | VHOST_PACKED_USED)) !=
	    (wrap ? VHOST_PACKED_AVAIL : VHOST_PACKED_USED))
		return false;
	*desc = (struct vhost_desc){
	    .address = there->addr, .length = there->len, .flags = flags, .next = there->id};
	return true;
}

static inline uint16_t vhost_packed_look(struct vhost_queue *queue, struct vhost_spot spot,
					 struct vhost_look *look, uint16_t n)
{
	uint16_t i;

	if (n > queue->size)
		n = queue->size;
	for (i = 0; i < n && vhost_packed_desc(queue, spot.at, spot.wrap, &look->desc[i]); i++) {
		look->id[i] = look->desc[i].next;
		vhost_packed_step(queue, &spot, 1);
	}
	return i;
}

static inline bool vhost_packed_chain(struct vhost_queue *queue, struct vhost_spot spot,
				      struct vhost_desc desc, bool write, unsigned *pieces,
				      struct vhost_done *done)
{
	for (uint16_t n = 1; vhost_add(queue, &desc, write, pieces); n++) {
		if (!(desc.flags & VRING_DESC_F_NEXT)) {
			done->id = desc.next;
			done->slots = n;
			return true;
		}
		vhost_packed_step(queue, &spot, 1);
		if (n == queue->size || !vhost_packed_desc(queue, spot.at, spot.wrap, &desc))
			return false;
	}
	return false;
}

// The flags of the first come last. Of what was received in order the last one says all.
static inline void vhost_packed_give(struct vhost_queue *queue, const struct vhost_done *done,
				     uint16_t n, bool written)
{
	struct vhost_spot first = {.at = queue->at, .wrap = queue->wrap}, spot = first;
	const uint16_t kind = written ? VRING_DESC_F_WRITE : 0;
	const uint16_t flags[2] = {kind, kind | VHOST_PACKED_AVAIL | VHOST_PACKED_USED};
	const bool last = !written && queue->in_order;

	for (uint16_t i = 0; i < n; i++) {
		volatile struct vring_packed_desc *there = &queue->desc_packed[spot.at];

		if (!last) {
			there->id = done[i].id;
			there->len = done[i].length;
			if (i)
				__atomic_store_n(&there->flags, flags[spot.wrap], __ATOMIC_RELEASE);
		}
		vhost_packed_step(queue, &spot, done[i].slots);
	}
	if (last)
		queue->desc_packed[first.at].id = done[n - 1].id;
	__atomic_store_n(&queue->desc_packed[first.at].flags, flags[first.wrap], __ATOMIC_RELEASE);
	queue->at = spot.at;
	queue->wrap = spot.wrap;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(*queue->quiet != VRING_PACKED_EVENT_FLAG_DISABLE))
		vhost_call(queue);
}

static const struct vhost_kind vhost_packed = {
    .look = vhost_packed_look,
    .step = vhost_packed_step,
    .chain = vhost_packed_chain,
    .give = vhost_packed_give,
};

uint16_t vhost_packed_rx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return vhost_rx(queue, pkts, n, vhost_packed);
}

uint16_t vhost_packed_tx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return vhost_tx(queue, pkts, n, vhost_packed);
}
