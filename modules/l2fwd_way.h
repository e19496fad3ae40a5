// SPDX-License-Identifier: BSD-3-Clause
// The part of L2Fwd that says where a packet goes by the table; and where it would go, for those
// who only ask.

#ifndef SLUICE_L2FWD_WAY_H
#define SLUICE_L2FWD_WAY_H

#include "packet.h"
#include "l2fwd_table.h"

#define L2FWD_FLOOD 0x7fffu // in place of a gate: by all but the one it came from

enum { L2FWD_RESERVED = REASON_OWN, L2FWD_SAME_GATE };

// Where a packet goes: a gate, DROP(), or L2FWD_FLOOD.
static inline gate_t l2fwd_way(const struct ctx *ctx, uint64_t key, bool known, const void *data)
{
	// The last four bits of a reserved address are anything.
	if (unlikely((key & (L2FWD_MAC ^ 0x0f0000000000)) == 0x0000c28001))
		return DROP(L2FWD_RESERVED);
	if (likely(known)) {
		gate_t gate = l2fwd_gate(data);

		if (unlikely(gate == ctx->igate))
			return DROP(L2FWD_SAME_GATE);
		return likely(gate < ctx->ogates) ? gate : DROP(REASON_UNCONNECTED);
	}
	return L2FWD_FLOOD;
}

// The keys of a packet's source and destination.
static inline __attribute__((always_inline)) void l2fwd_keys(const struct rte_mbuf *pkt, bool vlans,
							     uint64_t *src, uint64_t *dst)
{
	const uint8_t *bytes = (const uint8_t *)ether(pkt);
	const struct rte_vlan_hdr *tag = vlans ? vlan(pkt) : NULL;
	uint64_t id = tag ? (uint64_t)vlan_id(tag) << 48 : 0;

	memcpy(dst, bytes, sizeof(*dst));
	memcpy(src, bytes + RTE_ETHER_ADDR_LEN, sizeof(*src));
	*dst = (*dst & L2FWD_MAC) | id;
	*src = (*src & L2FWD_MAC) | id;
}

// Where a packet would go by the table as it is, or would be once its own source was learned.
static gate_t l2fwd_explain_way(struct ctx *ctx, const struct rte_mbuf *pkt)
{
	const struct l2fwd_params *params = ctx->params;
	const struct l2fwd *state = ctx->state;
	uint64_t src, dst;
	void *data = NULL;
	bool known;

	l2fwd_keys(pkt, params->vlan, &src, &dst);
	known = l2fwd_find_one(&state->table, dst, &data);
	if (src == dst && !(dst & L2FWD_GROUP) && dst & L2FWD_MAC && params->learn &&
	    !(known && l2fwd_static(data)))
		return DROP(L2FWD_SAME_GATE);
	return l2fwd_way(ctx, dst, known, data);
}

static void l2fwd_explain_one(struct ctx *ctx, struct rte_mbuf *pkt, gate_t gate)
{
	struct batch *out = pkt ? batch_new(ctx) : NULL;

	if (out) {
		out->pkts[out->n++] = pkt;
		emit(ctx, out, gate);
	} else if (pkt) {
		packet_drop(ctx, pkt, REASON_NO_MEMORY);
	}
}

static void l2fwd_explain_flood(struct ctx *ctx, struct rte_mbuf *pkt)
{
	gate_t last = ctx->ogates;

	for (gate_t gate = 0; gate < ctx->ogates; gate++) {
		if (gate == ctx->igate)
			continue;
		if (last < ctx->ogates)
			l2fwd_explain_one(ctx, packet_copy(ctx, pkt), last);
		last = gate;
	}
	if (last < ctx->ogates)
		l2fwd_explain_one(ctx, pkt, last);
	else
		packet_drop(ctx, pkt, L2FWD_SAME_GATE);
}

// It shares nothing with process() that process() would rather have to itself.
static void l2fwd_explain(struct ctx *ctx, struct batch *in)
{
	batch_foreach (in, pkt) {
		gate_t gate = l2fwd_explain_way(ctx, pkt);

		if (gate == L2FWD_FLOOD)
			l2fwd_explain_flood(ctx, pkt);
		else if (gate & DROP(0))
			packet_drop(ctx, pkt, gate & ~DROP(0));
		else
			l2fwd_explain_one(ctx, pkt, gate);
	}
	in->n = 0;
	batch_free(ctx, in);
}

#endif
