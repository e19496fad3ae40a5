// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver's own data path: split rings. The peer's available ring names chains of
// descriptors, the used ring gives them back.

#include "vhost_burst.h"

// Chains from a spot on. The peer's index is read only where what was last seen of it does not do,
// as the peer writes its line with each burst.
static inline uint16_t vhost_split_filled(struct vhost_queue *queue, uint16_t at, uint16_t n)
{
	uint16_t seen = queue->seen;

	if ((uint16_t)(seen - at) >= n)
		return n;
	seen = __atomic_load_n(&queue->avail->idx, __ATOMIC_ACQUIRE);
	if (unlikely((uint16_t)(seen - queue->at) > queue->size ||
		     (uint16_t)(seen - queue->at) < (uint16_t)(queue->seen - queue->at))) {
		vhost_broken(queue); // it makes no sense
		return 0;
	}
	queue->seen = seen;
	return RTE_MIN((uint16_t)(seen - at), n);
}

static inline struct vhost_desc vhost_split_desc(const struct vhost_queue *queue, uint16_t i)
{
	struct vhost_desc desc;

	__builtin_memcpy(&desc, (const void *)&queue->desc[i], sizeof(desc));
	return desc;
}

static inline uint16_t vhost_split_look(struct vhost_queue *queue, struct vhost_spot spot,
					struct vhost_look *look, uint16_t n)
{
	const uint16_t mask = queue->size - 1, begin = spot.at & mask;
	const uint16_t *ring = (const uint16_t *)(uintptr_t)queue->avail->ring;
	uint16_t wrong = 0, first;

	n = vhost_split_filled(queue, spot.at, n);
	first = RTE_MIN(n, (uint16_t)(queue->size - begin));
	for (uint16_t i = 0; i < first; i++)
		wrong |= look->id[i] = ring[begin + i];
	for (uint16_t i = first; i < n; i++)
		wrong |= look->id[i] = ring[i - first];
	vhost_copied();
	if (unlikely(wrong & ~mask)) {
		vhost_broken(queue);
		for (first = 0; look->id[first] <= mask; first++)
			;
		n = first;
	}
	for (uint16_t i = 0; i < n; i++)
		look->desc[i] = vhost_split_desc(queue, look->id[i]);
	vhost_copied();
	return n;
}

static inline void vhost_split_step(const struct vhost_queue *queue, struct vhost_spot *spot,
				    uint32_t slots)
{
	(void)queue;
	spot->at += (uint16_t)slots;
}

static inline bool vhost_split_chain(struct vhost_queue *queue, struct vhost_spot spot,
				     struct vhost_desc desc, bool write, unsigned *pieces,
				     struct vhost_done *done)
{
	(void)spot;
	done->slots = 1;
	for (unsigned n = 1; vhost_add(queue, &desc, write, pieces); n++) {
		if (!(desc.flags & VRING_DESC_F_NEXT))
			return true;
		if (desc.next >= queue->size || n == queue->size)
			return false;
		desc = vhost_split_desc(queue, desc.next);
		vhost_copied();
	}
	return false;
}

static inline void vhost_split_use(struct vring_used_elem *used, const struct vhost_done *done,
				   uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		used[i] = (struct vring_used_elem){.id = done[i].id, .len = done[i].length};
}

// What was sent is written down chain by chain, as the peer wants to know its length; of what was
// received in order the last one says all.
static inline void vhost_split_give(struct vhost_queue *queue, const struct vhost_done *done,
				    uint16_t n, bool written)
{
	uint16_t begin = queue->used_at & (queue->size - 1);
	uint16_t first = RTE_MIN(n, (uint16_t)(queue->size - begin));

	if (!written && queue->in_order) {
		vhost_split_use(queue->used->ring + begin, done + n - 1, 1);
	} else {
		vhost_split_use(queue->used->ring + begin, done, first);
		vhost_split_use(queue->used->ring, done + first, n - first);
	}
	queue->at += n;
	queue->used_at += n;
	__atomic_store_n(&queue->used->idx, queue->used_at, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(!(queue->avail->flags & VRING_AVAIL_F_NO_INTERRUPT)))
		vhost_call(queue);
}

static const struct vhost_kind vhost_split = {
    .look = vhost_split_look,
    .step = vhost_split_step,
    .chain = vhost_split_chain,
    .give = vhost_split_give,
};

uint16_t vhost_split_rx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return vhost_rx(queue, pkts, n, vhost_split);
}

uint16_t vhost_split_tx(struct vhost_queue *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return vhost_tx(queue, pkts, n, vhost_split);
}
