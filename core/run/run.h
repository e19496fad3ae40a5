// SPDX-License-Identifier: BSD-3-Clause
// A graph that runs: opened ports and nodes, workers, counters. All calls from one thread, the
// control thread, unless said otherwise.

#ifndef SLUICE_RUN_RUN_H
#define SLUICE_RUN_RUN_H

#include <jansson.h>

#include "graph/graph.h"

struct run;

struct run_options {
	bool replay;	   // no workers: run_step() walks on the caller's thread, time is set
	bool no_cores;	   // workers are not pinned (tests on small machines)
	bool telemetry;	   // DPDK's own, if DPDK does not run yet
	uint64_t start_ns; // of the set clock
};

// Starts EAL if need be, opens ports and nodes. The graph becomes the run's, also after a failure
// (then NULL).
struct run *run_open(struct graph *, const struct run_options *, struct errors *);
int run_start(struct run *, struct errors *);

// Stops the workers after they have walked what is pending, stops ports, drops what is held.
void run_stop(struct run *);
// Stops if need be, closes all, frees the graph.
void run_close(struct run *);

const struct graph *run_graph(const struct run *);

enum run_state {
	RUN_BUSY,
	RUN_DONE,  // every source ended, nothing is pending, held or unsent
	RUN_STUCK, // every source ended, but a node or port makes no progress (for 1 s)
	RUN_FAULT, // a node had a fault that ends the run
};

// Whether it ended; does the control thread's part (ticks, faults). Call it every ms or so, at most
// every 100 ms.
enum run_state run_tend(struct run *);
// The node or port that RUN_STUCK means.
const char *run_stuck_name(const struct run *);

// Faults so far (conservation, damaged captures, ...): each was printed once. The run's exit code
// is 1 if any.
unsigned run_faults(const struct run *);

// Replay mode: polls each source once, or as often as its weight says, and walks all that follows.
// Returns packets that entered; -1:
// all sources have ended and nothing is pending.
int run_step(struct run *);
void run_set_time(struct run *, uint64_t now_ns);

// Whether the control thread keeps off the workers' cores: each of its turns would take one from
// its worker for a while. It does from run_start() on; what it starts (processes too) has its
// cores.
void run_step_aside(struct run *, bool aside);

// Parks all workers between two polls (at most 100 ms; else -1 with the worker named); unparks.
int run_park(struct run *, struct errors *);
void run_unpark(struct run *);

// Runs a command of a node's table; the answer is the caller's, NULL after an error.
json_t *run_command(struct run *, const char *name, const char *command_name,
		    const struct value *args, struct errors *);

// Switches to a new graph in one park; without `allow_loss` refuses what would lose state. The new
// graph becomes the run's, or is freed after an error, which changes nothing. 0 or -1.
int run_switch(struct run *, struct graph *, bool allow_loss, struct errors *);
// The same with the graph of a file, losing nothing.
int run_reload(struct run *, const char *file, const struct graph_set *, unsigned n_sets,
	       struct errors *);
// How long workers were parked when they last were: the longest. Not while they are.
uint64_t run_parked_ns(const struct run *);

struct run_changes {
	uint64_t made;
	uint64_t refused;   // or failed: the old graph ran on
	uint64_t parked_ns; // by the last one, as of run_parked_ns()
};
void run_change_counts(const struct run *, struct run_changes *);
// One who is told of what is done to the run, whoever does it; NULL: nobody. On the control thread,
// after it was done: "graph" {"diff": as run_diff_json(), "parked_ns"}, "command" {"node",
// "command"}. What it is told becomes its own.
void run_listen(struct run *, void (*hear)(void *to, const char *event, json_t *what), void *to);

// The graph as graph_value() writes it, with the parameters that would make the nodes as they are
// now: what commands have changed is in it, and if `learned`, what packets have taught them.
struct value *run_value(struct run *, struct arena *, bool learned);

// Counters of a node, gathered over the workers. Arrays have the node's gate counts and reasons.
struct node_counts {
	uint64_t in[GATES_MAX];
	uint64_t out[GATES_MAX];
	uint64_t in_batches;
	uint64_t out_batches; // of all gates
	uint64_t gate_batches[GATES_MAX];
	uint64_t made, consumed, held, released;       // held: now
	uint64_t cycles, cycles_sampled, cycles_calls; // packets and calls that were sampled
	uint64_t dropped[64];			       // by reason
	uint64_t own[32];			       // .counters
};
void run_node_counts(struct run *, unsigned index, struct node_counts *);
void run_port_counts(struct run *, unsigned index, struct port_counters *);
bool run_port_up(struct run *, unsigned index); // of ports whose driver knows
struct port *run_port(struct run *, unsigned port);
struct node *run_node(struct run *, unsigned node);

struct worker_counts {
	int core;
	uint64_t polls, busy_cycles, idle_cycles;
	uint64_t parks, parked_cycles;
};
unsigned run_workers(const struct run *);
void run_worker_counts(const struct run *, unsigned index, struct worker_counts *);

// Name of a drop reason of a type; the number of reasons.
const char *reason_name(const struct module_type *, reason_t);
const char *reason_help(const struct module_type *, reason_t);
unsigned reason_count(const struct module_type *);

uint64_t run_time_ns(const struct run *);	   // since the start
const struct clock *run_clock(const struct run *); // that ctx->now_ns is of
uint64_t run_cycles_hz(void);

// All of the above as one object, the line of `run --json`; and its parts.
json_t *run_json(struct run *);
json_t *run_node_json(struct run *, unsigned index);
json_t *run_port_json(struct run *, unsigned index);
json_t *run_worker_json(struct run *, unsigned index);
// What passed each link: [{"from", "ogate", "ogate_name" (or null), "to", "igate", "igate_name",
// "packets", "batches", "back" (a link of a loop)}]. The counters are the output gate's.
json_t *run_links_json(struct run *);

// What a change to another graph would do: {"nodes": {"kept": [names], "live": .., "replaced": ..,
// "new": .., "removed": ..}, "ports": the same, "losses": [texts]}.
json_t *run_diff_json(struct run *, const struct graph *);

// Packets of the pool that are nowhere: not free, not held, not in a device. After run_stop() it
// must be 0.
unsigned run_packets_out(const struct run *);

#endif
