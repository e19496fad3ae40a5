// SPDX-License-Identifier: BSD-3-Clause
// The hot path: one source is polled, then all that follows from it runs. See DESIGN for the order.

#include <rte_cycles.h>
#include <rte_prefetch.h>

#include "run/inside.h"

// Brings the clock and the busy and idle cycles up to date.
void time_update(struct worker *worker, bool busy_now)
{
	uint64_t tsc;

	if (worker->clock->set) {
		worker->now_ns = clock_now(worker->clock);
		worker->busy = busy_now;
		return;
	}
	tsc = rte_rdtsc();
	counter_add(worker->busy ? &worker->busy_cycles : &worker->idle_cycles,
		    tsc - worker->last_tsc);
	worker->last_tsc = tsc;
	worker->busy = busy_now;
	worker->now_ns = clock_at(worker->clock, tsc);
}

static __attribute__((noinline, cold)) void violation_note(struct ctx *ctx, uint64_t took)
{
	struct violation *violation = &((struct run_node *)(uintptr_t)ctx->node)->violation;
	int none = 0;

	if (__atomic_compare_exchange_n(&violation->state, &none, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
		violation->took = took;
		violation->balance = ctx->balance;
		__atomic_store_n(&violation->state, 2, __ATOMIC_RELEASE);
	}
}

#ifdef SLUICE_DEBUG
// What every packet between nodes must be.
static void batch_check(const struct batch *batch)
{
	RTE_VERIFY(batch->n > 0 && batch->n <= BATCH_MAX);
	for (unsigned i = 0; i < batch->n; i++) {
		RTE_VERIFY(rte_mbuf_refcnt_read(batch->pkts[i]) == 1);
		RTE_VERIFY(rte_pktmbuf_data_len(batch->pkts[i]) >= 14);
	}
}
#else
static inline void batch_check(const struct batch *batch)
{
	(void)batch;
}
#endif

// `found`, by way of `guess` where both are equal: a processor that has predicted so goes on with
// the guess, and does not wait until what was just stored can be loaded. The statement keeps the
// compiler from seeing that it makes no difference.
static __rte_always_inline void *foretold(void *found, void *guess)
{
	if (unlikely(found != guess))
		return found;
	__asm__("" : "+r"(guess));
	return guess;
}

// One node, then by links that are single all that follows directly.
static __rte_always_inline void walk_chain(struct worker *worker, struct input *input,
					   struct batch *batch, const bool watched)
{
	uint64_t now_ns = worker->now_ns;

	do {
		struct ctx *ctx = input->ctx;
		uint64_t n = batch->n, before = 0;

		batch_check(batch);
		// Stores are what a hop of one packet is made of: none that changes nothing.
		if (unlikely(ctx->now_ns != now_ns))
			ctx->now_ns = now_ns;
		if (unlikely(ctx->igates > 1))
			ctx->igate = input->gate;
		ctx->balance = (int64_t)n;
		counter_add(&input->packets, n);
		counter_add(&input->batches, 1);
		if (watched)
			before = rte_rdtsc();
		input->process(ctx, batch);
		if (watched) {
			uint64_t cycles = rte_rdtsc() - before;

			counter_add(&ctx->cycles, cycles > worker->rdtsc_cycles
						      ? cycles - worker->rdtsc_cycles
						      : 0);
			counter_add(&ctx->cycles_sampled, n);
			counter_add(&ctx->cycles_calls, 1);
		}
		if (unlikely(ctx->balance))
			violation_note(ctx, n);
		input = foretold(ctx->next, input->follow);
		batch = foretold(ctx->next_batch, batch);
		ctx->next = NULL;
	} while (input);
}

// Takes all that is pending at an input. What comes in meanwhile waits for the next pass.
static __rte_always_inline void walk_input(struct worker *worker, struct input *input,
					   const bool watched)
{
	struct batch *batch = input->head;

	input->head = NULL;
	input->tail = NULL;
	if (input->looped)
		worker->looping -= input->queued;
	input->queued = 0;
	if (input->from)
		input->from->direct = input;
	while (batch) {
		struct batch *next = batch->next;

		walk_chain(worker, input, batch, watched);
		batch = next;
	}
}

// One ascending pass. A bit set at or before the present place stays for the next pass.
static __rte_always_inline void walk_pass(struct worker *worker, const bool watched)
{
	struct plan *plan = &worker->plan;
	unsigned left = 0;

	for (unsigned w = 0; w < plan->n_words; w++) {
		uint64_t ahead = ~0ULL;

		while (plan->pending[w] & ahead) {
			unsigned bit = (unsigned)__builtin_ctzll(plan->pending[w] & ahead);

			plan->pending[w] &= ~(1ULL << bit);
			ahead = bit == 63 ? 0 : ~0ULL << (bit + 1);
			walk_input(worker, &plan->inputs[w * 64 + bit], watched);
		}
		left |= plan->pending[w] != 0;
	}
	// A back link may have set a bit in a word that was done with.
	worker->pending_any = left || worker->looping;
}

// Which source is polled next: each in turn, as often as its weight says.
static inline struct source *next_source(struct worker *worker)
{
	struct plan *plan = &worker->plan;
	struct source *source = &plan->sources[worker->turn];

	if (likely(source->credit > 1)) {
		source->credit--;
	} else {
		source->credit = source->weight;
		if (++worker->turn >= plan->n_sources)
			worker->turn = 0;
	}
	return source;
}

// Whether some node behind the source wants it to wait.
static inline bool source_held_back(const struct worker *worker, const struct source *source)
{
	for (unsigned i = 0; i < source->n_gauges; i++)
		if (__atomic_load_n(source->gauges[i], __ATOMIC_RELAXED))
			return true;
	return unlikely(__atomic_load_n(&worker->draining, __ATOMIC_RELAXED)) &&
	       !source->ctx->igates;
}

// Packets that enter a worker are read soon: fetch the first line of each.
static inline void batch_prefetch(const struct batch *batch)
{
	for (unsigned i = 0; i < batch->n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(batch->pkts[i], void *));
}

static __attribute__((noinline)) void source_ended(struct worker *worker, struct source *source)
{
	struct plan *plan = &worker->plan;
	unsigned at = (unsigned)(source - plan->sources);
	struct source ended = *source;

	for (unsigned i = at + 1; i < plan->n_sources; i++)
		plan->sources[i - 1] = plan->sources[i];
	plan->sources[--plan->n_sources] = ended;
	if (worker->turn > at)
		worker->turn--;
	if (worker->turn >= plan->n_sources)
		worker->turn = 0;
}

static __rte_always_inline int walk(struct worker *worker, const bool watched)
{
	struct source *source = next_source(worker);
	struct ctx *ctx = source->ctx;
	struct input *next;
	uint64_t before = 0;
	int n;

	if (unlikely(source_held_back(worker, source)))
		return 0;
	ctx->now_ns = worker->now_ns;
	ctx->balance = 0;
	if (watched)
		before = rte_rdtsc();
	n = source->poll(ctx);
	if (watched && n > 0) {
		uint64_t cycles = rte_rdtsc() - before;

		counter_add(&ctx->cycles,
			    cycles > worker->rdtsc_cycles ? cycles - worker->rdtsc_cycles : 0);
		counter_add(&ctx->cycles_sampled, (uint64_t)n);
		counter_add(&ctx->cycles_calls, 1);
	}
	if (unlikely(ctx->balance))
		violation_note(ctx, 0);
	next = foretold(ctx->next, source->follow);
	if (next) {
		ctx->next = NULL;
		if (source->prefetch)
			batch_prefetch(ctx->next_batch);
		walk_chain(worker, next, ctx->next_batch, watched);
	}
	if (unlikely(n == POLL_ENDED)) {
		source_ended(worker, source);
		n = 0;
	}
	if (worker->pending_any)
		walk_pass(worker, watched);
	return n;
}

static __attribute__((noinline)) int walk_watched(struct worker *worker)
{
	// Spread around the mean, so that sources polled in turn are all seen.
	worker->random = worker->random * 1664525 + 1013904223;
	worker->watch_in =
	    worker->watch / 2 + 1 + (uint32_t)((uint64_t)worker->random * worker->watch >> 32);
	time_update(worker, worker->busy);
	return walk(worker, true);
}

int walk_poll(struct worker *worker)
{
	int n;

	// Who has seen it knows that the polls before it are over.
	__atomic_store_n(&worker->polls, worker->polls + 1, __ATOMIC_RELEASE);
	if (unlikely(!worker->plan.n_sources)) {
		if (worker->pending_any)
			walk_pass(worker, false);
		return 0;
	}
	// While nothing comes the time is read before each poll, which costs nobody anything; while
	// packets come without a pause, at watched walks only.
	if (unlikely(--worker->watch_in == 0)) {
		n = walk_watched(worker);
	} else {
		if (!worker->busy || worker->plan.exact)
			time_update(worker, worker->busy);
		n = walk(worker, false);
	}
	if (n > 0)
		worker->busy = true;
	else if (worker->busy)
		time_update(worker, false);
	return n;
}

// Whether nothing more can come by itself: nothing is pending, and every source has ended or, if it
// is to end, waits for a node behind it that is full.
bool walk_settled(const struct worker *worker)
{
	for (unsigned i = 0; i < worker->plan.n_sources; i++) {
		const struct source *source = &worker->plan.sources[i];

		if (!source->ctx->igates &&
		    !(__atomic_load_n(&source->ctx->node->finite, __ATOMIC_RELAXED) &&
		      source_held_back(worker, source)))
			return false;
	}
	return !worker->pending_any;
}

void walk_from(struct worker *worker, struct input *input, struct batch *batch)
{
	walk_chain(worker, input, batch, false);
}

bool walk_pending(struct worker *worker)
{
	if (worker->pending_any)
		walk_pass(worker, false);
	return worker->pending_any;
}

void walk_discard(struct worker *worker)
{
	struct plan *plan = &worker->plan;

	for (unsigned i = 0; i < plan->n_inputs; i++) {
		struct input *input = &plan->inputs[i];

		while (input->head) {
			struct batch *batch = input->head;

			input->head = batch->next;
			counter_add(&input->packets, batch->n);
			counter_add(&input->batches, 1);
			input->ctx->balance = batch->n;
			drop(input->ctx, batch, REASON_LOOP_FULL);
		}
		input->tail = NULL;
		input->queued = 0;
		if (input->from)
			input->from->direct = input;
	}
	for (unsigned w = 0; w < plan->n_words; w++)
		plan->pending[w] = 0;
	worker->pending_any = 0;
	worker->looping = 0;
}
