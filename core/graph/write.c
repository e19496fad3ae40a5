// SPDX-License-Identifier: BSD-3-Clause
// A graph back to text: gates as a user writes them, and the normalised tree of a whole graph.

#include <string.h>

#include "graph/graph.h"
#include "value/table.h"

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
static struct value *spec_value(struct arena *arena, struct place place, const char *type,
				const struct param *table, const void *params)
{
	struct value *written = table ? table_value(arena, table, params, true) : NULL;
	struct value *map;

	if (!written || !written->n)
		return value_scalar(arena, place, type);
	map = value_new(arena, VALUE_MAP, place);
	value_put(arena, map, type, place, written);
	return map;
}

static struct value *workers_value(const struct graph *graph, struct arena *arena)
{
	struct value *list = value_new(arena, VALUE_LIST, (struct place){0});

	for (unsigned i = 0; i < graph->n_workers; i++) {
		const struct graph_worker *worker = &graph->workers[i];
		struct value *map = value_new(arena, VALUE_MAP, worker->place);
		struct value *sources = value_new(arena, VALUE_LIST, worker->place);
		struct value *weights = value_new(arena, VALUE_MAP, worker->place);
		bool weighted = false;

		for (unsigned j = 0; j < worker->n_sources; j++) {
			const char *name = graph->nodes[worker->sources[j].node].name;

			weighted |= worker->sources[j].weight != 1;
			value_append(arena, sources, value_scalar(arena, worker->place, name));
			value_put(
			    arena, weights, name, worker->place,
			    value_scalar(arena, worker->place,
					 arena_printf(arena, "%u", worker->sources[j].weight)));
		}
		value_put(
		    arena, map, "core", worker->place,
		    value_scalar(arena, worker->place, arena_printf(arena, "%d", worker->core)));
		value_put(arena, map, "sources", worker->place, sources);
		if (weighted) {
			struct value *policy = value_new(arena, VALUE_MAP, worker->place);

			value_put(arena, policy, "weighted", worker->place, weights);
			value_put(arena, map, "policy", worker->place, policy);
		}
		value_append(arena, list, map);
	}
	return list;
}

static struct value *links_value(const struct graph *graph, struct arena *arena)
{
	struct value *list = value_new(arena, VALUE_LIST, (struct place){0});

	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];
		const char *text = arena_printf(
		    arena, "%s -> %s",
		    graph_gate_text(arena, &graph->nodes[link->from], true, link->ogate),
		    graph_gate_text(arena, &graph->nodes[link->to], false, link->igate));

		value_append(arena, list, value_scalar(arena, link->place, text));
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

struct value *graph_value(const struct graph *graph, struct arena *arena)
{
	struct place none = {.file = graph->file};
	struct value *root = value_new(arena, VALUE_MAP, none);
	struct value *ports = value_new(arena, VALUE_MAP, none);
	struct value *nodes = value_new(arena, VALUE_MAP, none);
	struct value *settings = table_value(arena, graph_settings_params, &graph->settings, true);
	size_t budget = VALUE_COUNT_MAX;
	struct value *modules = graph->root ? value_get(graph->root, "modules") : NULL;

	for (size_t i = 0; i < settings->n; i++)
		value_put(arena, root, settings->members[i].key, none, settings->members[i].value);
	if (modules)
		value_put(arena, root, "modules", none, value_copy(arena, modules, &budget));
	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct graph_port *port = &graph->ports[i];

		value_put(arena, ports, port->name, none,
			  spec_value(arena, none, port->driver->name, port->driver->params,
				     port->params));
	}
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		value_put(
		    arena, nodes, node->name, none,
		    spec_value(arena, none, node->type->name, node->type->params, node->params));
	}
	if (graph->n_ports)
		value_put(arena, root, "ports", none, ports);
	value_put(arena, root, "nodes", none, nodes);
	if (graph->n_links)
		value_put(arena, root, "graph", none, links_value(graph, arena));
	if (graph->workers_written)
		value_put(arena, root, "workers", none, workers_value(graph, arena));
	dollars_double(arena, root);
	return root;
}
