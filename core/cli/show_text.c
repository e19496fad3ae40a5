// SPDX-License-Identifier: BSD-3-Clause
// sluice show: a graph in the terminal. Nodes stand below each other in the order in which a worker
// walks them; at their left, lines run from each node down to those that it feeds.

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/show.h"
#include "cli/text.h"

#define LINE_WIDTH 100

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

// A line of the picture: all links that lead to one node share one.
struct rails {
	const struct graph *graph;
	struct arena *arena;
	bool ascii;
	FILE *out;
	int *to; // the node each column leads to, or -1
	unsigned n;
	unsigned *by_order; // nodes in the order of the walk
	const char **names; // of each node, with spaces up to the longest
	unsigned indent;    // columns that the lines take at most, in places
	unsigned last;	    // the column of the node before
};

static const char *glyph(const struct rails *rails, unsigned sides)
{
	static const char *const unicode[16] = {
	    [UP | DOWN] = "│",		 [LEFT | RIGHT] = "─",
	    [UP | RIGHT] = "╰",		 [UP | LEFT] = "╯",
	    [DOWN | RIGHT] = "╭",	 [DOWN | LEFT] = "╮",
	    [UP | DOWN | LEFT] = "┤",	 [UP | DOWN | RIGHT] = "├",
	    [UP | LEFT | RIGHT] = "┴",	 [UP] = "│",
	    [DOWN | LEFT | RIGHT] = "┬", [UP | DOWN | LEFT | RIGHT] = "┼",
	};

	if (!sides)
		return " ";
	if (!rails->ascii)
		return unicode[sides] ? unicode[sides] : " ";
	if (!(sides & (LEFT | RIGHT)))
		return "|";
	return sides & (UP | DOWN) ? "+" : "-";
}

static unsigned used(const struct rails *rails)
{
	unsigned n = rails->n;

	while (n && rails->to[n - 1] < 0)
		n--;
	return n;
}

static unsigned find_column(const struct rails *rails, int node)
{
	for (unsigned i = 0; i < rails->n; i++)
		if (rails->to[i] == node)
			return i;
	return rails->n;
}

// The free column nearest to `at`, on its right side if both are as near.
static unsigned free_column(struct rails *rails, unsigned at)
{
	for (unsigned distance = 0; distance <= rails->n; distance++) {
		if (at + distance < rails->n && rails->to[at + distance] < 0)
			return at + distance;
		if (distance <= at && at - distance < rails->n && rails->to[at - distance] < 0)
			return at - distance;
	}
	rails->to = memory_grow(rails->to, rails->n + 1, sizeof(*rails->to));
	rails->to[rails->n] = -1;
	return rails->n++;
}

// One row of lines, with `dot` in column `at`, padded to the indent.
static void draw_rails(const struct rails *rails, unsigned at, const char *dot)
{
	unsigned width = used(rails);

	if (dot && at >= width)
		width = at + 1;
	for (unsigned i = 0; i < width; i++) {
		if (dot && i == at)
			fputs(dot, rails->out);
		else
			fputs(glyph(rails, rails->to[i] < 0 ? 0 : UP | DOWN), rails->out);
		fputc(' ', rails->out);
	}
	for (unsigned i = 2 * width; i < rails->indent; i++)
		fputc(' ', rails->out);
}

// The row below a node in column `at`, whose links lead to the columns marked in `joined`; `fresh`
// are those that begin here.
static void draw_fork(const struct rails *rails, unsigned at, const bool *joined, const bool *fresh)
{
	unsigned left = at, right = at;

	for (unsigned i = 0; i < rails->n; i++) {
		if (!joined[i])
			continue;
		left = i < left ? i : left;
		right = i > right ? i : right;
	}
	for (unsigned i = 0; i < used(rails) || i <= at; i++) {
		bool between = i >= left && i < right;
		unsigned sides = 0;

		if (i == at)
			sides |= UP | (joined[i] ? DOWN : 0u);
		else if (joined[i])
			sides |= DOWN | (fresh[i] ? 0u : UP);
		// A line that only passes keeps its place: the other one runs beneath it.
		if (rails->to[i] >= 0 && !joined[i] && i != at)
			sides = UP | DOWN;
		else if (i >= left && i <= right)
			sides |= (i > left ? LEFT : 0u) | (i < right ? RIGHT : 0u);
		fputs(glyph(rails, sides), rails->out);
		fputs(between ? glyph(rails, LEFT | RIGHT) : " ", rails->out);
	}
	fputc('\n', rails->out);
}

// Leads the links of a node that stood in column `at` to their columns; whether that took a row.
static bool lead_on(struct rails *rails, unsigned node, unsigned at)
{
	const struct graph *graph = rails->graph;
	unsigned room = rails->n + graph->nodes[node].ogates + 1;
	bool *joined = memory_new(room, sizeof(*joined));
	bool *fresh = memory_new(room, sizeof(*fresh));
	bool straight = true;

	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];
		unsigned column;

		if (link->from != node || link->back)
			continue;
		column = find_column(rails, (int)link->to);
		if (column == rails->n) {
			column = free_column(rails, at);
			rails->to[column] = (int)link->to;
			fresh[column] = true;
		}
		joined[column] = true;
		straight &= column == at;
	}
	if (!straight)
		draw_fork(rails, at, joined, fresh);
	free(joined);
	free(fresh);
	return !straight;
}

// Items of text that follow a node's name, in as many lines as they take.
struct notes {
	struct rails *rails;
	unsigned place; // on the line
	unsigned indent;
	const char *between; // what comes before the next note
};

static void note(struct notes *notes, const char *text)
{
	unsigned width = text_width(text) + text_width(notes->between);

	if (notes->place > notes->indent && notes->place + width > LINE_WIDTH) {
		fputc('\n', notes->rails->out);
		draw_rails(notes->rails, 0, NULL);
		fprintf(notes->rails->out, "%*s", (int)(notes->indent - notes->rails->indent), "");
		notes->place = notes->indent;
	} else if (notes->place > notes->indent) {
		fputs(notes->between, notes->rails->out);
	}
	fputs(text, notes->rails->out);
	notes->place += width;
	notes->between = ", ";
}

static void note_link(struct notes *notes, const struct graph_link *link)
{
	const struct rails *rails = notes->rails;
	const struct graph_node *from = &rails->graph->nodes[link->from];
	const struct graph_node *to = &rails->graph->nodes[link->to];
	const char *arrow = rails->ascii ? "->" : "→";
	const char *gate = "", *end = "";

	if (link->back)
		arrow = rails->ascii ? "-> back to" : "↑ back to";
	if (from->ogates > 1 || from->type->ogate_names)
		gate = arena_printf(rails->arena, "%s ",
				    show_gate(rails->arena, from, true, link->ogate));
	if (to->igates > 1 || to->type->igate_names)
		end = arena_printf(rails->arena, "[%s]",
				   show_gate(rails->arena, to, false, link->igate));
	note(notes, arena_printf(rails->arena, "%s%s %s%s", gate, arrow, to->name, end));
}

// Where each output gate leads. A single link straight down needs no words.
static void note_links(struct notes *notes, unsigned node)
{
	const struct graph *graph = notes->rails->graph;
	const struct graph_node *at = &graph->nodes[node];
	uint64_t linked = 0;
	bool plain = at->ogates <= 1;

	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];

		if (link->from == node)
			plain &= !link->back && graph->nodes[link->to].igates <= 1;
	}
	for (unsigned i = 0; i < graph->n_links; i++) {
		if (graph->links[i].from != node)
			continue;
		linked |= 1ull << graph->links[i].ogate;
		if (!plain)
			note_link(notes, &graph->links[i]);
	}
	for (gate_t gate = 0; gate < at->ogates; gate++)
		if (!(linked & 1ull << gate))
			note(notes, arena_printf(notes->rails->arena, "%s is unconnected: drops",
						 show_gate(notes->rails->arena, at, true, gate)));
}

static void draw_node(struct rails *rails, unsigned node)
{
	const struct graph_node *at = &rails->graph->nodes[node];
	unsigned column = find_column(rails, (int)node);
	const char *dot = rails->ascii ? (at->source ? "o" : "*") : (at->source ? "○" : "●");
	struct notes notes = {.rails = rails, .between = ""};
	const char *params;

	if (column == rails->n) {
		column = free_column(rails, 0);
		// A node that nothing feeds must not seem to hang on the one above it.
		if (column == rails->last) {
			draw_rails(rails, 0, NULL);
			fputc('\n', rails->out);
		}
	}
	rails->to[column] = -1;
	draw_rails(rails, column, dot);
	fputs(rails->names[node], rails->out);
	// Texts that go on in the next line pass the lines of what comes below.
	notes.indent = rails->indent + text_width(rails->names[node]);
	notes.place = notes.indent;
	params = show_params(rails->arena, at->type->params, at->params, 48);
	if (*params)
		note(&notes, params);
	notes.between = "  ";
	note_links(&notes, node);
	fputc('\n', rails->out);
	rails->last = lead_on(rails, node, column) || rails->to[column] >= 0 ? UINT_MAX : column;
}

static void name_nodes(struct rails *rails)
{
	const struct graph *graph = rails->graph;
	unsigned name = 0, type = 0;

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		unsigned a = text_width(graph->nodes[i].name);
		unsigned b = text_width(graph->nodes[i].type->name);

		name = a > name ? a : name;
		type = b > type ? b : type;
	}
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];
		unsigned pad = name - text_width(node->name);

		rails->names[i] =
		    arena_printf(rails->arena, "%s%*s  %-*s  ", node->name, (int)pad, "", (int)type,
				 node->unnamed ? "" : node->type->name);
	}
}

static void show_ports(const struct graph *graph, struct arena *arena, FILE *out)
{
	struct grid *grid = grid_new(arena);

	if (!graph->n_ports)
		return;
	grid_column(grid, "port", false);
	grid_column(grid, "driver", false);
	grid_column(grid, "rx queues", true);
	grid_column(grid, "tx queues", true);
	grid_column(grid, "parameters", false);
	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct graph_port *port = &graph->ports[i];

		grid_cell(grid, "%s", port->name);
		grid_cell(grid, "%s", port->driver->name);
		grid_cell(grid, "%u", port->rx_queues);
		grid_cell(grid, "%u", port->tx_queues);
		grid_cell(grid, "%s", show_params(arena, port->driver->params, port->params, 60));
	}
	fputc('\n', out);
	grid_print(grid, out);
}

// Prints a text without the blanks at the ends of its lines.
static void print_trimmed(char *text, FILE *out)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t n = strlen(line);

		while (n && line[n - 1] == ' ')
			n--;
		if (text)
			fprintf(out, "%.*s\n", (int)n, line);
	}
}

static void draw_all(struct rails *rails, FILE *out)
{
	char *text = NULL;
	size_t length;

	rails->out = open_memstream(&text, &length);
	for (unsigned i = 0; i < rails->graph->n_nodes; i++)
		draw_node(rails, rails->by_order[i]);
	fclose(rails->out);
	if (out)
		print_trimmed(text, out);
	free(text);
}

void show_text(const struct graph *graph, bool ascii, FILE *out)
{
	struct rails rails = {
	    .graph = graph, .arena = arena_new(), .ascii = ascii, .last = UINT_MAX};

	rails.by_order = memory_new(graph->n_nodes + 1, sizeof(*rails.by_order));
	rails.names = memory_new(graph->n_nodes + 1, sizeof(*rails.names));
	for (unsigned i = 0; i < graph->n_nodes; i++)
		rails.by_order[graph->nodes[i].order] = i;
	name_nodes(&rails);
	// The widest that the lines become is found by drawing into nothing.
	draw_all(&rails, NULL);
	rails.indent = 2 * rails.n + 1;
	rails.n = 0;
	rails.last = UINT_MAX;
	fprintf(out, "%s\n\n", graph->file);
	draw_all(&rails, out);
	show_ports(graph, rails.arena, out);
	show_workers(graph, out);
	free(rails.to);
	free(rails.by_order);
	free(rails.names);
	arena_free(rails.arena);
}
