// SPDX-License-Identifier: BSD-3-Clause
// The command line: one file a subcommand, each with one `struct subcommand`.

#ifndef SLUICE_CLI_CLI_H
#define SLUICE_CLI_CLI_H

#include "graph/graph.h"

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,  // while running
	EXIT_INPUT = 2,	  // bad input
	EXIT_MACHINE = 3, // cannot run here
};

struct subcommand {
	const char *name;
	const char *args;		   // "FILE [--set NAME=VALUE]..."
	const char *help;		   // one line
	int (*run)(int argc, char **argv); // argv[0] is "sluice NAME"; returns the exit code
};

extern const struct subcommand cli_run, cli_check, cli_show, cli_test, cli_modules, cli_drivers,
    cli_schema, cli_new_module, cli_doctor, cli_version;

// The options that all commands with a graph file share (FILE, --set, --module), as an argp child
// whose input is a struct cli_graph.
struct cli_graph {
	const char *file;
	struct graph_set *sets;
	unsigned n_sets;
	const char **modules;
	unsigned n_modules;
};
extern const struct argp cli_graph_argp;

// Loads it, --module first; prints all errors to stderr; NULL: *code is set.
struct graph *cli_load(struct cli_graph *, int *code);

// The same, with the errors left to the caller.
struct graph *cli_graph_read(const struct cli_graph *, struct errors *);
void cli_graph_free(struct cli_graph *);

// Loads the modules of --module alone. 0 or -1.
int cli_modules_load(const char *const *paths, unsigned n, struct errors *);

// Prints the errors to stderr, frees them and gives the exit code they call for.
int cli_fail(struct errors *);

// The --module option by itself, for commands without a graph file: a child whose input is a
// struct cli_graph.
extern const struct argp cli_module_argp;

#endif
