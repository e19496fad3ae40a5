// SPDX-License-Identifier: BSD-3-Clause
// What a worker runs: the inputs in topological order, the ctxs, gates and sources of one graph.

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "run/inside.h"

// What begins here is in one allocation: the ctx, its gates, drop counters and own counters.
static struct ctx *ctx_make(const struct run_node *node, const void *params, struct worker *worker)
{
	const struct module_type *type = node->pub.type;
	unsigned n_counters = 0;
	size_t gates = RTE_ALIGN_CEIL(sizeof(struct ctx), 64);
	size_t drops, counters, size;
	char *memory;
	struct ctx *ctx;

	while (type->counters && type->counters[n_counters].name)
		n_counters++;
	drops = gates + (node->pub.ogates + 1u) * sizeof(struct ogate);
	counters = drops + reason_count(type) * sizeof(uint64_t);
	size = RTE_ALIGN_CEIL(counters + n_counters * sizeof(uint64_t), 64);
	memory = aligned_alloc(64, size);
	if (!memory)
		return NULL;
	memset(memory, 0, size);
	ctx = (struct ctx *)memory;
	ctx->params = params;
	ctx->state = node->pub.state;
	ctx->igates = node->pub.igates;
	ctx->ogates = node->pub.ogates;
	ctx->meta = node->meta;
	ctx->node = &node->pub;
	ctx->worker = worker;
	ctx->gates = (struct ogate *)(memory + gates);
	ctx->dropped = (uint64_t *)(memory + drops);
	ctx->counters = (uint64_t *)(memory + counters);
	return ctx;
}

// The number of a worker among those of a mask.
static unsigned mask_rank(uint64_t mask, unsigned worker)
{
	return (unsigned)__builtin_popcountll(mask & ((1ULL << worker) - 1));
}

// A node that uses a port has the number of the worker among those that use the port this way.
static uint16_t queue_number(const struct graph *graph, const struct graph_node *node,
			     unsigned worker)
{
	uint64_t mask = node->workers;

	for (unsigned i = 0; node->port >= 0 && i < graph->n_nodes; i++)
		if (graph->nodes[i].port == node->port &&
		    graph->nodes[i].receives == node->receives)
			mask |= graph->nodes[i].workers;
	return (uint16_t)mask_rank(mask, worker);
}

static int ctxs_make(const struct graph *graph, struct run_node **nodes, struct worker *worker,
		     unsigned number, struct plan *plan)
{
	plan->n_ctxs = graph->n_nodes;
	plan->ctxs = memory_new(graph->n_nodes + 1, sizeof(*plan->ctxs));
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];
		struct ctx *ctx;

		if (!(node->workers & 1ULL << number))
			continue;
		ctx = ctx_make(nodes[i], node->params, worker);
		if (!ctx)
			return -1;
		ctx->queue = queue_number(graph, node, number);
		if (nodes[i]->n_locals)
			ctx->local = nodes[i]->locals[mask_rank(node->workers, number)];
		plan->exact |= node->type->clock;
		plan->ctxs[i] = ctx;
	}
	return 0;
}

// An input for each linked gate that this worker may come to, in topological order; `at` maps
// (node, gate) to it.
static void inputs_make(const struct graph *graph, struct plan *plan, struct input **at)
{
	unsigned *by_order = memory_new(graph->n_nodes + 1, sizeof(*by_order));
	unsigned room = 0;

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		by_order[graph->nodes[i].order] = i;
		room += plan->ctxs[i] ? graph->nodes[i].igates : 0;
	}
	plan->inputs = aligned_alloc(64, (room + 1) * sizeof(*plan->inputs));
	if (plan->inputs)
		memset(plan->inputs, 0, (room + 1) * sizeof(*plan->inputs));
	for (unsigned o = 0; plan->inputs && o < graph->n_nodes; o++) {
		unsigned node = by_order[o];

		for (gate_t gate = 0; plan->ctxs[node] && gate < graph->nodes[node].igates;
		     gate++) {
			struct input *input = &plan->inputs[plan->n_inputs];

			input->process = graph->nodes[node].type->process;
			input->ctx = plan->ctxs[node];
			input->gate = gate;
			input->index = plan->n_inputs++;
			at[node * GATES_MAX + gate] = input;
		}
	}
	plan->n_words = (plan->n_inputs + 63) / 64;
	plan->pending = memory_new(plan->n_words + 1, sizeof(*plan->pending));
	free(by_order);
}

// What most likely runs after a node: what its only gate, or its first, leads to directly.
static struct input *follow_guess(const struct ctx *ctx)
{
	return ctx->ogates ? ctx->gates[0].direct : NULL;
}

static void links_make(const struct graph *graph, struct plan *plan, struct input **at)
{
	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];
		struct input *input = at[link->to * GATES_MAX + link->igate];
		struct ogate *out;

		if (!plan->ctxs[link->from] || !input)
			continue;
		out = &plan->ctxs[link->from]->gates[link->ogate];
		out->input = input;
		if (link->single) {
			out->direct = input;
			input->from = out;
		}
		input->looped |= link->back;
		input->special |= link->back;
	}
	for (unsigned i = 0; i < plan->n_inputs; i++)
		plan->inputs[i].follow = follow_guess(plan->inputs[i].ctx);
}

// Finds what lies behind a source, up to nodes that are sources themselves: those that may hold it
// back, and whether any reads packets.
static void source_look(const struct graph *graph, struct run_node **nodes, unsigned start,
			struct source *source)
{
	bool *seen = memory_new(graph->n_nodes + 1, sizeof(*seen));
	unsigned *stack = memory_new(graph->n_nodes + 1, sizeof(*stack));
	unsigned depth = 0;

	source->gauges = memory_new(graph->n_nodes + 1, sizeof(*source->gauges));
	stack[depth++] = start;
	while (depth) {
		unsigned node = stack[--depth];

		for (unsigned i = 0; i < graph->n_links; i++) {
			unsigned next = graph->links[i].to;
			const struct graph_node *to = &graph->nodes[next];

			if (graph->links[i].from != node || seen[next])
				continue;
			seen[next] = true;
			source->prefetch |= !to->type->blind;
			if (to->source)
				source->gauges[source->n_gauges++] = &nodes[next]->pub.congested;
			else
				stack[depth++] = next;
		}
	}
	free(seen);
	free(stack);
}

static void source_add(const struct graph *graph, struct run_node **nodes, struct plan *plan,
		       unsigned node, unsigned weight)
{
	struct source *source = &plan->sources[plan->n_sources];

	if (!plan->ctxs[node])
		return;
	plan->n_sources++;
	plan->n_made++;
	source->poll = graph->nodes[node].type->poll;
	source->ctx = plan->ctxs[node];
	source->weight = weight;
	source->credit = weight;
	source->node = node;
	source->follow = follow_guess(source->ctx);
	source_look(graph, nodes, node, source);
}

static void sources_make(const struct graph *graph, struct run_node **nodes, unsigned number,
			 struct plan *plan)
{
	const struct graph_worker *written = &graph->workers[number];

	plan->sources = memory_new(written->n_sources + graph->n_nodes + 1, sizeof(*plan->sources));
	for (unsigned i = 0; i < written->n_sources; i++)
		if (!graph_node_sender(&graph->nodes[written->sources[i].node]))
			source_add(graph, nodes, plan, written->sources[i].node,
				   written->sources[i].weight);
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph_node_sender(&graph->nodes[i]))
			source_add(graph, nodes, plan, i, 1);
}

// The plan of the worker as number `number` of the graph, which it need not be yet. -1 without
// memory; free it then too.
int plan_make(const struct graph *graph, struct run_node **nodes, struct worker *worker,
	      unsigned number, struct plan *plan)
{
	struct input **at;

	*plan = (struct plan){0};
	if (ctxs_make(graph, nodes, worker, number, plan))
		return -1;
	at = memory_new((size_t)graph->n_nodes * GATES_MAX + 1, sizeof(struct input *));
	inputs_make(graph, plan, at);
	links_make(graph, plan, at);
	sources_make(graph, nodes, number, plan);
	free(at);
	return plan->inputs ? 0 : -1;
}

void plan_free(struct plan *plan)
{
	// The nodes may be gone, and nobody calls them by this plan again.
	plan->enters = NULL;
	taps_remove(plan);
	for (unsigned i = 0; i < plan->n_ctxs; i++)
		free(plan->ctxs[i]);
	for (unsigned i = 0; i < plan->n_made; i++)
		free(plan->sources[i].gauges);
	free(plan->ctxs);
	free(plan->inputs);
	free(plan->pending);
	free(plan->sources);
	free(plan->batches);
	*plan = (struct plan){0};
}

// Memory that is never used is never touched, so the pool is generous.
int batches_make(struct plan *plan, unsigned have)
{
	unsigned wanted = 512 + 4 * plan->n_inputs + LOOP_PACKETS_MAX;

	if (wanted <= have)
		return 0;
	plan->batches = aligned_alloc(64, RTE_ALIGN_CEIL(wanted * sizeof(struct batch), 64));
	plan->n_batches = wanted;
	return plan->batches ? 0 : -1;
}

void batches_reset(struct worker *worker)
{
	worker->free = NULL;
	worker->n_fresh = worker->plan.n_batches;
}
