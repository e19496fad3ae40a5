// SPDX-License-Identifier: BSD-3-Clause
// The program: finds the subcommand and runs it.

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/complete.h"

static const struct subcommand *const subcommands[] = {
    &cli_run,	     &cli_check,  &cli_show,	&cli_test,    &cli_ps,	    &cli_stats,
    &cli_top,	     &cli_call,	  &cli_capture, &cli_trace,   &cli_explain, &cli_diff,
    &cli_reload,     &cli_export, &cli_stop,	&cli_modules, &cli_drivers, &cli_schema,
    &cli_new_module, &cli_doctor, &cli_version, &cli_bench,
};

#define N_SUBCOMMANDS (sizeof(subcommands) / sizeof(*subcommands))

static void usage(FILE *out)
{
	fprintf(out, "Usage: sluice COMMAND [ARGUMENT]...\n"
		     "Runs graphs of packet-processing modules.\n\n");
	for (size_t i = 0; i < N_SUBCOMMANDS; i++)
		fprintf(out, "  %-12s %s\n", subcommands[i]->name, subcommands[i]->help);
	fprintf(
	    out,
	    "\n`sluice COMMAND --help` tells more. Exit codes: 0 done, 1 failed while running,\n"
	    "2 bad input, 3 this machine lacks something.\n");
}

static int unknown(const char *word)
{
	const char *names[N_SUBCOMMANDS];
	const char *near;

	for (size_t i = 0; i < N_SUBCOMMANDS; i++)
		names[i] = subcommands[i]->name;
	near = suggest(word, names, N_SUBCOMMANDS);
	fprintf(stderr, "sluice: error: no command \"%s\"", word);
	if (near)
		fprintf(stderr, "; did you mean \"%s\"?", near);
	fprintf(stderr, " (`sluice --help` lists them)\n");
	return EXIT_INPUT;
}

// What was printed must have arrived, else a full disk would pass for success. A reader that has
// gone is no fault: it had what it wanted.
static int finish(int code)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout))
		failed = errno != EPIPE;
	if (!failed)
		return code;
	fprintf(stderr, "sluice: error: cannot write to standard output%s%s\n", errno ? ": " : "",
		errno ? strerror(errno) : "");
	return code ? code : EXIT_MACHINE;
}

// jansson would leave out what it has no memory for, and what is printed would look whole.
static void *json_memory(size_t size)
{
	return memory_new(1, size);
}

int main(int argc, char **argv)
{
	char name[64];

	json_set_alloc_funcs(json_memory, free);
	argp_err_exit_status = EXIT_INPUT;
	if (argc < 2) {
		usage(stderr);
		return EXIT_INPUT;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return finish(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--version"))
		argv[1] = (char *)"version";
	// For shells, and not for people: `--help` does not list it.
	if (!strcmp(argv[1], "complete"))
		return finish(complete(subcommands, N_SUBCOMMANDS, argc - 2, argv + 2));
	for (size_t i = 0; i < N_SUBCOMMANDS; i++) {
		if (strcmp(argv[1], subcommands[i]->name))
			continue;
		snprintf(name, sizeof(name), "sluice %s", argv[1]);
		argv[1] = name;
		return finish(subcommands[i]->run(argc - 1, argv + 1));
	}
	return unknown(argv[1]);
}
