// SPDX-License-Identifier: BSD-3-Clause
// L2Fwd where a whole graph's packets do not show it: what a change of graph takes over, a million
// stations, the rate of learning, and workers that learn side by side while commands run.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "suite.h"

// In the order of the module's table.
enum { LEARNED, MOVED, TABLE_FULL, DEFERRED };

// A bridge of two sides; stations 02:...:00 and up come in at gate 0.
static char *bridge(const char *params, unsigned count, const char *more)
{
	char *text;

	if (asprintf(&text,
		     "nodes:\n"
		     "  make: {Source: {count: %u, templates: ["
		     "\"ether src=02:00:00:00:00:00 dst=02:ff:00:00:00:00 / pad 60\"],\n"
		     "    fields: [{field: ether.src, values: 100000000}]}}\n"
		     "  bridge: {L2Fwd: {%s}}\n"
		     "  end: Sink\n"
		     "graph:\n"
		     "  - make -> [0]bridge[1] -> end\n%s",
		     count, params, more) < 0)
		abort();
	return text;
}

static struct run *bridge_open(const char *params, unsigned count)
{
	char *text = bridge(params, count, "");
	struct run *run = flow_open(text, true);

	free(text);
	return run;
}

// false: it was refused.
static bool bridge_change(struct run *run, const char *params, bool allow_loss)
{
	struct errors *errors = errors_new();
	char *text = bridge(params, 5, "");
	struct graph *graph = flow_graph(text);
	int status;

	CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
	status = run_switch(run, graph, allow_loss, errors);
	CU_ASSERT_EQUAL(errors_count(errors) > 0, status != 0);
	errors_free(errors);
	free(text);
	return !status;
}

static void info_check(struct run *run, unsigned stations, unsigned statics, unsigned size)
{
	char expected[100], *text = flow_call(run, "bridge", "info", "{}");

	snprintf(expected, sizeof(expected),
		 "{\"aged\":0,\"size\":%u,\"static\":%u,\"stations\":%u}", size, statics, stations);
	CU_ASSERT_STRING_EQUAL(text, expected);
	free(text);
}

static void change_of_ageing(void)
{
	struct run *run = bridge_open("size: 16", 5);
	char *text;

	flow_walk(run);
	info_check(run, 5, 0, 16);
	CU_ASSERT_TRUE(bridge_change(run, "size: 16, ageing: 10s", false));
	info_check(run, 5, 0, 16);
	run_set_time(run, FLOW_START_NS + 11000000000);
	run_tend(run);
	text = flow_call(run, "bridge", "list", "{}");
	CU_ASSERT_STRING_EQUAL(text, "{}");
	free(text);
	flow_close(run);
}

static void change_of_size(void)
{
	struct run *run = bridge_open("size: 16", 5);

	flow_walk(run);
	CU_ASSERT_TRUE(bridge_change(run, "size: 100", false));
	info_check(run, 5, 0, 100);
	CU_ASSERT_TRUE(bridge_change(run, "size: 8", false));
	info_check(run, 5, 0, 8);
	// What it knows it still uses: nothing is flooded or learned anew.
	CU_ASSERT_EQUAL(flow_counts(run, "bridge").own[LEARNED], 5);
	flow_close(run);
}

static void change_of_entries(void)
{
	struct run *run = bridge_open("size: 16, entries: ["
				      "{mac: \"02:00:00:00:00:a1\", gate: 0},"
				      "{mac: \"02:00:00:00:00:a2\", gate: 1}]",
				      0);
	char *text;

	free(flow_call(run, "bridge", "add", "{mac: \"02:00:00:00:00:a3\", gate: 0}"));
	CU_ASSERT_TRUE(bridge_change(run,
				     "size: 16, entries: ["
				     "{mac: \"02:00:00:00:00:a2\", gate: 0},"
				     "{mac: \"02:00:00:00:00:a4\", gate: 1}]",
				     false));
	info_check(run, 3, 3, 16);
	text = flow_call(run, "bridge", "remove", "{mac: \"02:00:00:00:00:a1\"}");
	CU_ASSERT_STRING_EQUAL(text, "command:1:7: error: bridge remove: mac: there is no such "
				     "station\n");
	free(text);
	text = flow_call(run, "bridge", "list", "{}");
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(text, "{\"gate\":0,\"mac\":\"02:00:00:00:00:a2\",\"static\":true}"));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(text, "{\"gate\":0,\"mac\":\"02:00:00:00:00:a3\",\"static\":true}"));
	free(text);
	flow_close(run);
}

static void change_of_vlan(void)
{
	struct run *run = bridge_open("size: 16", 5);

	flow_walk(run);
	CU_ASSERT_FALSE(bridge_change(run, "size: 16, vlan: true", false));
	info_check(run, 5, 0, 16);
	CU_ASSERT_TRUE(bridge_change(run, "size: 16, vlan: true", true));
	info_check(run, 0, 0, 16);
	flow_close(run);
}

// The clock must move: learning has a rate.
static void million(void)
{
	struct run *run = bridge_open("size: 1000000, learn: 100000000", 1000000);
	uint64_t now_ns = FLOW_START_NS;
	struct node_counts counts;

	do {
		run_set_time(run, now_ns += 1000000);
	} while (run_step(run) >= 0);
	counts = flow_counts(run, "bridge");
	CU_ASSERT_EQUAL(counts.own[LEARNED], 1000000);
	CU_ASSERT_EQUAL(counts.own[DEFERRED], 0);
	CU_ASSERT_EQUAL(counts.own[TABLE_FULL], 0);
	info_check(run, 1000000, 0, 1000000);
	free(flow_call(run, "bridge", "flush", "{}"));
	info_check(run, 0, 0, 1000000);
	flow_close(run);
}

static void rate_of_learning(void)
{
	struct run *run = bridge_open("size: 20000, learn: 1000", 10000);
	struct node_counts counts;

	for (unsigned i = 0; i < 200; i++)
		run_step(run);
	counts = flow_counts(run, "bridge");
	CU_ASSERT_EQUAL(counts.own[LEARNED], 4096);
	CU_ASSERT_EQUAL(counts.own[DEFERRED], 200 * 32 - 4096);
	run_set_time(run, FLOW_START_NS + 500000000);
	flow_walk(run);
	CU_ASSERT_EQUAL(flow_counts(run, "bridge").own[LEARNED], 4096 + 500);
	flow_close(run);
	run = bridge_open("size: 16, learn: 0", 10);
	flow_walk(run);
	CU_ASSERT_EQUAL(flow_counts(run, "bridge").own[LEARNED], 0);
	CU_ASSERT_EQUAL(flow_counts(run, "end").consumed, 10);
	flow_close(run);
}

// Two workers see the same stations on two sides, so that all of them move for ever, while the
// control thread ages, lists, adds, removes and flushes.
static const char side_by_side_graph[] =
    "nodes:\n"
    "  left: {Source: {count: 300000, templates: ["
    "\"ether src=02:00:00:00:00:00 dst=02:00:00:00:00:00 / pad 60\"], fields: ["
    "{field: ether.src, values: 300, mode: random},"
    "{field: ether.dst, values: 600, mode: random, seed: 2}]}}\n"
    "  right: {Source: {count: 300000, templates: ["
    "\"ether src=02:00:00:00:00:00 dst=02:00:00:00:00:00 / pad 60\"], fields: ["
    "{field: ether.src, values: 300, mode: random, seed: 3},"
    "{field: ether.dst, values: 600, mode: random, seed: 4}]}}\n"
    "  bridge: {L2Fwd: {size: 256, ageing: 1s, learn: 10000000}}\n"
    "  end: Sink\n"
    "graph:\n"
    "  - left -> [0]bridge[0] -> end\n"
    "  - right -> [1]bridge[1] -> end\n"
    "  - bridge[2] -> end\n"
    "workers: [{core: 0, sources: [left]}, {core: 1, sources: [right]}]\n";

static unsigned listed(struct run *run)
{
	char *text = flow_call(run, "bridge", "list", "{}");
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, "mac")); at++)
		n++;
	free(text);
	return n;
}

static void side_by_side(void)
{
	struct node_counts bridge_counts, end_counts;
	struct run *run;

	if (!flow_two_cores())
		return;
	run = flow_open(side_by_side_graph, false);
	for (unsigned i = 0; run_tend(run) == RUN_BUSY; i++) {
		CU_ASSERT_TRUE(listed(run) <= 256);
		free(flow_call(run, "bridge", "add", "{mac: \"02:00:00:00:00:07\", gate: 2}"));
		free(flow_call(run, "bridge", "remove", "{mac: \"02:00:00:00:00:07\"}"));
		if (i % 4 == 3)
			free(flow_call(run, "bridge", "flush", "{}"));
	}
	CU_ASSERT_TRUE(flow_end(run));
	bridge_counts = flow_counts(run, "bridge");
	end_counts = flow_counts(run, "end");
	CU_ASSERT_TRUE(bridge_counts.own[LEARNED] >= 256);
	CU_ASSERT_TRUE(bridge_counts.own[MOVED] > 0);
	CU_ASSERT_TRUE(bridge_counts.own[TABLE_FULL] > 0);
	// Each packet was copied once or not, and none got lost.
	CU_ASSERT_EQUAL(end_counts.consumed + flow_dropped(run, "bridge", "same_gate"),
			600000 + bridge_counts.made);
	CU_ASSERT_TRUE(listed(run) <= 256);
	flow_close(run);
}

static const CU_TestInfo cases[] = {
    {"another ageing goes on with the same table", change_of_ageing},
    {"another size takes the stations over", change_of_size},
    {"static stations follow the graph file, added ones stay", change_of_entries},
    {"a change of `vlan` loses all, and is refused unless allowed", change_of_vlan},
    {"a million stations are learned and flushed", million},
    {"learning has a rate", rate_of_learning},
    {"two workers learn and move while commands run", side_by_side},
    CU_TEST_INFO_NULL,
};
SUITE(l2fwd, cases, .eal = true)
