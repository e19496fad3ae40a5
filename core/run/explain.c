// SPDX-License-Identifier: BSD-3-Clause
// Explains what the running graph would do with a packet: a worker of its own, with counters,
// batches and node memory of its own, walks it through the shared tables while the others stand
// still.

#include <stdlib.h>
#include <string.h>

#include "mbuf.h"
#include "run/trace_inside.h"

#define PASSES_MAX 4096 // over links that lead back
#define EVENTS_MAX (TRACE_RING - 4 * GATES_MAX)

struct scratch {
	struct run *run;
	struct graph graph;    // the running one, but that this worker runs all of it
	struct worker *worker; // never started
	struct tracer *tracer;
	void **locals; // by node: copies, where the type has any
	struct rte_mbuf *pkt;
};

// Whether process() changes nothing but the packet by what the type says.
static bool type_is_plain(const struct graph_node *node)
{
	const struct module_type *type = node->type;

	return !type->state_size && !type->local_size && !type->poll && node->port < 0;
}

static void source_process(struct ctx *ctx, struct batch *batch)
{
	emit(ctx, batch, 0);
}

static void explain_enters(struct tap *tap, struct ctx *ctx, struct batch *batch,
			   void (*process)(struct ctx *, struct batch *))
{
	struct tracer *tracer = (struct tracer *)tap;
	const struct graph_node *node = ((const struct run_node *)ctx->node)->spec;

	if (node->type->explain)
		process = node->type->explain;
	else if (!type_is_plain(node))
		process = trace_unexplained;
	// What goes round and makes copies of itself would fill everything.
	if (tracer->rings->head > EVENTS_MAX) {
		consume(ctx, batch);
		return;
	}
	trace_enters(tap, ctx, batch, process);
}

static unsigned wants_all(const struct tap *tap, const struct graph *graph,
			  const struct graph_link *link)
{
	(void)tap;
	(void)graph;
	(void)link;
	return 1;
}

// The packet, in as many buffers as it takes.
static struct rte_mbuf *packet_make(struct rte_mempool *pool, const uint8_t *bytes, unsigned n)
{
	struct rte_mbuf *first = rte_pktmbuf_alloc(pool), *last = first;
	unsigned room, part;

	// Metadata that nobody has written is zero, not what another packet left.
	if (first)
		memset(first->dynfield1, 0, sizeof(first->dynfield1));
	while (last) {
		room = rte_pktmbuf_tailroom(last);
		part = n < room ? n : room;
		memcpy(rte_pktmbuf_mtod(last, uint8_t *), bytes, part);
		last->data_len = (uint16_t)part;
		first->pkt_len += part;
		bytes += part;
		n -= part;
		if (!n)
			return first;
		last->next = rte_pktmbuf_alloc(pool);
		last = last->next;
		first->nb_segs++;
	}
	// Of a chain that is cut, the number of segments is not looked at.
	rte_pktmbuf_free(first);
	return NULL;
}

static int tracer_set_up(struct scratch *scratch, struct arena *arena, trace_take *take, void *arg,
			 struct errors *errors)
{
	struct tracer *tracer = tracer_make(scratch->run, 1, arena, take, arg, errors);

	if (!tracer)
		return -1;
	tracer->explains = true;
	tracer->tap.wants = wants_all;
	tracer->tap.enters = explain_enters;
	tracer_graph(tracer, run_graph(scratch->run));
	scratch->tracer = tracer;
	return 0;
}

// Everything that takes time, before the workers are parked.
static int scratch_make(struct scratch *scratch, struct run *run, const struct explain *explain)
{
	const struct graph *graph = run_graph(run);
	struct worker *worker;

	scratch->graph = *graph;
	scratch->graph.nodes = memory_new(graph->n_nodes + 1, sizeof(struct graph_node));
	scratch->locals = memory_new(graph->n_nodes + 1, sizeof(void *));
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		scratch->graph.nodes[i] = graph->nodes[i];
		scratch->graph.nodes[i].workers = 1;
		if (graph->nodes[i].type->local_size)
			scratch->locals[i] = memory_lines(graph->nodes[i].type->local_size);
	}
	worker = worker_make(run, &scratch->graph, 0);
	scratch->worker = worker;
	if (!worker || plan_make(&scratch->graph, run->nodes, worker, 0, &worker->plan) ||
	    batches_make(&worker->plan, 0) ||
	    taps_set(&scratch->graph, &worker->plan, &scratch->tracer->tap))
		return -1;
	batches_reset(worker);
	scratch->pkt = packet_make(worker->pool, explain->bytes, explain->n);
	return scratch->pkt ? 0 : -1;
}

static void scratch_free(struct scratch *scratch)
{
	struct worker *worker = scratch->worker;

	rte_pktmbuf_free(scratch->pkt);
	if (worker) {
		if (worker->plan.batches)
			walk_discard(worker);
		worker_free(worker);
	}
	for (unsigned i = 0; scratch->locals && i < scratch->graph.n_nodes; i++)
		free(scratch->locals[i]);
	free(scratch->locals);
	free(scratch->graph.nodes);
	tracer_unmake(scratch->tracer);
}

// What nodes keep for a worker: the copy is of the first one's.
static void locals_copy(struct scratch *scratch)
{
	struct plan *plan = &scratch->worker->plan;

	for (unsigned i = 0; i < scratch->graph.n_nodes; i++) {
		if (!scratch->locals[i] || !scratch->run->nodes[i]->n_locals)
			continue;
		memcpy(scratch->locals[i], scratch->run->nodes[i]->locals[0],
		       scratch->graph.nodes[i].type->local_size);
		plan->ctxs[i]->local = scratch->locals[i];
	}
}

static struct input *input_find(const struct plan *plan, const struct ctx *ctx, gate_t gate)
{
	for (unsigned i = 0; i < plan->n_inputs; i++)
		if (plan->inputs[i].ctx == ctx && plan->inputs[i].gate == gate)
			return &plan->inputs[i];
	return NULL;
}

// In the park.
static void scratch_walk(struct scratch *scratch, const struct explain *explain)
{
	struct worker *worker = scratch->worker;
	struct ctx *ctx = worker->plan.ctxs[explain->node];
	struct batch *batch = batch_new(ctx);
	struct input *input;

	worker->now_ns = clock_now(worker->clock);
	batch->pkts[batch->n++] = scratch->pkt;
	ctx->igate = explain->igate;
	trace_begin(scratch->tracer, ctx, scratch->pkt);
	scratch->pkt = NULL;
	if (ctx->node->igates) {
		input = input_find(&worker->plan, ctx, explain->igate);
		walk_from(worker, input, batch);
	} else {
		// As walk_from() would, but that a source has no input and no process().
		ctx->balance = 1;
		trace_enters(&scratch->tracer->tap, ctx, batch, source_process);
		input = ctx->next;
		ctx->next = NULL;
		if (input)
			walk_from(worker, input, ctx->next_batch);
	}
	for (unsigned i = 0; i < PASSES_MAX && walk_pending(worker); i++)
		;
}

int run_explain(struct run *run, const struct explain *explain, trace_take *take, void *arg,
		uint64_t *parked_ns, struct errors *errors)
{
	struct scratch scratch = {.run = run};
	uint64_t begin;
	int status = -1;

	*parked_ns = 0;
	if (run->stopped) {
		error_machine(errors, NULL, "the graph has stopped, so nothing can be explained");
		return -1;
	}
	if (tracer_set_up(&scratch, explain->arena, take, arg, errors))
		return -1;
	if (scratch_make(&scratch, run, explain)) {
		error_machine(errors, NULL, "no memory for the packet, or all buffers are in use");
	} else if (!run_park(run, errors)) {
		begin = run_time_ns(run);
		locals_copy(&scratch);
		scratch_walk(&scratch, explain);
		run_unpark(run);
		*parked_ns = run_time_ns(run) - begin;
		status = 0;
	}
	tracer_drain(scratch.tracer);
	scratch_free(&scratch);
	return status;
}
