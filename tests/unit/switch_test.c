// SPDX-License-Identifier: BSD-3-Clause
// From one graph to the next while packets flow: what goes on, what takes over, what is refused; no
// packet is lost, doubled or late.

#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define PORTS "ports: {left: {memory: {open: true}}, right: memory}\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"
#define PROBE_AND(MORE) PORTS "nodes:\n" RX_TX MORE

static const char probe_5[] = PROBE_AND("  p: {Probe: {fixed: 5}}\ngraph: [rx -> p -> tx]\n");

static uint64_t asked(struct run *run, const char *key)
{
	struct errors *errors = errors_new();
	json_t *reply = run_command(run, "p", "state", NULL, errors);
	uint64_t value;

	CU_ASSERT_FATAL(reply != NULL);
	value = (uint64_t)json_integer_value(json_object_get(json_array_get(reply, 1), key));
	json_decref(reply);
	errors_free(errors);
	return value;
}

static void nodes_go_on(void)
{
	struct run *run = engine_replay(probe_5);
	struct node *p;
	struct port *left;

	CU_ASSERT_FATAL(run != NULL);
	p = run_node(run, 2);
	left = run_port(run, 0);
	engine_feed(run, "left", 0, 40);
	run_step(run);
	CU_ASSERT_TRUE(engine_switch(run,
				     "burst: 8\n" PROBE_AND("  new: Probe\n"
							    "  p: {Probe: {fixed: 5, live: 3}}\n"
							    "graph: [rx -> new -> p -> tx]\n"),
				     false, NULL));
	CU_ASSERT_PTR_EQUAL(run_node(run, 3), p);
	CU_ASSERT_PTR_EQUAL(run_port(run, 0), left);
	CU_ASSERT_EQUAL(asked(run, "live"), 3);
	CU_ASSERT_EQUAL(asked(run, "burst"), 8);
	CU_ASSERT_EQUAL(asked(run, "taken_from"), 0);
	// Counters go on with their nodes.
	CU_ASSERT_EQUAL(engine_counts(run, "p").in[0], 32);
	CU_ASSERT_EQUAL(engine_counts(run, "new").in[0], 0);
	CU_ASSERT_EQUAL(run_step(run), 8);
	CU_ASSERT_EQUAL(engine_counts(run, "p").in[0], 40);
	CU_ASSERT_EQUAL(engine_counts(run, "new").in[0], 8);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 40));
	engine_finish(run);
}

static void a_source_follows_the_burst(void)
{
	struct run *run = engine_replay("nodes: {s: Source}\ngraph: [s -> Sink]\n");

	CU_ASSERT_FATAL(run != NULL);
	CU_ASSERT_EQUAL(run_step(run), 32);
	CU_ASSERT_TRUE(
	    engine_switch(run, "burst: 8\nnodes: {s: Source}\ngraph: [s -> Sink]\n", false, NULL));
	CU_ASSERT_EQUAL(run_step(run), 8);
	engine_finish(run);
}

static void nodes_take_over(void)
{
	struct run *run = engine_replay(probe_5);

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 10);
	run_step(run);
	CU_ASSERT_TRUE(engine_switch(
	    run, PROBE_AND("  p: {Probe: {fixed: 9}}\ngraph: [rx -> p -> tx]\n"), false, NULL));
	CU_ASSERT_EQUAL(asked(run, "taken_from"), 6);
	CU_ASSERT_EQUAL(engine_counts(run, "p").in[0], 10);
	engine_finish(run);
}

static void l2fwd_keeps_its_table(void)
{
	static const char before[] = PROBE_AND("  fwd: {L2Fwd: {size: 64}}\n"
					       "graph: ['rx -> fwd[1] -> tx']\n");
	static const char after[] = PROBE_AND("  fwd: {L2Fwd: {size: 128}}\n"
					      "graph: ['rx -> fwd[1] -> tx']\n");
	static const char args[] = "{mac: '02:00:00:00:00:02', gate: 1}";
	struct run *run = engine_replay(before);
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	json_t *reply;

	CU_ASSERT_FATAL(run != NULL);
	reply = run_command(run, "fwd", "add",
			    yaml_read_text(arena, "command", args, strlen(args), errors), errors);
	CU_ASSERT_PTR_NOT_NULL(reply);
	json_decref(reply);
	CU_ASSERT_TRUE(engine_switch(run, after, false, NULL));
	engine_feed(run, "left", 0, 5);
	run_step(run);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 5));
	arena_free(arena);
	errors_free(errors);
	engine_finish(run);
}

static void loss_is_refused(void)
{
	struct run *run = engine_replay(probe_5);
	char *faults;

	CU_ASSERT_FATAL(run != NULL);
	CU_ASSERT_FALSE(engine_switch(
	    run, PROBE_AND("  p: {Probe: {fixed: 2}}\ngraph: [rx -> p -> tx]\n"), false, &faults));
	EXPECT_TEXT(faults, "g.yaml:5:3: error: the change would lose of Probe 'p': what is above "
			    "the new number; keep its parameters, or allow the loss\n");
	free(faults);
	CU_ASSERT_EQUAL(asked(run, "taken_from"), 0);
	CU_ASSERT_TRUE(engine_switch(
	    run, PROBE_AND("  p: {Probe: {fixed: 2}}\ngraph: [rx -> p -> tx]\n"), true, NULL));
	CU_ASSERT_EQUAL(asked(run, "taken_from"), 6);
	engine_finish(run);
}

// The new graph fails to open: all is as before.
static void failure_changes_nothing(void)
{
	struct run *run = engine_replay(probe_5);
	const struct graph *graph;
	struct node *p;
	char *faults;

	CU_ASSERT_FATAL(run != NULL);
	graph = run_graph(run);
	p = run_node(run, 2);
	engine_feed(run, "left", 0, 10);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_FALSE(engine_switch(
		    run,
		    "ports: {left: {memory: {open: true}}, right: {memory: {keep: 5}}}\n"
		    "nodes:\n" RX_TX "  p: {Probe: {fixed: 5, live: 1}}\n"
		    "  q: {Queue: {size: 8192}}\n"
		    "  k: {Keeper: {fails: true}}\ngraph: [rx -> p -> q -> k -> tx]\n",
		    false, &faults));
		EXPECT_TEXT(faults, "g.yaml:7:23: error: Keeper: fails: it was told to fail\n");
		free(faults);
	}
	CU_ASSERT_PTR_EQUAL(run_graph(run), graph);
	CU_ASSERT_PTR_EQUAL(run_node(run, 2), p);
	CU_ASSERT_EQUAL(asked(run, "live"), 0);
	run_step(run);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 10));
	engine_finish(run);
}

// A Queue that goes is run empty by the old graph.
static void held_packets_run_to_the_end(void)
{
	struct run *run = engine_replay(
	    "burst: 64\n" PROBE_AND("  q: {Queue: {burst: 1}}\n  r: {Queue: {burst: 2}}\n"
				    "graph: [rx -> q -> Probe -> r -> tx]\n"));

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 100);
	run_step(run);
	CU_ASSERT_TRUE(engine_counts(run, "q").held > 0);
	CU_ASSERT_TRUE(engine_switch(run, PROBE_AND("graph: [rx -> tx]\n"), false, NULL));
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 64));
	run_step(run);
	run_step(run);
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, 100));
	engine_finish(run);
}

// Those that do not leave: refused, or dropped and no longer counted as held.
static void packets_that_never_leave(void)
{
	static const char before[] = PROBE_AND("  k: Keeper\ngraph: [rx -> k -> tx]\n");
	static const char after[] =
	    PROBE_AND("  k: {Keeper: {version: 1}}\ngraph: [rx -> k -> tx]\n");
	struct run *run = engine_replay(before);
	char *faults;

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 1);
	run_step(run);
	CU_ASSERT_FALSE(engine_switch(run, PROBE_AND("graph: [rx -> tx]\n"), false, &faults));
	EXPECT_TEXT(faults, "g.yaml:5:3: error: Keeper 'k' goes, but its 1 packet did not leave it "
			    "within a second\n");
	free(faults);
	CU_ASSERT_EQUAL(engine_counts(run, "k").held, 1);
	CU_ASSERT_TRUE(engine_switch(run, after, true, NULL));
	CU_ASSERT_EQUAL(engine_counts(run, "k").held, 0);
	CU_ASSERT_EQUAL(engine_dropped(run, "k", REASON_FULL), 1);
	engine_feed(run, "left", 1, 1);
	run_step(run);
	CU_ASSERT_EQUAL(engine_counts(run, "k").held, 1);
	engine_finish(run);
}

// Shapes between which a stream switches; all keep the order.
static const char *const shapes[] = {
    "graph: [rx -> tx]\n",
    "  a: Probe\n  q: Queue\ngraph: [rx -> a -> q -> tx]\n",
    "  q: Queue\n  r: {Queue: {size: 512}}\ngraph: [rx -> q -> Probe -> r -> tx]\n",
    ("  q: {Queue: {size: 2048}}\n  m: Mesh\n"
     "graph: ['rx -> q -> [3]m[3] -> Emitter -> Probe -> tx']\n"),
    "  p: Pass\ngraph: ['rx -> p[hit] -> Probe -> [side]p[miss] -> tx']\n",
    "  q: Queue\ngraph: [rx -> q -> tx]\n@",
    "  q: Queue\n  r: Queue\ngraph: [rx -> q -> r -> tx]\n@",
};

static char *shape(unsigned i, bool two_workers)
{
	struct engine_text text = {0};
	const char *more = shapes[i % (sizeof(shapes) / sizeof(*shapes))];
	size_t n = strlen(more);
	bool wants_two = more[n - 1] == '@';

	engine_put(&text,
		   "ports: {left: {memory: {open: true}}, right: {memory: {keep: 1000000}}}\n"
		   "burst: %u\nnodes:\n" RX_TX "%.*s%s",
		   1 + i % 40, (int)(n - wants_two), more,
		   wants_two && two_workers ? "workers: 2\n" : "");
	return text.text;
}

static void switch_often(struct run *run, unsigned n, bool two_workers, bool step)
{
	uint32_t number = 0;

	for (unsigned i = 1; i <= n; i++) {
		char *text = shape(i * 5 + i / 7, two_workers);

		engine_feed(run, "left", number, 100);
		number += 100;
		for (unsigned s = 0; step && s < i % 5; s++)
			run_step(run);
		run_tend(run);
		CU_ASSERT_TRUE(engine_switch(run, text, false, NULL));
		free(text);
	}
	engine_end(run, "left");
	if (step) {
		engine_steps(run, 100000);
	} else {
		enum run_state state;

		CU_ASSERT_TRUE(engine_wait_end(run, &state));
		CU_ASSERT_EQUAL(state, RUN_DONE);
	}
	CU_ASSERT_TRUE(engine_sent_in_order(run, "right", 0, number));
}

static void two_hundred_switches_in_replay(void)
{
	char *text = shape(0, false);
	struct run *run = engine_replay(text);

	free(text);
	CU_ASSERT_FATAL(run != NULL);
	switch_often(run, 200, false, true);
	engine_finish(run);
}

static void two_hundred_switches_with_workers(void)
{
	bool two_workers = CPU_COUNT(graph_cores()) >= 2;
	char *text = shape(0, false);
	struct run *run = engine_start(text);

	free(text);
	CU_ASSERT_FATAL(run != NULL);
	switch_often(run, 200, two_workers, false);
	engine_finish(run);
}

// Counters of both workers stay with the node when one of them goes.
static void workers_come_and_go(void)
{
#define COUNTED "nodes: {a: Source, b: Source, p: Probe, k: Sink}\ngraph: [a -> p, b -> p -> k]\n"
	struct run *run;
	struct node_counts before, after;

	if (!engine_cores(2))
		return;
	run = engine_start(COUNTED "workers: 2\n");
	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 0; i < 20; i++) {
		before = engine_counts(run, "k");
		CU_ASSERT_TRUE(
		    engine_switch(run, i % 2 ? COUNTED "workers: 2\n" : COUNTED, false, NULL));
		after = engine_counts(run, "k");
		CU_ASSERT_TRUE(after.consumed >= before.consumed);
		CU_ASSERT_EQUAL(run_workers(run), i % 2 ? 2 : 1);
		CU_ASSERT_EQUAL(asked(run, "workers"), i % 2 ? 2 : 1);
	}
	CU_ASSERT_TRUE(run_parked_ns(run) > 0);
	engine_finish(run);
}

static const CU_TestInfo cases[] = {
    {"nodes and ports go on", nodes_go_on},
    {"a source follows the graph's burst", a_source_follows_the_burst},
    {"nodes take over", nodes_take_over},
    {"L2Fwd keeps its table", l2fwd_keeps_its_table},
    {"loss is refused unless allowed", loss_is_refused},
    {"a failed switch changes nothing", failure_changes_nothing},
    {"held packets run to the end", held_packets_run_to_the_end},
    {"packets that never leave", packets_that_never_leave},
    {"200 switches in replay", two_hundred_switches_in_replay},
    {"200 switches with workers", two_hundred_switches_with_workers},
    {"workers come and go", workers_come_and_go},
    CU_TEST_INFO_NULL,
};
SUITE(switches, cases, .eal = true)
