// SPDX-License-Identifier: BSD-3-Clause
// sluice call: runs a command of a node, or lists what commands there are.

#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/live.h"

struct call_args {
	struct cli_live live;
	const char *node;
	const char *command;
	char **values; // "name=value"
	unsigned n_values;
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct call_args *args = into;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (!args->node) {
		args->node = arg;
	} else if (!args->command) {
		args->command = arg;
	} else {
		if (!strchr(arg, '=') || *arg == '=')
			argp_error(state, "\"%s\" is not of the form NAME=VALUE", arg);
		args->values = memory_grow(args->values, args->n_values + 1, sizeof(*args->values));
		args->values[args->n_values++] = arg;
	}
	return 0;
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .take = take,
    .args_doc = "[NODE [COMMAND [NAME=VALUE]...]]",
    .doc = "Runs a command of a node of a graph that runs, and prints its answer. Without COMMAND "
	   "lists those of the node, without NODE those of all."
	   "\vA value that begins with [ or { is read as a list or map in YAML.\n\n"
	   "Exit codes: 0 done, 2 bad input or refused by the node, 3 no such instance runs.",
};

// The arguments as a map in YAML, which may be empty; NULL after an error.
static char *body_make(const struct call_args *args, size_t *n, struct errors *errors)
{
	struct arena *arena = arena_new();
	struct place place = {.file = "sluice"};
	struct value *map = value_new(arena, VALUE_MAP, place);
	char *text = NULL;
	FILE *to;

	for (unsigned i = 0; i < args->n_values; i++) {
		size_t length = strcspn(args->values[i], "=");
		const char *name = arena_strndup(arena, args->values[i], length);
		const char *from = args->values[i] + length + 1;
		bool flow = *from == '[' || *from == '{';
		struct value *value = flow ? yaml_read_text(arena, name, from, strlen(from), errors)
					   : value_scalar(arena, place, from);

		if (value_get(map, name))
			error_at(errors, place, "%s is given twice", name);
		else if (value)
			value_put(arena, map, name, place, value);
	}
	to = errors_count(errors) ? NULL : open_memstream(&text, n);
	if (to) {
		value_write_yaml(map, to);
		fclose(to);
	}
	arena_free(arena);
	return text;
}

// The path of a node or of one of its commands; the caller frees it.
static char *path_make(struct client *client, const char *node, const char *command)
{
	char *first = client_escape(client, node);
	char *second = client_escape(client, command ? command : "");
	char *path;

	if (asprintf(&path, "/nodes/%s%s%s", first, command ? "/" : "", second) < 0)
		path = memory_new(1, 1);
	free(first);
	free(second);
	return path;
}

// "{mac, gate, [vlan]}" of a command's arguments, as they are called.
static const char *usage_text(struct arena *arena, const json_t *command)
{
	const json_t *list = json_object_get(command, "arguments"), *one;
	const char *text = live_text(arena, json_object_get(command, "name"));
	size_t i;

	json_array_foreach (list, i, one) {
		bool required = json_is_true(json_object_get(one, "required"));

		text = arena_printf(arena, "%s %s%s=%s", text, required ? "" : "[",
				    live_text(arena, json_object_get(one, "name")),
				    required ? "..." : "...]");
	}
	return text;
}

static void commands_print(struct arena *arena, struct grid *grid, const char *node,
			   const json_t *commands)
{
	const json_t *one;
	size_t i;

	json_array_foreach (commands, i, one) {
		grid_cell(grid, "%s", node);
		grid_cell(grid, "%s", usage_text(arena, one));
		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "help")));
	}
}

static void arguments_print(struct arena *arena, const json_t *commands)
{
	struct grid *grid = grid_new(arena);
	const json_t *command, *one;
	size_t i, k;
	bool any = false;

	grid_column(grid, "command", false);
	grid_column(grid, "argument", false);
	grid_column(grid, "type", false);
	grid_column(grid, "range", false);
	grid_column(grid, "help", false);
	json_array_foreach (commands, i, command) {
		json_array_foreach (json_object_get(command, "arguments"), k, one) {
			any = true;
			grid_cell(grid, "%s", live_text(arena, json_object_get(command, "name")));
			grid_cell(grid, "%s", live_text(arena, json_object_get(one, "name")));
			grid_cell(grid, "%s", live_text(arena, json_object_get(one, "type")));
			grid_cell(grid, "%s", live_text(arena, json_object_get(one, "range")));
			grid_cell(grid, "%s", live_text(arena, json_object_get(one, "help")));
		}
	}
	if (!any)
		return;
	putchar('\n');
	grid_print(grid, stdout);
}

static void list_print(const struct call_args *args, json_t *reply)
{
	struct arena *arena = arena_new();
	struct grid *grid = grid_new(arena);
	const char *name;
	json_t *commands;

	grid_column(grid, "node", false);
	grid_column(grid, "command", false);
	grid_column(grid, "help", false);
	if (args->node) {
		commands = json_object_get(reply, "commands");
		commands_print(arena, grid, args->node, commands);
		if (!json_array_size(commands))
			printf("%s has no commands\n", args->node);
		else
			grid_print(grid, stdout);
		arguments_print(arena, commands);
	} else if (!json_object_size(reply)) {
		puts("no node has any commands");
	} else {
		json_object_foreach (reply, name, commands)
			commands_print(arena, grid, name, commands);
		grid_print(grid, stdout);
	}
	arena_free(arena);
}

static int commands_list(const struct call_args *args, struct client *client)
{
	char *path = args->node ? path_make(client, args->node, NULL) : strdup("/commands");
	struct client_reply reply;
	int code = EXIT_DONE;

	if (path && live_get(client, "GET", path, &reply, &code)) {
		if (args->live.json)
			live_print_json(args->node ? json_object_get(reply.json, "commands")
						   : reply.json);
		else
			list_print(args, reply.json);
		client_reply_free(&reply);
	}
	free(path);
	return code;
}

// An answer that is a list of objects with the same keys is a table.
static void rows_print(struct arena *arena, const json_t *rows)
{
	struct grid *grid = grid_new(arena);
	const json_t *row;
	json_t *value;
	const char *key;
	size_t i;

	json_object_foreach (json_array_get(rows, 0), key, value)
		grid_column(grid, key, json_is_number(value));
	json_array_foreach (rows, i, row)
		json_object_foreach (json_array_get(rows, 0), key, value) {
			const json_t *cell = json_object_get(row, key);

			grid_cell(grid, "%s", cell ? live_text(arena, cell) : "");
		}
	grid_print(grid, stdout);
}

// Whether it fits a table of grid.c.
static bool rows_regular(const json_t *list)
{
	size_t columns = json_object_size(json_array_get(list, 0)), i;
	const json_t *row;

	json_array_foreach (list, i, row)
		if (json_object_size(row) > columns)
			return false;
	return columns && columns <= GRID_COLUMNS_MAX;
}

static void answer_print(json_t *answer)
{
	struct arena *arena = arena_new();
	json_t *value;
	const char *key;
	size_t i;

	if (json_is_object(answer))
		json_object_foreach (answer, key, value)
			printf("%s: %s\n", key, live_text(arena, value));
	else if (rows_regular(answer))
		rows_print(arena, answer);
	else
		json_array_foreach (answer, i, value)
			live_print_json(value);
	arena_free(arena);
}

static int command_call(const struct call_args *args, struct client *client)
{
	struct errors *errors = errors_new();
	struct client_request request = {.method = "POST", .fault_file = "sluice"};
	struct client_reply reply;
	char *path, *body = body_make(args, &request.n_body, errors);
	int code = EXIT_DONE;

	if (!body)
		return cli_fail(errors);
	errors_free(errors);
	path = path_make(client, args->node, args->command);
	request.path = path;
	request.body = body;
	if (live_ask(client, &request, &reply, &code)) {
		if (args->live.json)
			live_print_json(reply.json);
		else
			answer_print(reply.json);
		client_reply_free(&reply);
	}
	free(path);
	free(body);
	return code;
}

static int call(const void *of, struct client *client)
{
	const struct call_args *args = of;

	return args->command ? command_call(args, client) : commands_list(args, client);
}

static int call_run(int argc, char **argv)
{
	struct call_args args = {0};
	int code;

	cli_parse(&syntax, argc, argv, &args);
	code = live_run(&args, call);
	free(args.values);
	return code;
}

const struct subcommand cli_call = {
    .name = "call",
    .args = "[NODE [COMMAND [NAME=VALUE]...]] [--json] [--name NAME]",
    .help = "runs a command of a node of a graph that runs",
    .run = call_run,
};
