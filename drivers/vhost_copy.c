// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver's own data path: packets that lie in several pieces, and the queues of a worker.

#include "vhost_bytes.h"
#include "vhost_ring.h"

// Room at the packet's end, in a new segment if need be; NULL: no memory.
static uint8_t *vhost_tail(struct vhost_queue *queue, struct rte_mbuf *pkt, struct rte_mbuf **last,
			   uint32_t *n)
{
	uint32_t room = rte_pktmbuf_tailroom(*last);
	uint8_t *to;

	if (!room) {
		struct rte_mbuf *next = rte_pktmbuf_alloc(queue->pool);

		if (!next)
			return NULL;
		(*last)->next = next;
		*last = next;
		pkt->nb_segs++;
		room = rte_pktmbuf_tailroom(next);
	}
	if (*n > room)
		*n = room;
	to = rte_pktmbuf_mtod_offset(*last, uint8_t *, (*last)->data_len);
	(*last)->data_len += (uint16_t)*n;
	pkt->pkt_len += *n;
	return to;
}

bool vhost_gather(struct vhost_queue *queue, unsigned pieces, struct rte_mbuf *pkt)
{
	uint32_t skip = queue->header;
	struct rte_mbuf *last = pkt;

	for (unsigned i = 0; i < pieces; i++) {
		uint32_t at = skip < queue->pieces[i].length ? skip : queue->pieces[i].length;

		skip -= at;
		while (at < queue->pieces[i].length) {
			uint32_t n = queue->pieces[i].length - at;
			uint8_t *to = vhost_tail(queue, pkt, &last, &n);

			if (!to)
				return false;
			vhost_move(to, queue->pieces[i].at + at, n);
			at += n;
		}
	}
	return true;
}

uint64_t vhost_room(const struct vhost_queue *queue, unsigned from, unsigned to)
{
	uint64_t room = 0;

	for (unsigned i = from; i < to; i++)
		room += queue->pieces[i].length;
	return room;
}

static void vhost_put(struct vhost_queue *queue, unsigned *piece, uint32_t *at, const uint8_t *from,
		      uint32_t n)
{
	while (n) {
		uint32_t part = queue->pieces[*piece].length - *at;

		if (!part) {
			++*piece;
			*at = 0;
			continue;
		}
		if (part > n)
			part = n;
		vhost_move(queue->pieces[*piece].at + *at, from, part);
		*at += part;
		from += part;
		n -= part;
	}
}

void vhost_scatter(struct vhost_queue *queue, const struct rte_mbuf *pkt, uint16_t buffers)
{
	uint8_t header[12] = {0};
	unsigned piece = 0;
	uint32_t at = 0;

	vhost_header(header, queue->header, buffers);
	vhost_put(queue, &piece, &at, header, queue->header);
	for (; pkt; pkt = pkt->next)
		vhost_put(queue, &piece, &at, rte_pktmbuf_mtod(pkt, const uint8_t *),
			  pkt->data_len);
}

// A peer may use any ring, so a worker polls all of its share, another one first each time.
uint16_t vhost_own_rx(void *share_, struct rte_mbuf **pkts, uint16_t n)
{
	struct vhost_share *share = share_;
	uint16_t end = __atomic_load_n(share->end, __ATOMIC_RELAXED);
	uint16_t at = share->at < end ? share->at : share->first;
	uint16_t begin = at;
	uint16_t got = 0;

	do {
		struct vhost_queue *queue = &share->queues[at];

		if (__atomic_load_n(&queue->up, __ATOMIC_ACQUIRE))
			got += queue->packed ? vhost_packed_rx(queue, pkts + got, n - got)
					     : vhost_split_rx(queue, pkts + got, n - got);
		at = at + share->step < end ? at + share->step : share->first;
	} while (got < n && at != begin);
	share->at = at;
	return got;
}

uint16_t vhost_own_tx(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct vhost_queue *queue = queue_;

	if (!__atomic_load_n(&queue->up, __ATOMIC_ACQUIRE))
		return 0;
	return queue->packed ? vhost_packed_tx(queue, pkts, n) : vhost_split_tx(queue, pkts, n);
}
