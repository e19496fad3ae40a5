// SPDX-License-Identifier: BSD-3-Clause
// Gives the sources that the file leaves open to workers, and checks that what several workers
// reach can be shared.

#include <stdlib.h>
#include <string.h>

#include "graph/load.h"

// Sources that reach a node which one worker only can run belong together: a union-find over them.
struct parts {
	unsigned *of; // by index of the node
};

static unsigned part_find(struct parts *parts, unsigned node)
{
	while (parts->of[node] != node) {
		parts->of[node] = parts->of[parts->of[node]];
		node = parts->of[node];
	}
	return node;
}

// The lower index leads, so that parts are in file order.
static void part_join(struct parts *parts, unsigned a, unsigned b)
{
	a = part_find(parts, a);
	b = part_find(parts, b);
	parts->of[a > b ? a : b] = a < b ? a : b;
}

// Whether several workers can run a node: its type says so, and its port has a queue for each.
static bool node_shareable(const struct graph *graph, const struct graph_node *node)
{
	struct driver_caps caps = {0};

	if (!node->type->shared)
		return false;
	if (node->port < 0)
		return true;
	graph->ports[node->port].driver->caps(graph->ports[node->port].params, &caps);
	return (node->receives ? caps.rx_queues : caps.tx_queues) >= graph->n_workers;
}

static void parts_find(const struct graph *graph, const struct reach *reach,
		       const unsigned *sources, unsigned n_sources, struct parts *parts)
{
	int *sender = memory_new(graph->n_ports + 1, sizeof(*sender));

	for (unsigned i = 0; i < graph->n_nodes; i++)
		parts->of[i] = i;
	memset(sender, -1, (graph->n_ports + 1) * sizeof(*sender));
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];
		const uint64_t *bits = &reach->bits[(size_t)i * reach->n_words];
		int first = node->source && !node->type->shared ? (int)i : -1;

		if (node_shareable(graph, node))
			continue;
		// Several nodes that send to one port share its queues.
		if (node->port >= 0 && !node->receives && sender[node->port] >= 0)
			first = sender[node->port];
		for (unsigned s = 0; s < n_sources; s++) {
			if (!(bits[s / 64] & 1ULL << s % 64))
				continue;
			if (first >= 0)
				part_join(parts, (unsigned)first, sources[s]);
			first = (int)sources[s];
		}
		if (node->port >= 0 && !node->receives)
			sender[node->port] = first;
	}
	free(sender);
}

static bool source_assigned(const struct graph *graph, unsigned node)
{
	for (unsigned i = 0; i < graph->n_workers; i++)
		for (unsigned j = 0; j < graph->workers[i].n_sources; j++)
			if (graph->workers[i].sources[j].node == node)
				return true;
	return false;
}

void share_give(struct graph *graph, struct graph_worker *worker, unsigned node)
{
	struct graph_share *old = worker->sources;

	worker->sources = arena_alloc(graph->arena, (worker->n_sources + 1) * sizeof(*old));
	if (old)
		memcpy(worker->sources, old, worker->n_sources * sizeof(*old));
	worker->sources[worker->n_sources++] = (struct graph_share){.node = node, .weight = 1};
}

// Parts go in turn to the workers that name no sources; the file's own order decides.
static void parts_give(struct draft *draft, struct parts *parts, const unsigned *sources,
		       unsigned n_sources)
{
	struct graph *graph = draft->graph;
	struct graph_worker *free_workers[WORKERS_MAX];
	unsigned *turn = memory_new(graph->n_nodes + 1, sizeof(*turn)); // worker + 1, by part
	unsigned n_free = 0, n_parts = 0;

	for (unsigned i = 0; i < graph->n_workers; i++)
		if (!graph->workers[i].n_sources)
			free_workers[n_free++] = &graph->workers[i];
	for (unsigned s = 0; s < n_sources; s++) {
		unsigned part = part_find(parts, sources[s]);

		if (source_assigned(graph, sources[s]) ||
		    graph_node_sender(&graph->nodes[sources[s]]))
			continue;
		if (!n_free) {
			error_at(draft->errors, graph->nodes[sources[s]].place,
				 "source '%s' is run by no worker; add it to the sources of one",
				 graph->nodes[sources[s]].name);
			continue;
		}
		if (!turn[part])
			turn[part] = 1 + n_parts++ % n_free;
		share_give(graph, free_workers[turn[part] - 1], sources[s]);
	}
	if (n_free > n_parts)
		error_at(
		    draft->errors, free_workers[n_parts]->place,
		    "%u worker%s would have nothing to do: the graph falls into %u part%s that "
		    "can run by %s; split it with HashSplit and Queue, or use fewer workers",
		    n_free - n_parts, n_free - n_parts > 1 ? "s" : "", n_parts,
		    n_parts == 1 ? "" : "s", n_parts == 1 ? "itself" : "themselves");
	free(turn);
}

void workers_assign(struct draft *draft)
{
	struct graph *graph = draft->graph;
	unsigned *sources = memory_new(graph->n_nodes + 1, sizeof(*sources));
	struct parts parts = {.of = memory_new(graph->n_nodes + 1, sizeof(unsigned))};
	unsigned n_sources = 0;
	struct reach reach;

	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].source)
			sources[n_sources++] = i;
	reach_find(graph, &reach);
	parts_find(graph, &reach, sources, n_sources, &parts);
	parts_give(draft, &parts, sources, n_sources);
	free(reach.bits);
	free(parts.of);
	free(sources);
}

// "rx -> a -> swap": a shortest way from a source to a node.
static const char *path_text(struct graph *graph, unsigned from, unsigned to)
{
	int *before = memory_new(graph->n_nodes + 1, sizeof(*before));
	unsigned *queue = memory_new(graph->n_nodes + 1, sizeof(*queue));
	unsigned head = 0, tail = 0;
	const char *text = graph->nodes[to].name;

	memset(before, -1, (graph->n_nodes + 1) * sizeof(*before));
	queue[tail++] = from;
	while (head < tail && before[to] < 0) {
		unsigned node = queue[head++];

		for (unsigned i = 0; i < graph->n_links; i++) {
			unsigned next = graph->links[i].to;

			if (graph->links[i].from != node || before[next] >= 0)
				continue;
			before[next] = (int)node;
			if (!graph->nodes[next].source && next != from)
				queue[tail++] = next;
		}
	}
	for (int node = (int)to; before[node] >= 0;) {
		node = before[node];
		text = arena_printf(graph->arena, "%s -> %s", graph->nodes[node].name, text);
		if (node == (int)from)
			break;
	}
	free(before);
	free(queue);
	return text;
}

// The bit masks of the workers that run each node.
static void masks_find(struct graph *graph, const struct reach *reach)
{
	unsigned source = 0;
	uint64_t *runs = memory_new(graph->n_nodes + 1, sizeof(*runs)); // by source

	for (unsigned w = 0; w < graph->n_workers; w++)
		for (unsigned i = 0; i < graph->workers[w].n_sources; i++)
			graph->nodes[graph->workers[w].sources[i].node].workers |= 1ULL << w;
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].source)
			runs[source++] = graph->nodes[i].workers;
	for (unsigned i = 0; i < graph->n_nodes; i++)
		for (unsigned s = 0; s < source; s++)
			if (reach->bits[(size_t)i * reach->n_words + s / 64] & 1ULL << s % 64)
				graph->nodes[i].workers |= runs[s];
	free(runs);
}

// How worker w comes to a node: the path from one of its sources.
static const char *worker_path(struct graph *graph, const struct reach *reach, unsigned w,
			       unsigned node)
{
	unsigned s = 0;

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		bool mine = false;

		if (!graph->nodes[i].source)
			continue;
		for (unsigned j = 0; j < graph->workers[w].n_sources; j++)
			mine |= graph->workers[w].sources[j].node == i;
		if (mine && (reach->bits[(size_t)node * reach->n_words + s / 64] & 1ULL << s % 64))
			return path_text(graph, i, node);
		s++;
	}
	return graph->nodes[node].name;
}

static void sharing_check(struct draft *draft, const struct reach *reach)
{
	struct graph *graph = draft->graph;

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];
		unsigned one, two;

		if (__builtin_popcountll(node->workers) < 2 || node->type->shared)
			continue;
		one = (unsigned)__builtin_ctzll(node->workers);
		two = (unsigned)__builtin_ctzll(node->workers & (node->workers - 1));
		error_at(draft->errors, node->place,
			 "%s '%s' is reached by the workers on core %d (%s) and core %d (%s), but "
			 "only one worker can run it; put a Queue before it",
			 node->type->name, node->name, graph->workers[one].core,
			 worker_path(graph, reach, one, i), graph->workers[two].core,
			 worker_path(graph, reach, two, i));
	}
}

static void queues_check(struct draft *draft, const struct graph_node *node)
{
	struct graph *graph = draft->graph;
	struct graph_port *port = &graph->ports[node->port];
	unsigned wanted = node->receives ? port->rx_queues : port->tx_queues;
	struct driver_caps caps = {0};
	unsigned has;

	port->driver->caps(port->params, &caps);
	has = node->receives ? caps.rx_queues : caps.tx_queues;
	if (wanted > has)
		error_at(
		    draft->errors, node->place,
		    "%u workers %s port '%s' by '%s', but a %s port has %u %s queue%s; let one "
		    "worker do it, with a Queue between it and the others",
		    wanted, node->receives ? "receive from" : "send to", port->name, node->name,
		    port->driver->name, has, node->receives ? "receive" : "transmit",
		    has == 1 ? "" : "s");
	else if (node->receives && wanted > 1 && !caps.rss)
		error_at(draft->errors, node->place,
			 "%u workers receive from port '%s' by '%s', but a %s port cannot spread "
			 "flows over queues (RSS); let one worker receive, with HashSplit and "
			 "Queues behind it",
			 wanted, port->name, node->name, port->driver->name);
}

void workers_check(struct draft *draft)
{
	struct graph *graph = draft->graph;
	struct reach reach;

	reach_find(graph, &reach);
	masks_find(graph, &reach);
	sharing_check(draft, &reach);
	for (unsigned p = 0; p < graph->n_ports; p++) {
		uint64_t rx = 0, tx = 0;

		for (unsigned i = 0; i < graph->n_nodes; i++)
			if (graph->nodes[i].port == (int)p)
				*(graph->nodes[i].receives ? &rx : &tx) |= graph->nodes[i].workers;
		graph->ports[p].rx_queues = (unsigned)__builtin_popcountll(rx);
		graph->ports[p].tx_queues = (unsigned)__builtin_popcountll(tx);
	}
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].port >= 0)
			queues_check(draft, &graph->nodes[i]);
	free(reach.bits);
}
