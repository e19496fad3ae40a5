// SPDX-License-Identifier: BSD-3-Clause
// Graphs in tests of modules (flow.h).

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "suite.h"

struct graph *flow_graph(const char *text)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *root = yaml_read_text(arena, "test.yaml", text, strlen(text), errors);
	struct graph *graph = NULL;

	if (root)
		graph = graph_from_value(arena, "test.yaml", root, NULL, 0, errors);
	else
		arena_free(arena);
	errors_print(errors, stdout);
	errors_free(errors);
	return graph;
}

struct run *flow_open(const char *text, bool replay)
{
	struct run_options options = {
	    .replay = replay, .no_cores = true, .start_ns = FLOW_START_NS};
	struct errors *errors = errors_new();
	struct graph *graph = flow_graph(text);
	struct run *run = graph ? run_open(graph, &options, errors) : NULL;

	if (run && !replay && run_start(run, errors)) {
		run_close(run);
		run = NULL;
	}
	errors_print(errors, stdout);
	errors_free(errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(run);
	return run;
}

void flow_walk(struct run *run)
{
	unsigned idle = 0;

	while (idle < 64)
		idle = run_step(run) > 0 ? 0 : idle + 1;
	run_tend(run);
}

bool flow_end(struct run *run)
{
	enum run_state state;

	do {
		state = run_tend(run);
		sched_yield();
	} while (state == RUN_BUSY);
	return state == RUN_DONE;
}

bool flow_two_cores(void)
{
	cpu_set_t cores;

	if (!sched_getaffinity(0, sizeof(cores), &cores) && CPU_ISSET(0, &cores) &&
	    CPU_ISSET(1, &cores))
		return true;
	test_skip("cores 0 and 1 are needed");
	return false;
}

void flow_close(struct run *run)
{
	run_stop(run);
	CU_ASSERT_EQUAL(run_faults(run), 0);
	CU_ASSERT_EQUAL(run_packets_out(run), 0);
	run_close(run);
}

struct node_counts flow_counts(struct run *run, const char *node)
{
	struct node_counts counts;

	run_node_counts(run, (unsigned)graph_find_node(run_graph(run), node), &counts);
	return counts;
}

struct port *flow_port(struct run *run, const char *port)
{
	return run_port(run, (unsigned)graph_find_port(run_graph(run), port));
}

uint64_t flow_dropped(struct run *run, const char *node, const char *reason)
{
	const struct graph *graph = run_graph(run);
	const struct module_type *type = graph->nodes[graph_find_node(graph, node)].type;
	struct node_counts counts = flow_counts(run, node);

	for (unsigned i = 0; i < reason_count(type); i++)
		if (!strcmp(reason_name(type, (reason_t)i), reason))
			return counts.dropped[i];
	CU_FAIL("no such reason");
	return 0;
}

char *flow_call(struct run *run, const char *node, const char *command, const char *args)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *value = yaml_read_text(arena, "command", args, strlen(args), errors);
	json_t *reply = run_command(run, node, command, value, errors);
	char *text;

	text = reply ? json_dumps(reply, JSON_COMPACT | JSON_SORT_KEYS) : errors_text(errors);
	json_decref(reply);
	errors_free(errors);
	arena_free(arena);
	return text;
}
