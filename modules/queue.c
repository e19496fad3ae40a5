// SPDX-License-Identifier: BSD-3-Clause
// Queue: holds packets until the worker that polls it takes them on. It hands packets from one
// worker to another, and keeps bursts.

#include <string.h>

#include <rte_malloc.h>
#include <rte_ring.h>

#include "module.h"

struct queue_params {
	uint32_t size;
	uint32_t high;
	uint32_t low;
	uint16_t burst;
	struct choice backpressure;
};

enum { QUEUE_AUTO, QUEUE_ON, QUEUE_OFF };
static const char *const queue_backpressure[] = {"auto", "on", "off", NULL};

static const struct param queue_params[] = {
    PARAM(queue_params, size, .def = "4096", .min = 1, .max = 1 << 20,
	  .help = "packets it can hold"),
    PARAM(queue_params, high, .def = "0", .max = 1 << 20,
	  .help = "with backpressure: the sources rest when it holds so many; 0: three quarters of "
		  "its size"),
    PARAM(queue_params, low, .def = "0", .max = 1 << 20,
	  .help = "with backpressure: the sources go on when it holds no more than this; 0: a "
		  "third of the high watermark"),
    PARAM(queue_params, burst, .def = "32", .min = 1, .max = BATCH_MAX,
	  .help = "packets it lets go at once, at most"),
    PARAM(queue_params, backpressure, .def = "auto", .choices = queue_backpressure,
	  .help =
	      "whether the sources that feed it rest while it is full; auto: if all of them end "
	      "some day"),
    PARAM_END,
};

// With backpressure, what may still come once the high watermark is passed: packets of walks that
// are under way on every worker, and of one more each where a worker that empties the ring was held
// up between its look at the level and its word that all is well. So the mark need not be exact.
#define QUEUE_SLACK 4096

enum { QUEUE_STOPPED = REASON_OWN };
static const char *const queue_drops[] = {"stopped", NULL};
static const char *const queue_drops_help[] = {"was still held when the node was closed"};

struct queue {
	struct rte_ring *ring;
	uint32_t size;
	uint32_t room; // of the ring
	uint32_t high;
	uint32_t low;
	uint16_t burst;
	bool backpressure;
};

static inline bool queue_congested(const struct ctx *ctx)
{
	return __atomic_load_n(&ctx->node->congested, __ATOMIC_RELAXED);
}

static void queue_process(struct ctx *ctx, struct batch *in)
{
	const struct queue *state = ctx->state;
	unsigned n = in->n, free_entries, queued;

	// Held before they are there: another worker may release them at once.
	hold(ctx, n);
	queued = rte_ring_enqueue_burst(state->ring, (void **)in->pkts, n, &free_entries);
	if (state->backpressure && state->room - free_entries >= state->high &&
	    !queue_congested(ctx))
		node_congest(ctx->node, true);
	in->n = n - queued;
	if (likely(!in->n)) {
		batch_free(ctx, in);
		return;
	}
	release(ctx, in->n);
	memmove(in->pkts, in->pkts + queued, in->n * sizeof(*in->pkts));
	drop(ctx, in, REASON_FULL);
}

// As if what is held were let go at once.
static void queue_explain(struct ctx *ctx, struct batch *in)
{
	const struct queue *state = ctx->state;

	if (rte_ring_free_count(state->ring) < in->n)
		drop(ctx, in, REASON_FULL);
	else
		emit(ctx, in, 0);
}

static int queue_poll(struct ctx *ctx)
{
	const struct queue *state = ctx->state;
	struct batch *batch = batch_new(ctx);
	unsigned left = 0, n;

	if (unlikely(!batch))
		return 0;
	n = rte_ring_dequeue_burst(state->ring, (void **)batch->pkts, state->burst, &left);
	batch->n = n;
	if (n) {
		release(ctx, n);
		emit(ctx, batch, 0);
	} else {
		batch_free(ctx, batch);
	}
	// At every poll: the mark may have been set after the last packet left.
	if (queue_congested(ctx) && left <= state->low)
		node_congest(ctx->node, false);
	return (int)n;
}

static int queue_level(struct node *node, const void *args, struct reply *reply,
		       struct errors *errors)
{
	const struct queue *state = node->state;

	(void)args;
	(void)errors;
	reply_u64(reply, "packets", rte_ring_count(state->ring));
	reply_u64(reply, "size", state->size);
	reply_bool(reply, "congested", __atomic_load_n(&node->congested, __ATOMIC_RELAXED));
	return 0;
}

static const struct command queue_commands[] = {
    {.name = "level", .help = "says how many packets it holds", .run = queue_level},
    {.name = NULL},
};

// The watermarks that were meant, with the defaults worked out.
static uint32_t queue_high(const struct queue_params *params)
{
	return params->high ? params->high : RTE_MAX(params->size - params->size / 4, 1u);
}

static uint32_t queue_low(const struct queue_params *params)
{
	return params->low ? params->low : queue_high(params) / 3;
}

static void queue_check(const void *p, struct errors *errors)
{
	const struct queue_params *params = p;

	if (params->high > params->size)
		error_input(errors, "high", "%u is more than the queue can hold, which is %u",
			    params->high, params->size);
	if (queue_low(params) >= queue_high(params))
		error_input(errors, "low", "the low watermark, %u, must be below the high one, %u",
			    queue_low(params), queue_high(params));
}

static unsigned queue_holds(const void *params)
{
	return ((const struct queue_params *)params)->size;
}

// The ring has one entry more than it can hold, and a power of two of them.
static uint64_t queue_memory(const void *p)
{
	const struct queue_params *params = p;
	uint32_t slack = params->backpressure.n == QUEUE_OFF ? 0 : QUEUE_SLACK;

	return (uint64_t)rte_ring_get_memsize(rte_align32pow2(params->size + slack + 1));
}

// What is held goes on by the old graph before it ends.
static const char *queue_loses(const void *params, const void *old_params)
{
	(void)params;
	(void)old_params;
	return NULL;
}

static int queue_open(struct node *node, struct errors *errors)
{
	const struct queue_params *params = node->params;
	struct queue *state = node->state;
	// With several workers any of them may be at either end.
	unsigned flags = node->workers > 1 ? 0 : RING_F_SP_ENQ | RING_F_SC_DEQ;

	state->size = params->size;
	state->high = queue_high(params);
	state->low = queue_low(params);
	state->burst = params->burst;
	state->backpressure = params->backpressure.n == QUEUE_ON ||
			      (params->backpressure.n == QUEUE_AUTO && node->finite);
	state->ring = rte_zmalloc("queue", queue_memory(params), RTE_CACHE_LINE_SIZE);
	if (!state->ring) {
		error_machine(errors, "size", "no memory for a ring of %u packets", params->size);
		return -1;
	}
	state->room = params->size + (state->backpressure ? QUEUE_SLACK : 0);
	if (rte_ring_init(state->ring, "queue", state->room, flags | RING_F_EXACT_SZ)) {
		error_machine(errors, "size", "DPDK refused a ring of %u packets", state->room);
		return -1;
	}
	return 0;
}

static void queue_close(struct node *node)
{
	struct queue *state = node->state;
	struct rte_mbuf *pkts[BATCH_MAX];
	unsigned n;

	if (!state->ring)
		return;
	while ((n = rte_ring_dequeue_burst(state->ring, (void **)pkts, BATCH_MAX, NULL)) > 0)
		node_drop(node, pkts, n, QUEUE_STOPPED);
	rte_free(state->ring);
	state->ring = NULL;
}

static struct module_type queue = {
    .name = "Queue",
    .help = "holds packets until the worker that polls it takes them on",
    .details =
	"Workers pass packets to each other through a Queue: those that feed it put packets in, "
	"the "
	"one that has it among its sources takes them out. What does not fit is dropped as `full`. "
	"With backpressure the sources that feed it are not polled from the time it holds `high` "
	"packets until it holds no more than `low`: a capture passes without loss. A device goes "
	"on "
	"receiving meanwhile, and loses packets itself: so `auto` switches backpressure on only "
	"when everything that feeds the queue ends some day.",
    .example = "nodes:\n"
	       "  q: {Queue: {size: 1024}}\n"
	       "graph:\n"
	       "  - rx -> q -> tx\n",
    .igates = 1,
    .ogates = 1,
    .params = queue_params,
    .commands = queue_commands,
    .drops = queue_drops,
    .drops_help = queue_drops_help,
    .state_size = sizeof(struct queue),
    .shared = true,
    .blind = true,
    .check = queue_check,
    .holds = queue_holds,
    .memory = queue_memory,
    .open = queue_open,
    .close = queue_close,
    .process = queue_process,
    .explain = queue_explain,
    .poll = queue_poll,
    .loses = queue_loses,
};
MODULE(queue)
