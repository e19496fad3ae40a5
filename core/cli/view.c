// SPDX-License-Identifier: BSD-3-Clause
// The table of `sluice run`: nodes, ports, workers and how far captures are. The live one stays in
// its place on the terminal and is cut to fit there.

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/grid.h"
#include "cli/view.h"

// The counters of a moment that rates are worked out from.
struct moment {
	uint64_t time_ns;
	uint64_t *nodes; // packets
	struct port_counters *ports;
};

struct view {
	struct run *run;
	struct moment last;
	struct node_counts *counts; // of all nodes, now
	struct port_counters *ports;
	unsigned lines; // of the live table on the terminal
};

struct view *view_new(struct run *run)
{
	const struct graph *graph = run_graph(run);
	struct view *view = memory_new(1, sizeof(*view));

	view->run = run;
	view->counts = memory_new(graph->n_nodes + 1, sizeof(*view->counts));
	view->ports = memory_new(graph->n_ports + 1, sizeof(*view->ports));
	view->last.nodes = memory_new(graph->n_nodes + 1, sizeof(*view->last.nodes));
	view->last.ports = memory_new(graph->n_ports + 1, sizeof(*view->last.ports));
	return view;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	free(view->counts);
	free(view->ports);
	free(view->last.nodes);
	free(view->last.ports);
	free(view);
}

static uint64_t sum(const uint64_t *counts, unsigned n)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < n; i++)
		all += counts[i];
	return all;
}

// Packets that a node has handled: what came in, or what a source made.
static uint64_t handled(const struct graph_node *node, const struct node_counts *counts)
{
	uint64_t in = sum(counts->in, node->igates);

	return in ? in : sum(counts->out, node->ogates);
}

static const char *drops_text(struct arena *arena, const struct module_type *type,
			      const struct node_counts *counts)
{
	const char *text = "";

	for (unsigned i = 0; i < reason_count(type); i++)
		if (counts->dropped[i])
			text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "",
					    reason_name(type, (reason_t)i),
					    grid_count(arena, counts->dropped[i], false));
	return text;
}

static const char *own_text(struct arena *arena, const struct module_type *type,
			    const struct node_counts *counts)
{
	const char *text = "";

	for (unsigned i = 0; type->counters && type->counters[i].name; i++)
		if (counts->own[i])
			text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "",
					    type->counters[i].name,
					    grid_count(arena, counts->own[i], false));
	return text;
}

static const char *ratio_text(struct arena *arena, uint64_t a, uint64_t b)
{
	return b ? arena_printf(arena, "%.1f", (double)a / (double)b) : "";
}

static const char *per_s(struct arena *arena, uint64_t n, double seconds)
{
	return n && seconds > 0 ? grid_rate(arena, (double)n / seconds) : "";
}

static void node_row(struct view *view, struct arena *arena, struct grid *grid, unsigned i,
		     double seconds)
{
	const struct graph_node *node = &run_graph(view->run)->nodes[i];
	const struct node_counts *counts = &view->counts[i];
	uint64_t in = sum(counts->in, node->igates), out = sum(counts->out, node->ogates);
	uint64_t batches = in ? counts->in_batches : counts->out_batches;
	uint64_t all = handled(node, counts);

	grid_cell(grid, "%s", node->name);
	grid_cell(grid, "%s", node->type->name);
	grid_cell(grid, "%s", grid_count(arena, in, !node->igates));
	grid_cell(grid, "%s", grid_count(arena, out, !node->ogates));
	grid_cell(grid, "%s", per_s(arena, all - view->last.nodes[i], seconds));
	grid_cell(grid, "%s", ratio_text(arena, all, batches));
	grid_cell(grid, "%s", ratio_text(arena, counts->cycles, counts->cycles_sampled));
	grid_cell(grid, "%s", grid_count(arena, counts->held, true));
	grid_cell(grid, "%s", drops_text(arena, node->type, counts));
	grid_cell(grid, "%s", own_text(arena, node->type, counts));
	view->last.nodes[i] = all;
}

static void print_nodes(struct view *view, struct arena *arena, double seconds, FILE *out)
{
	struct grid *grid = grid_new(arena);

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
	for (unsigned i = 0; i < run_graph(view->run)->n_nodes; i++)
		node_row(view, arena, grid, i, seconds);
	grid_print(grid, out);
}

static const char *port_errors(struct arena *arena, const struct port_counters *counts)
{
	const struct {
		const char *name;
		uint64_t n;
	} all[] = {
	    {"rx_errors", counts->rx_errors},
	    {"rx_missed", counts->rx_missed},
	    {"rx_no_memory", counts->rx_no_memory},
	    {"tx_errors", counts->tx_errors},
	};
	const char *text = "";

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].n)
			text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "",
					    all[i].name, grid_count(arena, all[i].n, false));
	return text;
}

static void port_row(struct view *view, struct arena *arena, struct grid *grid, unsigned i,
		     double seconds)
{
	const struct graph_port *port = &run_graph(view->run)->ports[i];
	const struct port_counters *now = &view->ports[i], *last = &view->last.ports[i];

	grid_cell(grid, "%s", port->name);
	grid_cell(grid, "%s", port->driver->name);
	grid_cell(grid, "%s", grid_count(arena, now->rx_packets, false));
	grid_cell(grid, "%s", grid_count(arena, now->rx_bytes, false));
	grid_cell(grid, "%s", per_s(arena, now->rx_packets - last->rx_packets, seconds));
	grid_cell(grid, "%s", grid_count(arena, now->tx_packets, false));
	grid_cell(grid, "%s", grid_count(arena, now->tx_bytes, false));
	grid_cell(grid, "%s", per_s(arena, now->tx_packets - last->tx_packets, seconds));
	grid_cell(grid, "%s", port_errors(arena, now));
	view->last.ports[i] = *now;
}

static void print_ports(struct view *view, struct arena *arena, double seconds, FILE *out)
{
	struct grid *grid = grid_new(arena);

	if (!run_graph(view->run)->n_ports)
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
	for (unsigned i = 0; i < run_graph(view->run)->n_ports; i++)
		port_row(view, arena, grid, i, seconds);
	fputc('\n', out);
	grid_print(grid, out);
}

static void print_workers(struct view *view, struct arena *arena, FILE *out)
{
	struct grid *grid = grid_new(arena);

	grid_column(grid, "worker", true);
	grid_column(grid, "core", true);
	grid_column(grid, "polls", true);
	grid_column(grid, "busy", true);
	for (unsigned i = 0; i < run_workers(view->run); i++) {
		struct worker_counts counts = {0};
		uint64_t all;

		run_worker_counts(view->run, i, &counts);
		all = counts.busy_cycles + counts.idle_cycles;
		grid_cell(grid, "%u", i);
		grid_cell(grid, "%d", counts.core);
		grid_cell(grid, "%s", grid_count(arena, counts.polls, false));
		grid_cell(grid, "%.0f %%",
			  all ? 100.0 * (double)counts.busy_cycles / (double)all : 0);
	}
	fputc('\n', out);
	grid_print(grid, out);
}

static void print_progress(struct view *view, FILE *out)
{
	const struct graph *graph = run_graph(view->run);

	for (unsigned i = 0; i < graph->n_ports; i++) {
		struct port *port = run_port(view->run, i);
		double done = port->driver->progress ? port->driver->progress(port) : -1;

		if (done >= 0)
			fprintf(out, "%s: %.0f %% of the capture\n", graph->ports[i].name,
				100 * done);
	}
}

static char *view_text(struct view *view, bool live, bool final)
{
	const struct graph *graph = run_graph(view->run);
	struct arena *arena = arena_new();
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	uint64_t now_ns = run_time_ns(view->run);
	double seconds;

	for (unsigned i = 0; i < graph->n_nodes; i++)
		run_node_counts(view->run, i, &view->counts[i]);
	for (unsigned i = 0; i < graph->n_ports; i++)
		run_port_counts(view->run, i, &view->ports[i]);
	if (final) {
		memset(view->last.nodes, 0, graph->n_nodes * sizeof(*view->last.nodes));
		memset(view->last.ports, 0, graph->n_ports * sizeof(*view->last.ports));
		view->last.time_ns = 0;
	}
	seconds = (double)(now_ns - view->last.time_ns) / 1e9;
	view->last.time_ns = now_ns;
	fprintf(out, "%s after %.3f s\n", graph->file, (double)now_ns / 1e9);
	if (live && !final)
		print_progress(view, out);
	fputc('\n', out);
	print_nodes(view, arena, seconds, out);
	print_ports(view, arena, seconds, out);
	print_workers(view, arena, out);
	fclose(out);
	arena_free(arena);
	return text;
}

// Prints one line, cut to so many places on the screen.
static void print_cut(const char *line, unsigned width)
{
	unsigned at = 0;

	for (; *line; line++) {
		if ((*line & 0xc0) != 0x80 && at++ == width)
			break;
		fputc(*line, stdout);
	}
	fputs("\033[K\n", stdout);
}

static void show_live(struct view *view, char *text, bool final)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	unsigned lines = 0, rows;
	char *rest = text, *line;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 4 || size.ws_col < 4)
		size = (struct winsize){.ws_row = 24, .ws_col = 80};
	rows = size.ws_row - 2u;
	if (view->lines)
		printf("\033[%uA\r", view->lines);
	if (final) {
		printf("\033[J%s", text);
		return;
	}
	while ((line = strsep(&rest, "\n")) && rest) {
		if (lines++ < rows)
			print_cut(line, size.ws_col);
	}
	if (lines > rows)
		printf("(%u lines more do not fit here)\033[K\n", lines - rows);
	view->lines = lines > rows ? rows + 1 : lines;
	fputs("\033[J", stdout);
}

void view_show(struct view *view, bool live, bool final)
{
	char *text = view_text(view, live, final);

	if (live)
		show_live(view, text, final);
	else
		printf("%s%s", text, final ? "" : "\n");
	free(text);
}
