// SPDX-License-Identifier: BSD-3-Clause
// Whether a graph that is written as text loads to the same graph.

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "value/table.h"

static char *written(const struct graph *graph)
{
	struct arena *arena = arena_new();
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);

	CU_ASSERT_FATAL(file != NULL);
	value_write_yaml(graph_value(graph, arena), file);
	fclose(file);
	arena_free(arena);
	return text;
}

static bool nodes_equal(const struct graph_node *a, const struct graph_node *b)
{
	return !strcmp(a->name, b->name) && a->type == b->type && a->igates == b->igates &&
	       a->ogates == b->ogates && a->unnamed == b->unnamed && a->order == b->order &&
	       a->source == b->source && a->port == b->port && a->workers == b->workers &&
	       (!a->type->params || table_equal(a->type->params, a->params, b->params));
}

static bool graphs_equal(const struct graph *a, const struct graph *b)
{
	bool equal = a->n_nodes == b->n_nodes && a->n_ports == b->n_ports &&
		     a->n_links == b->n_links && a->n_workers == b->n_workers &&
		     table_equal(graph_settings_params, &a->settings, &b->settings);

	for (unsigned i = 0; equal && i < a->n_nodes; i++)
		equal = nodes_equal(&a->nodes[i], &b->nodes[i]);
	for (unsigned i = 0; equal && i < a->n_ports; i++)
		equal = !strcmp(a->ports[i].name, b->ports[i].name) &&
			a->ports[i].driver == b->ports[i].driver &&
			(!a->ports[i].driver->params ||
			 table_equal(a->ports[i].driver->params, a->ports[i].params,
				     b->ports[i].params));
	for (unsigned i = 0; equal && i < a->n_links; i++)
		equal = a->links[i].from == b->links[i].from && a->links[i].to == b->links[i].to &&
			a->links[i].ogate == b->links[i].ogate &&
			a->links[i].igate == b->links[i].igate &&
			a->links[i].back == b->links[i].back &&
			a->links[i].single == b->links[i].single;
	for (unsigned i = 0; equal && i < a->n_workers; i++) {
		const struct graph_worker *x = &a->workers[i], *y = &b->workers[i];

		equal = x->core == y->core && x->n_sources == y->n_sources;
		for (unsigned j = 0; equal && j < x->n_sources; j++)
			equal = x->sources[j].node == y->sources[j].node &&
				x->sources[j].weight == y->sources[j].weight;
	}
	return equal;
}

bool engine_round_trip(const struct graph *graph)
{
	char *text = written(graph);
	struct graph *again = engine_graph(text);
	bool same = again && graphs_equal(graph, again);

	if (again) {
		char *text_again = written(again);

		same &= engine_text_is(text_again, text);
		free(text_again);
	}
	if (!same)
		printf("\nwhat was written is not the same graph:\n%s\n", text);
	graph_free(again);
	free(text);
	return same;
}
