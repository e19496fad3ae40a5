// SPDX-License-Identifier: BSD-3-Clause
// Inside core/run: how a running graph is laid out in memory. One plan a worker says what it runs;
// a change of graph makes new plans and swaps them while the workers are parked.

#ifndef SLUICE_RUN_INSIDE_H
#define SLUICE_RUN_INSIDE_H

#include <pthread.h>

#include <rte_mempool.h>

#include "run/clock.h"
#include "run/run.h"

// An input gate of a node, as one worker sees it; numbered in topological order.
struct input {
	void (*process)(struct ctx *, struct batch *);
	struct ctx *ctx;
	uint64_t packets;
	uint64_t batches;
	struct batch *head; // pending
	struct batch *tail;
	struct input *follow; // what most likely runs next: a guess, see foretold() in walk.c
	struct ogate *from;   // the gate of the only link into it, NULL where there are several
	unsigned index;
	unsigned queued; // packets pending
	gate_t gate;
	bool looped;  // a link that leads back enters it
	bool special; // looped; or no input at all, but the stand-in of a gate with a tap (tap.c)
} __attribute__((aligned(64)));

struct source {
	int (*poll)(struct ctx *);
	struct ctx *ctx;
	const int **gauges; // `congested` of the nodes behind it that may hold it back
	unsigned n_gauges;
	unsigned weight;
	unsigned credit; // polls left in this turn
	unsigned node;
	struct input *follow; // as of struct input
	bool prefetch;	      // some node behind it reads packets
};

// What one worker runs of one graph.
struct plan {
	struct input *inputs;
	unsigned n_inputs;
	uint64_t *pending; // one bit an input
	unsigned n_words;
	struct source *sources;
	unsigned n_sources; // that have not ended
	unsigned n_made;    // all; those that ended stand behind
	struct ctx **ctxs;  // by node; NULL where this worker does not run it
	unsigned n_ctxs;
	bool exact;	       // some node's type says .clock
	struct batch *batches; // the pool; NULL: that of the plan before is large enough
	unsigned n_batches;
	struct tapped *tapped; // gates that are tapped
	struct tap *enters;    // what stands for process(), or NULL
};

enum worker_request { WORKER_RUN, WORKER_PARK, WORKER_STOP };

struct worker {
	struct plan plan;
	unsigned turn; // which source is polled next
	unsigned pending_any;
	unsigned looping;  // packets that wait on links that lead back
	uint32_t watch_in; // polls until the next watched walk
	uint32_t random;
	uint64_t now_ns;
	uint64_t last_tsc; // when busy_cycles and idle_cycles were last brought up to date
	bool busy;	   // what has gone on since then
	bool draining;	   // atomic: only sources with inputs are polled
	unsigned empty;	   // polls without packets in a row
	unsigned live;	   // sources that have not ended
	struct batch *free;
	unsigned n_fresh; // of the plan's pool, never used yet
	const struct clock *clock;
	uint32_t watch;
	uint32_t rdtsc_cycles; // what reading the time costs
	bool spin;
	uint64_t polls; // counters: written by the worker
	uint64_t parks;
	uint64_t parked_cycles;
	uint64_t parked_last; // cycles
	uint64_t busy_cycles;
	uint64_t idle_cycles;

	int request __attribute__((aligned(64))); // written by the control thread
	int parked;				  // written by the worker
	int settled; // what walk_settled() said last; written by the worker
	int failed;  // the thread could not start
	struct run *run;
	struct rte_mempool *pool;
	unsigned index;
	int core;
	bool started;
	pthread_t thread;
};

// Packets that a call of a module did not account for: written once by a worker, read by
// run_tend().
struct violation {
	int state; // 0 none, 1 being written, 2 written, 3 reported
	uint64_t took;
	int64_t balance;
};

// What node_fault() was told first.
struct fault {
	int state; // as of struct violation
	bool stop;
	char place[160];
	char text[480];
};

struct run_node {
	struct node pub;
	const struct graph_node *spec;
	void **locals; // by the worker's number among those that run it
	unsigned n_locals;
	uint16_t *meta;		 // offsets of .reads and .writes
	struct node_counts base; // of plans that are gone
	uint64_t next_tick_ns;
	struct violation violation;
	struct fault fault;
	unsigned opened;	    // open() was called, close() not yet
	uint64_t outside_drops[64]; // by node_drop(), on the control thread
	uint64_t outside_released;
};

struct run_port {
	struct port pub;
	char dpdk_name[32];
	bool opened;		   // open() was called, close() not yet
	bool usable;		   // and it succeeded
	struct port_counters last; // when it was closed
	uint64_t stuck_unsent;
};

struct run {
	struct graph *graph;
	struct run_options options;
	struct clock clock;
	struct run_port **ports;
	struct run_node **nodes;
	struct worker **workers; // in the graph's order
	unsigned n_workers;
	struct rte_mempool **pools; // the last one serves new ports and nodes
	unsigned n_pools;
	unsigned pool_size; // packets in the last one
	unsigned faults;    // atomic: drivers' threads count
	bool fault_ends;    // a fault was one that ends the run
	bool started;
	bool aside; // the control thread, off the cores of workers
	bool stopped;
	uint64_t stopped_ns;
	uint64_t started_ns;
	uint64_t progress_ns;	 // when packets last moved
	uint64_t progress_count; // what had moved then
	const char *stuck;
	struct run_changes changes;
	struct tap *taps;
	void (*hear)(void *to, const char *event, json_t *what); // NULL: nobody listens
	void *hear_to;
};

// Packets that may wait at inputs that a link leading back enters, a worker: fewer than the pool
// has for each worker, so that what goes round never takes the sources' last buffer.
#define LOOP_PACKETS_MAX 512

// walk.c
int walk_poll(struct worker *);	    // one source, and all that follows; packets that entered
bool walk_pending(struct worker *); // one more pass; false when nothing is pending
void walk_from(struct worker *, struct input *, struct batch *); // what follows from a batch
bool walk_settled(const struct worker *);
void walk_discard(struct worker *); // frees what is still pending, as loop_full
void time_update(struct worker *, bool busy_now);

// plan.c
int plan_make(const struct graph *, struct run_node **nodes, struct worker *, unsigned number,
	      struct plan *);
void plan_free(struct plan *);
int batches_make(struct plan *, unsigned have); // if it needs more than so many; -1 without memory
void batches_reset(struct worker *);		// all of the plan's are free

// tap.c
// Puts these taps, and no others, into a plan that nobody runs. -1 without memory.
int taps_set(const struct graph *, struct plan *, struct tap *);
void taps_remove(struct plan *);
// Tells the taps of a gate that leads to a stand-in; returns the gate as it would be without.
struct ogate *tap_pass(struct ctx *, struct batch *, gate_t);
// What a gate leads to, taps or not.
const struct input *ogate_input(const struct ogate *);

// open.c
struct rte_mempool *pool_make(struct run *, const struct graph *, struct errors *);
int ports_open(struct run *, const struct graph *, struct run_port **ports, struct errors *);
struct run_node *node_make(struct run *, const struct graph *, unsigned index,
			   struct run_port **ports);
void ports_resolve(const struct graph_node *, const struct graph *, struct run_port **ports);
int node_open(struct run *, struct run_node *, struct errors *);
void node_close(struct run *, struct run_node *);
void node_free(struct run_node *);
struct run_port *port_make(struct run *, const struct graph_port *, uint16_t burst);
int port_open(struct run *, struct run_port *, const struct graph_port *, struct errors *);
void port_close(struct run_port *);
int meta_lay_out(struct run *, const struct graph *, struct run_node **nodes, struct errors *);

// run.c
void nodes_prepare(const struct graph *, struct run_node **nodes); // before they are opened
struct worker *worker_make(struct run *, const struct graph *, unsigned index);
void worker_free(struct worker *);
void workers_stop(struct worker **, unsigned n);
void ports_stop(struct run_port **, unsigned n); // those that connect before those that serve
void port_free(struct run_port *);
void run_pollers(struct run *, bool known); // tells those who wait for quiet, while workers run

// save.c
// By node, the parameters that would make it as it is now; NULL: those that it has.
const void *const *params_saved(struct run *, struct arena *, bool learned);

// worker.c
int worker_start(struct worker *, struct place, struct errors *); // parked
void worker_ask(struct worker *, enum worker_request);
bool worker_parked(const struct worker *);

// fault.c
void faults_report(struct run *, struct run_node *); // what its calls left to be said

// counters.c
// Adds what a node, by its number in the plan's graph, has counted there.
void counts_add(struct node_counts *, const struct plan *, unsigned index);
uint64_t node_held(struct run *, unsigned index);

#endif
