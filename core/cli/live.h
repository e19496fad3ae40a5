// SPDX-License-Identifier: BSD-3-Clause
// What the subcommands share that talk to an instance over its control socket.

#ifndef SLUICE_CLI_LIVE_H
#define SLUICE_CLI_LIVE_H

#include "cli/cli.h"
#include "control/client.h"

// What the shared options give: the first member of what holds such a command's arguments.
struct cli_live {
	const char *name; // of the instance; NULL: the only one that runs
	bool json;
};

extern const struct argp cli_name_argp; // --name alone
extern const struct argp cli_live_argp; // --name and --json

// Finds the instance, lets `act` talk to it and leaves it; the exit code. `args` begins with a
// struct cli_live.
int live_run(const void *args, int (*act)(const void *args, struct client *));

// Finds the instance; prints why not to stderr: NULL, and *code is set.
struct client *live_open(const char *name, int *code);

// Asks it; false after an error, which was printed, and *code is set.
bool live_ask(struct client *, const struct client_request *, struct client_reply *, int *code);
// The same for what has no body.
bool live_get(struct client *, const char *method, const char *path, struct client_reply *,
	      int *code);

// One JSON value on a line of standard output.
void live_print_json(const json_t *);

// A cell's text of what a command answers: texts as they are, what has parts as JSON.
const char *live_text(struct arena *, const json_t *);

#endif
