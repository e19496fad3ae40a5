// SPDX-License-Identifier: BSD-3-Clause
// Traces of runs, for tests: ways as short texts.

#ifndef SLUICE_TESTS_TRACE_RIG_H
#define SLUICE_TESTS_TRACE_RIG_H

#include "control/trace_ways.h"
#include "engine.h"

struct trace_rig {
	struct tracer *tracer;
	struct ways *ways;
	struct trace_watch watch;
	int number;		 // of the watch
	struct engine_text text; // a line each packet, as its way is known
	unsigned n;		 // packets
	unsigned n_whole;
	bool quiet; // no texts
};

// Traces up to n packets of a run, from the node or (NULL) the sources on.
struct trace_rig *trace_rig_new(struct run *, const char *node, int n);
// Takes what there is.
void trace_rig_settle(struct trace_rig *);
// Hands out what is unfinished too, and ends.
void trace_rig_free(struct trace_rig *);

// Settles, and whether the lines since the last time are these.
#define EXPECT_WAYS(RIG, EXPECTED) CU_ASSERT(trace_rig_ways_are(RIG, EXPECTED))
bool trace_rig_ways_are(struct trace_rig *, const char *expected);

// "rx s[1] tx: sent right": what ways_json() says, with copies behind " +".
void trace_rig_line(struct engine_text *, const json_t *packet);

// The same for what would become of a packet in words.
#define EXPECT_EXPLAINED(RUN, NODE, GATE, WORDS, EXPECTED)                                         \
	CU_ASSERT(trace_rig_explained(RUN, NODE, GATE, WORDS, EXPECTED))
bool trace_rig_explained(struct run *, const char *node, gate_t, const char *words,
			 const char *expected);

#endif
