// SPDX-License-Identifier: BSD-3-Clause
// The ways of packets are told exactly as they went: by gates, copies, drops with their reasons,
// queues, loops; and tracing changes nothing about them.

#include <stdlib.h>
#include <string.h>

#include "trace_rig.h"

#define PORTS(MORE) "ports: {left: {memory: {open: true}}" MORE "}\nnodes:\n"
#define RIGHT ", right: memory"
#define OTHER ", other: memory"
#define RX "  rx: {PortInc: {port: left}}\n"
#define TX "  tx: {PortOut: {port: right}}\n"
#define TX2 "  tx2: {PortOut: {port: other}}\n"

// With the nodes rx, and tx and tx2 where a link leads there.
static struct run *replay(const char *nodes_and_graph)
{
	bool tx = strstr(nodes_and_graph, "tx'"), tx2 = strstr(nodes_and_graph, "tx2'");
	struct engine_text text = {0};
	struct run *run;

	engine_put(&text, PORTS("%s%s") RX "%s%s%s", tx ? RIGHT : "", tx2 ? OTHER : "",
		   tx ? TX : "", tx2 ? TX2 : "", nodes_and_graph);
	run = engine_replay(text.text);
	CU_ASSERT_FATAL(run != NULL);
	free(text.text);
	return run;
}

// Traces n packets that are fed, and compares.
static void expect(const char *nodes_and_graph, unsigned n, const char *ways)
{
	struct run *run = replay(nodes_and_graph);
	struct trace_rig *rig = trace_rig_new(run, NULL, (int)n);

	engine_feed(run, "left", 0, n);
	engine_steps(run, 10);
	EXPECT_WAYS(rig, ways);
	CU_ASSERT_EQUAL(rig->n_whole, n);
	trace_rig_free(rig);
	engine_finish(run);
}

static void straight(void)
{
	expect("  a: MACSwap\n  b: Pass\ngraph: ['rx -> a -> b -> tx']\n", 2,
	       "rx a{ether src 02:00:00:00:00:01 -> 02:00:00:00:00:02, ether dst "
	       "02:00:00:00:00:02 -> 02:00:00:00:00:01} b tx: sent right\n"
	       "rx a{ether src 02:00:00:00:00:01 -> 02:00:00:00:00:02, ether dst "
	       "02:00:00:00:00:02 -> 02:00:00:00:00:01} b tx: sent right\n");
}

static void branches(void)
{
	expect(
	    "  s: Scatter\n  a: Pass\n"
	    "graph: ['rx -> s[0] -> a -> tx', 's[1] -> tx2', 's[2] -> Sink', 's[3] -> Discard']\n",
	    5,
	    "rx s a tx: sent right\nrx s[1] tx2: sent other\nrx s[2] Sink#1: consumed\n"
	    "rx s[3] Discard#1: dropped discarded\nrx s a tx: sent right\n");
}

static void copies(void)
{
	expect("  t: Tee\n  push: {VLANPush: {vid: 7}}\n"
	       "graph: ['rx -> t -> tx', 't[1] -> push -> tx2', 't[3] -> Discard']\n",
	       1,
	       "rx t tx: sent right + 0.1[1] push{+ vlan id=7, length 60 -> 64} tx2: sent other"
	       " + 0.1[3] Discard#1: dropped discarded\n");
	// A copy of a copy.
	expect("  t: Tee\n  u: Tee\ngraph: ['rx -> t -> tx', 't[1] -> u -> tx2', 'u[1] -> Sink']\n",
	       1, "rx t tx: sent right + 0.1[1] u tx2: sent other + 1.0[1] Sink#1: consumed\n");
	// Flooded: the packet itself leaves last.
	expect("  l: L2Fwd\ngraph: ['rx -> l', 'l[1] -> tx', 'l[2] -> tx2']\n", 1,
	       "rx l[2] tx2: sent other + 0.1[1] tx: sent right\n");
}

static void drops(void)
{
	expect("  a: Pass\ngraph: ['rx -> a']\n", 1, "rx a: dropped unconnected\n");
	expect("  u: {Update: {writes: [{offset: 100, bytes: 00}]}}\ngraph: ['rx -> u -> tx']\n", 1,
	       "rx u: dropped runt\n");
	expect("  f: {Filter: {expression: udp}}\ngraph: ['rx -> f -> tx', 'f[miss] -> Discard']\n",
	       1, "rx f[miss] Discard#1: dropped discarded\n");
	expect("  f: {Filter: {expression: udp}}\ngraph: ['rx -> f -> tx']\n", 1,
	       "rx f: dropped unconnected\n");
}

static void changes(void)
{
	expect("  u: {Update: {writes: [{offset: 20, bytes: 01 02}]}}\n  s: {SetMAC: {src: "
	       "\"02:00:00:00:00:09\"}}\ngraph: ['rx -> u -> s -> tx']\n",
	       1,
	       "rx u{bytes from 20 0000 -> 0102} s{ether src 02:00:00:00:00:01 -> "
	       "02:00:00:00:00:09} tx: sent right\n");
}

static void queues(void)
{
	struct run *run = replay("  q: Queue\n  a: Pass\ngraph: ['rx -> q -> a -> tx']\n");
	struct trace_rig *rig = trace_rig_new(run, NULL, 2);

	engine_feed(run, "left", 0, 3);
	engine_steps(run, 10);
	EXPECT_WAYS(rig, "rx q a tx: sent right\nrx q a tx: sent right\n");
	trace_rig_free(rig);
	engine_finish(run);
}

// What is held when the trace ends.
static void held(void)
{
	struct run *run = replay("  q: {Queue: {burst: 1}}\ngraph: ['rx -> q -> tx']\n");
	struct trace_rig *rig = trace_rig_new(run, NULL, 9);

	engine_feed(run, "left", 0, 3);
	run_step(run);
	trace_rig_settle(rig);
	ways_flush(rig->ways, 1);
	CU_ASSERT_EQUAL(rig->n, 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig->text.text, "rx q: held\n"));
	trace_rig_free(rig);
	engine_steps(run, 10);
	engine_finish(run);
}

static void full_queue(void)
{
	struct run *run =
	    replay("  q: {Queue: {size: 2, backpressure: \"off\"}}\ngraph: ['rx -> q -> tx']\n");
	struct trace_rig *rig = trace_rig_new(run, NULL, 9);
	const char *text;
	unsigned n = 0;

	engine_feed(run, "left", 0, 5);
	engine_steps(run, 10);
	trace_rig_settle(rig);
	CU_ASSERT_EQUAL(rig->n_whole, 5);
	for (text = rig->text.text; (text = strstr(text, "rx q: dropped full\n")); text++)
		n++;
	CU_ASSERT_EQUAL(n, 3);
	trace_rig_free(rig);
	engine_finish(run);
}

// What goes round for ever is let go of, and still goes round.
static void loops(void)
{
	struct run *run = replay("  a: Pass\n  b: Pass\ngraph: ['rx -> a', 'a -> b', 'b -> a']\n");
	struct trace_rig *rig = trace_rig_new(run, NULL, 1);

	engine_feed(run, "left", 0, 1);
	for (unsigned i = 0; i < TRACE_HOPS && !rig->n; i++) {
		run_step(run);
		trace_rig_settle(rig);
	}
	CU_ASSERT_EQUAL(rig->n_whole, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig->text.text, ": given_up\n"));
	trace_rig_free(rig);
	engine_finish(run);
}

// More goes round than may: the link drops.
static void full_loop(void)
{
	struct run *run =
	    replay("  t: Tee\n  a: Pass\ngraph: ['rx -> a -> t', 't -> a', 't[1] -> a']\n");
	struct trace_rig *rig = trace_rig_new(run, NULL, 1);

	engine_feed(run, "left", 0, 1);
	for (unsigned i = 0; i < 40; i++)
		run_step(run);
	trace_rig_settle(rig);
	ways_flush(rig->ways, 1);
	CU_ASSERT_EQUAL(rig->n, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig->text.text, ": dropped loop_full"));
	trace_rig_free(rig);
	engine_finish(run);
}

static void elsewhere(void)
{
	struct run *run = replay("  a: Pass\n  b: Pass\ngraph: ['rx -> a -> b -> tx']\n");
	struct trace_rig *rig = trace_rig_new(run, "b", 1);

	engine_feed(run, "left", 0, 2);
	engine_steps(run, 10);
	EXPECT_WAYS(rig, "b tx: sent right\n");
	trace_rig_free(rig);
	engine_finish(run);
}

// Two who trace: one from the source, one from a node on the way. Each has its own.
static void together(void)
{
	struct run *run = replay("  a: Pass\n  b: Pass\ngraph: ['rx -> a -> b -> tx']\n");
	struct trace_rig *rig = trace_rig_new(run, NULL, 1);
	struct trace_watch watch = {.node = "b"};
	struct errors *errors = errors_new();
	int number = tracer_watch(rig->tracer, &watch, errors), first = rig->number;

	tracer_allow(&watch, 1);
	CU_ASSERT_EQUAL(number, 1);
	engine_feed(run, "left", 0, 3);
	engine_steps(run, 10);
	EXPECT_WAYS(rig, "rx a b tx: sent right\n");
	tracer_allow(&rig->watch, 1);
	tracer_allow(&watch, 1);
	rig->number = number;
	engine_feed(run, "left", 3, 1);
	engine_steps(run, 10);
	EXPECT_WAYS(rig, "b tx: sent right\n");
	rig->number = first;
	CU_ASSERT_EQUAL(tracer_unwatch(rig->tracer, &watch), 0);
	trace_rig_free(rig);
	errors_free(errors);
	engine_finish(run);
}

static void chosen(void)
{
	struct run *run =
	    replay("  s: Scatter\ngraph: ['rx -> s -> tx', 's[1] -> tx2', 's[2] -> Sink']\n");
	struct trace_rig *rig = trace_rig_new(run, NULL, 2);
	struct filter filter;
	char why[FILTER_WHY];

	CU_ASSERT_EQUAL(filter_compile("ether[14] == 2", &filter, why), FILTER_COMPILED);
	rig->watch.filter = &filter;
	engine_feed(run, "left", 0, 5);
	engine_steps(run, 10);
	EXPECT_WAYS(rig, "rx s[2] Sink#1: consumed\n");
	rig->watch.filter = NULL;
	rig->watch.sample = 2;
	tracer_allow(&rig->watch, 9);
	engine_feed(run, "left", 0, 4);
	engine_steps(run, 10);
	EXPECT_WAYS(rig, "rx s tx: sent right\nrx s[2] Sink#1: consumed\n");
	filter_free(&filter);
	trace_rig_free(rig);
	engine_finish(run);
}

// The graph changes under the trace: what was noted keeps its names.
static void other_graph(void)
{
	static const char first[] = PORTS(RIGHT) RX TX "  a: Pass\ngraph: ['rx -> a -> tx']\n";
	static const char second[] = PORTS(OTHER) RX TX2 "  c: Pass\ngraph: ['rx -> c -> tx2']\n";
	struct run *run = engine_replay(first);
	struct trace_rig *rig = trace_rig_new(run, NULL, 100);

	for (unsigned i = 0; i < 10; i++) {
		engine_feed(run, "left", 0, 1);
		run_step(run);
		CU_ASSERT_TRUE(engine_switch(run, i % 2 ? first : second, false, NULL));
	}
	EXPECT_WAYS(rig, "rx a tx: sent right\nrx c tx2: sent other\nrx a tx: sent right\n"
			 "rx c tx2: sent other\nrx a tx: sent right\nrx c tx2: sent other\n"
			 "rx a tx: sent right\nrx c tx2: sent other\nrx a tx: sent right\n"
			 "rx c tx2: sent other\n");
	trace_rig_free(rig);
	engine_finish(run);
}

// A port may hand on the packet itself: no mark goes with it.
static void no_mark_leaves(void)
{
	struct run *run = engine_replay(
	    "ports: {left: {memory: {open: true}}, right: memory, r: {ring: {}}}\nnodes:\n"
	    "  rx: {PortInc: {port: left}}\n  out: {PortOut: {port: r}}\n"
	    "  in: {PortInc: {port: r}}\n  tx: {PortOut: {port: right}}\n"
	    "graph: ['rx -> out', 'in -> tx']\n");
	struct trace_rig *rig;

	CU_ASSERT_FATAL(run != NULL);
	rig = trace_rig_new(run, NULL, 1);
	engine_feed(run, "left", 0, 3);
	for (unsigned i = 0; i < 10; i++)
		run_step(run);
	EXPECT_WAYS(rig, "rx out: sent r\n");
	CU_ASSERT_EQUAL(engine_sent(run, "right"), 3);
	trace_rig_free(rig);
	engine_finish(run);
}

// Held by one worker, let go by the other.
static void across_workers(void)
{
	struct run *run;
	struct trace_rig *rig;
	struct timespec pause = {.tv_nsec = 500000};
	const char *line;
	unsigned n = 0;

	if (!engine_cores(2))
		return;
	run = engine_start("workers: 2\nnodes:\n  gen: {Source: {size: 60}}\n  a: Pass\n"
			   "  q: Queue\n  b: Pass\ngraph: ['gen -> a -> q -> b -> Sink']\n");
	CU_ASSERT_FATAL(run != NULL);
	rig = trace_rig_new(run, NULL, 0);
	for (unsigned i = 0; i < 4000 && n < 300; i++) {
		if (i < 30)
			tracer_allow(&rig->watch, 10);
		nanosleep(&pause, NULL);
		trace_rig_settle(rig);
		n = rig->n;
	}
	CU_ASSERT_EQUAL(n, 300);
	CU_ASSERT_EQUAL(rig->n_whole, 300);
	for (line = rig->text.text; *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, "gen a q b Sink#1: consumed\n", 27) != 0 &&
		    strncmp(line, "gen a q: dropped full\n", 22) != 0) {
			printf("\n%.80s\n", line);
			CU_FAIL("a way that is none");
			break;
		}
	trace_rig_free(rig);
	engine_finish(run);
}

static const CU_TestInfo cases[] = {
    {"a chain of nodes", straight},
    {"each by its gate", branches},
    {"copies", copies},
    {"drops with their reasons", drops},
    {"what is changed", changes},
    {"through a queue", queues},
    {"what is held is said to be", held},
    {"a queue that is full", full_queue},
    {"round and round", loops},
    {"a loop that is full", full_loop},
    {"ways that begin elsewhere", elsewhere},
    {"two who trace", together},
    {"filters and samples", chosen},
    {"the graph changes", other_graph},
    {"no mark leaves the graph", no_mark_leaves},
    {"from one worker to another", across_workers},
    CU_TEST_INFO_NULL,
};
SUITE(trace, cases, .eal = true)
