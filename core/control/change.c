// SPDX-License-Identifier: BSD-3-Clause
// The graph as a whole: written out, and changed to another one, all or nothing.

#include <stdlib.h>
#include <string.h>

#include "control/route.h"

static bool query_yes(const struct request *request, const char *name)
{
	const char *value = request->query(request, name);

	return value && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
}

// The tree is that of the moment when it was asked for; its text is made as the client takes it.
struct graph_text {
	struct arena *arena;
	struct yaml_writer *writer;
};

static ssize_t graph_text_read(void *state, char *to, size_t n)
{
	size_t taken = yaml_writer_take(((struct graph_text *)state)->writer, to, n);

	return taken ? (ssize_t)taken : STREAM_END;
}

static void graph_text_close(void *state)
{
	struct graph_text *text = state;

	yaml_writer_free(text->writer);
	arena_free(text->arena);
	free(text);
}

void serve_graph(const struct request *request, struct answer *answer)
{
	struct graph_text *text = memory_new(1, sizeof(*text));

	text->arena = arena_new();
	text->writer =
	    yaml_writer_new(run_value(request->run, text->arena, query_yes(request, "learned")));
	answer->stream = (struct answer_stream){
	    .read = graph_text_read, .close = graph_text_close, .state = text};
	answer->type = "application/yaml";
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
