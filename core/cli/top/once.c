// SPDX-License-Identifier: BSD-3-Clause
// `sluice top --once`: one screen as text, for scripts and for terminals that are none.

#include "cli/top/top.h"

#include <stdio.h>

#include "cli/grid.h"
#include "cli/live.h"

static void nodes_print(const struct top *top, struct arena *arena)
{
	const struct node_rates **rows =
	    arena_alloc(arena, (top->rates->n_nodes + 1) * sizeof(*rows));
	struct grid *grid = grid_new(arena);
	unsigned n = rows_choose(top->rates, "", top->column, top->reverse, rows);

	for (unsigned c = 0; c < TOP_COLUMNS; c++)
		grid_column(grid, top_titles[c].name, !top_titles[c].text);
	for (unsigned i = 0; i < n; i++)
		for (unsigned c = 0; c < TOP_COLUMNS; c++)
			grid_cell(grid, "%s", row_text(arena, top->rates, rows[i], c));
	grid_print(grid, stdout);
}

static void ports_print(const struct rates *rates, struct arena *arena)
{
	static const char *const titles[] = {"port", "driver",	 "rx/s",    "rx bit/s",
					     "tx/s", "tx bit/s", "errors/s"};
	struct grid *grid = grid_new(arena);

	if (!rates->n_ports)
		return;
	for (unsigned i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		grid_column(grid, titles[i], i > 1);
	for (unsigned i = 0; i < rates->n_ports; i++) {
		const struct port_rates *port = &rates->ports[i];

		grid_cell(grid, "%s", port->name);
		grid_cell(grid, "%s", port->driver);
		grid_cell(grid, "%s", per_s_text(arena, port->rx));
		grid_cell(grid, "%s", per_s_text(arena, port->rx_bits));
		grid_cell(grid, "%s", per_s_text(arena, port->tx));
		grid_cell(grid, "%s", per_s_text(arena, port->tx_bits));
		grid_cell(grid, "%s", per_s_text(arena, port->errors));
	}
	putchar('\n');
	grid_print(grid, stdout);
}

static void workers_print(const struct rates *rates, struct arena *arena)
{
	struct grid *grid = grid_new(arena);

	grid_column(grid, "worker", true);
	grid_column(grid, "core", true);
	grid_column(grid, "busy", true);
	for (unsigned i = 0; i < rates->n_workers; i++) {
		grid_cell(grid, "%u", i);
		grid_cell(grid, "%u", rates->workers[i].core);
		grid_cell(grid, "%s", percent_text(arena, rates->workers[i].busy));
	}
	putchar('\n');
	grid_print(grid, stdout);
}

void once_print(const struct top *top, const char *name, bool json)
{
	struct arena *arena;

	if (json) {
		json_t *all = rates_json(top->rates);

		live_print_json(all);
		json_decref(all);
		return;
	}
	arena = arena_new();
	printf("%s, %.3f s between two samples\n\n", name, top->rates->seconds);
	nodes_print(top, arena);
	ports_print(top->rates, arena);
	workers_print(top->rates, arena);
	arena_free(arena);
}
