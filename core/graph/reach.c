// SPDX-License-Identifier: BSD-3-Clause
// What can be said of a graph once its order is known: nodes that nothing reaches, ports and how
// they are used.

#include <stdlib.h>
#include <string.h>

#include "graph/load.h"

static bool reached(const struct reach *reach, unsigned node)
{
	for (unsigned i = 0; i < reach->n_words; i++)
		if (reach->bits[(size_t)node * reach->n_words + i])
			return true;
	return false;
}

static void nodes_check(struct draft *draft, const struct reach *reach)
{
	struct graph *graph = draft->graph;
	unsigned n_sources = 0;
	struct place place = {.file = graph->file};

	for (unsigned i = 0; i < graph->n_nodes; i++)
		n_sources += graph->nodes[i].source && !graph->nodes[i].type->igates;
	if (!n_sources) {
		error_at(draft->errors, place,
			 "the graph has no source, so nothing would ever run; it should have a "
			 "node that makes packets (PortInc, Source)");
		return;
	}
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		if (node->type->igates && !reached(reach, i))
			error_at(draft->errors, node->place,
				 "no source reaches %s '%s'; link it, or leave it out",
				 node->type->name, node->name);
	}
}

static void port_receive(struct draft *draft, const struct graph_node *node,
			 const struct graph_node **receivers)
{
	const struct graph_port *port = &draft->graph->ports[node->port];
	const struct graph_node *other = receivers[node->port];

	receivers[node->port] = node;
	if (other)
		error_at(draft->errors, node->place,
			 "port '%s' is received from by '%s' already (line %u); one node receives "
			 "from a port, a Tee or HashSplit behind it serves several",
			 port->name, other->name, other->place.line);
}

static void ports_check(struct draft *draft)
{
	struct graph *graph = draft->graph;
	const struct graph_node **receivers = memory_new(graph->n_ports + 1, sizeof(*receivers));
	bool *used = memory_new(graph->n_ports + 1, sizeof(*used));

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];
		struct driver_caps caps = {0};
		const struct graph_port *port;

		if (node->port < 0)
			continue;
		port = &graph->ports[node->port];
		used[node->port] = true;
		if (node->receives)
			port_receive(draft, node, receivers);
		port->driver->caps(port->params, &caps);
		if (!(node->receives ? caps.rx_queues : caps.tx_queues))
			error_at(draft->errors, node->place,
				 "%s '%s' cannot %s port '%s': as it is written, this %s port does "
				 "not %s",
				 node->type->name, node->name,
				 node->receives ? "receive from" : "send to", port->name,
				 port->driver->name, node->receives ? "receive" : "send");
	}
	for (unsigned i = 0; i < graph->n_ports; i++)
		if (!used[i])
			error_at(draft->errors, graph->ports[i].place,
				 "no node uses port '%s'; use it in one, or leave it out",
				 graph->ports[i].name);
	free(receivers);
	free(used);
}

void reach_check(struct draft *draft)
{
	struct reach reach;

	reach_find(draft->graph, &reach);
	nodes_check(draft, &reach);
	ports_check(draft);
	free(reach.bits);
}
