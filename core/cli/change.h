// SPDX-License-Identifier: BSD-3-Clause
// What `sluice diff` and `sluice reload` share: a graph is sent to an instance, which says what
// becomes of each node and port.

#ifndef SLUICE_CLI_CHANGE_H
#define SLUICE_CLI_CHANGE_H

#include "cli/live.h"

struct change_args {
	struct cli_graph graph;
	struct cli_live live;
	bool dry_run;
	bool allow_loss;
};

// Reads the command line, sends the graph, prints what is answered. The exit code.
int change_run(const struct cli_syntax *, int argc, char **argv, struct change_args *);

#endif
