// SPDX-License-Identifier: BSD-3-Clause
// A graph is sent to an instance: a file in YAML as it is, so that its lines are those of the
// user's file; what a script or --set makes as the text that it comes to.

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/change.h"
#include "value/file.h"

// The instance loads what --module named here, wherever it stands.
static void modules_add(const struct cli_graph *at, struct arena *arena, struct value *root)
{
	struct value *list = value_get(root, "modules");
	struct place place = {.file = at->file};

	if (at->n_modules && !list) {
		list = value_new(arena, VALUE_LIST, place);
		value_put(arena, root, "modules", place, list);
	}
	for (unsigned i = 0; i < at->n_modules; i++) {
		char *path = strchr(at->modules[i], '/') ? realpath(at->modules[i], NULL) : NULL;
		const char *text = arena_strdup(arena, path ? path : at->modules[i]);

		value_append(arena, list, value_scalar(arena, place, text));
		free(path);
	}
}

// What the graph comes to, checked here: faults stand where the user can see them.
static char *text_generate(struct cli_graph *at, size_t *n, struct errors *errors)
{
	struct graph *graph = cli_graph_read(at, errors);
	struct arena *arena;
	struct value *root;
	char *text = NULL;
	FILE *to;

	if (!graph)
		return NULL;
	arena = arena_new();
	root = graph_value(graph, arena);
	modules_add(at, arena, root);
	to = open_memstream(&text, n);
	if (to) {
		value_write_yaml(root, to);
		fclose(to);
	}
	arena_free(arena);
	graph_free(graph);
	return text;
}

static void fate_print(const char *kind, const char *fate, const json_t *names)
{
	struct arena *arena = arena_new();
	const char *all = "";
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		all = arena_printf(arena, "%s%s%s", all, i ? ", " : "", json_string_value(name));
	if (*all)
		printf("%s %s: %s\n", kind, fate, all);
	arena_free(arena);
}

static bool changes_print(const char *kind, json_t *fates)
{
	const char *fate;
	json_t *names;
	bool any = false;

	json_object_foreach (fates, fate, names) {
		fate_print(kind, !strcmp(fate, "live") ? "kept, with other parameters" : fate,
			   names);
		any |= strcmp(fate, "kept") && json_array_size(names);
	}
	return any;
}

static void answer_print(const struct change_args *args, const json_t *answer)
{
	const json_t *losses = json_object_get(answer, "losses"), *loss;
	bool nodes = changes_print("nodes", json_object_get(answer, "nodes"));
	bool ports = changes_print("ports", json_object_get(answer, "ports"));
	size_t i;

	json_array_foreach (losses, i, loss)
		printf("%s %s\n", args->dry_run ? "would lose of" : "lost of",
		       json_string_value(loss));
	if (!nodes && !ports)
		puts("no node or port is another");
	if (!args->dry_run)
		printf("changed; workers were parked for %.1f us\n",
		       (double)json_integer_value(json_object_get(answer, "parked_ns")) / 1e3);
}

static char *path_make(const struct change_args *args, struct client *client)
{
	char *file = client_escape(client, args->graph.file), *path;

	if (asprintf(&path, "/graph?file=%s%s%s", file, args->dry_run ? "&dry_run=1" : "",
		     args->allow_loss ? "&allow_loss=1" : "") < 0)
		path = memory_new(1, 1);
	free(file);
	return path;
}

static int graph_send(const struct change_args *args, struct client *client,
		      struct client_request *request)
{
	struct client_reply reply;
	char *path = path_make(args, client);
	int code = EXIT_DONE;

	request->method = "PUT";
	request->path = path;
	if (live_ask(client, request, &reply, &code)) {
		if (args->live.json)
			live_print_json(reply.json);
		else
			answer_print(args, reply.json);
		client_reply_free(&reply);
	}
	free(path);
	return code;
}

static int change_send(struct change_args *args)
{
	const struct cli_graph *at = &args->graph;
	bool as_it_is = !at->n_sets && !at->n_modules && !script_named(at->file);
	struct client_request request = {.fault_file = as_it_is ? NULL : at->file};
	struct errors *errors = errors_new();
	struct client *client;
	char *text;
	int code;

	text = as_it_is ? file_read(at->file, &request.n_body, errors)
			: text_generate(&args->graph, &request.n_body, errors);
	if (!text)
		return cli_fail(errors);
	errors_free(errors);
	request.body = text;
	client = live_open(args->live.name, &code);
	if (client)
		code = graph_send(args, client, &request);
	client_close(client);
	free(text);
	return code;
}

int change_run(const struct cli_syntax *syntax, int argc, char **argv, struct change_args *args)
{
	int code;

	cli_parse(syntax, argc, argv, args);
	args->graph.json = args->live.json;
	code = change_send(args);
	cli_graph_free(&args->graph);
	return code;
}
