// SPDX-License-Identifier: BSD-3-Clause
// sluice export: the graph of an instance as a file that loads.

#include "cli/live.h"

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	(void)into;
	(void)key;
	(void)arg;
	(void)state;
	return ARGP_ERR_UNKNOWN;
}

static const struct cli_syntax syntax = {
    .shared = &cli_name_argp,
    .take = take,
    .doc = "Prints the graph that runs as YAML that loads: every node by name, vars filled in, one "
	   "link a line. What nodes have learned since is not in it."
	   "\vExit codes: 0 done, 3 no such instance runs.",
};

static int export_run(int argc, char **argv)
{
	struct cli_live args = {0};
	struct client_reply reply;
	int code = EXIT_DONE;
	struct client *client;

	cli_parse(&syntax, argc, argv, &args);
	client = live_open(args.name, &code);
	if (client && live_get(client, "GET", "/graph", &reply, &code)) {
		fputs(reply.text, stdout);
		client_reply_free(&reply);
	}
	client_close(client);
	return code;
}

const struct subcommand cli_export = {
    .name = "export",
    .args = "[--name NAME]",
    .help = "prints the graph that runs as a file that loads",
    .run = export_run,
};
