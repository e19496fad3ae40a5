// SPDX-License-Identifier: BSD-3-Clause
// The command line: one file a subcommand, each with one `struct subcommand`.

#ifndef SLUICE_CLI_CLI_H
#define SLUICE_CLI_CLI_H

#include <argp.h>

#include "graph/graph.h"
#include "lua/script.h"

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
    cli_schema, cli_new_module, cli_doctor, cli_version, cli_ps, cli_stats, cli_call, cli_diff,
    cli_reload, cli_export, cli_stop, cli_top, cli_capture, cli_trace, cli_explain, cli_bench;

// What the shared options give: the first member of what holds a command's arguments.
struct cli_graph {
	const char *file; // NULL: the command shares --module alone, and has no `sets` either
	struct graph_set *sets;
	unsigned n_sets;
	const char **modules;
	unsigned n_modules;
	struct state_limits limits; // of a script
	bool json;		    // what a script prints goes to standard error
	struct script *script;	    // that built the graph, or NULL; freed by cli_graph_free()
};

extern const struct argp cli_graph_argp;  // FILE, --set, --module and a script's limits
extern const struct argp cli_module_argp; // --module alone

// What a command line looks like.
struct cli_syntax {
	const struct argp *shared; // what `args` begins with; NULL: nothing
	size_t live; // where `args` has a struct cli_live besides, for --name and --json; 0: none
	const struct argp_option *options; // its own
	// Takes an option or argument of its own, as a parser of argp does.
	error_t (*take)(void *args, int key, char *arg, struct argp_state *);
	const char *args_doc;
	const char *doc;
};

// In place of a command line: prints the options, as complete.c reads them, and ends the program.
// A line each: long name, letter, what it takes or "", and help, with tabs between.
#define CLI_LIST_OPTIONS "--list-options"

// Fills `args`, which begins with what the shared options fill; ends the program after a wrong
// command line.
void cli_parse(const struct cli_syntax *, int argc, char **argv, void *args);

// Loads it, --module first; prints all errors to stderr; NULL: *code is set.
struct graph *cli_load(struct cli_graph *, int *code);

// The same, with the errors left to the caller.
struct graph *cli_graph_read(struct cli_graph *, struct errors *);
void cli_graph_free(struct cli_graph *);

// Loads the modules of --module alone. 0 or -1.
int cli_modules_load(const char *const *paths, unsigned n, struct errors *);

// Prints the errors to stderr, frees them and gives the exit code they call for.
int cli_fail(struct errors *);

#endif
