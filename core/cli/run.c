// SPDX-License-Identifier: BSD-3-Clause
// sluice run: runs a graph until it ends, a time is over or a signal comes.

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run_args.h"
#include "cli/signals.h"
#include "cli/view.h"
#include "control/control.h"
#include "run/clock.h"
#include "run/run.h"

// A graph that is running, as the command sees it.
struct session {
	const struct run_args *args;
	struct service *service;
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

#define TEND_MIN_NS 1000000ull
#define TEND_MAX_NS 10000000ull

// What is finite must be seen to end soon, and drivers with a tick want it every ms; but a turn
// takes a core from whoever polls on it, so that of a run that goes on the turns become fewer.
static uint64_t tend_interval(struct run *run, uint64_t age_ns)
{
	uint64_t soon = RTE_MIN(RTE_MAX(age_ns / 100, TEND_MIN_NS), TEND_MAX_NS);
	const struct graph *graph = run_graph(run);

	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct port *port = run_port(run, i);

		if (port->finite || port->driver->tick)
			return soon;
	}
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].source && graph->nodes[i].port < 0)
			return soon;
	return TEND_MAX_NS;
}

// A reader that has gone ends the run; what cannot be written for other reasons is a fault too.
static void check_output(struct session *at)
{
	if (!fflush(stdout))
		return;
	if (errno != EPIPE) {
		log_say(LOG_LEVEL_ERROR, NULL, "cannot write to standard output: %s",
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
	struct errors *errors = errors_new();

	if (node >= 0)
		place = graph->nodes[node].place;
	else if (port >= 0)
		place = graph->ports[port].place;
	error_machine_at(errors, place,
			 "%s \"%s\" has made no progress for 1 s, though all sources have ended",
			 node >= 0 ? "node" : "port", name);
	log_errors(errors);
	errors_free(errors);
}

// The script's turn. How long to sleep, `wait` at most; what it stops, stops.
static uint64_t drive(struct session *at, uint64_t wait)
{
	uint64_t next;

	if (!at->script)
		return wait;
	run_step_aside(at->run, false); // of processes that it starts
	next = script_tick(at->script);
	run_step_aside(at->run, true);
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

// The turn of those who look on from outside.
static void serve(struct session *at)
{
	if (at->control)
		control_tick(at->control);
	if (at->control && control_stopping(at->control))
		signals_stop();
	if (signals_reload())
		service_reload(at->service, &at->args->graph);
	service_tick(at->service, monotonic_ns());
}

// A request ends the sleep.
static void sleep_until(struct session *at, uint64_t wait)
{
	uint64_t asked = at->control ? control_wait_ns(at->control) : UINT64_MAX;

	signals_sleep(asked < wait ? asked : wait, at->control ? control_poll(at->control) : -1);
}

static void loop(struct session *at)
{
	uint64_t begun = monotonic_ns();
	uint64_t end = at->args->for_ns ? begun + at->args->for_ns : UINT64_MAX;

	at->next_show = at->show_ns ? monotonic_ns() + at->show_ns : UINT64_MAX;
	while (!signals_stopping()) {
		enum run_state state = run_tend(at->run);
		uint64_t now = monotonic_ns(), wait = tend_interval(at->run, now - begun);

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
		log_say(LOG_LEVEL_NOTE, NULL, "runs without a control socket:");
		log_errors(errors);
	}
	errors_free(errors);
	return EXIT_DONE;
}

static const char *instance_name(const struct session *at)
{
	const char *name = run_graph(at->run)->settings.name;

	return at->control ? control_name(at->control) : name && *name ? name : "sluice";
}

static int run_through(struct run_args *args, struct run *run)
{
	struct errors *errors = errors_new();
	struct session at = {
	    .args = args, .service = &args->service, .run = run, .script = args->graph.script};
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
	} else if (run_start(run, errors) ||
		   service_start(at.service, run, instance_name(&at), errors)) {
		code = cli_fail(errors);
	} else {
		errors_free(errors);
		if (at.script)
			script_start(at.script, run);
		loop(&at);
		service_stopping();
		run_stop(run);
		show(&at, true);
		code = at.stuck || run_faults(run) ? EXIT_FAILED : at.code;
		if (at.script)
			code = RTE_MAX(code, script_finish(at.script));
	}
	service_stop(at.service);
	control_close(at.control);
	view_free(at.view);
	return code;
}

static int run_graph_file(struct run_args *args)
{
	struct run_options run_options = {.telemetry = true};
	struct errors *errors;
	struct graph *graph;
	struct run *run;
	int code = EXIT_DONE;

	if (!signals_listen()) {
		log_say(LOG_LEVEL_ERROR, NULL, "no thread can be started: %s", strerror(errno));
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
	struct errors *errors = errors_new();
	int code;

	signal(SIGPIPE, SIG_IGN);
	service_init(&args.service);
	cli_parse(&run_syntax, argc, argv, &args);
	code = service_open_log(&args.service, errors) ? EXIT_MACHINE : EXIT_DONE;
	log_errors(errors);
	errors_free(errors);
	if (!code)
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
