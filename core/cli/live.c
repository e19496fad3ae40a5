// SPDX-License-Identifier: BSD-3-Clause
// What the subcommands share that talk to an instance over its control socket.

#include <stdlib.h>

#include "cli/live.h"

// No letter: `-n` is a number in those that have one.
enum { KEY_NAME = 0x100 };

static const struct argp_option name_options[] = {
    {"name", KEY_NAME, "NAME", 0, "picks the instance; not needed where only one runs", 0},
    {0},
};

static const struct argp_option json_options[] = {
    {"json", 'j', NULL, 0, "prints JSON", 0},
    {0},
};

static error_t name_parse(int key, char *arg, struct argp_state *state)
{
	if (key != KEY_NAME)
		return ARGP_ERR_UNKNOWN;
	((struct cli_live *)state->input)->name = arg;
	return 0;
}

static error_t live_parse(int key, char *arg, struct argp_state *state)
{
	struct cli_live *at = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = at;
		return 0;
	case 'j':
		at->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cli_name_argp = {.options = name_options, .parser = name_parse};
const struct argp cli_live_argp = {
    .options = json_options,
    .parser = live_parse,
    .children = (const struct argp_child[]){{.argp = &cli_name_argp}, {0}},
};

struct client *live_open(const char *name, int *code)
{
	struct errors *errors = errors_new();
	struct client *client = client_open(name, errors);

	if (client)
		errors_free(errors);
	else
		*code = cli_fail(errors);
	return client;
}

int live_run(const void *args, int (*act)(const void *args, struct client *))
{
	int code = EXIT_DONE;
	struct client *client = live_open(((const struct cli_live *)args)->name, &code);

	if (client)
		code = act(args, client);
	client_close(client);
	return code;
}

bool live_ask(struct client *client, const struct client_request *request,
	      struct client_reply *reply, int *code)
{
	struct errors *errors = errors_new();

	if (client_ask(client, request, reply, errors)) {
		errors_free(errors);
		return true;
	}
	*code = cli_fail(errors);
	return false;
}

bool live_get(struct client *client, const char *method, const char *path,
	      struct client_reply *reply, int *code)
{
	const struct client_request request = {.method = method, .path = path};

	return live_ask(client, &request, reply, code);
}

void live_print_json(const json_t *value)
{
	json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	fputc('\n', stdout);
}

const char *live_text(struct arena *arena, const json_t *value)
{
	char *dump;
	const char *text;

	if (json_is_string(value))
		return json_string_value(value);
	dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	text = arena_strdup(arena, dump ? dump : "");
	free(dump);
	return text;
}
