// SPDX-License-Identifier: BSD-3-Clause
// Loops in a graph: what goes round is bounded, sources never starve, nothing is lost unseen.

#include <stdlib.h>

#include "engine.h"

#define PORTS "ports: {left: {memory: {open: true}}, right: memory}\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"

// Nothing ever leaves the loop, so it fills up.
static void loop_that_never_drains(void)
{
	struct run *run = engine_replay("nodes: {s: Source, m: Mesh, n: Probe}\n"
					"graph: ['s -> m -> n -> m']\n");

	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 1; i <= 1000; i++) {
		CU_ASSERT_EQUAL(run_step(run), 32);
		CU_ASSERT_EQUAL(engine_counts(run, "s").made, 32 * i);
	}
	CU_ASSERT_TRUE(engine_dropped(run, "s", REASON_LOOP_FULL) +
			   engine_dropped(run, "n", REASON_LOOP_FULL) >
		       20000);
	CU_ASSERT_EQUAL(engine_dropped(run, "n", REASON_NO_MEMORY), 0);
	engine_finish(run);
}

// Packets by themselves need more batches than a loop of full ones.
static void loop_of_small_batches(void)
{
	struct run *run =
	    engine_replay("nodes: {s: Source, m: Mesh, n: Emitter, o: Emitter}\n"
			  "graph: ['s -> m -> n -> o -> m', 'o[1] -> [1]m',\n"
			  "  'n[1] -> Probe -> [2]m[1] -> Probe -> [3]m', 'm[2] -> o']\n");

	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 0; i < 500; i++)
		CU_ASSERT_EQUAL(run_step(run), 32);
	engine_finish(run);
}

static void self_loop(void)
{
	struct run *run;

	run = engine_replay(PORTS "nodes:\n" RX_TX "  p: Pass\n"
				  "graph: ['rx -> [side]p[miss] -> p[hit] -> tx']\n");
	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 500);
	engine_end(run, "left");
	engine_steps(run, 1000);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 500));
	CU_ASSERT_EQUAL(engine_counts(run, "p").in[0], 500);
	CU_ASSERT_EQUAL(engine_counts(run, "p").in[1], 500);
	engine_finish(run);
}

// Input gate 1 of p is fed by q, which p feeds.
static void two_gates_in_a_loop(void)
{
	struct run *run =
	    engine_replay(PORTS "nodes:\n" RX_TX "  p: Pass\n"
				"  q: Probe\n"
				"graph: ['rx -> p[hit] -> q -> [side]p[miss] -> tx']\n");

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 5000);
	engine_end(run, "left");
	engine_steps(run, 5000);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 5000));
	CU_ASSERT_EQUAL(engine_counts(run, "q").in[0], 5000);
	CU_ASSERT_EQUAL(engine_counts(run, "p").in[1], 5000);
	engine_finish(run);
}

// A packet goes round as often as there are gates, then out.
static void spiral(void)
{
	struct run *run = engine_replay(
	    PORTS
	    "nodes:\n" RX_TX "  m: Mesh\n"
	    "graph: ['rx -> m[0] -> Probe -> [1]m[1] -> [2]m[2] -> Emitter -> [3]m[3] -> tx']\n");

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 3000);
	engine_end(run, "left");
	engine_steps(run, 3000);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 3000));
	engine_finish(run);
}

// A Queue in a loop is polled for what it holds, and feeds itself.
static void loop_through_a_queue(void)
{
	struct run *run =
	    engine_replay(PORTS "nodes:\n" RX_TX "  p: Pass\n"
				"  q: Queue\n"
				"graph: ['rx -> p[hit] -> q -> [side]p[miss] -> tx']\n");

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 2000);
	engine_end(run, "left");
	engine_steps(run, 5000);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 2000));
	engine_finish(run);
}

// More than 64 inputs: bits of several words, with links that lead back over all of them.
static void loop_over_many_inputs(void)
{
	struct engine_text text = {0};
	struct run *run;

	engine_put(&text, PORTS "nodes:\n" RX_TX "  m: Mesh\ngraph:\n  - rx -> m\n");
	for (unsigned i = 0; i < 63; i++)
		engine_put(&text, "  - m[%u] -> Probe -> Emitter -> Probe -> [%u]m\n", i, i + 1);
	engine_put(&text, "  - m[63] -> tx\n");
	run = engine_replay(text.text);
	free(text.text);
	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 300);
	engine_end(run, "left");
	engine_steps(run, 10000);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 300));
	engine_finish(run);
}

// With real workers: it ends at once when it is told to, however full the loop is.
static void full_loop_stops(void)
{
	struct run *run = engine_start("nodes: {s: Source, m: Mesh, n: Probe}\n"
				       "graph: ['s -> m -> n -> m']\n");

	CU_ASSERT_FATAL(run != NULL);
	while (engine_dropped(run, "s", REASON_LOOP_FULL) +
		   engine_dropped(run, "n", REASON_LOOP_FULL) <
	       1000)
		run_tend(run);
	engine_finish(run);
}

static const CU_TestInfo cases[] = {
    {"a loop that never drains", loop_that_never_drains},
    {"a loop of small batches", loop_of_small_batches},
    {"a node linked to itself", self_loop},
    {"two input gates in a loop", two_gates_in_a_loop},
    {"a spiral", spiral},
    {"a loop through a queue", loop_through_a_queue},
    {"a loop over many inputs", loop_over_many_inputs},
    {"a full loop stops", full_loop_stops},
    CU_TEST_INFO_NULL,
};
SUITE(run_loop, cases, .eal = true)
