// SPDX-License-Identifier: BSD-3-Clause
// What the control thread does: commands, ticks, faults of modules, with a set clock.

#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define SECOND 1000000000ULL
#define PROBE "nodes: {s: Source, p: {Probe: {live: 5}}, k: Sink}\ngraph: [s -> p -> k]\n"

// The answer or the faults of a command as text; arguments as YAML; freed by the caller.
static char *command(struct run *run, const char *node, const char *name, const char *args)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *value =
	    args ? yaml_read_text(arena, "command", args, strlen(args), errors) : NULL;
	json_t *reply = run_command(run, node, name, value, errors);
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : errors_text(errors);

	CU_ASSERT_EQUAL(reply == NULL, errors_count(errors) > 0);
	json_decref(reply);
	arena_free(arena);
	errors_free(errors);
	return text;
}

static void expect_command(struct run *run, const char *node, const char *name, const char *args,
			   const char *expected)
{
	char *text = command(run, node, name, args);
	size_t n = strlen(text);

	if (n && text[n - 1] == '\n')
		text[n - 1] = 0;
	EXPECT_TEXT(text, expected);
	free(text);
}

static void commands_answer(struct run *run)
{
	expect_command(run, "p", "say", "{text: hello, gate: 0}",
		       "{\"text\":\"hello\",\"gate\":0,\"said\":true,"
		       "\"mac\":\"02:00:00:00:00:ab\"}");
	expect_command(run, "p", "nothing", NULL, "{}");
	expect_command(run, "p", "nothing", "{}", "{}");
}

static void commands_are_refused(struct run *run)
{
	expect_command(run, "q", "say", NULL, "command: error: no node \"q\"");
	expect_command(run, "elephant", "say", "{}", "command:1:1: error: no node \"elephant\"");
	expect_command(run, "k", "say", NULL, "command: error: Sink has no commands");
	expect_command(run, "p", "sai", NULL,
		       "command: error: Probe has no command \"sai\"; did you mean \"say\"?");
	expect_command(run, "p", "elephant", NULL,
		       "command: error: Probe has no command \"elephant\"");
	expect_command(run, "p", "say", NULL,
		       "command: error: p say: text is missing, it should be a text");
	expect_command(run, "p", "say", "{text: a, gate: 1, tone: 2}",
		       "command:1:17: error: p say: gate: \"1\" is out of range, it should be 0\n"
		       "command:1:20: error: p say: \"tone\" is not a parameter; there are text, "
		       "gate");
	expect_command(run, "p", "say", "{text: bad}",
		       "command:1:8: error: p say: text: \"bad\" is not said here, it should be "
		       "good");
	expect_command(run, "p", "say", "{text: out}",
		       "command:1:1: error: p say: there is nothing left to say");
	expect_command(run, "p", "nothing", "{a: 1}",
		       "command:1:2: error: p nothing: \"a\" is not a parameter; it takes "
		       "none");
}

static void commands_in_replay(void)
{
	struct run *run = engine_replay(PROBE);

	CU_ASSERT_FATAL(run != NULL);
	commands_answer(run);
	commands_are_refused(run);
	run_set_time(run, 7);
	expect_command(run, "p", "state", NULL,
		       "[{\"ticks\":0,\"parked_ticks\":0,\"last_tick_ns\":0},"
		       "{\"taken_from\":0,\"live\":5,\"workers\":1,\"burst\":32,\"now_ns\":7}]");
	engine_finish(run);
}

static void commands_beside_workers(void)
{
	struct run *run = engine_start(PROBE);

	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 0; i < 50; i++) {
		commands_answer(run);
		commands_are_refused(run);
		run_tend(run);
	}
	engine_finish(run);
}

// What a node had is gone once the graph has stopped.
static void commands_after_the_end(void)
{
	struct run *run = engine_replay(PROBE);

	CU_ASSERT_FATAL(run != NULL);
	run_stop(run);
	expect_command(run, "p", "state", NULL,
		       "command: error: the graph has stopped, so no command can run");
	engine_finish(run);
}

static void ticks_follow_the_clock(void)
{
	struct run *run = engine_replay(PROBE);

	CU_ASSERT_FATAL(run != NULL);
	run_set_time(run, SECOND - 1);
	run_tend(run);
	expect_command(run, "p", "state", NULL,
		       "[{\"ticks\":0,\"parked_ticks\":0,\"last_tick_ns\":0},"
		       "{\"taken_from\":0,\"live\":5,\"workers\":1,\"burst\":32,"
		       "\"now_ns\":999999999}]");
	run_set_time(run, SECOND);
	run_tend(run);
	run_tend(run);
	run_set_time(run, 5 * SECOND + 1);
	run_tend(run);
	expect_command(run, "p", "state", NULL,
		       "[{\"ticks\":5,\"parked_ticks\":5,\"last_tick_ns\":5000000000},"
		       "{\"taken_from\":0,\"live\":5,\"workers\":1,\"burst\":32,"
		       "\"now_ns\":5000000001}]");
	// Back: nothing happens.
	run_set_time(run, 0);
	run_tend(run);
	run_set_time(run, 6 * SECOND);
	run_tend(run);
	expect_command(run, "p", "state", NULL,
		       "[{\"ticks\":6,\"parked_ticks\":6,\"last_tick_ns\":6000000000},"
		       "{\"taken_from\":0,\"live\":5,\"workers\":1,\"burst\":32,"
		       "\"now_ns\":6000000000}]");
	// What is closed is not ticked.
	run_stop(run);
	run_set_time(run, 9 * SECOND);
	run_tend(run);
	CU_ASSERT_EQUAL(((const uint64_t *)run_node(run, 1)->state)[0], 6);
	engine_finish(run);
}

static void tend_without_output(struct run *run, FILE **was, char **text, size_t *n)
{
	FILE *into = open_memstream(text, n);

	CU_ASSERT_FATAL(into != NULL);
	*was = stderr;
	stderr = into;
	run_tend(run);
	stderr = *was;
	fclose(into);
}

static void expect_tend(struct run *run, const char *expected)
{
	FILE *was;
	char *text = NULL;
	size_t n = 0;

	tend_without_output(run, &was, &text, &n);
	EXPECT_TEXT(text, expected);
	free(text);
}

static void leaks_are_named(void)
{
	struct run *run = engine_replay("burst: 2\n"
					"nodes: {s: {Source: {count: 8}}, m: Leaky, k: Sink}\n"
					"graph: [s -> m -> k]\n");

	CU_ASSERT_FATAL(run != NULL);
	run_step(run);
	CU_ASSERT_EQUAL(run_faults(run), 0);
	expect_tend(run, "sluice: error: Leaky 'm' took 2 packets and let go of 1\n");
	CU_ASSERT_EQUAL(run_faults(run), 1);
	// Once, and the run goes on.
	engine_steps(run, 100);
	expect_tend(run, "");
	CU_ASSERT_EQUAL(run_faults(run), 1);
	CU_ASSERT_EQUAL(engine_counts(run, "m").in[0], 8);
	CU_ASSERT_EQUAL(engine_counts(run, "k").consumed, 4);
	engine_finish(run);
	run = engine_replay("burst: 1\nnodes: {s: {Source: {count: 1}}, m: Leaky}\n"
			    "graph: [s -> m]\n");
	CU_ASSERT_FATAL(run != NULL);
	run_step(run);
	expect_tend(run, "sluice: error: Leaky 'm' took 1 packet and let go of 0\n");
	engine_finish(run);
}

static void leaks_of_sources_are_named(void)
{
	struct run *run = engine_replay("nodes: {s: LeakySource, k: Sink}\ngraph: [s -> k]\n");

	CU_ASSERT_FATAL(run != NULL);
	run_step(run);
	expect_tend(run, "sluice: error: LeakySource 's' made or released 1 packet more than it "
			 "let go of\n");
	CU_ASSERT_EQUAL(run_faults(run), 1);
	engine_finish(run);
}

// A fault of the last walk before the end counts too.
static void leaks_at_the_end_count(void)
{
	struct run *run =
	    engine_replay("burst: 2\nnodes: {s: Source, m: Leaky}\ngraph: [s -> m]\n");
	FILE *was = stderr;
	char *text = NULL;
	size_t n = 0;

	CU_ASSERT_FATAL(run != NULL);
	run_step(run);
	stderr = open_memstream(&text, &n);
	run_stop(run);
	fclose(stderr);
	stderr = was;
	EXPECT_TEXT(text, "sluice: error: Leaky 'm' took 2 packets and let go of 1\n");
	free(text);
	CU_ASSERT_EQUAL(run_faults(run), 1);
	engine_finish(run);
}

static void open_that_fails(void)
{
	static const struct run_options options = {.replay = true};
	struct graph *graph = engine_graph("nodes:\n  s: Source\n  k: {Keeper: {fails: true}}\n"
					   "  l: {Keeper: {fails: true}}\n"
					   "graph: [s -> k -> l]\n");
	struct errors *errors = errors_new();
	char *text;

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_PTR_NULL(run_open(graph, &options, errors));
	CU_ASSERT_EQUAL(errors_exit_code(errors), ERROR_MACHINE);
	text = errors_text(errors);
	EXPECT_TEXT(text, "g.yaml:3:23: error: Keeper: fails: it was told to fail\n"
			  "g.yaml:4:23: error: Keeper: fails: it was told to fail\n");
	free(text);
	errors_free(errors);
}

static void json_shows_all(void)
{
	struct run *run = engine_replay("nodes: {s: {Source: {count: 10}}, k: Sink}\n"
					"graph: [s -> k]\n");
	json_t *root, *nodes;

	CU_ASSERT_FATAL(run != NULL);
	engine_steps(run, 10);
	root = run_json(run);
	nodes = json_object_get(root, "nodes");
	CU_ASSERT_EQUAL(json_object_size(nodes), 2);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(nodes, "s"), "made")),
			10);
	CU_ASSERT_EQUAL(
	    json_integer_value(json_object_get(json_object_get(nodes, "k"), "consumed")), 10);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "workers")), 1);
	json_decref(root);
	engine_finish(run);
}

static const CU_TestInfo cases[] = {
    {"commands answer and are refused", commands_in_replay},
    {"commands run beside workers", commands_beside_workers},
    {"no command after the end", commands_after_the_end},
    {"ticks follow the clock", ticks_follow_the_clock},
    {"leaks are named, once", leaks_are_named},
    {"leaks of sources are named", leaks_of_sources_are_named},
    {"leaks at the end count", leaks_at_the_end_count},
    {"all nodes that fail to open are named", open_that_fails},
    {"json shows all", json_shows_all},
    CU_TEST_INFO_NULL,
};
SUITE(run_control, cases, .eal = true)
