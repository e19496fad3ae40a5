// SPDX-License-Identifier: BSD-3-Clause
// Taps: what they see is what the counters say, with several links into a gate, a link that leads
// back, batches that wait; and packets go where they would go without.

#include <string.h>

#include "engine_tap.h"

#define PORTS(MORE) "ports: {left: {memory: {open: true}}, right: memory" MORE "}\nnodes:\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"
#define SHAPE(NODES) PORTS("") RX_TX NODES
#define CHAIN SHAPE("  a: Pass\n  b: Pass\ngraph: [rx -> a -> b -> tx]\n")

// Three ways, two of them together again.
static const char ways[] = PORTS(", other: memory") RX_TX
    "  s: Scatter\n  a: Pass\n  b: Pass\n  tx2: {PortOut: {port: other}}\n"
    "graph:\n  - rx -> s[0] -> a -> tx\n  - s[1] -> b -> tx\n  - s[2] -> tx2\n";

// What left by all gates of all nodes.
static uint64_t left(struct run *run)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < run_graph(run)->n_nodes; i++) {
		struct node_counts counts;

		run_node_counts(run, i, &counts);
		for (unsigned gate = 0; gate < run_graph(run)->nodes[i].ogates; gate++)
			sum += counts.out[gate];
	}
	return sum;
}

static void sees_all(void)
{
	struct run *run = engine_replay(ways);
	struct errors *errors = errors_new();
	struct engine_tap all, again;
	uint64_t before;

	CU_ASSERT_FATAL(run != NULL);
	engine_tap_new(&all, false);
	engine_tap_new(&again, true);
	engine_feed(run, "left", 0, 30);
	run_step(run);
	before = left(run);
	CU_ASSERT_EQUAL(run_tap(run, &all.tap, errors), 0);
	CU_ASSERT_EQUAL(left(run), before);
	engine_feed(run, "left", 30, 300);
	engine_steps(run, 3);
	CU_ASSERT_EQUAL(run_tap(run, &again.tap, errors), 0);
	engine_steps(run, 30);
	CU_ASSERT_EQUAL(left(run) - before, all.seen);
	CU_ASSERT_TRUE(again.seen > 0 && again.seen < all.seen);
	CU_ASSERT_TRUE(again.entered > 0);
	CU_ASSERT_EQUAL(run_untap(run, &all.tap, errors), 0);
	CU_ASSERT_EQUAL(run_untap(run, &again.tap, errors), 0);
	before = all.seen;
	engine_feed(run, "left", 330, 30);
	engine_steps(run, 30);
	CU_ASSERT_EQUAL(all.seen, before);
	CU_ASSERT_EQUAL(engine_sent(run, "right") + engine_sent(run, "other"), 360);
	errors_free(errors);
	engine_finish(run);
}

// The taps go along to another graph, and packets stay in order.
static void goes_along(void)
{
	static const char *const shapes[] = {
	    CHAIN,
	    SHAPE("  b: Pass\ngraph: [rx -> b -> tx]\n"),
	    SHAPE("  a: Pass\ngraph: [rx -> a -> tx]\n"),
	};
	struct run *run = engine_replay(shapes[0]);
	struct errors *errors = errors_new();
	struct engine_tap tap;

	CU_ASSERT_FATAL(run != NULL);
	engine_tap_new(&tap, true);
	CU_ASSERT_EQUAL(run_tap(run, &tap.tap, errors), 0);
	for (unsigned i = 0; i < 30; i++) {
		uint64_t before = tap.seen;

		engine_feed(run, "left", i * 50, 50);
		run_step(run);
		CU_ASSERT_TRUE(tap.seen > before);
		CU_ASSERT_TRUE(engine_switch(run, shapes[i % 3], false, NULL));
	}
	engine_steps(run, 100);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 1500));
	CU_ASSERT_EQUAL(run_untap(run, &tap.tap, errors), 0);
	errors_free(errors);
	engine_finish(run);
}

// While workers run.
static void comes_and_goes(void)
{
	struct run *run = engine_start(CHAIN);
	struct errors *errors = errors_new();
	enum run_state state;
	struct engine_tap tap;

	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 0; i < 50; i++) {
		engine_tap_new(&tap, i & 1);
		engine_feed(run, "left", i * 20, 20);
		CU_ASSERT_EQUAL(run_tap(run, &tap.tap, errors), 0);
		CU_ASSERT_EQUAL(run_untap(run, &tap.tap, errors), 0);
	}
	engine_end(run, "left");
	CU_ASSERT_TRUE(engine_wait_end(run, &state));
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 1000));
	errors_free(errors);
	engine_finish(run);
}

static const CU_TestInfo cases[] = {
    {"what taps see is what is counted", sees_all},
    {"taps go along to another graph", goes_along},
    {"taps come and go while workers run", comes_and_goes},
    CU_TEST_INFO_NULL,
};
SUITE(taps, cases, .eal = true)
