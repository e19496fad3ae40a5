// SPDX-License-Identifier: BSD-3-Clause
// What the engine's own tests share: graphs from text, runs of them, numbered packets. Test modules
// are in engine_modules.c.

#ifndef SLUICE_TESTS_ENGINE_H
#define SLUICE_TESTS_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "run/run.h"
#include "suite.h"
#include "value/errors.h"

// A graph from YAML text, as the file `g.yaml`; prints the faults and fails the test on NULL.
struct graph *engine_graph(const char *text);

// Whether the graph, written as text, loads to the same graph; shows the text if not.
bool engine_round_trip(const struct graph *);

// The faults that loading the text reports, as printed ("" if none); the caller frees it.
char *engine_faults(const char *text);

// Fails the test, showing both, unless the text has exactly these faults, one a line.
#define EXPECT_FAULTS(TEXT, EXPECTED) CU_ASSERT(engine_faults_are(TEXT, EXPECTED))
bool engine_faults_are(const char *text, const char *expected);
#define EXPECT_TEXT(GOT, EXPECTED) CU_ASSERT(engine_text_is(GOT, EXPECTED))
bool engine_text_is(const char *got, const char *expected);

// A run in replay mode, or with workers that are started (not pinned). NULL fails the test.
struct run *engine_replay(const char *text);
struct run *engine_start(const char *text);

// Steps until all sources have ended and nothing is pending, at most `max` steps; the number of
// steps.
unsigned engine_steps(struct run *, unsigned max);

// Switches to the graph in the text; the faults go to *faults (freed by the caller) if it is not
// NULL, else they fail the test.
bool engine_switch(struct run *, const char *text, bool allow_loss, char **faults);

struct node_counts engine_counts(struct run *, const char *name);
uint64_t engine_dropped(struct run *, const char *name, reason_t);

// Memory ports: feeds n packets of 60 bytes that bear the numbers from `first` on; ends a port;
// what was sent, and the number on the i-th packet of that.
void engine_feed(struct run *, const char *name, uint32_t first, unsigned n);
void engine_end(struct run *, const char *name);
unsigned engine_sent(struct run *, const char *name);
uint32_t engine_number(struct run *, const char *name, unsigned i);
// Whether exactly the numbers from `first` on were sent, each once and in order.
bool engine_sent_in_order(struct run *, const char *name, uint32_t first, unsigned n);

// Stops the run, asserts that the pools are whole and each node's packets add up, and closes it.
void engine_finish(struct run *);

// Calls run_tend() until it says something else than RUN_BUSY, or 10 s have gone; false then.
bool engine_wait_end(struct run *, enum run_state *state);

// Whether the process may use so many cores; else the test is counted as skipped.
bool engine_cores(int n);

// Text built up; the caller frees text.
struct engine_text {
	char *text;
	size_t n;
};
void engine_put(struct engine_text *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Whether a module is one of the tests' own.
bool engine_own_module(const struct module_type *);

#endif
