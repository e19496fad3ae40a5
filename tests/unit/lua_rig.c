// SPDX-License-Identifier: BSD-3-Clause
// Scripts for tests: see lua_rig.h.

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "lua_rig.h"
#include "value/arena.h"

// On the first line of the script, so that lines are counted as they are in it.
#define PLAIN                                                                                      \
	"local function check(held, what) if not held then "                                       \
	"error('check: ' .. tostring(what), 2) end end "
#define STRESSED PLAIN "collectgarbage('incremental', 1, 1000, 0) "

static struct script_options options_of(struct engine_text *text, const char *script, bool stressed)
{
	engine_put(text, "%s%s", stressed ? STRESSED : PLAIN, script);
	return (struct script_options){.file = "t.lua", .text = text->text, .length = text->n};
}

static char *faults_once(const struct script_options *options)
{
	struct errors *errors = errors_new();
	struct script *script = script_open(options, errors);
	char *faults;

	if (script)
		graph_free(script_graph(script, errors));
	script_close(script);
	faults = errors_text(errors);
	errors_free(errors);
	return faults;
}

char *lua_faults(const char *text, const struct graph_set *sets, unsigned n_sets,
		 const struct state_limits *limits)
{
	char *faults[2];

	for (int stressed = 0; stressed < 2; stressed++) {
		struct engine_text script = {0};
		struct script_options options = options_of(&script, text, stressed);

		options.sets = sets;
		options.n_sets = n_sets;
		if (limits)
			options.limits = *limits;
		faults[stressed] = faults_once(&options);
		free(script.text);
	}
	EXPECT_TEXT(faults[1], faults[0]);
	free(faults[1]);
	return faults[0];
}

void lua_expect(const char *text, const char *expected)
{
	char *faults = lua_faults(text, NULL, 0, NULL);

	EXPECT_TEXT(faults, expected);
	free(faults);
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The same lines in one order: nodes and links come in the order in which they are made.
static char *lines_sorted(char *text)
{
	const char *lines[200];
	struct engine_text sorted = {0};
	size_t n = 0;

	for (char *line = strtok(text, "\n"); line && n < 200; line = strtok(NULL, "\n"))
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), by_line);
	for (size_t i = 0; i < n; i++)
		engine_put(&sorted, "%s\n", lines[i]);
	free(text);
	return sorted.text;
}

static char *graph_text(const struct graph *graph)
{
	struct arena *arena = arena_new();
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	value_write_yaml(graph_value(graph, arena), file);
	fclose(file);
	arena_free(arena);
	return lines_sorted(text);
}

static struct script *script_new(const char *text, bool stressed, struct graph **graph)
{
	struct engine_text whole = {0};
	struct script_options options = options_of(&whole, text, stressed);
	struct errors *errors = errors_new();
	struct script *script;

	options.limits.instructions = 20000000;
	script = script_open(&options, errors);
	*graph = script ? script_graph(script, errors) : NULL;
	errors_print(errors, stdout);
	CU_ASSERT_EQUAL(errors_count(errors), 0);
	errors_free(errors);
	free(whole.text);
	return script;
}

void lua_expect_graph(const char *text, const char *yaml)
{
	struct graph *wanted = engine_graph(yaml);

	for (int stressed = 0; stressed < 2 && wanted; stressed++) {
		struct graph *graph;
		struct script *script = script_new(text, stressed, &graph);
		char *found = graph ? graph_text(graph) : NULL;
		char *expected = graph_text(wanted);

		CU_ASSERT(graph != NULL);
		if (found)
			EXPECT_TEXT(found, expected);
		free(found);
		free(expected);
		graph_free(graph);
		script_close(script);
	}
	graph_free(wanted);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// As `sluice run` does.
static int drive(struct script *script, struct run *run)
{
	uint64_t end = now_ns() + 10000000000;
	int code;

	script_start(script, run);
	while (!script_stopping(script) && now_ns() < end &&
	       (run_tend(run) == RUN_BUSY || script_holding(script))) {
		uint64_t wait = script_tick(script);
		struct timespec rest = {.tv_nsec = wait < 1000000 ? (long)wait : 1000000};

		nanosleep(&rest, NULL);
	}
	run_stop(run);
	code = script_finish(script);
	return now_ns() < end ? code : -2;
}

static int run_once(const char *text, bool stressed)
{
	static const struct run_options options = {.no_cores = true};
	struct errors *errors = errors_new();
	struct graph *graph;
	struct script *script = script_new(text, stressed, &graph);
	struct run *run = graph ? run_open(graph, &options, errors) : NULL;
	int code = -1;

	if (run && !run_start(run, errors))
		code = drive(script, run);
	errors_print(errors, stdout);
	errors_free(errors);
	if (run)
		engine_finish(run);
	script_close(script);
	return code;
}

int lua_run(const char *text)
{
	int codes[2] = {run_once(text, false), run_once(text, true)};

	CU_ASSERT_EQUAL(codes[0], codes[1]);
	return codes[0];
}

void lua_expect_run(const char *text)
{
	int code = lua_run(text);

	if (code != 42)
		printf("\n%s\nends with %d\n", text, code);
	CU_ASSERT_EQUAL(code, 42);
}
