// SPDX-License-Identifier: BSD-3-Clause
// The walk: packets go where the links lead, in order, through chains, forks, joins and many gates.

#include <stdlib.h>

#include "engine.h"

#define PORTS "ports: {left: {memory: {open: true}}, right: memory}\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"

// Feeds n packets, runs all to the end, and expects them at `right` in order.
static void run_through(struct run *run, unsigned n)
{
	engine_feed(run, "left", 0, n);
	engine_end(run, "left");
	engine_steps(run, 10000);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, n));
	engine_finish(run);
}

static void one_node(void)
{
	struct run *run = engine_replay("nodes: {s: {Source: {count: 100}}}\n");

	CU_ASSERT_FATAL(run != NULL);
	engine_steps(run, 100);
	CU_ASSERT_EQUAL(engine_counts(run, "s").made, 100);
	CU_ASSERT_EQUAL(engine_dropped(run, "s", REASON_UNCONNECTED), 100);
	CU_ASSERT_EQUAL(engine_counts(run, "s").out[0], 0);
	engine_finish(run);
}

static void chain_of_a_thousand(void)
{
	struct engine_text text = {0};
	struct run *run;

	engine_put(&text, PORTS "nodes:\n" RX_TX "graph: [rx");
	for (unsigned i = 0; i < 1000; i++)
		engine_put(&text, " -> Probe");
	engine_put(&text, " -> tx]\n");
	run = engine_replay(text.text);
	free(text.text);
	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 100);
	engine_end(run, "left");
	engine_steps(run, 1000);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 100));
	CU_ASSERT_EQUAL(engine_counts(run, "Probe#1").in[0], 100);
	CU_ASSERT_EQUAL(engine_counts(run, "Probe#1000").out[0], 100);
	engine_finish(run);
}

// Each packet by itself into one gate: what the first emission starts and what waits keep their
// order.
static void many_emissions_to_one_gate(void)
{
	struct run *run = engine_replay(PORTS "nodes:\n" RX_TX "  e: Emitter\n"
					      "graph: [rx -> e -> Probe -> tx]\n");

	CU_ASSERT_FATAL(run != NULL);
	run_through(run, 1000);
	run = engine_replay(PORTS "nodes:\n" RX_TX
				  "graph: [rx -> Emitter -> Emitter -> Probe -> Emitter -> tx]\n");
	CU_ASSERT_FATAL(run != NULL);
	run_through(run, 1000);
}

static void emissions_run_in_the_order_emitted(void)
{
	struct run *run =
	    engine_replay("burst: 4\n" PORTS "nodes:\n" RX_TX "  e: {Emitter: {backwards: true}}\n"
			  "graph: [rx -> e -> tx]\n");

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 8);
	engine_end(run, "left");
	engine_steps(run, 100);
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(engine_number(run, "right", i), i / 4 * 4 + 3 - i % 4);
	engine_finish(run);
}

// A fork over all 64 gates with a node behind each, which meet again.
static void sixty_four_gates(void)
{
	struct engine_text text = {0};
	struct run *run;

	engine_put(&text, PORTS "nodes:\n" RX_TX "  s: Scatter\n  m: Mesh\ngraph:\n  - rx -> s\n");
	for (unsigned i = 0; i < GATES_MAX; i++)
		engine_put(&text, "  - s[%u] -> Probe -> [%u]m[%u] -> tx\n", i, i, i);
	run = engine_replay(text.text);
	free(text.text);
	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 640);
	engine_end(run, "left");
	engine_steps(run, 1000);
	CU_ASSERT_EQUAL(engine_sent(run, "right"), 640);
	for (unsigned i = 0; i < GATES_MAX; i++) {
		CU_ASSERT_EQUAL(engine_counts(run, "s").out[i], 10);
		CU_ASSERT_EQUAL(engine_counts(run, "m").in[i], 10);
		CU_ASSERT_EQUAL(engine_counts(run, "m").out[i], 10);
	}
	engine_finish(run);
}

static void thirty_two_ports(void)
{
	struct engine_text text = {0};
	struct run *run;
	char name[8];

	engine_put(&text, "ports:\n");
	for (unsigned i = 0; i < 32; i++)
		engine_put(&text, "  p%u: {memory: {open: true}}\n", i);
	engine_put(&text, "nodes:\n");
	for (unsigned i = 0; i < 32; i++)
		engine_put(&text,
			   "  rx%u: {PortInc: {port: p%u}}\n  tx%u: {PortOut: {port: p%u}}\n", i, i,
			   i, i);
	engine_put(&text, "graph:\n");
	for (unsigned i = 0; i < 32; i++)
		engine_put(&text, "  - rx%u -> tx%u\n", i, (i + 1) % 32);
	run = engine_replay(text.text);
	free(text.text);
	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		engine_feed(run, name, 1000 * i, 10 + i);
		engine_end(run, name);
	}
	engine_steps(run, 1000);
	for (unsigned i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "p%u", (i + 1) % 32);
		CU_ASSERT_TRUE(engine_sent_in_order(run, name, 1000 * i, 10 + i));
	}
	engine_finish(run);
}

static void gates_that_lead_nowhere(void)
{
	struct run *run = engine_replay(PORTS "nodes:\n" RX_TX "  s: Scatter\n"
					      "graph: [rx -> s, 's[2] -> tx']\n");

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 30);
	engine_end(run, "left");
	engine_steps(run, 100);
	CU_ASSERT_EQUAL(engine_sent(run, "right"), 10);
	CU_ASSERT_EQUAL(engine_counts(run, "s").out[2], 10);
	CU_ASSERT_EQUAL(engine_counts(run, "s").out[0], 0);
	CU_ASSERT_EQUAL(engine_dropped(run, "s", REASON_UNCONNECTED), 20);
	engine_finish(run);
}

// Batches of all sizes: all to one gate, to several, all dropped, some dropped.
static void scatter_with_drops(void)
{
	struct run *run = engine_replay("burst: 64\n" PORTS "nodes:\n" RX_TX "  s: Scatter\n"
					"graph: ['rx -> s[0] -> Probe -> tx', 's[1] -> tx']\n");
	unsigned wanted = 0, total = 0;

	CU_ASSERT_FATAL(run != NULL);
	for (unsigned n = 1; n <= 64; n++) {
		engine_feed(run, "left", n % 3 ? 0 : 0x80000000u, n);
		wanted += n % 3 ? 0 : n;
		total += n;
		CU_ASSERT_EQUAL(run_step(run), (int)n);
	}
	engine_feed(run, "left", 0x80000000u - 32, 64);
	CU_ASSERT_EQUAL(run_step(run), 64);
	CU_ASSERT_EQUAL(engine_dropped(run, "s", REASON_OWN), wanted + 32);
	CU_ASSERT_EQUAL(engine_sent(run, "right"), total + 64 - wanted - 32);
	CU_ASSERT_EQUAL(engine_counts(run, "rx").out_batches, 65);
	CU_ASSERT_STRING_EQUAL(reason_name(module_find("Scatter"), REASON_OWN), "wanted");
	engine_finish(run);
}

// What is sent keeps its order where paths of different length meet, within a path.
static void joins_keep_the_order_of_each_path(void)
{
	struct run *run = engine_replay(PORTS "nodes:\n" RX_TX "  s: Scatter\n"
					      "graph:\n"
					      "  - rx -> s[0] -> Probe -> Emitter -> Probe -> tx\n"
					      "  - s[1] -> tx\n"
					      "  - s[2] -> Emitter -> Emitter -> tx\n");
	uint32_t last[3] = {0, 0, 0};

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 3, 999);
	engine_end(run, "left");
	engine_steps(run, 1000);
	CU_ASSERT_EQUAL_FATAL(engine_sent(run, "right"), 999);
	for (unsigned i = 0; i < 999; i++) {
		uint32_t number = engine_number(run, "right", i);

		CU_ASSERT_TRUE(number > last[number % 3]);
		last[number % 3] = number;
	}
	engine_finish(run);
}

// Several sources in turn, as often as their weights say.
static void sources_are_polled_by_weight(void)
{
	struct run *run =
	    engine_replay("burst: 1\n"
			  "nodes: {a: Source, b: Source, c: {Source: {count: 3}}, k: Sink}\n"
			  "graph: [a -> k, b -> k, c -> k]\n"
			  "workers: [{sources: [a, b, c], policy: {weighted: {a: 3, c: 2}}}]\n");

	CU_ASSERT_FATAL(run != NULL);
	CU_ASSERT_EQUAL(run_step(run), 6);
	CU_ASSERT_EQUAL(engine_counts(run, "a").made, 3);
	CU_ASSERT_EQUAL(engine_counts(run, "b").made, 1);
	CU_ASSERT_EQUAL(engine_counts(run, "c").made, 2);
	for (unsigned i = 0; i < 9; i++)
		run_step(run);
	CU_ASSERT_EQUAL(engine_counts(run, "c").made, 3);
	CU_ASSERT_EQUAL(engine_counts(run, "a").made, 3 * engine_counts(run, "b").made);
	CU_ASSERT_EQUAL(engine_counts(run, "k").consumed, 4 * engine_counts(run, "b").made + 3);
	engine_finish(run);
}

static void metadata_is_carried(void)
{
	struct run *run =
	    engine_replay(PORTS "nodes:\n" RX_TX "  r: Marked\n"
				"graph: [rx -> Mark -> Emitter -> Probe -> r -> tx]\n");

	CU_ASSERT_FATAL(run != NULL);
	run_through(run, 200);
}

// What a node holds at the end is given back.
static void keeper_keeps(void)
{
	struct run *run =
	    engine_replay("burst: 64\n" PORTS "nodes:\n" RX_TX
			  "  q: {Queue: {size: 8192, burst: 64, backpressure: 'off'}}\n"
			  "  k: Keeper\n"
			  "graph: [rx -> Emitter -> q -> k -> tx]\n");

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 2000);
	engine_end(run, "left");
	engine_steps(run, 10000);
	CU_ASSERT_EQUAL(engine_counts(run, "k").held, 64);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 64, 2000 - 64));
	engine_finish(run);
}

static const CU_TestInfo cases[] = {
    {"a graph of one node", one_node},
    {"a chain of 1,000 nodes", chain_of_a_thousand},
    {"many emissions to one gate keep their order", many_emissions_to_one_gate},
    {"emissions run in the order emitted", emissions_run_in_the_order_emitted},
    {"64 gates", sixty_four_gates},
    {"32 ports", thirty_two_ports},
    {"gates that lead nowhere drop", gates_that_lead_nowhere},
    {"batches are scattered, with drops", scatter_with_drops},
    {"joins keep the order of each path", joins_keep_the_order_of_each_path},
    {"sources are polled by weight", sources_are_polled_by_weight},
    {"metadata is carried", metadata_is_carried},
    {"a keeper keeps, the rest passes", keeper_keeps},
    CU_TEST_INFO_NULL,
};
SUITE(run_walk, cases, .eal = true)
