// SPDX-License-Identifier: BSD-3-Clause
// sluice diff: what a change of the graph would do to a running one.

#include "cli/change.h"

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	(void)into;
	(void)key;
	(void)arg;
	(void)state;
	return ARGP_ERR_UNKNOWN;
}

static const struct cli_syntax syntax = {
    .shared = &cli_graph_argp,
    .live = offsetof(struct change_args, live),
    .take = take,
    .args_doc = "FILE",
    .doc = "Says what `sluice reload FILE` would do to a graph that runs: which nodes and ports go "
	   "on, are replaced, are new, are removed, and what state would be lost. Nothing is "
	   "changed."
	   "\vExit codes: 0 done, 2 bad input, 3 no such instance runs.",
};

static int diff_run(int argc, char **argv)
{
	struct change_args args = {.dry_run = true};

	return change_run(&syntax, argc, argv, &args);
}

const struct subcommand cli_diff = {
    .name = "diff",
    .args = "FILE [--set NAME=VALUE]... [--json] [--name NAME]",
    .help = "says what a change of a graph that runs would do",
    .run = diff_run,
};
