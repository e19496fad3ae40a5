// SPDX-License-Identifier: BSD-3-Clause
// The graph as a whole: written out, and changed to another one, all or nothing.

#include <stdlib.h>
#include <string.h>

#include "control/route.h"

void serve_graph(const struct request *request, struct answer *answer)
{
	struct arena *arena = arena_new();
	size_t n = 0;
	FILE *to = open_memstream(&answer->text, &n);

	if (to) {
		value_write_yaml(graph_value(run_graph(request->run), arena), to);
		fclose(to);
	}
	answer->type = "application/yaml";
	arena_free(arena);
}

static bool query_yes(const struct request *request, const char *name)
{
	const char *value = request->query(request, name);

	return value && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

// What becomes of each, from the old graph to the new one; then the change itself.
static void change(const struct request *request, struct graph *graph, struct errors *errors,
		   struct answer *answer)
{
	json_t *diff = run_diff_json(request->run, graph);

	if (query_yes(request, "dry_run")) {
		graph_free(graph);
	} else if (run_switch(request->run, graph, query_yes(request, "allow_loss"), errors)) {
		json_decref(diff);
		answer_errors(answer, errors_exit_code(errors) == ERROR_MACHINE ? 503 : 409,
			      errors);
		return;
	} else {
		json_object_set_new(diff, "parked_ns",
				    json_integer((json_int_t)run_parked_ns(request->run)));
	}
	errors_free(errors);
	answer->json = diff;
}

void serve_change(const struct request *request, struct answer *answer)
{
	const char *file = request->query(request, "file");
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *root = yaml_read_text(arena, arena_strdup(arena, file ? file : "graph"),
					    request->body, request->n_body, errors);
	struct graph *graph = NULL;

	if (root)
		graph = graph_from_value(arena, file ? file : "graph", root, NULL, 0, errors);
	else
		arena_free(arena);
	if (graph && !errors_count(errors))
		change(request, graph, errors, answer);
	else
		answer_errors(answer, 400, errors);
}
