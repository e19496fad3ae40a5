// SPDX-License-Identifier: BSD-3-Clause
// The workers' part of the tracer: packets are chosen and marked where they come into the graph,
// and a node that gets a marked one is called with it alone, so that what becomes of it is known.

#include <string.h>

#include <rte_cycles.h>

#include "run/trace_inside.h"

#define REASONS_MAX 64

// A place for an event, which event_end() hands over; NULL: there is none, which is counted.
static struct trace_event *event_begin(struct tracer *tracer, const struct ctx *ctx,
				       enum trace_kind kind, const struct trace_mark *mark)
{
	struct trace_ring *ring = &tracer->rings[ctx->worker->index];
	struct trace_event *event = &ring->events[ring->head % TRACE_RING];

	if (ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) == TRACE_RING) {
		counter_add(&ring->lost, 1);
		return NULL;
	}
	memset(event, 0, offsetof(struct trace_event, bytes));
	event->tsc = rte_rdtsc();
	event->node = ((const struct run_node *)ctx->node)->spec;
	event->packet = mark->packet;
	event->branch = mark->branch;
	event->kind = (uint8_t)kind;
	event->worker = (uint8_t)ctx->worker->index;
	return event;
}

static void event_end(struct tracer *tracer, const struct ctx *ctx)
{
	struct trace_ring *ring = &tracer->rings[ctx->worker->index];

	__atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
}

static void event_bytes(struct trace_event *event, const struct rte_mbuf *pkt)
{
	uint32_t length = rte_pktmbuf_pkt_len(pkt), n = RTE_MIN(length, (uint32_t)TRACE_BYTES);
	const void *bytes = rte_pktmbuf_read(pkt, 0, n, event->bytes);

	if (bytes && bytes != event->bytes)
		memcpy(event->bytes, bytes, n);
	event->length = length;
	event->n_bytes = bytes ? (uint8_t)n : 0;
}

// Whether the ring has room for many more: a way that is begun should not break off.
static bool ring_ready(const struct trace_ring *ring)
{
	return ring->head - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) < TRACE_RING / 2;
}

static bool watch_claims(struct trace_watch *watch)
{
	if (__atomic_load_n(&watch->allowed, __ATOMIC_RELAXED) <= 0)
		return false;
	if (__atomic_fetch_sub(&watch->allowed, 1, __ATOMIC_RELAXED) > 0)
		return true;
	__atomic_add_fetch(&watch->allowed, 1, __ATOMIC_RELAXED);
	return false;
}

static bool watch_wants(struct trace_watch *watch, struct rte_mbuf *pkt, unsigned worker)
{
	if (__atomic_load_n(&watch->allowed, __ATOMIC_RELAXED) <= 0)
		return false;
	if (watch->filter && !filter_matches(watch->filter, pkt))
		return false;
	if (watch->sample > 1 && watch->seen[worker]++ % watch->sample)
		return false;
	return watch_claims(watch);
}

// The watches, as bits, that choose packets at this node: `source`, where they are made.
static unsigned watches_here(const struct tracer *tracer, const struct ctx *ctx, bool source)
{
	unsigned here = 0;

	if (!ring_ready(&tracer->rings[ctx->worker->index]))
		return 0;
	for (unsigned i = 0; i < TRACE_WATCHES; i++) {
		const struct trace_watch *watch = tracer->watches[i];

		if (watch && (watch->node ? !strcmp(watch->node, ctx->node->name) : source))
			here |= 1u << i;
	}
	return here;
}

static unsigned watches_choose(struct tracer *tracer, const struct ctx *ctx, unsigned here,
			       struct rte_mbuf *pkt)
{
	unsigned chosen = 0;

	for (unsigned i = 0; here >> i; i++)
		if (here >> i & 1 && watch_wants(tracer->watches[i], pkt, ctx->worker->index))
			chosen |= 1u << i;
	return chosen;
}

static uint32_t number_new(struct tracer *tracer)
{
	uint32_t number;

	do {
		number = __atomic_add_fetch(&tracer->last, 1, __ATOMIC_RELAXED);
	} while (!number);
	return number;
}

static void mark_new(struct tracer *tracer, struct rte_mbuf *pkt)
{
	uint32_t number = number_new(tracer);

	*trace_mark(tracer, pkt) = (struct trace_mark){.packet = number, .branch = number};
	pkt->ol_flags |= tracer->flag;
}

// Whether the gate leads back to where so much waits that the batch will be dropped.
static bool loop_is_full(const struct ctx *ctx, gate_t gate, const struct batch *batch)
{
	const struct input *input = ogate_input(&ctx->gates[gate]);

	return input->looped && ctx->worker->looping + batch->n > LOOP_PACKETS_MAX;
}

// A marked packet leaves by a gate. `watches`: it begins here, for them.
static void packet_leaves(struct tracer *tracer, struct ctx *ctx, gate_t gate, struct rte_mbuf *pkt,
			  unsigned watches, bool full)
{
	struct trace_call *call = &tracer->rings[ctx->worker->index].call;
	struct trace_mark *mark = trace_mark(tracer, pkt);
	bool of_call =
	    call->pkt && call->mark.packet == mark->packet && call->mark.branch == mark->branch;
	bool is_copy = of_call && pkt != call->pkt;
	struct trace_event *event;
	uint32_t parent = 0;

	if (is_copy) {
		parent = mark->branch;
		mark->branch = number_new(tracer);
	} else if (of_call) {
		call->left = true;
	}
	mark->hops++;
	event = event_begin(tracer, ctx, TRACE_LEAVES, mark);
	if (event) {
		event->gate = gate;
		event->parent = parent;
		event->watches = (uint16_t)watches;
		event->fresh = watches != 0;
		event->released = !watches && !of_call;
		if (full) {
			event->end = TRACE_DROPPED;
			event->reason = REASON_LOOP_FULL;
		} else if (mark->hops == TRACE_HOPS) {
			event->end = TRACE_GIVEN_UP;
		}
		event_bytes(event, pkt);
		event_end(tracer, ctx);
	}
	if (mark->hops == TRACE_HOPS)
		pkt->ol_flags &= ~tracer->flag;
}

void trace_leaves(struct tap *tap, struct ctx *ctx, gate_t gate, unsigned number,
		  struct batch *batch)
{
	struct tracer *tracer = (struct tracer *)tap;
	bool source = !ctx->igates && !tracer->explains;
	unsigned here = source ? watches_here(tracer, ctx, true) : 0;
	bool full = loop_is_full(ctx, gate, batch);
	uint64_t begin = rte_rdtsc();

	(void)number;
	batch_foreach (batch, pkt) {
		unsigned chosen = here ? watches_choose(tracer, ctx, here, pkt) : 0;

		// A packet that comes in with a mark was sent by a port that takes the packet
		// itself, while somebody traced.
		if (source)
			pkt->ol_flags &= ~tracer->flag;
		if (chosen)
			mark_new(tracer, pkt);
		if (trace_marked(tracer, pkt))
			packet_leaves(tracer, ctx, gate, pkt, chosen, full);
	}
	tracer->rings[ctx->worker->index].call.spent +=
	    rte_rdtsc() - begin + ctx->worker->rdtsc_cycles;
}

// What the counters said before a call.
struct call_counts {
	uint64_t dropped[REASONS_MAX];
	uint64_t consumed;
	uint64_t held;
	unsigned n_reasons;
};

static void counts_read(const struct ctx *ctx, struct call_counts *counts)
{
	counts->n_reasons = RTE_MIN(reason_count(ctx->node->type), (unsigned)REASONS_MAX);
	memcpy(counts->dropped, ctx->dropped, counts->n_reasons * sizeof(*counts->dropped));
	counts->consumed = ctx->consumed;
	counts->held = ctx->held;
}

static enum trace_end end_find(const struct ctx *ctx, const struct call_counts *before, bool left,
			       reason_t *reason)
{
	*reason = 0;
	if (left)
		return TRACE_LEFT;
	for (unsigned i = 0; i < before->n_reasons; i++)
		if (ctx->dropped[i] != before->dropped[i]) {
			*reason = (reason_t)i;
			return TRACE_DROPPED;
		}
	if (ctx->consumed != before->consumed)
		return TRACE_CONSUMED;
	return ctx->held != before->held ? TRACE_HELD : TRACE_GONE;
}

void trace_unexplained(struct ctx *ctx, struct batch *batch)
{
	consume(ctx, batch);
}

static void called_note(struct tracer *tracer, const struct ctx *ctx, const struct trace_mark *mark,
			enum trace_end end, reason_t reason, uint64_t tsc, uint64_t cycles)
{
	struct trace_event *event = event_begin(tracer, ctx, TRACE_CALLED, mark);
	uint64_t cost = ctx->worker->rdtsc_cycles;

	if (!event)
		return;
	event->tsc = tsc;
	event->gate = ctx->igate;
	event->end = (uint8_t)end;
	event->reason = reason;
	event->cycles = (uint32_t)((int64_t)cycles > (int64_t)cost ? cycles - cost : 0);
	event_end(tracer, ctx);
}

// Whether packets leave the graph here: nothing of a mark may stay with them.
static bool node_is_last(const struct ctx *ctx)
{
	const struct graph_node *spec = ((const struct run_node *)ctx->node)->spec;

	return !ctx->ogates || (spec->port >= 0 && !spec->receives);
}

static void call_alone(struct tracer *tracer, struct ctx *ctx, struct batch *batch,
		       void (*process)(struct ctx *, struct batch *))
{
	struct trace_call *call = &tracer->rings[ctx->worker->index].call;
	struct rte_mbuf *pkt = batch->pkts[0];
	struct call_counts before;
	enum trace_end end;
	reason_t reason;
	uint64_t tsc, cycles;

	*call = (struct trace_call){.pkt = pkt, .mark = *trace_mark(tracer, pkt)};
	if (node_is_last(ctx))
		pkt->ol_flags &= ~tracer->flag;
	counts_read(ctx, &before);
	tsc = rte_rdtsc();
	process(ctx, batch);
	cycles = rte_rdtsc() - tsc - call->spent;
	end = end_find(ctx, &before, call->left, &reason);
	if (process == trace_unexplained)
		end = TRACE_UNEXPLAINED;
	called_note(tracer, ctx, &call->mark, end, reason, tsc, cycles);
	call->pkt = NULL;
}

// The packets from `begin` up to `end` in a batch of their own; NULL: no batch is free.
static struct batch *batch_part(struct ctx *ctx, struct rte_mbuf **pkts, unsigned begin,
				unsigned end)
{
	struct batch *part = batch_new(ctx);

	if (!part)
		return NULL;
	part->n = end - begin;
	memcpy(part->pkts, &pkts[begin], part->n * sizeof(*pkts));
	return part;
}

// Without a batch the rest goes on as it is, and its marks end here.
static void rest_unseen(struct tracer *tracer, struct ctx *ctx, struct batch *batch)
{
	batch_foreach (batch, pkt)
		if (trace_marked(tracer, pkt)) {
			called_note(tracer, ctx, trace_mark(tracer, pkt), TRACE_UNSEEN, 0,
				    rte_rdtsc(), 0);
			pkt->ol_flags &= ~tracer->flag;
		}
}

static void begin_note(struct tracer *tracer, const struct ctx *ctx, struct rte_mbuf *pkt,
		       unsigned watches)
{
	struct trace_event *event;
	bool fresh = !trace_marked(tracer, pkt);

	if (fresh)
		mark_new(tracer, pkt);
	event = event_begin(tracer, ctx, TRACE_BEGINS, trace_mark(tracer, pkt));
	if (!event)
		return;
	event->gate = ctx->igate;
	event->watches = (uint16_t)watches;
	event->fresh = fresh;
	event_bytes(event, pkt);
	event_end(tracer, ctx);
}

void trace_begin(struct tracer *tracer, struct ctx *ctx, struct rte_mbuf *pkt)
{
	begin_note(tracer, ctx, pkt, 1);
}

// Which packets of the batch are marked; those that begin here are by then.
static uint64_t marked_find(struct tracer *tracer, const struct ctx *ctx, struct batch *batch)
{
	unsigned here = tracer->explains ? 0 : watches_here(tracer, ctx, false);
	uint64_t marked = 0;

	for (unsigned i = 0; i < batch->n; i++) {
		unsigned chosen = here ? watches_choose(tracer, ctx, here, batch->pkts[i]) : 0;

		if (chosen)
			begin_note(tracer, ctx, batch->pkts[i], chosen);
		if (trace_marked(tracer, batch->pkts[i]))
			marked |= 1ULL << i;
	}
	return marked;
}

void trace_enters(struct tap *tap, struct ctx *ctx, struct batch *batch,
		  void (*process)(struct ctx *, struct batch *))
{
	struct tracer *tracer = (struct tracer *)tap;
	uint64_t marked = marked_find(tracer, ctx, batch);
	struct rte_mbuf *pkts[BATCH_MAX];
	unsigned n = batch->n, at = 0;

	if (!marked) {
		process(ctx, batch);
		return;
	}
	memcpy(pkts, batch->pkts, n * sizeof(*pkts));
	while (at < n) {
		bool alone = marked >> at & 1;
		uint64_t ahead = marked >> at;
		unsigned end = alone ? at + 1 : ahead ? at + (unsigned)__builtin_ctzll(ahead) : n;
		struct batch *part = end == n ? batch : batch_part(ctx, pkts, at, end);

		if (!part || part == batch) {
			memmove(batch->pkts, &pkts[at], (n - at) * sizeof(*pkts));
			batch->n = n - at;
		}
		if (!part) {
			rest_unseen(tracer, ctx, batch);
			process(ctx, batch);
			return;
		}
		if (alone)
			call_alone(tracer, ctx, part, process);
		else
			process(ctx, part);
		at = end;
	}
}
