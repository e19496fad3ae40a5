// SPDX-License-Identifier: BSD-3-Clause
// sluice ps: the instances that run.

#include <stdlib.h>

#include "cli/grid.h"
#include "cli/live.h"

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "prints a JSON list", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct cli_live *args = into;

	(void)arg;
	(void)state;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	args->json = true;
	return 0;
}

static const struct cli_syntax syntax = {
    .options = options,
    .take = take,
    .doc = "Lists the instances of sluice that run, and that this user may talk to."
	   "\vExit codes: 0 some run, 3 none does.",
};

// What each says of itself. One that ended since it was found is left out.
static json_t *instances(void)
{
	json_t *list = json_array();
	struct instance *found;
	unsigned n = instance_list(&found);

	for (unsigned i = 0; i < n; i++) {
		struct errors *errors = errors_new();
		struct client *client = client_to(&found[i], errors);
		const struct client_request request = {.method = "GET", .path = "/"};
		struct client_reply reply;

		if (client && client_ask(client, &request, &reply, errors)) {
			json_object_set_new(reply.json, "socket", json_string(found[i].path));
			json_array_append(list, reply.json);
			client_reply_free(&reply);
		}
		client_close(client);
		errors_free(errors);
	}
	free(found);
	return list;
}

static void print_text(const json_t *list)
{
	struct arena *arena = arena_new();
	struct grid *grid = grid_new(arena);
	const json_t *one;
	size_t i;

	grid_column(grid, "name", false);
	grid_column(grid, "process", true);
	grid_column(grid, "seconds", true);
	grid_column(grid, "nodes", true);
	grid_column(grid, "ports", true);
	grid_column(grid, "workers", true);
	grid_column(grid, "file", false);
	grid_column(grid, "socket", false);
	grid_column(grid, "address", false);
	json_array_foreach (list, i, one) {
		const json_t *address = json_object_get(one, "address");

		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "name")));
		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "pid")));
		grid_cell(grid, "%.1f", json_number_value(json_object_get(one, "seconds")));
		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "nodes")));
		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "ports")));
		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "workers")));
		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "file")));
		grid_cell(grid, "%s", live_text(arena, json_object_get(one, "socket")));
		grid_cell(grid, "%s", json_is_string(address) ? json_string_value(address) : "");
	}
	grid_print(grid, stdout);
	arena_free(arena);
}

static int ps_run(int argc, char **argv)
{
	struct cli_live args = {0};
	int code = EXIT_DONE;
	json_t *list;

	cli_parse(&syntax, argc, argv, &args);
	list = instances();
	if (args.json)
		live_print_json(list);
	else if (json_array_size(list))
		print_text(list);
	if (!json_array_size(list)) {
		struct errors *errors = errors_new();

		client_none_runs(errors);
		code = cli_fail(errors);
	}
	json_decref(list);
	return code;
}

const struct subcommand cli_ps = {
    .name = "ps",
    .args = "[--json]",
    .help = "lists the graphs that run",
    .run = ps_run,
};
