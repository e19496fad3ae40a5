// SPDX-License-Identifier: BSD-3-Clause
// The tracer: marks packets and writes down what becomes of them at each node and link, as events
// in a ring for each worker. Whoever reads the events puts the ways together.

#ifndef SLUICE_RUN_TRACE_H
#define SLUICE_RUN_TRACE_H

#include "filter.h"
#include "run/run.h"

#define TRACE_BYTES 128	 // of a packet that an event keeps
#define TRACE_WATCHES 16 // who may trace at once
#define TRACE_HOPS 2048	 // links that a packet is followed over

enum trace_kind {
	TRACE_BEGINS, // at a node, before its call
	TRACE_LEAVES, // by a gate
	TRACE_CALLED, // a node was called with the packet alone
};

// How a call ended for the packet, or, of TRACE_LEAVES, what became of it at the link.
enum trace_end {
	TRACE_LEFT,	   // it goes on
	TRACE_DROPPED,	   // for .reason
	TRACE_CONSUMED,	   // sent, or at its end as meant
	TRACE_HELD,	   // in the node's state
	TRACE_GONE,	   // the node did not say what it did with it
	TRACE_GIVEN_UP,	   // it went on and on, and is followed no longer
	TRACE_UNSEEN,	   // no batch was free to look at it alone
	TRACE_UNEXPLAINED, // the node's module cannot say without doing it
};

struct trace_event {
	uint64_t tsc; // of a call: when it began
	const struct graph_node *node;
	uint32_t packet; // never 0
	uint32_t branch; // the packet itself has its own number here, each copy another one
	uint32_t parent; // of a copy that leaves for the first time: the branch it was made of
	uint32_t cycles; // of a call
	uint32_t length;
	uint16_t watches; // where it begins: which of them want it, as bits
	gate_t gate;
	reason_t reason;
	uint8_t kind;
	uint8_t end;
	uint8_t worker;
	uint8_t n_bytes;
	bool released; // it left, and not from a call with it
	bool fresh;    // it begins, and was not marked before
	uint8_t bytes[TRACE_BYTES];
};

// A node as events name it. It lives as long as the tracer.
struct trace_node {
	const char *name;
	const struct module_type *type;
	const char *port; // that it sends by, or NULL
	bool last;	  // nothing leaves it by a gate
	struct trace_node *next;
};

// What one who traces asks for. Workers read it: it is changed by the functions below.
struct trace_watch {
	const struct filter *filter; // NULL: any packet
	const char *node;	     // begins where packets come into it; NULL: at the sources
	uint32_t sample;	     // one in so many of those that match
	int allowed;		     // atomic: packets that may be chosen now
	uint32_t seen[WORKERS_MAX];  // that matched, by worker
};

// Takes one event. On the thread that calls the functions below, and when a graph is switched.
typedef void trace_take(void *arg, const struct trace_event *, const struct trace_node *);

struct tracer;

// All calls from the control thread. NULL with the reason in errors: packets have no room for a
// mark.
struct tracer *tracer_new(struct run *, trace_take *, void *arg, struct errors *);
void tracer_free(struct tracer *); // has no watches any more

// Puts a watch beside the others: its number, or -1 with the reason in errors. The caller keeps it
// where it is until it is removed.
int tracer_watch(struct tracer *, struct trace_watch *, struct errors *);
// Takes it away. -1: a worker did not park, and it is still there.
int tracer_unwatch(struct tracer *, struct trace_watch *);

// Lets a watch choose n packets more, or with -1 none.
void tracer_allow(struct trace_watch *, int n);
// Hands out all events that there are.
void tracer_drain(struct tracer *);
// Events that found no room since the start.
uint64_t tracer_lost(const struct tracer *);

struct explain {
	unsigned node; // where it comes in, or, of a source, is made
	gate_t igate;
	const uint8_t *bytes;
	unsigned n;	     // 14 or more
	struct arena *arena; // where the nodes go that events are handed out with
};

// Sends a packet through the tables of the running graph as they are, and hands out the events of
// its way. Nothing is changed or counted, nothing is sent or held. *parked_ns: how long the workers
// stood still for it. 0, or -1 with the reason in errors.
int run_explain(struct run *, const struct explain *, trace_take *, void *arg, uint64_t *parked_ns,
		struct errors *);

#endif
