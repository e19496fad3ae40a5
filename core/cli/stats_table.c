// SPDX-License-Identifier: BSD-3-Clause
// Counters as tables for people. What is read is matched by name, so that it may come from before
// and after a change of the graph.

#include "cli/stats_table.h"

#include "cli/grid.h"

struct tables {
	struct arena *arena;
	const json_t *now;
	const json_t *last; // NULL: there is none
	double seconds;	    // between the two
	FILE *out;
};

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static uint64_t sum(const json_t *object, const char *key)
{
	const json_t *list = json_object_get(object, key), *item;
	uint64_t all = 0;
	size_t i;

	json_array_foreach (list, i, item)
		all += (uint64_t)json_integer_value(item);
	return all;
}

// Packets that a node has handled: what came in, or what a source made.
static uint64_t handled(const json_t *node)
{
	uint64_t in = sum(node, "in");

	return in ? in : sum(node, "out");
}

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

static const char *ratio_text(struct arena *arena, uint64_t a, uint64_t b)
{
	return b ? arena_printf(arena, "%.1f", (double)a / (double)b) : "";
}

// What was replaced begins anew: that is no rate.
static const char *rate_text(const struct tables *at, uint64_t now, uint64_t last)
{
	return now > last && at->seconds > 0
		   ? grid_rate(at->arena, (double)(now - last) / at->seconds)
		   : "";
}

static void node_row(const struct tables *at, struct grid *grid, const char *name,
		     const json_t *node)
{
	const json_t *last = json_object_get(json_object_get(at->last, "nodes"), name);
	bool in = json_array_size(json_object_get(node, "in"));
	bool out = json_array_size(json_object_get(node, "out"));
	uint64_t all = handled(node);

	grid_cell(grid, "%s", name);
	grid_cell(grid, "%s", text(node, "module"));
	grid_cell(grid, "%s", grid_count(at->arena, sum(node, "in"), !in));
	grid_cell(grid, "%s", grid_count(at->arena, sum(node, "out"), !out));
	grid_cell(grid, "%s", rate_text(at, all, handled(last)));
	grid_cell(grid, "%s", ratio_text(at->arena, all, number(node, "batches")));
	grid_cell(grid, "%s",
		  ratio_text(at->arena, number(node, "cycles"), number(node, "cycles_sampled")));
	grid_cell(grid, "%s", grid_count(at->arena, number(node, "held"), true));
	grid_cell(grid, "%s", counts_text(at->arena, json_object_get(node, "dropped")));
	grid_cell(grid, "%s", counts_text(at->arena, json_object_get(node, "counters")));
}

static void print_nodes(const struct tables *at)
{
	struct grid *grid = grid_new(at->arena);
	const char *name;
	json_t *node;

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
	json_object_foreach (json_object_get(at->now, "nodes"), name, node)
		node_row(at, grid, name, node);
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

static void port_row(const struct tables *at, struct grid *grid, const char *name,
		     const json_t *port)
{
	const json_t *last = json_object_get(json_object_get(at->last, "ports"), name);

	grid_cell(grid, "%s", name);
	grid_cell(grid, "%s", text(port, "driver"));
	grid_cell(grid, "%s", grid_count(at->arena, number(port, "rx_packets"), false));
	grid_cell(grid, "%s", grid_count(at->arena, number(port, "rx_bytes"), false));
	grid_cell(grid, "%s",
		  rate_text(at, number(port, "rx_packets"), number(last, "rx_packets")));
	grid_cell(grid, "%s", grid_count(at->arena, number(port, "tx_packets"), false));
	grid_cell(grid, "%s", grid_count(at->arena, number(port, "tx_bytes"), false));
	grid_cell(grid, "%s",
		  rate_text(at, number(port, "tx_packets"), number(last, "tx_packets")));
	grid_cell(grid, "%s", port_errors(at->arena, port));
}

static void print_ports(const struct tables *at)
{
	json_t *ports = json_object_get(at->now, "ports"), *port;
	struct grid *grid = grid_new(at->arena);
	const char *name;

	if (!json_object_size(ports))
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
	json_object_foreach (ports, name, port)
		port_row(at, grid, name, port);
	fputc('\n', at->out);
	grid_print(grid, at->out);
}

static void print_workers(const struct tables *at)
{
	const json_t *workers = json_object_get(at->now, "workers"), *worker;
	struct grid *grid = grid_new(at->arena);
	size_t i;

	if (!json_array_size(workers))
		return;
	grid_column(grid, "worker", true);
	grid_column(grid, "core", true);
	grid_column(grid, "polls", true);
	grid_column(grid, "busy", true);
	json_array_foreach (workers, i, worker) {
		uint64_t busy = number(worker, "busy_cycles");
		uint64_t all = busy + number(worker, "idle_cycles");

		grid_cell(grid, "%zu", i);
		grid_cell(grid, "%d", (int)number(worker, "core"));
		grid_cell(grid, "%s", grid_count(at->arena, number(worker, "polls"), false));
		grid_cell(grid, "%.0f %%", all ? 100.0 * (double)busy / (double)all : 0);
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
	struct tables at = {.arena = arena_new(), .now = now, .last = last, .out = out};

	at.seconds = json_number_value(json_object_get(now, "seconds")) -
		     json_number_value(json_object_get(last, "seconds"));
	print_nodes(&at);
	print_ports(&at);
	print_workers(&at);
	arena_free(at.arena);
}
