// SPDX-License-Identifier: BSD-3-Clause
// sluice stats: the counters of an instance that runs, once or again and again.

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/screen.h"
#include "cli/stats_table.h"
#include "control/influx.h"
#include "value/table.h"

struct stats_args {
	struct cli_live live;
	const char *node; // NULL: all
	uint64_t watch_ns;
	bool influx;
};

static const struct argp_option options[] = {
    {"watch", 'w', "DURATION", OPTION_ARG_OPTIONAL,
     "shows the counters again and again, every second or so often, with the rates since the last "
     "time",
     0},
    {"influx", 'x', NULL, 0, "prints them in InfluxDB's line protocol", 0},
    {0},
};

// `--watch 500ms` is meant as `--watch=500ms`: no node has such a name, which begins with a letter.
static uint64_t watch_option(char *arg, struct argp_state *state)
{
	struct duration duration = {.ns = 1000000000};
	const char *why;

	if (!arg && state->next < state->argc && state->argv[state->next][0] >= '0' &&
	    state->argv[state->next][0] <= '9')
		arg = state->argv[state->next++];
	if (arg && !parse_duration(arg, &duration, &why))
		argp_error(state, "--watch: \"%s\" %s", arg, why);
	if (duration.ns < 10000000)
		argp_error(state, "--watch: \"%s\" is out of range, it should be 10ms or more",
			   arg);
	return duration.ns;
}

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct stats_args *args = into;

	switch (key) {
	case 'w':
		args->watch_ns = watch_option(arg, state);
		return 0;
	case 'x':
		args->influx = true;
		return 0;
	case ARGP_KEY_END:
		if (args->influx && args->live.json)
			argp_error(state, "--influx and --json are two forms: choose one");
		return 0;
	case ARGP_KEY_ARG:
		if (args->node)
			argp_error(state, "one node at a time: \"%s\" is one too many", arg);
		args->node = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .options = options,
    .take = take,
    .args_doc = "[NODE]",
    .doc = "Shows the counters of a graph that runs, or of one of its nodes."
	   "\vRates are averages since the start, with --watch since the last time. --json prints "
	   "one object a line.\n\n"
	   "Exit codes: 0 done, 2 bad input, 3 no such instance runs.",
};

// What the instance says of a node that it does not have.
static void node_missing(struct client *client, const char *node, int *code)
{
	char *escaped = client_escape(client, node), *path;
	struct client_reply reply;

	*code = EXIT_INPUT;
	if (asprintf(&path, "/nodes/%s", escaped) >= 0) {
		if (live_get(client, "GET", path, &reply, code))
			client_reply_free(&reply);
		free(path);
	}
	free(escaped);
}

// All counters, or those of a node as if it were the only one. NULL after an error.
static json_t *counters_get(struct client *client, const char *node, int *code)
{
	struct client_reply reply;
	json_t *all, *one;

	if (!live_get(client, "GET", "/stats", &reply, code))
		return NULL;
	all = json_incref(reply.json);
	client_reply_free(&reply);
	if (!node)
		return all;
	one = json_pack("{s:O, s:O, s:{s:O}}", "time_ns", json_object_get(all, "time_ns"),
			"seconds", json_object_get(all, "seconds"), "nodes", node,
			json_object_get(json_object_get(all, "nodes"), node));
	json_decref(all);
	if (!one)
		node_missing(client, node, code);
	return one;
}

static void print_text(const char *name, const json_t *now, const json_t *last,
		       struct screen *screen)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	stats_title(name, now, out);
	fputc('\n', out);
	stats_tables(now, last, out);
	fclose(out);
	if (screen)
		screen_show(screen, text, false);
	else
		fputs(text, stdout);
	free(text);
}

static void wait_ns(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				      .tv_nsec = (long)(ns % 1000000000)};

	nanosleep(&time, NULL);
}

// Shows them once, or until the reader of the output goes away or the instance no longer answers.
static int show(const void *of, struct client *client)
{
	const struct stats_args *args = of;
	const char *name = client_instance(client)->name;
	struct screen screen = {0};
	bool plain = !args->live.json && !args->influx;
	bool live = plain && args->watch_ns && isatty(STDOUT_FILENO);
	json_t *last = NULL;
	int code = EXIT_DONE;

	for (;;) {
		json_t *now = counters_get(client, args->node, &code);

		if (!now)
			break;
		if (args->live.json)
			live_print_json(now);
		else if (args->influx)
			influx_lines(now, name, stdout);
		else
			print_text(name, now, last, live ? &screen : NULL);
		if (plain && !live && args->watch_ns)
			fputc('\n', stdout);
		json_decref(last);
		last = now;
		if (!args->watch_ns || fflush(stdout))
			break;
		wait_ns(args->watch_ns);
	}
	json_decref(last);
	return code;
}

static int stats_run(int argc, char **argv)
{
	struct stats_args args = {0};

	cli_parse(&syntax, argc, argv, &args);
	return live_run(&args, show);
}

const struct subcommand cli_stats = {
    .name = "stats",
    .args = "[NODE] [--watch [1s]] [--json|--influx] [--name NAME]",
    .help = "shows the counters of a graph that runs",
    .run = stats_run,
};
