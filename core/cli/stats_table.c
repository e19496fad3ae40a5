// SPDX-License-Identifier: BSD-3-Clause
// Counters as tables for people.

#include "cli/stats_table.h"

#include <math.h>

#include "cli/grid.h"
#include "cli/rates.h"

struct tables {
	struct arena *arena;
	const struct rates *rates;
	FILE *out;
};

// "runt 5, full 1,000": those that are not zero.
static const char *counts_text(struct arena *arena, json_t *counts)
{
	const char *name, *all = "";
	json_t *value;

	json_object_foreach (counts, name, value)
		if (json_integer_value(value))
			all = arena_printf(
			    arena, "%s%s%s %s", all, *all ? ", " : "", name,
			    grid_count(arena, (uint64_t)json_integer_value(value), false));
	return all;
}

static const char *ratio_text(struct arena *arena, double ratio)
{
	return isfinite(ratio) ? arena_printf(arena, "%.1f", ratio) : "";
}

static void node_row(const struct tables *at, struct grid *grid, const struct node_rates *rates)
{
	const json_t *node = rates->now;
	bool in = json_array_size(json_object_get(node, "in"));
	bool out = json_array_size(json_object_get(node, "out"));

	grid_cell(grid, "%s", rates->name);
	grid_cell(grid, "%s", rates->module);
	grid_cell(grid, "%s", grid_count(at->arena, count_sum(node, "in"), !in));
	grid_cell(grid, "%s", grid_count(at->arena, count_sum(node, "out"), !out));
	grid_cell(grid, "%s", per_s_text(at->arena, rates->handled));
	grid_cell(grid, "%s", ratio_text(at->arena, rates->batch));
	grid_cell(grid, "%s", ratio_text(at->arena, rates->cycles));
	grid_cell(grid, "%s", grid_count(at->arena, rates->held, true));
	grid_cell(grid, "%s", counts_text(at->arena, json_object_get(node, "dropped")));
	grid_cell(grid, "%s", counts_text(at->arena, json_object_get(node, "counters")));
}

static void print_nodes(const struct tables *at)
{
	struct grid *grid = grid_new(at->arena);

	grid_column(grid, "node", false);
	grid_column(grid, "module", false);
	grid_column(grid, "in", true);
	grid_column(grid, "out", true);
	grid_column(grid, "packets/s", true);
	grid_column(grid, "batch", true);
	grid_column(grid, "cycles/packet", true);
	grid_column(grid, "held", true);
	grid_column(grid, "dropped", false);
	grid_column(grid, "counters", false);
	for (unsigned i = 0; i < at->rates->n_nodes; i++)
		node_row(at, grid, &at->rates->nodes[i]);
	grid_print(grid, at->out);
}

static const char *port_errors(struct arena *arena, const json_t *port)
{
	static const char *const names[] = {"rx_errors", "rx_missed", "rx_no_memory", "tx_errors"};
	json_t *errors = json_object();
	const char *all;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		json_object_set(errors, names[i], json_object_get(port, names[i]));
	all = counts_text(arena, errors);
	json_decref(errors);
	return all;
}

static void port_row(const struct tables *at, struct grid *grid, const struct port_rates *rates)
{
	const json_t *port = rates->now;

	grid_cell(grid, "%s", rates->name);
	grid_cell(grid, "%s", rates->driver);
	grid_cell(grid, "%s", grid_count(at->arena, count_of(port, "rx_packets"), false));
	grid_cell(grid, "%s", grid_count(at->arena, count_of(port, "rx_bytes"), false));
	grid_cell(grid, "%s", per_s_text(at->arena, rates->rx));
	grid_cell(grid, "%s", grid_count(at->arena, count_of(port, "tx_packets"), false));
	grid_cell(grid, "%s", grid_count(at->arena, count_of(port, "tx_bytes"), false));
	grid_cell(grid, "%s", per_s_text(at->arena, rates->tx));
	grid_cell(grid, "%s", port_errors(at->arena, port));
}

static void print_ports(const struct tables *at)
{
	struct grid *grid = grid_new(at->arena);

	if (!at->rates->n_ports)
		return;
	grid_column(grid, "port", false);
	grid_column(grid, "driver", false);
	grid_column(grid, "rx packets", true);
	grid_column(grid, "rx bytes", true);
	grid_column(grid, "rx/s", true);
	grid_column(grid, "tx packets", true);
	grid_column(grid, "tx bytes", true);
	grid_column(grid, "tx/s", true);
	grid_column(grid, "errors", false);
	for (unsigned i = 0; i < at->rates->n_ports; i++)
		port_row(at, grid, &at->rates->ports[i]);
	fputc('\n', at->out);
	grid_print(grid, at->out);
}

static void print_workers(const struct tables *at)
{
	struct grid *grid = grid_new(at->arena);

	if (!at->rates->n_workers)
		return;
	grid_column(grid, "worker", true);
	grid_column(grid, "core", true);
	grid_column(grid, "polls", true);
	grid_column(grid, "busy", true);
	for (unsigned i = 0; i < at->rates->n_workers; i++) {
		const struct worker_rates *worker = &at->rates->workers[i];

		grid_cell(grid, "%u", i);
		grid_cell(grid, "%u", worker->core);
		grid_cell(grid, "%s", grid_count(at->arena, count_of(worker->now, "polls"), false));
		if (isfinite(worker->busy))
			grid_cell(grid, "%.0f %%", 100 * worker->busy);
		else
			grid_cell(grid, "%s", "");
	}
	fputc('\n', at->out);
	grid_print(grid, at->out);
}

void stats_title(const char *name, const json_t *now, FILE *out)
{
	fprintf(out, "%s after %.3f s\n", name, json_number_value(json_object_get(now, "seconds")));
}

void stats_tables(const json_t *now, const json_t *last, FILE *out)
{
	struct tables at = {.arena = arena_new(), .out = out};

	at.rates = rates_between(at.arena, now, last);
	print_nodes(&at);
	print_ports(&at);
	print_workers(&at);
	arena_free(at.arena);
}
