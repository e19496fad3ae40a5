// SPDX-License-Identifier: BSD-3-Clause
// sluice reload: changes a running graph to another one, all or nothing.

#include "cli/change.h"

enum { KEY_ALLOW_LOSS = 'l' };

static const struct argp_option options[] = {
    {"allow-loss", KEY_ALLOW_LOSS, NULL, 0,
     "changes it even if nodes lose some of their state (`sluice diff` says which)", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct change_args *args = into;

	(void)arg;
	(void)state;
	if (key != KEY_ALLOW_LOSS)
		return ARGP_ERR_UNKNOWN;
	args->allow_loss = true;
	return 0;
}

static const struct cli_syntax syntax = {
    .shared = &cli_graph_argp,
    .live = offsetof(struct change_args, live),
    .options = options,
    .take = take,
    .args_doc = "FILE",
    .doc = "Changes a graph that runs to that of FILE, without losing a packet: nodes of the same "
	   "name and module keep their state and counters, ports of the same name and parameters "
	   "stay open. When anything is wrong, nothing is changed."
	   "\vPaths in FILE are seen from where the instance was started.\n\n"
	   "Exit codes: 0 done, 2 bad input or state would be lost, 3 no such instance runs or it "
	   "lacks something.",
};

static int reload_run(int argc, char **argv)
{
	struct change_args args = {0};

	return change_run(&syntax, argc, argv, &args);
}

const struct subcommand cli_reload = {
    .name = "reload",
    .args = "FILE [--set NAME=VALUE]... [--allow-loss] [--json] [--name NAME]",
    .help = "changes a graph that runs to another one",
    .run = reload_run,
};
