// SPDX-License-Identifier: BSD-3-Clause
// Real workers: starting and stopping, parking while packets flow, Queues between them, the end.

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define PORTS "ports: {left: {memory: {open: true}}, right: memory}\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"

static void runs_to_its_end(void)
{
	struct run *run = engine_start(PORTS "nodes:\n" RX_TX "graph: [rx -> Probe -> tx]\n");
	enum run_state state;

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 5000);
	CU_ASSERT_EQUAL(run_tend(run), RUN_BUSY);
	engine_end(run, "left");
	CU_ASSERT_TRUE(engine_wait_end(run, &state));
	CU_ASSERT_EQUAL(state, RUN_DONE);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 5000));
	engine_finish(run);
}

static void stops_at_once(void)
{
	for (unsigned i = 0; i < 20; i++) {
		struct run *run = engine_start("nodes: {s: Source, q: Queue, k: Sink}\n"
					       "graph: [s -> Probe -> q -> Probe -> k]\n");

		CU_ASSERT_FATAL(run != NULL);
		engine_finish(run);
	}
}

// What holds packets for ever is named.
static void gets_stuck(void)
{
	struct run *run = engine_start("nodes: {s: {Source: {count: 10}}, hold: Keeper}\n"
				       "graph: [s -> hold -> Sink]\n");
	enum run_state state;

	CU_ASSERT_FATAL(run != NULL);
	CU_ASSERT_TRUE(engine_wait_end(run, &state));
	CU_ASSERT_EQUAL(state, RUN_STUCK);
	CU_ASSERT_STRING_EQUAL(run_stuck_name(run), "hold");
	engine_finish(run);
}

// Parked, nothing moves; unparked, all goes on.
static void parks_while_packets_flow(void)
{
	struct run *run = engine_start("idle: spin\nnodes: {s: Source, k: Sink}\n"
				       "graph: [s -> Probe -> k]\n");
	struct errors *errors = errors_new();

	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 0; i < 300; i++) {
		uint64_t before;

		if (run_park(run, errors))
			continue; // another process had the core for 100 ms
		before = engine_counts(run, "k").consumed;
		CU_ASSERT_EQUAL(engine_counts(run, "s").made, before);
		sched_yield();
		CU_ASSERT_EQUAL(engine_counts(run, "s").made, before);
		CU_ASSERT_EQUAL(engine_counts(run, "k").consumed, before);
		run_unpark(run);
	}
	errors_free(errors);
	engine_finish(run);
}

// All that feeds the queue is finite, so nothing is lost before a slow consumer.
static void backpressure_loses_nothing(void)
{
	struct run *run =
	    engine_start("nodes: {s: {Source: {count: 20000}}, q: {Queue: {size: 128}}, k: Sink}\n"
			 "graph: [s -> Probe -> q -> Slow -> k]\n");
	enum run_state state;

	CU_ASSERT_FATAL(run != NULL);
	CU_ASSERT_TRUE(engine_wait_end(run, &state));
	CU_ASSERT_EQUAL(state, RUN_DONE);
	CU_ASSERT_EQUAL(engine_counts(run, "k").consumed, 20000);
	CU_ASSERT_EQUAL(engine_dropped(run, "q", REASON_FULL), 0);
	engine_finish(run);
}

static void two_workers_with_a_queue(void)
{
	struct run *run;
	enum run_state state;

	if (!engine_cores(2))
		return;
	run = engine_start(PORTS "nodes:\n" RX_TX "  q: {Queue: {size: 64}}\n"
				 "graph: [rx -> Probe -> q -> Probe -> tx]\nworkers: 2\n");
	CU_ASSERT_FATAL(run != NULL);
	CU_ASSERT_EQUAL(run_workers(run), 2);
	engine_feed(run, "left", 0, 20000);
	engine_end(run, "left");
	CU_ASSERT_TRUE(engine_wait_end(run, &state));
	CU_ASSERT_EQUAL(state, RUN_DONE);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 20000));
	CU_ASSERT_EQUAL(engine_counts(run, "q").in[0], 20000);
	CU_ASSERT_EQUAL(engine_counts(run, "q").out[0], 20000);
	engine_finish(run);
}

// One worker spreads, each of two gates has a Queue that the other or itself polls.
static void two_workers_with_a_split(void)
{
	struct run *run;
	enum run_state state;
	uint32_t last[2] = {0, 0};

	if (!engine_cores(2))
		return;
	run = engine_start(PORTS "nodes:\n" RX_TX "  split: Scatter\n"
				 "  q0: {Queue: {size: 256}}\n"
				 "  q1: {Queue: {size: 256}}\n"
				 "graph: ['rx -> split[0] -> q0 -> tx', 'split[1] -> q1 -> tx']\n"
				 "workers: 2\n");
	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 2, 20000);
	engine_end(run, "left");
	CU_ASSERT_TRUE(engine_wait_end(run, &state));
	CU_ASSERT_EQUAL(state, RUN_DONE);
	CU_ASSERT_EQUAL_FATAL(engine_sent(run, "right"), 20000);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t number = engine_number(run, "right", i);

		CU_ASSERT_TRUE_FATAL(number > last[number % 2]);
		last[number % 2] = number;
	}
	CU_ASSERT_EQUAL(engine_counts(run, "tx").in[0], 20000);
	CU_ASSERT_EQUAL(engine_counts(run, "tx").consumed, 20000);
	engine_finish(run);
}

// A node that both workers run has counters of both.
static void shared_nodes_count_for_all(void)
{
	struct run *run;
	enum run_state state;

	if (!engine_cores(2))
		return;
	run = engine_start("nodes: {a: {Source: {count: 30000}}, b: {Source: {count: 20000}},\n"
			   "  p: Probe, k: Sink}\n"
			   "graph: [a -> p -> k, b -> p]\n"
			   "workers: 2\n");
	if (!run)
		return;
	CU_ASSERT_TRUE(engine_wait_end(run, &state));
	CU_ASSERT_EQUAL(engine_counts(run, "p").in[0], 50000);
	CU_ASSERT_EQUAL(engine_counts(run, "k").consumed, 50000);
	engine_finish(run);
}

static const CU_TestInfo cases[] = {
    {"runs to its end", runs_to_its_end},
    {"stops at once", stops_at_once},
    {"what gets stuck is named", gets_stuck},
    {"parks while packets flow", parks_while_packets_flow},
    {"backpressure loses nothing", backpressure_loses_nothing},
    {"two workers with a queue", two_workers_with_a_queue},
    {"two workers with a split", two_workers_with_a_split},
    {"shared nodes count for all workers", shared_nodes_count_for_all},
    CU_TEST_INFO_NULL,
};
SUITE(run_workers, cases, .eal = true)
