// SPDX-License-Identifier: BSD-3-Clause
// A graph back to text: gates as a user writes them, and the normalised tree of a whole graph.

#include <string.h>

#include "graph/graph.h"
#include "value/table.h"

// The tree may outlive the graph, places have texts of the graph's.
static const struct place nowhere;

static const char *gate_name(const struct graph_node *node, bool output, gate_t gate)
{
	const char *const *names = output ? node->type->ogate_names : node->type->igate_names;
	gate_t n = output ? node->type->ogates : node->type->igates;

	return names && n != GATES_ANY && gate < n ? names[gate] : NULL;
}

const char *graph_gate_text(struct arena *arena, const struct graph_node *node, bool output,
			    gate_t gate)
{
	const char *name = gate_name(node, output, gate);
	const char *text = name ? arena_printf(arena, "[%s]", name)
			   : (output ? node->ogates : node->igates) > 1 || gate
			       ? arena_printf(arena, "[%u]", gate)
			       : "";

	return output ? arena_printf(arena, "%s%s", node->name, text)
		      : arena_printf(arena, "%s%s", text, node->name);
}

// `Type`, or `{Type: parameters}` where some are not at their default.
static struct value *spec_value(struct arena *arena, const char *type, const struct param *table,
				const void *params)
{
	struct value *written = table ? table_value(arena, table, params, true) : NULL;
	struct value *map;

	if (!written || !written->n)
		return value_scalar(arena, nowhere, type);
	map = value_new(arena, VALUE_MAP, nowhere);
	value_put(arena, map, type, nowhere, written);
	return map;
}

static struct value *workers_value(const struct graph *graph, struct arena *arena)
{
	struct value *list = value_new(arena, VALUE_LIST, nowhere);

	for (unsigned i = 0; i < graph->n_workers; i++) {
		const struct graph_worker *worker = &graph->workers[i];
		struct value *map = value_new(arena, VALUE_MAP, nowhere);
		struct value *sources = value_new(arena, VALUE_LIST, nowhere);
		struct value *weights = value_new(arena, VALUE_MAP, nowhere);
		bool weighted = false;

		for (unsigned j = 0; j < worker->n_sources; j++) {
			const char *name = graph->nodes[worker->sources[j].node].name;

			weighted |= worker->sources[j].weight != 1;
			value_append(arena, sources, value_scalar(arena, nowhere, name));
			value_put(
			    arena, weights, name, nowhere,
			    value_scalar(arena, nowhere,
					 arena_printf(arena, "%u", worker->sources[j].weight)));
		}
		value_put(arena, map, "core", nowhere,
			  value_scalar(arena, nowhere, arena_printf(arena, "%d", worker->core)));
		value_put(arena, map, "sources", nowhere, sources);
		if (weighted) {
			struct value *policy = value_new(arena, VALUE_MAP, nowhere);

			value_put(arena, policy, "weighted", nowhere, weights);
			value_put(arena, map, "policy", nowhere, policy);
		}
		value_append(arena, list, map);
	}
	return list;
}

static struct value *links_value(const struct graph *graph, struct arena *arena)
{
	struct value *list = value_new(arena, VALUE_LIST, nowhere);

	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];
		const char *text = arena_printf(
		    arena, "%s -> %s",
		    graph_gate_text(arena, &graph->nodes[link->from], true, link->ogate),
		    graph_gate_text(arena, &graph->nodes[link->to], false, link->igate));

		value_append(arena, list, value_scalar(arena, nowhere, text));
	}
	return list;
}

// What was filled in is text, not a var to be filled in again: each $ is written twice.
static void dollars_double(struct arena *arena, struct value *value)
{
	for (size_t i = 0; i < value->n; i++)
		dollars_double(arena, value->kind == VALUE_MAP ? value->members[i].value
							       : value->items[i]);
	if (value->kind != VALUE_SCALAR || !strchr(value->text, '$'))
		return;
	char *text = arena_alloc(arena, 2 * strlen(value->text) + 1), *to = text;

	for (const char *from = value->text; *from; from++) {
		*to++ = *from;
		if (*from == '$')
			*to++ = '$';
	}
	value->text = text;
}

static struct value *modules_value(const struct graph *graph, struct arena *arena)
{
	const struct value *modules = graph->root ? value_get(graph->root, "modules") : NULL;
	struct value *list = value_new(arena, VALUE_LIST, nowhere);

	for (size_t i = 0; modules && i < modules->n; i++) {
		struct value *path = value_scalar(arena, nowhere, modules->items[i]->text);

		path->quoted = modules->items[i]->quoted;
		value_append(arena, list, path);
	}
	return list;
}

static struct value *ports_value(const struct graph *graph, struct arena *arena)
{
	struct value *map = value_new(arena, VALUE_MAP, nowhere);

	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct graph_port *port = &graph->ports[i];

		value_put(
		    arena, map, port->name, nowhere,
		    spec_value(arena, port->driver->name, port->driver->params, port->params));
	}
	return map;
}

static struct value *nodes_value(const struct graph *graph, const void *const *params,
				 struct arena *arena)
{
	struct value *map = value_new(arena, VALUE_MAP, nowhere);

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		value_put(arena, map, node->name, nowhere,
			  spec_value(arena, node->type->name, node->type->params,
				     params && params[i] ? params[i] : node->params));
	}
	return map;
}

struct value *graph_value_with(const struct graph *graph, const void *const *params,
			       struct arena *arena)
{
	struct value *root = value_new(arena, VALUE_MAP, nowhere);
	struct value *settings = table_value(arena, graph_settings_params, &graph->settings, true);
	struct value *modules = modules_value(graph, arena);

	for (size_t i = 0; i < settings->n; i++)
		value_put(arena, root, settings->members[i].key, nowhere,
			  settings->members[i].value);
	if (modules->n)
		value_put(arena, root, "modules", nowhere, modules);
	if (graph->n_ports)
		value_put(arena, root, "ports", nowhere, ports_value(graph, arena));
	value_put(arena, root, "nodes", nowhere, nodes_value(graph, params, arena));
	if (graph->n_links)
		value_put(arena, root, "graph", nowhere, links_value(graph, arena));
	if (graph->workers_written)
		value_put(arena, root, "workers", nowhere, workers_value(graph, arena));
	dollars_double(arena, root);
	return root;
}

struct value *graph_value(const struct graph *graph, struct arena *arena)
{
	return graph_value_with(graph, NULL, arena);
}
