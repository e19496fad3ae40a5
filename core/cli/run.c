// SPDX-License-Identifier: BSD-3-Clause
// sluice run: runs a graph until it ends, a time is over or a signal comes.

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/signals.h"
#include "cli/view.h"
#include "control/control.h"
#include "run/run.h"
#include "value/table.h"

struct run_args {
	struct cli_graph graph;
	uint64_t for_ns;   // 0: until it ends
	uint64_t stats_ns; // 0: none
	bool quiet;
	bool json;
	const char *name;	// of the instance; NULL: the graph's
	const char *group;	// that may use the control socket; NULL: the owner alone
	const char *listen;	// where TCP is served; NULL: nowhere
	const char *token_file; // NULL: a token is made
	bool no_control;
};

// A graph that is running, as the command sees it.
struct session {
	const struct run_args *args;
	struct run *run;
	struct script *script;	 // NULL: the graph came from a file
	struct control *control; // NULL: there is no control socket
	struct view *view;	 // NULL: nothing is shown to people
	bool live;
	uint64_t next_show; // on the monotonic clock
	uint64_t show_ns;   // 0: only the final one
	bool stuck;
	int code; // of faults in what is shown
};

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
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
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

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// What is finite must be seen to end soon, and drivers with a tick want it every ms.
static uint64_t tend_interval(struct run *run)
{
	const struct graph *graph = run_graph(run);

	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct port *port = run_port(run, i);

		if (port->finite || port->driver->tick)
			return 1000000;
	}
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].source && graph->nodes[i].port < 0)
			return 1000000;
	return 10000000;
}

// A reader that has gone ends the run; what cannot be written for other reasons is a fault too.
static void check_output(struct session *at)
{
	if (!fflush(stdout))
		return;
	if (errno != EPIPE) {
		fprintf(stderr, "sluice: error: cannot write to standard output: %s\n",
			strerror(errno));
		at->code = EXIT_MACHINE;
	}
	clearerr(stdout);
	signals_stop();
}

static void show_json(struct run *run)
{
	json_t *line = run_json(run);

	json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
	fputc('\n', stdout);
	json_decref(line);
}

static void show(struct session *at, bool final)
{
	if (at->args->json)
		show_json(at->run);
	else if (at->view)
		view_show(at->view, at->live, final);
	check_output(at);
}

static void name_stuck(struct run *run)
{
	const struct graph *graph = run_graph(run);
	const char *name = run_stuck_name(run);
	int node = graph_find_node(graph, name), port = graph_find_port(graph, name);
	struct place place = {.file = graph->file};

	if (node >= 0)
		place = graph->nodes[node].place;
	else if (port >= 0)
		place = graph->ports[port].place;
	fprintf(stderr,
		"%s:%u:%u: error: %s \"%s\" has made no progress for 1 s, though all sources have "
		"ended\n",
		place.file, place.line, place.col, node >= 0 ? "node" : "port", name);
}

// The script's turn. How long to sleep, `wait` at most; what it stops, stops.
static uint64_t drive(struct session *at, uint64_t wait)
{
	uint64_t next;

	if (!at->script)
		return wait;
	next = script_tick(at->script);
	if (script_stopping(at->script))
		signals_stop();
	check_output(at); // what it has printed may be what another program waits for
	return next < wait ? next : wait;
}

static bool run_over(const struct session *at, enum run_state state)
{
	if (state == RUN_DONE)
		return !at->script || !script_holding(at->script);
	return state != RUN_BUSY;
}

// A graph that cannot be read or switched to leaves the old one as it is.
static void reload(struct session *at)
{
	struct errors *errors = errors_new();
	const char *file = at->args->graph.file;

	if (at->script)
		fprintf(stderr,
			"sluice: note: %s drives its graph itself, SIGHUP changes nothing\n", file);
	else if (!run_reload(at->run, file, at->args->graph.sets, at->args->graph.n_sets, errors))
		fprintf(stderr, "sluice: note: %s was read again\n", file);
	errors_print(errors, stderr);
	errors_free(errors);
}

// The turn of those who look on from outside.
static void serve(struct session *at)
{
	if (at->control)
		control_tick(at->control);
	if (at->control && control_stopping(at->control))
		signals_stop();
	if (signals_reload())
		reload(at);
}

// A request ends the sleep.
static void sleep_until(struct session *at, uint64_t wait)
{
	uint64_t asked = at->control ? control_wait_ns(at->control) : UINT64_MAX;

	signals_sleep(asked < wait ? asked : wait, at->control ? control_poll(at->control) : -1);
}

static void loop(struct session *at)
{
	uint64_t end = at->args->for_ns ? now_ns() + at->args->for_ns : UINT64_MAX;

	at->next_show = at->show_ns ? now_ns() + at->show_ns : UINT64_MAX;
	while (!signals_stopping()) {
		enum run_state state = run_tend(at->run);
		uint64_t now = now_ns(), wait = tend_interval(at->run);

		at->stuck = state == RUN_STUCK;
		if (run_over(at, state) || now >= end)
			break;
		if (now >= at->next_show) {
			show(at, false);
			// Intervals that were missed while nobody read the output are left out.
			while (at->next_show <= now)
				at->next_show += at->show_ns;
		}
		if (end - now < wait)
			wait = end - now;
		if (at->next_show - now < wait)
			wait = at->next_show - now;
		wait = drive(at, wait);
		serve(at);
		sleep_until(at, wait);
	}
	if (at->stuck)
		name_stuck(at->run);
}

// Without a name that was asked for, a socket that cannot be had is no reason not to run.
static int control_begin(struct session *at)
{
	const struct control_options options = {.name = at->args->name,
						.group = at->args->group,
						.listen = at->args->listen,
						.token_file = at->args->token_file};
	struct errors *errors;

	if (at->args->no_control)
		return EXIT_DONE;
	errors = errors_new();
	at->control = control_open(at->run, &options, errors);
	if (!at->control && (options.name || options.group || options.listen))
		return cli_fail(errors);
	if (!at->control) {
		fputs("sluice: note: runs without a control socket:\n", stderr);
		errors_print(errors, stderr);
	}
	errors_free(errors);
	return EXIT_DONE;
}

static int run_through(const struct run_args *args, struct run *run)
{
	struct errors *errors = errors_new();
	struct session at = {.args = args, .run = run, .script = args->graph.script};
	int code = EXIT_DONE;

	at.live = !args->json && !args->quiet && isatty(STDOUT_FILENO);
	at.show_ns = args->quiet      ? 0
		     : args->stats_ns ? args->stats_ns
				      : (uint64_t)at.live * 1000000000;
	if (!args->quiet && !args->json)
		at.view = view_new(run);
	code = control_begin(&at);
	if (code) {
		errors_free(errors);
	} else if (run_start(run, errors)) {
		code = cli_fail(errors);
	} else {
		errors_free(errors);
		if (at.script)
			script_start(at.script, run);
		loop(&at);
		run_stop(run);
		show(&at, true);
		code = at.stuck || run_faults(run) ? EXIT_FAILED : at.code;
		if (at.script)
			code = RTE_MAX(code, script_finish(at.script));
	}
	control_close(at.control);
	view_free(at.view);
	return code;
}

static int run_graph_file(struct run_args *args)
{
	struct run_options run_options = {0};
	struct errors *errors;
	struct graph *graph;
	struct run *run;
	int code = EXIT_DONE;

	if (!signals_listen()) {
		fprintf(stderr, "sluice: error: no thread can be started: %s\n", strerror(errno));
		return EXIT_MACHINE;
	}
	args->graph.json = args->json;
	args->graph.limits.interrupted = signals_stopping;
	graph = cli_load(&args->graph, &code);
	if (!graph)
		return code;
	if (signals_stopping()) {
		graph_free(graph);
		return EXIT_DONE;
	}
	errors = errors_new();
	run = run_open(graph, &run_options, errors);
	if (!run)
		return cli_fail(errors);
	errors_free(errors);
	if (!signals_stopping())
		code = run_through(args, run);
	run_close(run);
	return code;
}

static int run_run(int argc, char **argv)
{
	struct run_args args = {0};
	int code;

	signal(SIGPIPE, SIG_IGN);
	cli_parse(&syntax, argc, argv, &args);
	code = run_graph_file(&args);
	cli_graph_free(&args.graph);
	return code;
}

const struct subcommand cli_run = {
    .name = "run",
    .args = "FILE [--set NAME=VALUE]... [--for 10s] [--stats 1s] [--quiet] [--json] [--name NAME]",
    .help = "runs a graph",
    .run = run_run,
};
