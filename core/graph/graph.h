// SPDX-License-Identifier: BSD-3-Clause
// The graph as written and checked: names resolved, parameters filled, links numbered, order found.
// Pure data; nothing is opened. Everything lives in the graph's arena.

#ifndef SLUICE_GRAPH_GRAPH_H
#define SLUICE_GRAPH_GRAPH_H

#include <sched.h>

#include "driver.h"
#include "module.h"
#include "value/value.h"

struct graph_port {
	const char *name;
	struct place place;
	const struct driver_type *driver;
	const void *params;
	const struct value *written; // NULL: none were written
	unsigned rx_queues;	     // how many workers receive from it; 0: nobody
	unsigned tx_queues;
};

struct graph_node {
	const char *name;
	struct place place;
	const struct module_type *type;
	const void *params;
	const struct value *written;
	bool unnamed;  // `MACSwap#1`
	gate_t igates; // how many it has here
	gate_t ogates;
	unsigned order; // place in topological order, from 0
	bool source;
	int port;	  // index of the port that its parameters name, or -1
	bool receives;	  // from that port; else it sends to it
	uint64_t workers; // bit mask of the workers that run it
};

// Whether a node holds back what its port does not take. Each worker that feeds it polls it,
// because each has its own queue of the port: it is given to none.
static inline bool graph_node_sender(const struct graph_node *node)
{
	return node->source && node->port >= 0 && !node->receives;
}

struct graph_link {
	unsigned from; // index of the node
	gate_t ogate;
	unsigned to;
	gate_t igate;
	struct place place;
	bool back;   // leads to the same place or an earlier one in the order: a loop
	bool single; // the only link into its input gate, and not back: runs without the bitmap
};

struct graph_share {
	unsigned node; // index of the source
	unsigned weight;
};

struct graph_worker {
	int core;
	struct place place;
	struct graph_share *sources;
	unsigned n_sources;
};

#define WORKERS_MAX 32

struct graph_settings {
	struct bytes memory; // 0: worked out
	const char *eal;     // more EAL arguments, separated by blanks
	struct choice idle;  // sleep, spin
	uint32_t burst;
	uint32_t watch; // one walk in so many is watched
	const char *name;
};
enum { IDLE_SLEEP, IDLE_SPIN };
extern const struct param graph_settings_params[];

#define GRAPH_NAME_MAX 63
// Whether an instance may have this name: letters, digits, `.`, `_`, `-`, none of them a path.
bool graph_name_valid(const char *name);

extern const struct param graph_worker_params[]; // beside these, a worker has a `policy`

struct graph {
	struct arena *arena;
	const char *file;
	struct graph_settings settings;
	struct value *root; // as written, vars expanded
	struct graph_port *ports;
	unsigned n_ports;
	struct graph_node *nodes;
	unsigned n_nodes;
	struct graph_link *links;
	unsigned n_links;
	struct graph_worker *workers;
	unsigned n_workers;
	bool workers_written; // false: assigned by the program
};

struct graph_set { // --set NAME=VALUE
	const char *name;
	const char *value;
};

// Reads, expands and checks a graph file (YAML). NULL after any error. Needs no EAL and opens no
// device; loads the modules of its `modules:` key.
struct graph *graph_load(const char *file, const struct graph_set *sets, unsigned n_sets,
			 struct errors *);

// The same from a tree; `arena` becomes the graph's, also when it fails (and is then freed). Where
// the root is `faulty`, what built it has reported faults: it gives NULL, and says nothing that may
// only follow from them.
struct graph *graph_from_value(struct arena *, const char *file, struct value *root,
			       const struct graph_set *sets, unsigned n_sets, struct errors *);
void graph_free(struct graph *);

// The graph as a normalised tree that loads to the same graph (names for all, one link a line).
// It needs neither the graph nor its arena any more.
struct value *graph_value(const struct graph *, struct arena *);
// The same with other parameters of nodes: params[i] in place of node i's, if it is not NULL.
struct value *graph_value_with(const struct graph *, const void *const *params, struct arena *);

// The cores that this process was given at its start.
const cpu_set_t *graph_cores(void);
// Those of them that no worker of the graph is on, for threads beside the workers; all of them, if
// there are none.
cpu_set_t graph_cores_beside(const struct graph *);

// Index of a node or port by name; -1: none.
int graph_find_node(const struct graph *, const char *name);
int graph_find_port(const struct graph *, const char *name);

// "rx", "rx[1]", "cls[miss]": a gate as a user writes it, in the arena; gate names where there are.
const char *graph_gate_text(struct arena *, const struct graph_node *, bool output, gate_t);

// What a change from one graph to another does to each node and port.
enum graph_fate {
	FATE_KEPT,     // the same object goes on
	FATE_LIVE,     // goes on with other live parameters
	FATE_REPLACED, // a new one takes over what it can
	FATE_NEW,
	FATE_REMOVED,
};

struct graph_diff {
	enum graph_fate *nodes; // of the new graph's nodes
	enum graph_fate *ports;
	int *old_nodes; // index in the old graph, or -1
	int *old_ports;
	enum graph_fate
	    *gone_nodes; // of the old graph's nodes: FATE_REMOVED or FATE_KEPT (any other fate)
	enum graph_fate *gone_ports;
	const char **losses; // of the new graph's nodes: what cannot be taken over, or NULL
	unsigned n_losses;
};

struct graph_diff *graph_diff(struct arena *, const struct graph *old, const struct graph *new);
// The same, where the old graph runs and commands have changed its nodes: params[i], if not NULL,
// are the parameters that would make node i as it is now. A new graph that has those has it too.
struct graph_diff *graph_diff_with(struct arena *, const struct graph *old,
				   const void *const *params, const struct graph *new);

// The registered types, sorted by name.
const struct module_type *module_find(const char *name);
const struct driver_type *driver_find(const char *name);
unsigned module_list(
    const struct module_type ***list); // the list is the registry's; valid until the next load
unsigned driver_list(const struct driver_type ***list);

// Loads a module (or driver) built outside this tree. Errors at `place`; 0 or -1.
int module_load(const char *path, struct place place, struct errors *);

#endif
