// SPDX-License-Identifier: BSD-3-Clause
// The worker's part of a capture: what is wanted of a batch is copied into the worker's own ring.
// What has no room is counted, once a batch, and the batch goes on.

#include <string.h>

#include "control/capture.h"

#define PREFETCH_BYTES 8192

static size_t record_size(uint32_t captured)
{
	return (sizeof(struct capture_record) + captured + 7) & ~(size_t)7;
}

// The packets that the filter lets pass, one bit each.
static uint64_t batch_accepted(const struct filter *filter, struct batch *batch)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < batch->n; i++)
		mask |= (uint64_t)filter_matches(filter, batch->pkts[i]) << i;
	return mask;
}

// Of these packets, one in so many.
static uint64_t batch_sampled(struct capture_lane *lane, uint32_t sample, uint64_t mask)
{
	uint64_t chosen = 0;

	for (; mask; mask &= mask - 1)
		if (--lane->in == 0) {
			lane->in = sample;
			chosen |= mask & -mask;
		}
	return chosen;
}

// Once a lane is full, a quarter of it must be free again: else each batch would look for room that
// the last few packets of the thread have made.
static bool lane_full(struct capture_lane *lane)
{
	if (lane->full)
		lane->full = ring_room(&lane->ring, lane->ring.size / 4) < lane->ring.size / 4;
	return lane->full;
}

static void packet_copy_to(uint8_t *to, const struct rte_mbuf *pkt, uint32_t n)
{
	for (; n; pkt = pkt->next) {
		uint32_t part = RTE_MIN(n, (uint32_t)pkt->data_len);

		memcpy(to, rte_pktmbuf_mtod(pkt, const void *), part);
		to += part;
		n -= part;
	}
}

// The lines that will be written are fetched all at once: the thread's core has read them last.
static void lane_prefetch(uint8_t *at, uint64_t need)
{
	for (uint64_t i = 0; i < RTE_MIN(need, (uint64_t)PREFETCH_BYTES); i += 64)
		__builtin_prefetch(at + i, 1);
}

static void batch_record(struct capture_lane *lane, struct batch *batch, uint64_t mask,
			 uint32_t snaplen, struct capture_record record)
{
	uint8_t *at = ring_tail(&lane->ring), *begin = at;

	for (; mask; mask &= mask - 1) {
		const struct rte_mbuf *pkt = batch->pkts[__builtin_ctzll(mask)];

		record.length = pkt->pkt_len;
		record.captured = RTE_MIN(record.length, snaplen);
		record.size = (uint32_t)record_size(record.captured);
		memcpy(at, &record, sizeof(record));
		packet_copy_to(at + sizeof(record), pkt, record.captured);
		at += record.size;
	}
	ring_push(&lane->ring, (uint64_t)(at - begin));
}

// The time is read for each batch that is taken: the one of the poll may be that of 64 polls ago.
static void link_take(struct capture_lane *lane, unsigned link, struct ctx *ctx,
		      struct batch *batch, uint64_t mask, uint32_t snaplen)
{
	uint64_t need = 0;

	if (!lane_full(lane)) {
		for (uint64_t left = mask; left; left &= left - 1)
			need += record_size(
			    RTE_MIN(batch->pkts[__builtin_ctzll(left)]->pkt_len, snaplen));
		lane->full = ring_room(&lane->ring, need) < need;
	}
	if (lane->full) {
		counter_add(&lane->tallies[link].dropped, (uint64_t)__builtin_popcountll(mask));
		return;
	}
	lane_prefetch(ring_tail(&lane->ring), need);
	batch_record(lane, batch, mask, snaplen,
		     (struct capture_record){.time_ns = tap_now_ns(ctx), .link = link});
}

void capture_leaves(struct tap *tap, struct ctx *ctx, gate_t gate, unsigned number,
		    struct batch *batch)
{
	struct capture *capture = (struct capture *)tap;
	struct capture_lane *lane = capture->by_core[tap_core(ctx)];
	uint64_t accepted = UINT64_MAX >> (BATCH_MAX - batch->n), chosen;

	(void)gate;
	if (unlikely(!lane))
		return;
	if (capture->filters)
		accepted = batch_accepted(&capture->filter, batch);
	chosen = capture->wish.sample == 1 ? accepted
					   : batch_sampled(lane, capture->wish.sample, accepted);
	for (; number; number >>= 16) {
		unsigned link = (number & 0xffff) - 1;

		if (!(number & 0xffff))
			continue;
		counter_add(&lane->tallies[link].seen, batch->n);
		counter_add(&lane->tallies[link].accepted,
			    (uint64_t)__builtin_popcountll(accepted));
		if (chosen)
			link_take(lane, link, ctx, batch, chosen, capture->wish.snaplen);
	}
}
