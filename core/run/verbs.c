// SPDX-License-Identifier: BSD-3-Clause
// The verbs by which modules move packets (module.h), as far as they are not inline.

#include <string.h>

#include "mbuf.h"
#include "run/inside.h"

struct batch *batch_new(struct ctx *ctx)
{
	struct worker *worker = ctx->worker;
	struct batch *batch = worker->free;

	if (likely(batch)) {
		worker->free = batch->next;
	} else if (worker->n_fresh) {
		batch = &worker->plan.batches[--worker->n_fresh];
	} else {
		return NULL;
	}
	batch->n = 0;
	batch->next = NULL;
	return batch;
}

void batch_free(struct ctx *ctx, struct batch *batch)
{
	struct worker *worker = ctx->worker;

	batch->next = worker->free;
	worker->free = batch;
}

// Appends a batch to what is pending at an input; small ones are put together.
static void input_append(struct ctx *ctx, struct input *input, struct batch *batch)
{
	struct worker *worker = ctx->worker;
	struct batch *tail = input->tail;
	unsigned n = batch->n;

	input->queued += n;
	if (input->looped)
		worker->looping += n;
	worker->plan.pending[input->index / 64] |= 1ULL << input->index % 64;
	worker->pending_any = 1;
	if (input->from)
		input->from->direct = NULL;
	if (tail && tail->n + n <= BATCH_MAX) {
		memcpy(&tail->pkts[tail->n], batch->pkts, n * sizeof(*batch->pkts));
		tail->n += n;
		batch_free(ctx, batch);
		return;
	}
	batch->next = NULL;
	if (tail)
		tail->next = batch;
	else
		input->head = batch;
	input->tail = batch;
}

static __attribute__((noinline, cold)) void drop_for(struct ctx *ctx, struct batch *batch,
						     reason_t reason)
{
	drop(ctx, batch, reason);
}

// The gate, but for a tap on it, that the batch goes on by; NULL: it was dropped.
static __attribute__((noinline, cold)) struct ogate *emit_special(struct ctx *ctx,
								  struct batch *batch, gate_t gate)
{
	struct ogate *out = &ctx->gates[gate];

	if (!out->input->looped)
		out = tap_pass(ctx, batch, gate);
	if (!out->input->looped || ctx->worker->looping + batch->n <= LOOP_PACKETS_MAX)
		return out;
	drop(ctx, batch, REASON_LOOP_FULL);
	return NULL;
}

void emit_slow(struct ctx *ctx, struct batch *batch, gate_t gate)
{
	struct ogate *out = &ctx->gates[gate], *through = out;
	struct input *input = out->input;
	uint32_t n = batch->n;

	RTE_ASSERT(gate < ctx->ogates);
	if (unlikely(!n)) {
		batch_free(ctx, batch);
		return;
	}
	if (unlikely(!input)) {
		drop_for(ctx, batch, REASON_UNCONNECTED);
		return;
	}
	if (unlikely(input->special)) {
		through = emit_special(ctx, batch, gate);
		if (!through)
			return;
		input = through->input;
	}
	if (!input->from) {
		counter_add(&out->packets, n);
		counter_add(&out->batches, 1);
	}
	ctx->balance -= n;
	if (through->direct && !ctx->next) {
		ctx->next = through->direct;
		ctx->next_batch = batch;
		return;
	}
	input_append(ctx, input, batch);
}

static __attribute__((noinline)) void scatter(struct ctx *ctx, struct batch *batch,
					      const gate_t gates[])
{
	struct batch *open[GATES_MAX];
	uint64_t used = 0;

	for (unsigned i = 0; i < batch->n; i++) {
		gate_t gate = gates[i];

		if (unlikely(gate & 0x8000)) {
			packet_drop(ctx, batch->pkts[i], gate & 0x7fff);
			continue;
		}
		RTE_ASSERT(gate < ctx->ogates);
		if (!(used & 1ULL << gate)) {
			open[gate] = batch_new(ctx);
			if (unlikely(!open[gate])) {
				packet_drop(ctx, batch->pkts[i], REASON_NO_MEMORY);
				continue;
			}
			used |= 1ULL << gate;
		}
		open[gate]->pkts[open[gate]->n++] = batch->pkts[i];
	}
	batch_free(ctx, batch);
	while (used) {
		gate_t gate = (gate_t)__builtin_ctzll(used);

		used &= used - 1;
		emit(ctx, open[gate], gate);
	}
}

void emit_each(struct ctx *ctx, struct batch *batch, const gate_t gates[])
{
	uint32_t n = batch->n;
	gate_t differs = 0;

	if (unlikely(!n)) {
		batch_free(ctx, batch);
		return;
	}
	for (uint32_t i = 1; i < n; i++)
		differs |= gates[i] ^ gates[0];
	if (differs)
		scatter(ctx, batch, gates);
	else if (unlikely(gates[0] & 0x8000))
		drop(ctx, batch, gates[0] & 0x7fff);
	else
		emit(ctx, batch, gates[0]);
}

void drop(struct ctx *ctx, struct batch *batch, reason_t reason)
{
	counter_add(&ctx->dropped[reason], batch->n);
	ctx->balance -= batch->n;
	mbufs_free(batch->pkts, batch->n);
	batch_free(ctx, batch);
}

void packet_drop(struct ctx *ctx, struct rte_mbuf *pkt, reason_t reason)
{
	counter_add(&ctx->dropped[reason], 1);
	ctx->balance--;
	rte_pktmbuf_free(pkt);
}

void consume(struct ctx *ctx, struct batch *batch)
{
	counter_add(&ctx->consumed, batch->n);
	ctx->balance -= batch->n;
	mbufs_free(batch->pkts, batch->n);
	batch_free(ctx, batch);
}

void taken(struct ctx *ctx, struct batch *batch, unsigned n)
{
	counter_add(&ctx->consumed, n);
	ctx->balance -= n;
	batch->n -= n;
	if (batch->n)
		memmove(batch->pkts, &batch->pkts[n], batch->n * sizeof(*batch->pkts));
}

bool packets_new(struct ctx *ctx, struct rte_mbuf **pkts, unsigned n, uint16_t length)
{
	if (unlikely(!mbufs_new(ctx->worker->pool, pkts, n, length)))
		return false;
	made(ctx, n);
	return true;
}

struct rte_mbuf *packet_copy(struct ctx *ctx, const struct rte_mbuf *pkt)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(pkt, ctx->worker->pool, 0, UINT32_MAX);

	if (likely(copy != NULL))
		made(ctx, 1);
	return copy;
}

void *node_local(const struct node *node, unsigned i)
{
	return ((const struct run_node *)node)->locals[i];
}

void node_drop(struct node *node, struct rte_mbuf **pkts, unsigned n, reason_t reason)
{
	struct run_node *at = (struct run_node *)node;

	counter_add(&at->outside_drops[reason], n);
	counter_add(&at->outside_released, n);
	rte_pktmbuf_free_bulk(pkts, n);
}
