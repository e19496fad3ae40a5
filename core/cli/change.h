// SPDX-License-Identifier: BSD-3-Clause
// What `sluice diff` and `sluice reload` share: a graph is sent to an instance, which says what
// becomes of each node and port.

#ifndef SLUICE_CLI_CHANGE_H
#define SLUICE_CLI_CHANGE_H

#include "cli/live.h"

struct change_args {
	struct cli_graph graph;
	const char *name; // of the instance
	bool json;
	bool dry_run;
	bool allow_loss;
};

// The options --name and --json, and what takes them.
#define CHANGE_OPTIONS                                                                             \
	{"name", 'n', "NAME", 0, "picks the instance; not needed where only one runs", 0},         \
	{                                                                                          \
		"json", 'j', NULL, 0, "prints the answer as a JSON object", 0                      \
	}
error_t change_take(struct change_args *, int key, char *arg);

// Reads the command line, sends the graph, prints what is answered. The exit code.
int change_run(const struct cli_syntax *, int argc, char **argv, struct change_args *);

#endif
