// SPDX-License-Identifier: BSD-3-Clause
// Packet buffers in bulk, for the core and for drivers that allocate and free themselves: one store
// makes a buffer fresh, one test lets a burst go back to its pool in one piece.

#ifndef SLUICE_MBUF_H
#define SLUICE_MBUF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

// What a fresh packet has from `rearm_data` on: offset, refcount, segments, port, flags, type,
// lengths, tag and hash, which lie side by side in struct rte_mbuf.
struct mbuf_fresh {
	uint16_t data_off;
	uint16_t refcnt;
	uint16_t nb_segs;
	uint16_t port;
	uint64_t ol_flags;
	uint32_t packet_type;
	uint32_t pkt_len;
	uint16_t data_len;
	uint16_t vlan_tci;
	uint32_t rss;
};

#define MBUF_FRESH_AT offsetof(struct rte_mbuf, rearm_data)

_Static_assert(sizeof(struct mbuf_fresh) == 32, "one vector store");
_Static_assert(offsetof(struct rte_mbuf, ol_flags) == MBUF_FRESH_AT + 8, "flags follow");
_Static_assert(offsetof(struct rte_mbuf, pkt_len) == MBUF_FRESH_AT + 20, "lengths follow");
_Static_assert(offsetof(struct rte_mbuf, buf_len) >= MBUF_FRESH_AT + 32, "buf_len is kept");

// New buffers of one segment with `length` bytes of any content: all n, or none (false).
static inline bool mbufs_new(struct rte_mempool *pool, struct rte_mbuf **pkts, unsigned n,
			     uint16_t length)
{
	const struct mbuf_fresh fresh = {
	    .data_off = RTE_PKTMBUF_HEADROOM,
	    .refcnt = 1,
	    .nb_segs = 1,
	    .port = RTE_MBUF_PORT_INVALID,
	    .pkt_len = length,
	    .data_len = length,
	};

	if (unlikely(rte_mempool_get_bulk(pool, (void **)pkts, n) < 0))
		return false;
	for (unsigned i = 0; i < n; i++)
		memcpy((uint8_t *)pkts[i] + MBUF_FRESH_AT, &fresh, sizeof(fresh));
	return true;
}

typedef uint64_t mbuf_words __attribute__((vector_size(16), aligned(8), may_alias));

_Static_assert(offsetof(struct rte_mbuf, refcnt) == MBUF_FRESH_AT + 2, "bits 16 to 31");
_Static_assert(offsetof(struct rte_mbuf, nb_segs) == MBUF_FRESH_AT + 4, "bits 32 to 47");

// Frees a burst. Buffers that are single, unshared, direct and of one pool, which all are as a
// rule, go back in one piece; the test is a chain of ORs without a branch, over reference count,
// segments and flags as they lie side by side.
static inline void mbufs_free(struct rte_mbuf **pkts, unsigned n)
{
	const mbuf_words plain = {1ULL << 16 | 1ULL << 32, 0};
	const mbuf_words mask = {0x0000ffffffff0000, RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL};
	struct rte_mempool *pool;
	mbuf_words odd = {0, 0};
	uint64_t others = 0;

	if (unlikely(!n))
		return;
	pool = pkts[0]->pool;
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *pkt = (const uint8_t *)pkts[i];

		odd |= (*(const mbuf_words *)(const void *)(pkt + MBUF_FRESH_AT) ^ plain) & mask;
		others |= (uint64_t)pkts[i]->pool ^ (uint64_t)pool;
	}
	if (likely(!(odd[0] | odd[1] | others)))
		rte_mempool_put_bulk(pool, (void **)pkts, n);
	else
		rte_pktmbuf_free_bulk(pkts, n);
}

#endif
