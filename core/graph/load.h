// SPDX-License-Identifier: BSD-3-Clause
// Inside core/graph: the steps from a value to a graph, in their order. Each reports its faults and
// goes on, so that one run finds all; a later step skips what an earlier one could not make sense
// of.

#ifndef SLUICE_GRAPH_LOAD_H
#define SLUICE_GRAPH_LOAD_H

#include "graph/graph.h"

// A node while the file is read; `type` is NULL when the type is unknown.
struct draft {
	struct graph *graph;
	struct errors *errors;
	unsigned errors_before; // faults that are not of this graph
	// What graph.h keeps constant is built here.
	unsigned nodes_room;
	unsigned links_room;
	const char **port_names;
	unsigned *by_name; // indices of the named nodes, sorted by name
	unsigned n_by_name;
};

void ports_read(struct draft *, const struct value *ports);
void nodes_read(struct draft *, const struct value *nodes);
void links_read(struct draft *, const struct value *links);
void nodes_fill(struct draft *); // parameters, now that gates are known
void order_find(struct draft *);
void reach_check(struct draft *); // what no source reaches, ports and their queues
void workers_read(struct draft *, const struct value *workers);
void share_give(struct graph *, struct graph_worker *, unsigned node); // one more source
void workers_assign(struct draft *); // sources that the file leaves open
void workers_check(struct draft *);  // whether what several workers reach can be shared
void meta_check(struct draft *);

// Whether no fault of this graph was found so far.
static inline bool draft_clean(const struct draft *draft)
{
	return errors_count(draft->errors) == draft->errors_before;
}

// Adds a node; its parameters are filled later.
struct graph_node *node_add(struct draft *, const char *name, struct place,
			    const struct module_type *, const struct value *written);

// Which sources reach which nodes, as one bit a source (in the order of the nodes): n_words words a
// node.
struct reach {
	unsigned n_words;
	uint64_t *bits; // node i: bits[i * n_words]
};
void reach_find(const struct graph *, struct reach *); // free bits with free()

#endif
