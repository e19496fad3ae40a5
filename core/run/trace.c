// SPDX-License-Identifier: BSD-3-Clause
// The control thread's part of the tracer: who watches, which graphs there are, and the events on
// their way out of the rings.

#include <stdlib.h>
#include <string.h>

#include <rte_mbuf_dyn.h>

#include "run/trace_inside.h"

static struct trace_node *name_make(struct tracer *tracer, const struct graph *graph,
				    const struct graph_node *node)
{
	const char *port = node->port >= 0 && !node->receives ? graph->ports[node->port].name : "";
	struct trace_node *name = tracer->names;

	while (name &&
	       (strcmp(name->name, node->name) != 0 || name->type != node->type ||
		strcmp(name->port ? name->port : "", port) != 0 || name->last != !node->ogates))
		name = name->next;
	if (name)
		return name;
	name = arena_alloc(tracer->arena, sizeof(*name));
	*name = (struct trace_node){.name = arena_strdup(tracer->arena, node->name),
				    .type = node->type,
				    .port = *port ? arena_strdup(tracer->arena, port) : NULL,
				    .last = !node->ogates,
				    .next = tracer->names};
	tracer->names = name;
	return name;
}

static void graph_forget(struct trace_graph **at)
{
	struct trace_graph *graph = *at;

	*at = graph->next;
	free(graph->names);
	free(graph);
}

// What lies where the new graph does is of graphs that are gone, once all their events are out.
void tracer_graph(struct tracer *tracer, const struct graph *graph)
{
	struct trace_graph *made = memory_new(1, sizeof(*made)), **at = &tracer->graphs;
	const struct graph_node *end = graph->nodes + graph->n_nodes;

	tracer_drain(tracer);
	while (*at) {
		if ((*at)->nodes < end && graph->nodes < (*at)->nodes + (*at)->n)
			graph_forget(at);
		else
			at = &(*at)->next;
	}
	*made = (struct trace_graph){.nodes = graph->nodes,
				     .n = graph->n_nodes,
				     .names = memory_new(graph->n_nodes + 1, sizeof(*made->names)),
				     .next = tracer->graphs};
	for (unsigned i = 0; i < graph->n_nodes; i++)
		made->names[i] = name_make(tracer, graph, &graph->nodes[i]);
	tracer->graphs = made;
}

static const struct trace_node *name_of(const struct tracer *tracer, const struct graph_node *node)
{
	for (const struct trace_graph *graph = tracer->graphs; graph; graph = graph->next)
		if (node >= graph->nodes && node < graph->nodes + graph->n)
			return graph->names[node - graph->nodes];
	return NULL;
}

static void ring_drain(struct tracer *tracer, struct trace_ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), tail = ring->tail;

	for (; tail != head; tail++) {
		const struct trace_event *event = &ring->events[tail % TRACE_RING];
		const struct trace_node *name = name_of(tracer, event->node);

		if (name)
			tracer->take(tracer->arg, event, name);
		__atomic_store_n(&ring->tail, tail + 1, __ATOMIC_RELEASE);
	}
}

void tracer_drain(struct tracer *tracer)
{
	for (unsigned i = 0; i < tracer->n_rings; i++)
		ring_drain(tracer, &tracer->rings[i]);
}

uint64_t tracer_lost(const struct tracer *tracer)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < tracer->n_rings; i++)
		sum += counter_read(&tracer->rings[i].lost);
	return sum;
}

// All links. The first one of a graph says that this is a graph which will run.
static unsigned wants(const struct tap *tap, const struct graph *graph,
		      const struct graph_link *link)
{
	struct tracer *tracer = (struct tracer *)(uintptr_t)tap;

	if (link == graph->links && !tracer->explains)
		tracer_graph(tracer, graph);
	return 1;
}

static int mark_register(struct tracer *tracer, struct errors *errors)
{
	static const struct rte_mbuf_dynfield field = {.name = "sluice_trace_mark",
						       .size = sizeof(struct trace_mark),
						       .align = _Alignof(struct trace_mark)};
	static const struct rte_mbuf_dynflag flag = {.name = "sluice_trace_marked"};
	int bit = rte_mbuf_dynflag_register(&flag);

	tracer->field = rte_mbuf_dynfield_register(&field);
	if (bit < 0 || tracer->field < 0) {
		error_machine(errors, NULL, "packets have no room for the mark of a trace");
		return -1;
	}
	tracer->flag = RTE_BIT64(bit);
	return 0;
}

struct tracer *tracer_make(struct run *run, unsigned n_rings, struct arena *arena, trace_take *take,
			   void *arg, struct errors *errors)
{
	struct tracer *tracer = memory_new(1, sizeof(*tracer));
	size_t size = n_rings * sizeof(*tracer->rings);

	*tracer = (struct tracer){
	    .tap = {.wants = wants, .leaves = trace_leaves, .enters = trace_enters},
	    .run = run,
	    .arena = arena,
	    .n_rings = n_rings,
	    .take = take,
	    .arg = arg,
	};
	// Memory that is never used is never touched.
	tracer->rings = aligned_alloc(64, size);
	for (unsigned i = 0; tracer->rings && i < n_rings; i++) {
		tracer->rings[i].head = 0;
		tracer->rings[i].tail = 0;
		tracer->rings[i].lost = 0;
		tracer->rings[i].call = (struct trace_call){0};
	}
	if (!tracer->rings)
		error_machine(errors, NULL, "no memory for the events of a trace");
	else if (!mark_register(tracer, errors))
		return tracer;
	tracer_unmake(tracer);
	return NULL;
}

void tracer_unmake(struct tracer *tracer)
{
	while (tracer->graphs)
		graph_forget(&tracer->graphs);
	free(tracer->rings);
	free(tracer);
}

struct tracer *tracer_new(struct run *run, trace_take *take, void *arg, struct errors *errors)
{
	struct arena *arena = arena_new();
	struct tracer *tracer = tracer_make(run, WORKERS_MAX, arena, take, arg, errors);

	if (!tracer)
		arena_free(arena);
	return tracer;
}

void tracer_free(struct tracer *tracer)
{
	struct errors *errors = errors_new();
	bool gone = !tracer->tapped || !run_untap(tracer->run, &tracer->tap, errors);

	errors_free(errors);
	// A worker that did not park may still come here: better that it finds what was.
	if (!gone)
		return;
	arena_free(tracer->arena);
	tracer_unmake(tracer);
}

static bool watched(const struct tracer *tracer)
{
	for (unsigned i = 0; i < TRACE_WATCHES; i++)
		if (tracer->watches[i])
			return true;
	return false;
}

static int watch_put(struct tracer *tracer, unsigned number, struct trace_watch *watch,
		     struct errors *errors)
{
	if (run_park(tracer->run, errors))
		return -1;
	tracer->watches[number] = watch;
	run_unpark(tracer->run);
	return 0;
}

int tracer_watch(struct tracer *tracer, struct trace_watch *watch, struct errors *errors)
{
	unsigned number = 0;

	while (number < TRACE_WATCHES && tracer->watches[number])
		number++;
	if (number == TRACE_WATCHES) {
		error_machine(errors, NULL, "%d traces run already, which are as many as can be",
			      TRACE_WATCHES);
		return -1;
	}
	if (tracer->tapped)
		return watch_put(tracer, number, watch, errors) ? -1 : (int)number;
	tracer->watches[number] = watch;
	// A graph without links is named to nobody.
	tracer_graph(tracer, run_graph(tracer->run));
	if (!run_tap(tracer->run, &tracer->tap, errors)) {
		tracer->tapped = true;
		return (int)number;
	}
	tracer->watches[number] = NULL;
	return -1;
}

int tracer_unwatch(struct tracer *tracer, struct trace_watch *watch)
{
	struct errors *errors = errors_new();
	int status = 0;

	for (unsigned i = 0; i < TRACE_WATCHES; i++)
		if (tracer->watches[i] == watch)
			status = watch_put(tracer, i, NULL, errors);
	// Where that fails, it is tried again with the next watch that goes; it costs time, no
	// more.
	if (!status && tracer->tapped && !watched(tracer) &&
	    !run_untap(tracer->run, &tracer->tap, errors))
		tracer->tapped = false;
	errors_free(errors);
	return status;
}

void tracer_allow(struct trace_watch *watch, int n)
{
	if (n < 0)
		__atomic_store_n(&watch->allowed, 0, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&watch->allowed, n, __ATOMIC_RELAXED);
}
