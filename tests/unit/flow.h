// SPDX-License-Identifier: BSD-3-Clause
// Graphs in tests of modules: opened from a text, walked by the test or by workers, and looked at.

#ifndef SLUICE_TESTS_FLOW_H
#define SLUICE_TESTS_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "run/run.h"

#define FLOW_START_NS 1000000000000ull

// A graph of this text, NULL with the errors shown after any error.
struct graph *flow_graph(const char *text);

// Opens it: with replay, flow_walk() walks; without, workers do. Ends the test when it cannot.
struct run *flow_open(const char *text, bool replay);

// Walks until nothing has moved for a while.
void flow_walk(struct run *);

// Tends what workers walk until it has come to its end; false: it is stuck.
bool flow_end(struct run *);

// Whether this process may run workers on cores 0 and 1; if not, the test counts as skipped.
bool flow_two_cores(void);

// Stops and closes; checks that there were no faults and that all packets came back.
void flow_close(struct run *);

// Counters of a node by name. own: by place among the type's counters.
struct node_counts flow_counts(struct run *, const char *node);
struct port *flow_port(struct run *, const char *port);
uint64_t flow_dropped(struct run *, const char *node, const char *reason);

// A command's reply as compact JSON with sorted keys, or its errors; the caller frees it.
char *flow_call(struct run *, const char *node, const char *command, const char *args);

#endif
