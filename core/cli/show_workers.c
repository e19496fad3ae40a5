// SPDX-License-Identifier: BSD-3-Clause
// sluice show: which worker polls what, and why.

#include "cli/grid.h"
#include "cli/show.h"
#include "cli/text.h"

static const char *sources_text(const struct graph *graph, const struct graph_worker *worker,
				struct arena *arena)
{
	const char *text = "";
	bool weighted = false;

	for (unsigned i = 1; i < worker->n_sources; i++)
		weighted |= worker->sources[i].weight != worker->sources[0].weight;
	for (unsigned i = 0; i < worker->n_sources; i++) {
		const struct graph_share *share = &worker->sources[i];

		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "",
				    graph->nodes[share->node].name);
		if (weighted)
			text = arena_printf(arena, "%s (weight %u)", text, share->weight);
	}
	return *text ? text : "nothing";
}

static const char *shared_text(const struct graph *graph, struct arena *arena)
{
	const char *text = "";

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		uint64_t workers = graph->nodes[i].workers;

		if (workers & (workers - 1))
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
					    graph->nodes[i].name);
	}
	return text;
}

static unsigned nodes_of(const struct graph *graph, unsigned worker)
{
	unsigned n = 0;

	for (unsigned i = 0; i < graph->n_nodes; i++)
		n += graph->nodes[i].workers >> worker & 1;
	return n;
}

void show_workers(const struct graph *graph, FILE *out)
{
	struct arena *arena = arena_new();
	struct grid *grid = grid_new(arena);
	const char *shared = shared_text(graph, arena);

	grid_column(grid, "worker", true);
	grid_column(grid, "core", true);
	grid_column(grid, "nodes", true);
	grid_column(grid, "polls", false);
	for (unsigned i = 0; i < graph->n_workers; i++) {
		grid_cell(grid, "%u", i);
		grid_cell(grid, "%d", graph->workers[i].core);
		grid_cell(grid, "%u", nodes_of(graph, i));
		grid_cell(grid, "%s", sources_text(graph, &graph->workers[i], arena));
	}
	fputc('\n', out);
	grid_print(grid, out);
	if (graph->workers_written)
		fputs(
		    "\nThe file says how many workers there are. A source that it gives to none of "
		    "them went to\nthe next in turn; sources that feed a node which only one "
		    "worker can run stay together.\n",
		    out);
	else
		fputs("\nThe file has no `workers:`, so the program chose: the sources take turns "
		      "on one worker,\non the last core that this process may use.\n",
		      out);
	if (*shared)
		fprintf(out, "More than one worker runs: %s\n", shared);
	arena_free(arena);
}
