// SPDX-License-Identifier: BSD-3-Clause
// Events of the tracer put together: each packet's way, and those of its copies.

#ifndef SLUICE_CONTROL_TRACE_WAYS_H
#define SLUICE_CONTROL_TRACE_WAYS_H

#include <jansson.h>

#include "run/trace.h"

// One call of a node, or a source that made the packet.
struct way_step {
	const struct trace_node *node;
	const struct trace_event *call;	    // NULL: none, it began there
	const struct trace_event *leaves;   // NULL: it ended there
	const struct trace_event *before;   // has the bytes that came; NULL: none came
	const struct trace_event *released; // what left later, having been held
};

struct way {
	uint32_t branch;
	int from; // the way that it is a copy of, or -1
	unsigned from_step;
	const struct trace_event *copied;	 // how the copy left
	const struct trace_event *copied_before; // has the bytes that its maker was called with
	const struct trace_event *now;		 // has the bytes as they are at the end
	const struct trace_event *before;	 // and as they were when the last call began
	const struct trace_event *dropped;	 // at a link: that event
	struct way_step *steps;
	unsigned n_steps;
};

struct ways_packet;
struct ways;

// A packet whose way is known, or that is given up (`whole` false): for these watches.
typedef void ways_done(void *arg, struct ways_packet *, unsigned watches, bool whole);

struct ways *ways_new(ways_done *, void *arg);
void ways_free(struct ways *);

// One event: a trace_take.
void ways_take(void *to, const struct trace_event *, const struct trace_node *);
// After each time that all events were taken: hands out what has come to its end.
void ways_settle(struct ways *);
// Hands out what has not, of these watches.
void ways_flush(struct ways *, unsigned watches);

// The ways of a packet from where a watch began, in the arena; how many.
unsigned ways_make(struct arena *, const struct ways_packet *, unsigned watch, struct way **);
// {"frame", "length", "ways": [{"steps", "end"}, ...]}; docs/trace.md says what is in it.
json_t *ways_json(struct arena *, const struct ways_packet *, unsigned watch);
// The parts that a summary has: no bytes, and of the steps no cycles.
json_t *ways_shape_json(struct arena *, const struct way *, unsigned n);

#endif
