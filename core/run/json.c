// SPDX-License-Identifier: BSD-3-Clause
// All counters of a run as one JSON object: what `sluice run --json` prints.

#include <limits.h>
#include <time.h>

#include "run/inside.h"

static json_t *numbers(const uint64_t *values, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_integer((json_int_t)values[i]));
	return list;
}

static void put(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

json_t *run_node_json(struct run *run, unsigned index)
{
	const struct node *node = run_node(run, index);
	const struct module_type *type = node->type;
	json_t *object = json_object(), *dropped = json_object();
	struct node_counts counts;

	run_node_counts(run, index, &counts);
	json_object_set_new(object, "module", json_string(type->name));
	json_object_set_new(object, "in", numbers(counts.in, node->igates));
	json_object_set_new(object, "out", numbers(counts.out, node->ogates));
	put(object, "made", counts.made);
	put(object, "consumed", counts.consumed);
	put(object, "held", counts.held);
	if (type->holds)
		put(object, "room", type->holds(node->params));
	for (unsigned i = 0; i < reason_count(type); i++)
		if (counts.dropped[i])
			put(dropped, reason_name(type, (reason_t)i), counts.dropped[i]);
	json_object_set_new(object, "dropped", dropped);
	put(object, "batches", counts.in_batches ? counts.in_batches : counts.out_batches);
	put(object, "cycles", counts.cycles);
	put(object, "cycles_sampled", counts.cycles_sampled);
	if (type->counters) {
		json_t *own = json_object();

		for (unsigned i = 0; type->counters[i].name; i++)
			put(own, type->counters[i].name, counts.own[i]);
		json_object_set_new(object, "counters", own);
	}
	return object;
}

json_t *run_port_json(struct run *run, unsigned index)
{
	json_t *object = json_object();
	struct port_counters counters;

	run_port_counts(run, index, &counters);
	json_object_set_new(object, "driver", json_string(run_port(run, index)->driver->name));
	put(object, "rx_packets", counters.rx_packets);
	put(object, "rx_bytes", counters.rx_bytes);
	put(object, "tx_packets", counters.tx_packets);
	put(object, "tx_bytes", counters.tx_bytes);
	put(object, "rx_errors", counters.rx_errors);
	put(object, "rx_missed", counters.rx_missed);
	put(object, "rx_no_memory", counters.rx_no_memory);
	put(object, "tx_errors", counters.tx_errors);
	return object;
}

json_t *run_worker_json(struct run *run, unsigned index)
{
	json_t *object = json_object();
	struct worker_counts counts;

	run_worker_counts(run, index, &counts);
	json_object_set_new(object, "core", json_integer(counts.core));
	put(object, "polls", counts.polls);
	put(object, "busy_cycles", counts.busy_cycles);
	put(object, "idle_cycles", counts.idle_cycles);
	put(object, "parks", counts.parks);
	put(object, "parked_cycles", counts.parked_cycles);
	return object;
}

static json_t *gate_name_json(const char *const *names, gate_t gate)
{
	return names ? json_string(names[gate]) : json_null();
}

json_t *run_links_json(struct run *run)
{
	const struct graph *graph = run_graph(run);
	json_t *list = json_array();
	struct node_counts counts;
	unsigned counted = UINT_MAX; // the node that counts are of

	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];
		const struct graph_node *from = &graph->nodes[link->from];
		const struct graph_node *to = &graph->nodes[link->to];

		if (counted != link->from)
			run_node_counts(run, link->from, &counts);
		counted = link->from;
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:i, s:o, s:s, s:i, s:o, s:I, s:I, s:b}", "from", from->name,
			      "ogate", link->ogate, "ogate_name",
			      gate_name_json(from->type->ogate_names, link->ogate), "to", to->name,
			      "igate", link->igate, "igate_name",
			      gate_name_json(to->type->igate_names, link->igate), "packets",
			      (json_int_t)counts.out[link->ogate], "batches",
			      (json_int_t)counts.gate_batches[link->ogate], "back", link->back));
	}
	return list;
}

json_t *run_json(struct run *run)
{
	const struct graph *graph = run_graph(run);
	json_t *root = json_object(), *nodes = json_object(), *ports = json_object();
	json_t *workers = json_array();
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	put(root, "time_ns", (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	json_object_set_new(root, "seconds", json_real((double)run_time_ns(run) / 1e9));
	for (unsigned i = 0; i < graph->n_nodes; i++)
		json_object_set_new(nodes, graph->nodes[i].name, run_node_json(run, i));
	for (unsigned i = 0; i < graph->n_ports; i++)
		json_object_set_new(ports, graph->ports[i].name, run_port_json(run, i));
	for (unsigned i = 0; i < run_workers(run); i++)
		json_array_append_new(workers, run_worker_json(run, i));
	json_object_set_new(root, "nodes", nodes);
	json_object_set_new(root, "ports", ports);
	json_object_set_new(root, "workers", workers);
	return root;
}

static const char *const fates[] = {
    [FATE_KEPT] = "kept", [FATE_LIVE] = "live",	      [FATE_REPLACED] = "replaced",
    [FATE_NEW] = "new",	  [FATE_REMOVED] = "removed",
};

static json_t *fates_json(void)
{
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(fates) / sizeof(*fates); i++)
		json_object_set_new(object, fates[i], json_array());
	return object;
}

static void fate_add(json_t *object, enum graph_fate fate, const char *name)
{
	json_array_append_new(json_object_get(object, fates[fate]), json_string(name));
}

// What goes for good: a node that another one of its name takes over from does not.
static void removed_add(json_t *object, const char *name, enum graph_fate gone, const int *taken,
			unsigned n_taken, unsigned index)
{
	for (unsigned i = 0; i < n_taken; i++)
		if (taken[i] == (int)index)
			return;
	if (gone == FATE_REMOVED)
		fate_add(object, FATE_REMOVED, name);
}

json_t *run_diff_json(struct run *run, const struct graph *new)
{
	json_t *nodes = fates_json(), *ports = fates_json(), *losses = json_array();
	const struct graph *old = run_graph(run);
	struct arena *arena = arena_new();
	const struct graph_diff *diff = graph_diff(arena, old, new);

	for (unsigned i = 0; i < new->n_nodes; i++) {
		fate_add(nodes, diff->nodes[i], new->nodes[i].name);
		if (diff->losses[i])
			json_array_append_new(
			    losses, json_sprintf("%s: %s", new->nodes[i].name, diff->losses[i]));
	}
	for (unsigned i = 0; i < old->n_nodes; i++)
		removed_add(nodes, old->nodes[i].name, diff->gone_nodes[i], diff->old_nodes,
			    new->n_nodes, i);
	for (unsigned i = 0; i < new->n_ports; i++)
		fate_add(ports, diff->ports[i], new->ports[i].name);
	for (unsigned i = 0; i < old->n_ports; i++)
		removed_add(ports, old->ports[i].name, diff->gone_ports[i], diff->old_ports,
			    new->n_ports, i);
	arena_free(arena);
	return json_pack("{s:o, s:o, s:o}", "nodes", nodes, "ports", ports, "losses", losses);
}
