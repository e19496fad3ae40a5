// SPDX-License-Identifier: BSD-3-Clause
// The options of `sluice run`.

#include "cli/run_args.h"

#include "value/table.h"

enum {
	KEY_FOR = 'f',
	KEY_STATS = 'i',
	KEY_QUIET = 'q',
	KEY_JSON = 'j',
	KEY_NAME = 'n',
	KEY_GROUP = 'g',
	KEY_NO_CONTROL = 'x',
	KEY_LISTEN = 'l',
	KEY_TOKEN_FILE = 't',
};

static const struct argp_option options[] = {
    {"for", KEY_FOR, "DURATION", 0, "stops after so long (10s, 500ms)", 0},
    {"stats", KEY_STATS, "DURATION", 0, "shows the counters every so often (1s)", 0},
    {"quiet", KEY_QUIET, NULL, 0, "prints errors only", 0},
    {"json", KEY_JSON, NULL, 0,
     "prints one JSON object a line, for each --stats interval and at the end", 0},
    {"name", KEY_NAME, "NAME", 0,
     "names the instance, and its control socket (the graph's `name:`, else the file's name)", 0},
    {"group", KEY_GROUP, "GROUP", 0, "lets members of the group use the control socket", 0},
    {"listen", KEY_LISTEN, "ADDRESS:PORT", 0,
     "serves over TCP as well, to those who know a token (127.0.0.1:8080, [::1]:8080)", 0},
    {"token-file", KEY_TOKEN_FILE, "FILE", 0,
     "the token that TCP needs; else one is made, for addresses of this machine alone", 0},
    {"no-control", KEY_NO_CONTROL, NULL, 0, "runs without a control socket", 0},
    SERVICE_OPTIONS,
    {0},
};

static uint64_t duration_option(const char *option, const char *text, struct argp_state *state)
{
	struct duration duration;
	const char *why;

	if (!parse_duration(text, &duration, &why))
		argp_error(state, "%s: \"%s\" %s", option, text, why);
	if (duration.ns < 1000000)
		argp_error(state, "%s: \"%s\" is out of range, it should be 1ms or more", option,
			   text);
	return duration.ns;
}

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct run_args *args = into;

	switch (key) {
	case KEY_FOR:
		args->for_ns = duration_option("--for", arg, state);
		return 0;
	case KEY_STATS:
		args->stats_ns = duration_option("--stats", arg, state);
		return 0;
	case KEY_QUIET:
		args->quiet = true;
		return 0;
	case KEY_JSON:
		args->json = true;
		return 0;
	case KEY_NAME:
		args->name = arg;
		return 0;
	case KEY_GROUP:
		args->group = arg;
		return 0;
	case KEY_NO_CONTROL:
		args->no_control = true;
		return 0;
	case KEY_LISTEN:
		args->listen = arg;
		return 0;
	case KEY_TOKEN_FILE:
		args->token_file = arg;
		return 0;
	case ARGP_KEY_END:
		if (args->listen && args->no_control)
			argp_error(state, "--listen needs the control socket");
		if (args->token_file && !args->listen)
			argp_error(state, "--token-file is for --listen");
		return 0;
	default:
		return service_take(&args->service, key, arg, state);
	}
}

const struct cli_syntax run_syntax = {
    .shared = &cli_graph_argp,
    .options = options,
    .take = take,
    .args_doc = "FILE",
    .doc = "Runs a graph. It ends by itself when all of its sources have ended."
	   "\vSIGINT (Ctrl-C) and SIGTERM stop it cleanly, a second one at once. So does a reader "
	   "of the output that goes away.\n\n"
	   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 this machine lacks "
	   "something.",
};
