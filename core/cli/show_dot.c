// SPDX-License-Identifier: BSD-3-Clause
// sluice show --format dot: the graph in Graphviz's language.

#include <string.h>

#include "cli/show.h"
#include "value/table.h"

// Text inside a quoted label; what breaks lines there stays as it is.
static void write_label(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void write_ports(const struct graph *graph, struct arena *arena, FILE *out)
{
	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct graph_port *port = &graph->ports[i];

		fprintf(out, "\tp%u [shape=cylinder, style=filled, fillcolor=\"#eeeeee\", label=\"",
			i);
		write_label(port->name, out);
		fprintf(out, "\\n%s", port->driver->name);
		fputs("\\n", out);
		write_label(show_params(arena, port->driver->params, port->params, 40), out);
		fputs("\"];\n", out);
	}
}

// One colour a worker; nodes of several workers stay white.
static const char *node_colour(const struct graph_node *node)
{
	static const char *const colours[] = {"#d7e8fa", "#fae6cd", "#dcf2d6", "#f3d9ee",
					      "#f7f3c4", "#d3f0ee", "#e6dcf7", "#f7d6d2"};

	if (!node->workers || (node->workers & (node->workers - 1)))
		return "#ffffff";
	return colours[(unsigned)__builtin_ctzll(node->workers) % 8];
}

static void write_nodes(const struct graph *graph, struct arena *arena, FILE *out)
{
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		fprintf(out, "\tn%u [style=\"filled,rounded\", fillcolor=\"%s\", label=\"", i,
			node_colour(node));
		write_label(node->name, out);
		if (strncmp(node->name, node->type->name, strlen(node->type->name)) != 0 ||
		    !node->unnamed)
			fprintf(out, "\\n%s", node->type->name);
		fputs("\\n", out);
		write_label(show_params(arena, node->type->params, node->params, 40), out);
		fputs("\"];\n", out);
	}
}

// Where packets enter and leave the graph: a dashed line between a port and the nodes that name it.
static void write_port_lines(const struct graph *graph, FILE *out)
{
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		if (node->port < 0)
			continue;
		if (node->receives)
			fprintf(out, "\tp%d -> n%u [style=dashed];\n", node->port, i);
		else
			fprintf(out, "\tn%u -> p%d [style=dashed];\n", i, node->port);
	}
}

static void write_links(const struct graph *graph, struct arena *arena, FILE *out)
{
	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];
		const struct graph_node *from = &graph->nodes[link->from];
		const struct graph_node *to = &graph->nodes[link->to];

		fprintf(out, "\tn%u -> n%u [", link->from, link->to);
		if (from->ogates > 1 || from->type->ogate_names) {
			fputs("taillabel=\"", out);
			write_label(show_gate(arena, from, true, link->ogate), out);
			fputs("\", ", out);
		}
		if (to->igates > 1 || to->type->igate_names) {
			fputs("headlabel=\"", out);
			write_label(show_gate(arena, to, false, link->igate), out);
			fputs("\", ", out);
		}
		fprintf(out, "constraint=%s];\n", link->back ? "false" : "true");
	}
}

void show_dot(const struct graph *graph, FILE *out)
{
	struct arena *arena = arena_new();

	fputs("digraph \"", out);
	write_label(graph->file, out);
	fputs("\" {\n"
	      "\trankdir=LR;\n"
	      "\tnode [shape=box, fontname=\"sans-serif\", fontsize=11];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=9, labeldistance=1.6];\n",
	      out);
	write_ports(graph, arena, out);
	write_nodes(graph, arena, out);
	write_port_lines(graph, out);
	write_links(graph, arena, out);
	fputs("}\n", out);
	arena_free(arena);
}
