// SPDX-License-Identifier: BSD-3-Clause
// L2Fwd: a learning bridge. Input gate i and output gate i are one bridge port. It learns behind
// which port a station is from the source addresses that come in there.

#include <string.h>

#include "module.h"
#include "packet.h"
#include "l2fwd_commands.h"
#include "l2fwd_control.h"
#include "l2fwd_way.h"

#define L2FWD_CREDIT 4096u // stations that a worker may learn at once, whatever its rate

static const char *const l2fwd_drops[] = {"reserved", "same_gate", NULL};
static const char *const l2fwd_drops_help[] = {
    "was sent to an address that bridges do not forward (01:80:c2:00:00:00 to 0f)",
    "its destination is behind the gate that it came from",
};

enum {
	L2FWD_LEARNED,
	L2FWD_MOVED,
	L2FWD_TABLE_FULL,
	L2FWD_DEFERRED,
	L2FWD_FLOODED,
	L2FWD_UNCOPIED
};
static const struct counter l2fwd_counters[] = {
    {"learned", "stations that were new"},
    {"moved", "stations that turned up behind another gate"},
    {"table_full", "times that a new station found no place"},
    {"deferred", "times that a station was not learned yet: the rate, or another worker's turn"},
    {"flooded", "packets sent by all gates but the one they came from"},
    {"uncopied", "copies for flooding that there was no memory for"},
    {NULL, NULL},
};

// The last packet that came in by a gate. While the next ones have its addresses, and nothing in
// the table changed, they go the same way.
struct l2fwd_last {
	uint64_t src;
	uint64_t dst;
	uint64_t version;  // of the table when this was so; 0: never
	uint32_t until_ms; // then its source must be seen to again
	gate_t gate;
};

struct l2fwd_local {
	struct l2fwd_last last[GATES_MAX]; // by input gate
	uint64_t debt;	  // of learning: a second's nanoseconds for each station, paid at the rate
	uint64_t debt_ns; // when it was reckoned up
};

// How long after it was seen a station's time is not written again: its cache line stays clean.
static inline uint32_t l2fwd_refresh_ms(const struct l2fwd_params *params)
{
	return params->ageing.ns ? (uint32_t)RTE_MIN(params->ageing.ns / 8000000, 1000u) : 60000;
}

// Whether this worker's rate has room for one more.
static bool l2fwd_afford(struct ctx *ctx)
{
	const struct l2fwd_params *params = ctx->params;
	struct l2fwd_local *local = ctx->local;
	uint64_t passed = RTE_MIN(ctx->now_ns - local->debt_ns, 1000000000u) * params->learn;

	local->debt_ns = ctx->now_ns;
	local->debt -= RTE_MIN(local->debt, passed);
	if (!params->learn || local->debt >= L2FWD_CREDIT * 1000000000ull)
		return false;
	local->debt += 1000000000;
	return true;
}

// A station that is new or has moved, as it seemed before the lock was taken.
static __attribute__((noinline)) void l2fwd_learn(struct ctx *ctx, uint64_t key, uint32_t now_ms)
{
	struct l2fwd *state = ctx->state;
	struct l2fwd_table *table = &state->table;
	unsigned counter = L2FWD_LEARNED;
	void *data;

	if ((key & L2FWD_GROUP) || !(key & L2FWD_MAC))
		return;
	if (table->concurrent && __atomic_exchange_n(&state->lock, 1, __ATOMIC_ACQUIRE)) {
		counter_add(&ctx->counters[L2FWD_DEFERRED], 1);
		return;
	}
	if (l2fwd_find_one(table, key, &data)) {
		if (l2fwd_static(data) || l2fwd_gate(data) == ctx->igate)
			goto unlock;
		counter = L2FWD_MOVED;
	}
	if (!l2fwd_afford(ctx))
		counter = L2FWD_DEFERRED;
	else if (!l2fwd_put(table, key, ctx->igate, false, now_ms))
		counter = L2FWD_TABLE_FULL;
	else
		__atomic_store_n(&state->version, state->version + 1, __ATOMIC_RELEASE);
	counter_add(&ctx->counters[counter], 1);
unlock:
	if (table->concurrent)
		__atomic_store_n(&state->lock, 0, __ATOMIC_RELEASE);
}

// Learns where sources are. Returns whether the last one is known, and until when it is.
static bool l2fwd_sources(struct ctx *ctx, const uint64_t *src, unsigned n, uint32_t now_ms,
			  uint32_t *until_ms)
{
	struct l2fwd *state = ctx->state;
	uint32_t refresh_ms = l2fwd_refresh_ms(ctx->params), seen_ms = now_ms;
	unsigned n_keys = 0, n_slots = 0;
	uint64_t keys[BATCH_MAX], hits;
	uint32_t slots[BATCH_MAX];
	void *data[BATCH_MAX];
	bool known = false;

	keys[0] = 0;
	for (unsigned i = 0; i < n; i++)
		if (!i || src[i] != src[i - 1])
			keys[n_keys++] = src[i];
	hits = l2fwd_find(&state->table, keys, n_keys, data);
	for (unsigned i = 0; i < n_keys; i++) {
		known = hits >> i & 1;
		if (likely(known && l2fwd_gate(data[i]) == ctx->igate)) {
			slots[n_slots] = l2fwd_slot(data[i]);
			rte_prefetch0(&state->table.seen_ms[slots[n_slots]]);
			n_slots++;
			continue;
		}
		if (!known || !l2fwd_static(data[i]))
			l2fwd_learn(ctx, keys[i], now_ms);
		known = false;
	}
	for (unsigned i = 0; i < n_slots; i++) {
		seen_ms = l2fwd_seen(&state->table, slots[i]);
		if (now_ms - seen_ms < refresh_ms)
			continue;
		l2fwd_see(&state->table, slots[i], now_ms);
		seen_ms = now_ms;
	}
	*until_ms = seen_ms + refresh_ms;
	return known;
}

// Finds the way of each packet; returns how many are flooded. `last` learns of the last packet.
static unsigned l2fwd_destinations(struct ctx *ctx, const uint64_t *dst, unsigned n, gate_t *gates,
				   struct l2fwd_last *last)
{
	const struct l2fwd *state = ctx->state;
	unsigned n_keys = 0, flooded = 0;
	uint64_t keys[BATCH_MAX], hits;
	uint8_t which[BATCH_MAX];
	gate_t ways[BATCH_MAX];
	void *data[BATCH_MAX];

	for (unsigned i = 0; i < n; i++) {
		if (!i || dst[i] != dst[i - 1])
			keys[n_keys++] = dst[i];
		which[i] = (uint8_t)(n_keys - 1);
	}
	hits = l2fwd_find(&state->table, keys, n_keys, data);
	for (unsigned i = 0; i < n_keys; i++)
		ways[i] = l2fwd_way(ctx, keys[i], hits >> i & 1, data[i]);
	for (unsigned i = 0; i < n; i++) {
		gates[i] = ways[which[i]];
		flooded += gates[i] == L2FWD_FLOOD;
	}
	last->gate = gates[n - 1];
	return flooded;
}

// With two gates or fewer, flooding is forwarding. Returns whether that was so.
static bool l2fwd_flood_one(const struct ctx *ctx, gate_t *gates, unsigned n)
{
	gate_t way;

	if (ctx->ogates > 2 || (ctx->ogates == 2 && ctx->igate >= 2))
		return false;
	if (ctx->ogates == 2)
		way = 1 - ctx->igate;
	else
		way = ctx->igate == 0 ? DROP(L2FWD_SAME_GATE) : 0;
	for (unsigned i = 0; i < n; i++)
		gates[i] = gates[i] == L2FWD_FLOOD ? way : gates[i];
	return true;
}

// The packets of `mask` leave by one gate in order, copies of those in `copied`.
static void l2fwd_send(struct ctx *ctx, const struct batch *in, gate_t gate, uint64_t mask,
		       uint64_t copied)
{
	struct batch *out = batch_new(ctx);

	for (; mask; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		struct rte_mbuf *pkt = in->pkts[i];
		bool copy = copied >> i & 1;

		if (unlikely(!out && !copy)) {
			packet_drop(ctx, pkt, REASON_NO_MEMORY);
			continue;
		}
		if (copy)
			pkt = out ? packet_copy(ctx, pkt) : NULL;
		if (likely(pkt))
			out->pkts[out->n++] = pkt;
		else
			counter_add(&ctx->counters[L2FWD_UNCOPIED], 1);
	}
	if (out)
		emit(ctx, out, gate);
}

// Each packet to its gate, or copied to all gates but its own; the last one gets the packet itself.
static void l2fwd_flood(struct ctx *ctx, struct batch *in, const gate_t *gates)
{
	gate_t last = ctx->igate == ctx->ogates - 1 ? ctx->ogates - 2 : ctx->ogates - 1;
	uint64_t to[GATES_MAX] = {0}, flooded = 0;

	for (unsigned i = 0; i < in->n; i++) {
		if (gates[i] == L2FWD_FLOOD)
			flooded |= 1ull << i;
		else if (gates[i] & DROP(0))
			packet_drop(ctx, in->pkts[i], gates[i] & ~DROP(0));
		else
			to[gates[i]] |= 1ull << i;
	}
	for (gate_t gate = 0; gate < ctx->ogates; gate++) {
		uint64_t mask = to[gate] | (gate == ctx->igate ? 0 : flooded);

		if (mask)
			l2fwd_send(ctx, in, gate, mask, gate == last ? 0 : flooded);
	}
	in->n = 0;
	batch_free(ctx, in);
}

// Whether all packets have the addresses of the last one.
static inline __attribute__((always_inline)) bool l2fwd_same(const struct batch *in, bool vlans,
							     const struct l2fwd_last *last)
{
	uint64_t last_src = last->src, last_dst = last->dst, src, dst;

	for (unsigned i = 0; i < in->n; i++) {
		l2fwd_keys(in->pkts[i], vlans, &src, &dst);
		if ((src ^ last_src) | (dst ^ last_dst))
			return false;
	}
	return true;
}

static void l2fwd_process(struct ctx *ctx, struct batch *in)
{
	const struct l2fwd_params *params = ctx->params;
	struct l2fwd *state = ctx->state;
	struct l2fwd_local *local = ctx->local;
	struct l2fwd_last *last = &local->last[ctx->igate];
	uint64_t version = __atomic_load_n(&state->version, __ATOMIC_ACQUIRE);
	uint64_t src[BATCH_MAX], dst[BATCH_MAX];
	uint32_t now_ms = l2fwd_ms(ctx->now_ns);
	gate_t gates[BATCH_MAX];
	unsigned flooded, n = in->n;
	bool known;

	if (unlikely(!n)) {
		batch_free(ctx, in);
		return;
	}
	if (last->version == version && (int32_t)(now_ms - last->until_ms) < 0 &&
	    (params->vlan ? l2fwd_same(in, true, last) : l2fwd_same(in, false, last))) {
		emit(ctx, in, last->gate);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		l2fwd_keys(in->pkts[i], params->vlan, &src[i], &dst[i]);
	known = l2fwd_sources(ctx, src, n, now_ms, &last->until_ms);
	flooded = l2fwd_destinations(ctx, dst, n, gates, last);
	last->src = src[n - 1];
	last->dst = dst[n - 1];
	last->version = known && last->gate < ctx->ogates ? version : 0;
	if (unlikely(flooded)) {
		counter_add(&ctx->counters[L2FWD_FLOODED], flooded);
		if (!l2fwd_flood_one(ctx, gates, n)) {
			l2fwd_flood(ctx, in, gates);
			return;
		}
	}
	emit_each(ctx, in, gates);
}

static struct module_type l2fwd = {
    .name = "L2Fwd",
    .help = "forwards frames as a learning bridge does",
    .details =
	"Input gate i and output gate i are one port of the bridge. A frame goes to the gate where "
	"its destination was last seen as a source; a frame to an unknown, multicast or broadcast "
	"address goes to all gates but its own, as a copy each. One whose destination is behind "
	"its "
	"own gate is dropped, and so is one to 01:80:c2:00:00:00 to 0f (spanning tree, LACP, LLDP "
	"and the like). Multicast sources are never learned. Where a station turns up behind "
	"another gate it moves there, unless it is static. A silent station is kept for `ageing`, "
	"up to a second less.\n\n"
	"With `vlan: true` the outer VLAN tag is part of a station's address; no gate is left out "
	"of a VLAN. A full table forgets nobody: the traffic of those it has no room for is "
	"flooded. New stations are learned at the rate of `learn` for each worker (4096 at once), "
	"and where several workers run the node, one of them at a time learns and the others try "
	"again with the next frame: nobody waits.\n\n"
	"When a graph is changed, the table goes on, unless `vlan` changes. Another `size` moves "
	"the stations one by one, which takes up to half a second for a million; the same size "
	"takes no time.",
    .example = "nodes:\n"
	       "  bridge: {L2Fwd: {ageing: 60s}}\n"
	       "graph:\n"
	       "  - rx0 -> [0]bridge[0] -> tx0\n"
	       "  - rx1 -> [1]bridge[1] -> tx1\n",
    .igates = GATES_ANY,
    .ogates = GATES_ANY,
    .params = l2fwd_params,
    .commands = l2fwd_commands,
    .counters = l2fwd_counters,
    .drops = l2fwd_drops,
    .drops_help = l2fwd_drops_help,
    .state_size = sizeof(struct l2fwd),
    .local_size = sizeof(struct l2fwd_local),
    .tick_ns = 100000000,
    .shared = true,
    .check = l2fwd_check,
    .memory = l2fwd_memory,
    .open = l2fwd_open,
    .close = l2fwd_close,
    .process = l2fwd_process,
    .explain = l2fwd_explain,
    .tick = l2fwd_tick,
    .tick_parked = l2fwd_tick_parked,
    .take = l2fwd_take,
    .loses = l2fwd_loses,
    .save = l2fwd_save,
};
MODULE(l2fwd)
