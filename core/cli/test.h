// SPDX-License-Identifier: BSD-3-Clause
// The parts of `sluice test`: a test file as read, a case as it runs, what differed, and the file
// rewritten.

#ifndef SLUICE_CLI_TEST_H
#define SLUICE_CLI_TEST_H

#include <jansson.h>

#include "graph/graph.h"
#include "run/run.h"

// The packets of one port, in order.
struct test_packets {
	const char *port;
	struct place place;
	struct frame *packets;
	unsigned n;
};

enum test_kind { TEST_TRAFFIC, TEST_WAIT, TEST_CALL };

struct test_step {
	enum test_kind kind;
	const struct value *written; // the map of the step
	struct test_packets *in;
	unsigned n_in;
	struct test_packets *out;
	unsigned n_out;
	const struct value *counters; // a map, or NULL
	uint64_t polls;		      // 0: until it comes to rest
	uint64_t wait_ns;
	const char *node; // of a call
	const char *command;
	const struct value *args;  // or NULL
	const struct value *reply; // or NULL: any
	const char *error;	   // or NULL: it must work
};

struct test_case {
	const char *name;
	struct place place;
	const char *skip; // why it is not run, or NULL
	struct test_step *steps;
	unsigned n_steps;
};

// Replaces text of a test file: see test_update.c.
struct test_edit {
	const struct value *step;
	const char *key; // "out", "reply", or the name of a counter
	bool counter;
	json_t *now; // the edit's own
	struct test_edit *next;
};

struct test_file {
	const char *path;
	struct arena *arena;
	const char *graph_path; // NULL: the graph is inline
	struct graph_set *sets;
	unsigned n_sets;
	struct test_case *cases;
	unsigned n_cases;
	const char **ports; // those that tests give packets to or expect them from
	struct place *port_places;
	unsigned n_ports;
	struct test_edit *edits;
};

// Reads and checks a test file; NULL after any error.
struct test_file *test_read(const char *path, struct errors *);
void test_free(struct test_file *);

// What a case found, in the file's arena.
struct test_result {
	const char **faults; // each may have several lines
	unsigned n_faults;
	unsigned n_updated; // of these: an edit does away with them
};

// Runs one case on a graph of its own. Faults are failed expectations; errors mean that the graph
// could not be run (-1). With `update`, edits are noted in the file.
int test_case_run(struct test_file *, const struct test_case *, bool update, struct test_result *,
		  struct errors *);

void test_fault(struct test_file *, struct test_result *, struct place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// The two lists as text, if they differ: which packets, which bytes, in words; else NULL.
const char *test_diff(struct arena *, const char *port, const struct frame *expected,
		      unsigned n_expected, const struct frame *got, unsigned n_got);

// A counter by its path ("swap.dropped.runt", "rx.out[1]", "left.rx_packets"); false: no such one.
bool test_counter(struct run *, const char *path, uint64_t *value);

// Reads a capture's packets. 0 or -1.
int test_capture_read(struct arena *, const char *path, struct place, struct test_packets *,
		      struct errors *);

// Writes the edits into the file. 0 or -1.
int test_update(struct test_file *, struct errors *);

#endif
