// SPDX-License-Identifier: BSD-3-Clause
// The difference of two graphs: what goes on, what is replaced, and what would be lost.

#include <string.h>

#include "graph/graph.h"
#include "value/table.h"

// Whether all that differs between two filled structs may change while the node runs.
static bool only_live_differs(const struct param *table, const void *a, const void *b)
{
	for (const struct param *row = table; row && row->name; row++) {
		struct param one[2] = {*row, PARAM_END};

		if (!row->live && !table_equal(one, a, b))
			return false;
	}
	return true;
}

static enum graph_fate port_fate(const struct graph_port *old, const struct graph_port *new)
{
	if (old->driver == new->driver && old->rx_queues == new->rx_queues &&
	    old->tx_queues ==
		new->tx_queues &&table_equal(new->driver->params, old->params, new->params))
		return FATE_KEPT;
	return FATE_REPLACED;
}

static enum graph_fate params_fate(const struct param *table, const void *old, const void *new)
{
	if (!table || table_equal(table, old, new))
		return FATE_KEPT;
	return only_live_differs(table, old, new) ? FATE_LIVE : FATE_REPLACED;
}

// `now`: other parameters that the old node may be said to have, or NULL.
static enum graph_fate node_fate(const struct graph_diff *diff, const struct graph *old_graph,
				 const struct graph *new_graph, const struct graph_node *old,
				 const void *now, const struct graph_node *new)
{
	const struct param *table = new->type->params;
	enum graph_fate fate;

	// A port that is replaced replaces the nodes that hold it.
	if (new->port >= 0 &&
	    (diff->ports[new->port] != FATE_KEPT || old->port < 0 ||
	     strcmp(old_graph->ports[old->port].name, new_graph->ports[new->port].name) != 0))
		return FATE_REPLACED;
	// Locals are the workers' own, and open() makes the state fit for so many workers.
	if ((new->type->local_size || new->type->state_size) &&
	    __builtin_popcountll(old->workers) != __builtin_popcountll(new->workers))
		return FATE_REPLACED;
	if (old->igates != new->igates || old->ogates != new->ogates)
		return FATE_REPLACED;
	fate = params_fate(table, old->params, new->params);
	return fate == FATE_REPLACED && now ? params_fate(table, now, new->params) : fate;
}

static void ports_compare(struct graph_diff *diff, const struct graph *old, const struct graph *new)
{
	for (unsigned i = 0; i < new->n_ports; i++) {
		int at = graph_find_port(old, new->ports[i].name);

		diff->old_ports[i] = at;
		diff->ports[i] = at < 0 ? FATE_NEW : port_fate(&old->ports[at], &new->ports[i]);
		if (at >= 0 && diff->ports[i] == FATE_KEPT)
			diff->gone_ports[at] = FATE_KEPT;
	}
}

static void nodes_compare(struct graph_diff *diff, const struct graph *old,
			  const void *const *params, const struct graph *new)
{
	for (unsigned i = 0; i < new->n_nodes; i++) {
		const struct graph_node *node = &new->nodes[i];
		// An unnamed node keeps no state across a change.
		int at = node->unnamed ? -1 : graph_find_node(old, node->name);

		diff->old_nodes[i] = -1;
		diff->nodes[i] = FATE_NEW;
		if (at < 0 || old->nodes[at].type != node->type)
			continue;
		diff->old_nodes[i] = at;
		diff->nodes[i] =
		    node_fate(diff, old, new, &old->nodes[at], params ? params[at] : NULL, node);
		if (diff->nodes[i] != FATE_REPLACED) {
			diff->gone_nodes[at] = FATE_KEPT;
			continue;
		}
		if (node->type->loses)
			diff->losses[i] = node->type->loses(node->params, old->nodes[at].params);
		else if (node->type->state_size && !node->type->take)
			diff->losses[i] = "its state";
		diff->n_losses += diff->losses[i] != NULL;
	}
}

struct graph_diff *graph_diff_with(struct arena *arena, const struct graph *old,
				   const void *const *params, const struct graph *new)
{
	struct graph_diff *diff = arena_alloc(arena, sizeof(*diff));

	diff->nodes = arena_alloc(arena, (new->n_nodes + 1) * sizeof(*diff->nodes));
	diff->ports = arena_alloc(arena, (new->n_ports + 1) * sizeof(*diff->ports));
	diff->old_nodes = arena_alloc(arena, (new->n_nodes + 1) * sizeof(int));
	diff->old_ports = arena_alloc(arena, (new->n_ports + 1) * sizeof(int));
	diff->gone_nodes = arena_alloc(arena, (old->n_nodes + 1) * sizeof(*diff->gone_nodes));
	diff->gone_ports = arena_alloc(arena, (old->n_ports + 1) * sizeof(*diff->gone_ports));
	diff->losses = arena_alloc(arena, (new->n_nodes + 1) * sizeof(*diff->losses));
	for (unsigned i = 0; i < old->n_nodes; i++)
		diff->gone_nodes[i] = FATE_REMOVED;
	for (unsigned i = 0; i < old->n_ports; i++)
		diff->gone_ports[i] = FATE_REMOVED;
	ports_compare(diff, old, new);
	nodes_compare(diff, old, params, new);
	return diff;
}

struct graph_diff *graph_diff(struct arena *arena, const struct graph *old, const struct graph *new)
{
	return graph_diff_with(arena, old, NULL, new);
}
