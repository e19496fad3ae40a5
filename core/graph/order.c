// SPDX-License-Identifier: BSD-3-Clause
// The topological order of the nodes, which links lead back, and which sources reach which nodes.

#include <stdlib.h>
#include <string.h>

#include "graph/load.h"

// The links that leave each node: those of node i are sorted[first[i]] up to first[i + 1].
struct leaving {
	unsigned *first;
	unsigned *sorted;
};

static void leaving_find(const struct graph *graph, struct leaving *leaving)
{
	unsigned *at;

	leaving->first = memory_new(graph->n_nodes + 2, sizeof(unsigned));
	leaving->sorted = memory_new(graph->n_links + 1, sizeof(unsigned));
	at = memory_new(graph->n_nodes + 1, sizeof(unsigned));
	for (unsigned i = 0; i < graph->n_links; i++)
		leaving->first[graph->links[i].from + 1]++;
	for (unsigned i = 0; i < graph->n_nodes; i++)
		leaving->first[i + 1] += leaving->first[i];
	memcpy(at, leaving->first, graph->n_nodes * sizeof(unsigned));
	for (unsigned i = 0; i < graph->n_links; i++)
		leaving->sorted[at[graph->links[i].from]++] = i;
	free(at);
}

static void leaving_free(struct leaving *leaving)
{
	free(leaving->first);
	free(leaving->sorted);
}

// Depth-first from one node with a stack of our own (chains are long); nodes are written to `post`
// when all behind them has been seen.
static void descend(const struct graph *graph, const struct leaving *leaving, unsigned start,
		    bool *seen, unsigned *next, unsigned *stack, unsigned *post, unsigned *n_post)
{
	unsigned depth = 0;

	if (seen[start])
		return;
	seen[start] = true;
	stack[depth++] = start;
	next[start] = leaving->first[start];
	while (depth) {
		unsigned node = stack[depth - 1];

		if (next[node] == leaving->first[node + 1]) {
			post[(*n_post)++] = node;
			depth--;
			continue;
		}
		node = graph->links[leaving->sorted[next[node]++]].to;
		if (seen[node])
			continue;
		seen[node] = true;
		stack[depth++] = node;
		next[node] = leaving->first[node];
	}
}

static void links_mark(struct graph *graph)
{
	unsigned n_gates = graph->n_nodes * GATES_MAX;
	uint16_t *entering = memory_new(n_gates + 1, sizeof(*entering));

	for (unsigned i = 0; i < graph->n_links; i++) {
		struct graph_link *link = &graph->links[i];

		link->back = graph->nodes[link->to].order <= graph->nodes[link->from].order;
		if (entering[link->to * GATES_MAX + link->igate] < 2)
			entering[link->to * GATES_MAX + link->igate]++;
	}
	for (unsigned i = 0; i < graph->n_links; i++) {
		struct graph_link *link = &graph->links[i];

		link->single = !link->back && entering[link->to * GATES_MAX + link->igate] == 1;
	}
	free(entering);
}

// Reverse postorder from the sources: all links but those that close a loop lead upwards.
void order_find(struct draft *draft)
{
	struct graph *graph = draft->graph;
	unsigned n = graph->n_nodes, n_post = 0;
	bool *seen = memory_new(n + 1, sizeof(*seen));
	unsigned *next = memory_new(n + 1, sizeof(*next));
	unsigned *stack = memory_new(n + 1, sizeof(*stack));
	unsigned *post = memory_new(n + 1, sizeof(*post));
	struct leaving leaving;

	leaving_find(graph, &leaving);
	// Backwards, so that the first source of the file comes first in the reversed order.
	for (int kind = 2; kind >= 0; kind--)
		for (unsigned i = n; i-- > 0;) {
			const struct graph_node *node = &graph->nodes[i];
			// Real sources are descended from last, and so come first; then those that
			// are fed (a Queue), then what no source reaches.
			int is = !node->source ? 2 : node->type->igates ? 1 : 0;

			if (is == kind && kind != 2)
				descend(graph, &leaving, i, seen, next, stack, post, &n_post);
		}
	for (unsigned i = n; i-- > 0;)
		descend(graph, &leaving, i, seen, next, stack, post, &n_post);
	for (unsigned i = 0; i < n; i++)
		graph->nodes[post[i]].order = n - 1 - i;
	links_mark(graph);
	leaving_free(&leaving);
	free(seen);
	free(next);
	free(stack);
	free(post);
}

static bool bits_add(uint64_t *to, const uint64_t *from, unsigned n_words)
{
	bool changed = false;

	for (unsigned i = 0; i < n_words; i++) {
		changed |= (from[i] & ~to[i]) != 0;
		to[i] |= from[i];
	}
	return changed;
}

// What a node passes on: a node that is a source itself and has inputs (a Queue) ends the way of
// those that feed it.
void reach_find(const struct graph *graph, struct reach *reach)
{
	unsigned *by_order = memory_new(graph->n_nodes + 1, sizeof(*by_order));
	unsigned n_sources = 0;
	struct leaving leaving;
	bool changed = true;

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		by_order[graph->nodes[i].order] = i;
		n_sources += graph->nodes[i].source;
	}
	reach->n_words = (n_sources + 63) / 64;
	if (!reach->n_words)
		reach->n_words = 1;
	reach->bits = memory_new((size_t)graph->n_nodes * reach->n_words + 1, sizeof(uint64_t));
	leaving_find(graph, &leaving);
	uint64_t *own = memory_new(reach->n_words, sizeof(uint64_t));
	while (changed) {
		unsigned source = 0;
		unsigned *index = memory_new(graph->n_nodes + 1, sizeof(*index));

		changed = false;
		for (unsigned i = 0; i < graph->n_nodes; i++)
			index[i] = graph->nodes[i].source ? source++ : 0;
		for (unsigned o = 0; o < graph->n_nodes; o++) {
			unsigned node = by_order[o];
			const uint64_t *passes = &reach->bits[(size_t)node * reach->n_words];

			if (graph->nodes[node].source) {
				memset(own, 0, reach->n_words * sizeof(uint64_t));
				own[index[node] / 64] |= 1ULL << index[node] % 64;
				passes = own;
			}
			for (unsigned i = leaving.first[node]; i < leaving.first[node + 1]; i++) {
				unsigned to = graph->links[leaving.sorted[i]].to;

				changed |= bits_add(&reach->bits[(size_t)to * reach->n_words],
						    passes, reach->n_words);
			}
		}
		free(index);
	}
	free(own);
	free(by_order);
	leaving_free(&leaving);
}
