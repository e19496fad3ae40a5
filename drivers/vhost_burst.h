// SPDX-License-Identifier: BSD-3-Clause
// The burst functions of the vhost driver's own data path, for rings of any kind: vhost_split.c and
// vhost_packed.c say how theirs is read and written, and the compiler makes one function of both.
// Slots are taken in runs of plain ones, a chain of one descriptor for a packet of one segment:
// first all is checked and what is to be copied is fetched, then it is copied. What is not plain is
// taken by itself.

#ifndef SLUICE_DRIVERS_VHOST_BURST_H
#define SLUICE_DRIVERS_VHOST_BURST_H

#include "mbuf.h"
#include "vhost_bytes.h"
#include "vhost_ring.h"

// Bytes of each frame that are fetched before the batch is copied. More than that of a whole batch
// only wait for each other, and the processor fetches what follows by itself.
#define VHOST_AHEAD 256u

// Chains given back at once, but for those of runs.
#define VHOST_ODD_MAX (VHOST_DONE_MAX - VHOST_BATCH)

#define VHOST_KINDS (VRING_DESC_F_NEXT | VRING_DESC_F_WRITE | VRING_DESC_F_INDIRECT)

// Where a descriptor's bytes are, of which so many are needed in one piece; NULL: not so.
static __rte_always_inline uint8_t *vhost_near(struct vhost_queue *queue, struct vhost_region *near,
					       uint64_t address, uint32_t length)
{
	uint64_t distance = address - near->guest;

	if (unlikely(distance >= near->size || near->size - distance < length)) {
		uint8_t *at = vhost_locate_whole(queue, address, length);

		*near = queue->memory->regions[queue->region];
		return at;
	}
	return near->host + distance;
}

// Receives the run of plain slots from slot k on; returns its length.
static __rte_always_inline uint16_t vhost_rx_run(struct vhost_queue *queue,
						 const struct vhost_look *look, uint16_t k,
						 uint16_t n, struct rte_mbuf **pkts,
						 struct vhost_done *done, uint64_t *bytes)
{
	struct vhost_region near = queue->memory->regions[queue->region];
	const uint32_t header = queue->header, room = queue->room;
	const uint8_t *from[VHOST_BATCH];
	uint16_t run;

	for (run = 0; k + run < n; run++) {
		const struct vhost_desc *desc = &look->desc[k + run];
		uint32_t length = desc->length - header;
		const uint8_t *at;

		if (unlikely(desc->flags & VHOST_KINDS || length > room))
			break;
		at = vhost_near(queue, &near, desc->address, desc->length);
		if (unlikely(!at))
			break;
		from[run] = at + header;
		for (uint32_t ahead = 0; ahead < RTE_MIN(length, VHOST_AHEAD); ahead += 64)
			rte_prefetch0(from[run] + ahead);
		done[run] = (struct vhost_done){.id = look->id[k + run], .slots = 1};
		pkts[run]->data_len = (uint16_t)length;
		pkts[run]->pkt_len = length;
	}
	for (uint16_t i = 0; i < run; i++) {
		uint32_t length = pkts[i]->data_len;

		vhost_move(rte_pktmbuf_mtod(pkts[i], uint8_t *), from[i], length);
		*bytes += length;
	}
	return run;
}

// A packet that is not in one piece, or longer than a buffer of ours; false: it cannot be received.
static __rte_always_inline bool vhost_rx_odd(struct vhost_queue *queue, struct vhost_spot spot,
					     const struct vhost_desc *desc, struct rte_mbuf *pkt,
					     struct vhost_done *done, const struct vhost_kind kind)
{
	unsigned pieces = 0;
	uint64_t length;

	if (!kind.chain(queue, spot, *desc, false, &pieces, done)) {
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

static __rte_always_inline uint16_t vhost_rx_batch(struct vhost_queue *queue,
						   struct rte_mbuf **pkts, uint16_t n,
						   const struct vhost_kind kind)
{
	struct vhost_spot spot = {.at = queue->at, .wrap = queue->wrap};
	struct vhost_done *done = queue->done;
	struct vhost_look look;
	uint16_t got = 0, k = 0;
	uint64_t bytes = 0;

	n = kind.look(queue, spot, &look, n);
	if (!n)
		return 0;
	if (unlikely(!mbufs_new(queue->pool, pkts, n, 0))) {
		vhost_count(&queue->no_memory, 1);
		return 0;
	}
	for (;;) {
		uint16_t run = vhost_rx_run(queue, &look, k, n, pkts + got, done + got, &bytes);

		got += run;
		k += run;
		if (likely(k >= n))
			break;
		kind.step(queue, &spot, run);
		done[got] = (struct vhost_done){.id = look.id[k]};
		if (!vhost_rx_odd(queue, spot, &look.desc[k], pkts[got], &done[got], kind))
			break;
		kind.step(queue, &spot, done[got].slots);
		bytes += pkts[got]->pkt_len;
		k += done[got++].slots;
		if (k >= n)
			break;
	}
	if (unlikely(got < n))
		mbufs_free(pkts + got, n - got);
	if (likely(got))
		kind.give(queue, done, got, false);
	vhost_count(&queue->packets, got);
	vhost_count(&queue->bytes, bytes);
	return got;
}

static __rte_always_inline uint16_t vhost_rx(struct vhost_queue *queue, struct rte_mbuf **pkts,
					     uint16_t n, const struct vhost_kind kind)
{
	uint16_t got = 0;

	while (got < n) {
		uint16_t part = n - got < VHOST_BATCH ? n - got : VHOST_BATCH;
		uint16_t now = vhost_rx_batch(queue, pkts + got, part, kind);

		got += now;
		if (now < part)
			break;
	}
	return got;
}

// Sends the run of plain packets into the plain slots from slot k on; returns its length.
static __rte_always_inline uint16_t vhost_tx_run(struct vhost_queue *queue,
						 const struct vhost_look *look, uint16_t n,
						 struct rte_mbuf **pkts, struct vhost_done *done,
						 uint64_t *bytes)
{
	struct vhost_region near = queue->memory->regions[queue->region];
	const uint32_t header = queue->header;
	uint8_t *to[VHOST_BATCH];
	uint16_t run;

	for (run = 0; run < n; run++) {
		const struct vhost_desc *desc = &look->desc[run];
		uint32_t length = pkts[run]->data_len + header;

		if (unlikely((desc->flags & VHOST_KINDS) != VRING_DESC_F_WRITE ||
			     desc->length < length || pkts[run]->nb_segs > 1))
			break;
		to[run] = vhost_near(queue, &near, desc->address, length);
		if (unlikely(!to[run]))
			break;
		rte_prefetch0(to[run]);
		for (uint32_t ahead = header; ahead < RTE_MIN(length, VHOST_AHEAD); ahead += 64)
			rte_prefetch0_write(to[run] + ahead);
		done[run] = (struct vhost_done){.id = look->id[run], .slots = 1, .length = length};
	}
	for (uint16_t i = 0; i < run; i++) {
		uint32_t length = pkts[i]->data_len;

		vhost_header(to[i], (uint8_t)header, 1);
		vhost_move(to[i] + header, rte_pktmbuf_mtod(pkts[i], const uint8_t *), length);
		*bytes += length;
	}
	return run;
}

enum vhost_fit { VHOST_FITS, VHOST_WAITS, VHOST_NEVER };

// Writes a packet into as many chains from the spot on as it takes. What does not fit into half of
// the ring never will.
static __rte_always_inline enum vhost_fit
vhost_tx_odd(struct vhost_queue *queue, struct vhost_spot spot, const struct rte_mbuf *pkt,
	     struct vhost_done *done, uint16_t max, uint16_t *used, uint32_t *slots,
	     const struct vhost_kind kind)
{
	uint64_t left = (uint64_t)queue->header + pkt->pkt_len;
	unsigned pieces = 0;

	*used = 0;
	*slots = 0;
	while (left) {
		struct vhost_done *this = &done[*used];
		unsigned before = pieces;
		struct vhost_look look;
		uint64_t room;

		if (*used && !queue->mergeable)
			return VHOST_NEVER;
		if (*used == max)
			return VHOST_WAITS;
		if (!kind.look(queue, spot, &look, 1))
			return *slots && *slots >= queue->size / 2u ? VHOST_NEVER : VHOST_WAITS;
		*this = (struct vhost_done){.id = look.id[0]};
		if (!kind.chain(queue, spot, look.desc[0], true, &pieces, this) ||
		    *slots + this->slots > queue->size) { // more than there is
			vhost_broken(queue);
			return VHOST_WAITS;
		}
		*slots += this->slots;
		room = vhost_room(queue, before, pieces);
		this->length = (uint32_t)(room < left ? room : left);
		left -= this->length;
		kind.step(queue, &spot, this->slots);
		++*used;
	}
	vhost_scatter(queue, pkt, *used);
	return VHOST_FITS;
}

// Sends up to a batch; returns how many packets were taken, the sent ones in *sent.
static __rte_always_inline uint16_t vhost_tx_batch(struct vhost_queue *queue,
						   struct rte_mbuf **pkts, uint16_t n,
						   uint16_t *sent, uint64_t *bytes,
						   const struct vhost_kind kind)
{
	struct vhost_spot spot = {.at = queue->at, .wrap = queue->wrap};
	struct vhost_done *done = queue->done;
	uint16_t taken = 0, given = 0;
	struct vhost_look look;
	uint32_t all = 0;

	while (taken < n) {
		uint16_t filled = kind.look(queue, spot, &look, n - taken);
		uint16_t run =
		    vhost_tx_run(queue, &look, filled, pkts + taken, done + given, bytes);
		enum vhost_fit fit;
		uint32_t slots;
		uint16_t used;

		taken += run;
		given += run;
		*sent += run;
		all += run;
		kind.step(queue, &spot, run);
		if (likely(taken == n) || run == filled)
			break;
		fit = vhost_tx_odd(queue, spot, pkts[taken], done + given,
				   given < VHOST_ODD_MAX ? VHOST_ODD_MAX - given : 0, &used, &slots,
				   kind);
		if (fit == VHOST_WAITS)
			break;
		taken++;
		if (fit == VHOST_NEVER)
			continue;
		given += used;
		all += slots;
		kind.step(queue, &spot, slots);
		*bytes += pkts[taken - 1]->pkt_len;
		++*sent;
	}
	if (unlikely(all > queue->size)) // the peer gave some twice
		vhost_broken(queue);
	if (likely(given))
		kind.give(queue, done, given, true);
	return taken;
}

static __rte_always_inline uint16_t vhost_tx(struct vhost_queue *queue, struct rte_mbuf **pkts,
					     uint16_t n, const struct vhost_kind kind)
{
	uint16_t done = 0, sent = 0;
	uint64_t bytes = 0;

	while (done < n) {
		uint16_t part = n - done < VHOST_BATCH ? n - done : VHOST_BATCH;
		uint16_t now = vhost_tx_batch(queue, pkts + done, part, &sent, &bytes, kind);

		done += now;
		if (now < part)
			break;
	}
	mbufs_free(pkts, done);
	vhost_count(&queue->packets, sent);
	vhost_count(&queue->bytes, bytes);
	vhost_count(&queue->errors, done - sent);
	return done;
}

#endif
