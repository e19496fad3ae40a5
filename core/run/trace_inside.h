// SPDX-License-Identifier: BSD-3-Clause
// Inside the tracer: the mark in a packet, and the rings of events.

#ifndef SLUICE_RUN_TRACE_INSIDE_H
#define SLUICE_RUN_TRACE_INSIDE_H

#include "run/inside.h"
#include "run/tap.h"
#include "run/trace.h"

#define TRACE_RING 8192 // events

// In a marked packet, and so in its copies.
struct trace_mark {
	uint32_t packet;
	uint32_t branch;
	uint32_t hops;
};

// The call of a node with one marked packet alone.
struct trace_call {
	const struct rte_mbuf *pkt; // NULL: there is none under way
	struct trace_mark mark;
	bool left;
	uint64_t spent; // cycles that went to the tracer
};

// Written by one worker, read by the control thread.
struct trace_ring {
	uint64_t head; // atomic; the writer's
	uint64_t lost; // atomic
	struct trace_call call;
	uint64_t tail __attribute__((aligned(64))); // atomic; the reader's
	struct trace_event events[TRACE_RING];
};

// The nodes of a graph that events may name.
struct trace_graph {
	const struct graph_node *nodes;
	unsigned n;
	struct trace_node **names;
	struct trace_graph *next;
};

struct tracer {
	struct tap tap;
	struct run *run;
	uint64_t flag; // in ol_flags
	int field;     // offset of the mark
	uint32_t last; // atomic: the last number given
	bool explains;
	bool tapped;
	struct trace_watch *watches[TRACE_WATCHES]; // changed while workers are parked
	unsigned n_rings;
	struct trace_ring *rings; // by worker
	struct trace_graph *graphs;
	struct trace_node *names;
	struct arena *arena; // of the names
	trace_take *take;
	void *arg;
};

static inline struct trace_mark *trace_mark(const struct tracer *tracer, struct rte_mbuf *pkt)
{
	return RTE_MBUF_DYNFIELD(pkt, tracer->field, struct trace_mark *);
}

static inline bool trace_marked(const struct tracer *tracer, const struct rte_mbuf *pkt)
{
	return pkt->ol_flags & tracer->flag;
}

// trace_mark.c: the part of the workers
void trace_leaves(struct tap *, struct ctx *, gate_t, unsigned number, struct batch *);
void trace_enters(struct tap *, struct ctx *, struct batch *,
		  void (*process)(struct ctx *, struct batch *));
// Marks a packet that begins at a node.
void trace_begin(struct tracer *, struct ctx *, struct rte_mbuf *);
// What stands for process() where a module cannot explain: it is recognised.
void trace_unexplained(struct ctx *, struct batch *);

// trace.c
// Has the nodes of this graph named in events. It is about to run, or does.
void tracer_graph(struct tracer *, const struct graph *);
// The names of nodes go into the arena, which stays the caller's.
struct tracer *tracer_make(struct run *, unsigned n_rings, struct arena *, trace_take *, void *arg,
			   struct errors *);
void tracer_unmake(struct tracer *);

#endif
