// SPDX-License-Identifier: BSD-3-Clause
// sluice top: nodes by what they take, in a terminal, while the graph runs.

#include "cli/top/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>

#include "cli/live.h"
#include "value/table.h"

#define RETRY_NS 250000000ull // an instance that has gone is looked for so often

enum { KEY_ONCE = 'o', KEY_INTERVAL = 'i', KEY_SORT = 's' };

struct top_args {
	struct cli_live live;
	uint64_t interval_ns;
	enum top_column column;
	bool once;
};

static const struct argp_option options[] = {
    {"interval", KEY_INTERVAL, "DURATION", 0, "how often it looks (1s)", 0},
    {"sort", KEY_SORT, "COLUMN", 0,
     "share (the default), cycles, in/s, out/s, batch, fill, drop/s, node or module", 0},
    {"once", KEY_ONCE, NULL, 0,
     "prints one screen as text, from two samples that lie an interval apart; needs no terminal",
     0},
    {0},
};

static uint64_t interval_option(const char *text, struct argp_state *state)
{
	struct duration duration;
	const char *why;

	if (!parse_duration(text, &duration, &why))
		argp_error(state, "--interval: \"%s\" %s", text, why);
	if (duration.ns < 10000000 || duration.ns > 3600000000000)
		argp_error(state, "--interval: \"%s\" is out of range, it should be 10ms to 1h",
			   text);
	return duration.ns;
}

static enum top_column sort_option(const char *text, struct argp_state *state)
{
	const char *names[TOP_COLUMNS], *near;

	for (unsigned c = 0; c < TOP_COLUMNS; c++) {
		names[c] = top_titles[c].name;
		if (!strcmp(text, names[c]))
			return c;
	}
	near = suggest(text, names, TOP_COLUMNS);
	argp_error(state, "--sort: there is no column \"%s\"%s%s%s", text,
		   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	return COLUMN_SHARE;
}

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct top_args *args = into;

	switch (key) {
	case KEY_INTERVAL:
		args->interval_ns = interval_option(arg, state);
		return 0;
	case KEY_SORT:
		args->column = sort_option(arg, state);
		return 0;
	case KEY_ONCE:
		args->once = true;
		return 0;
	case ARGP_KEY_END:
		if (args->live.json && !args->once)
			argp_error(state, "--json goes with --once; `sluice stats --watch --json` "
					  "prints all counters again and again");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .options = options,
    .take = take,
    .doc = "Shows a graph that runs: nodes by the time they take, rates, drops by reason, queues, "
	   "the load of workers; and the graph as a picture. ? tells the keys."
	   "\vWhen the instance ends, it is waited for. --once --json prints what was worked out, "
	   "one object.\n\n"
	   "Exit codes: 0 done, 2 bad input, 3 no such instance runs, or there is no fit terminal.",
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

// Which signal asked for the end; 0: none has.
static volatile sig_atomic_t signal_seen;

static void signal_note(int sig)
{
	signal_seen = sig;
}

// The terminal first, then as if it had never been caught.
static void signal_crash(int sig)
{
	screen_end();
	signal(sig, SIG_DFL);
	raise(sig);
}

// They come in while the loop sleeps, and at no other time: `sleeping` is the mask of then.
static void signals_take(sigset_t *sleeping)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction note = {.sa_handler = signal_note};
	struct sigaction crash = {.sa_handler = signal_crash, .sa_flags = SA_RESETHAND};
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGWINCH);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		sigaddset(&held, ends[i]);
		sigaction(ends[i], &note, NULL);
	}
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &crash, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &held, sleeping);
}

static void rates_update(struct top *top)
{
	arena_free(top->arena);
	top->arena = arena_new();
	// Of another run nothing before it is known: its first sample is taken for itself.
	top->rates = rates_between(
	    top->arena, top->now.stats,
	    rates_comparable(top->now.stats, top->last.stats) ? top->last.stats : NULL);
}

// Takes a sample. false: the instance does not answer; what was seen last stays.
static bool top_sample(struct top *top)
{
	struct sample sample;

	if (!feed_sample(&top->feed, top->view == VIEW_NODE ? top->selected : NULL, &sample))
		return false;
	sample_free(&top->last);
	top->last = top->now;
	top->now = sample;
	rates_update(top);
	return true;
}

// Until a key is pressed, a signal comes, or so much time has gone. false: the terminal has gone.
static bool top_sleep(uint64_t ns, const sigset_t *sleeping)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				      .tv_nsec = (long)(ns % 1000000000)};

	if (ppoll(&keys, 1, &time, sleeping) < 0)
		return errno == EINTR;
	return !(keys.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void keys_take(struct top *top)
{
	enum top_view view = top->view;
	int key;

	while ((key = getch()) != ERR)
		top_key(top, key);
	// What is asked for a node alone is there at once.
	if (top->view == VIEW_NODE && view != VIEW_NODE)
		top_sample(top);
}

static void top_loop(struct top *top, const sigset_t *sleeping)
{
	uint64_t next = clock_ns();
	bool there = true;

	while (!top->quit && !signal_seen && there) {
		uint64_t now = clock_ns();

		if (now >= next && !top->paused) {
			bool answered = top_sample(top);

			now = clock_ns();
			next = now + (answered || top->interval_ns < RETRY_NS ? top->interval_ns
									      : RETRY_NS);
		}
		top_draw(top);
		there = top_sleep(top->paused || next < now ? RETRY_NS : next - now, sleeping);
		keys_take(top);
		if (next > clock_ns() + top->interval_ns)
			next = clock_ns() + top->interval_ns;
	}
}

static int terminal_refuse(const char *why)
{
	struct errors *errors = errors_new();
	const char *name = getenv("TERM");

	error_machine_at(errors, (struct place){.file = "sluice"}, "the terminal \"%s\" %s",
			 name ? name : "", why);
	return cli_fail(errors);
}

static int top_show(struct top *top)
{
	struct errors *errors = errors_new();
	sigset_t sleeping;
	const char *why;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		error_machine_at(errors, (struct place){.file = "sluice"},
				 "top needs a terminal; `--once` prints one screen as text");
		return cli_fail(errors);
	}
	errors_free(errors);
	if (!screen_begin(&why))
		return terminal_refuse(why);
	atexit(screen_end);
	signals_take(&sleeping);
	top_loop(top, &sleeping);
	screen_end();
	sigprocmask(SIG_SETMASK, &sleeping, NULL);
	if (signal_seen && signal_seen != SIGINT) {
		signal(signal_seen, SIG_DFL);
		raise(signal_seen);
	}
	return EXIT_DONE;
}

static int top_once(struct top *top, bool json)
{
	const struct timespec time = {.tv_sec = (time_t)(top->interval_ns / 1000000000),
				      .tv_nsec = (long)(top->interval_ns % 1000000000)};
	struct errors *errors = errors_new();

	if (top_sample(top) && !nanosleep(&time, NULL) && top_sample(top) &&
	    !top->rates->since_start) {
		errors_free(errors);
		once_print(top, top->feed.name, json);
		return EXIT_DONE;
	}
	error_machine_at(errors, (struct place){.file = "sluice"},
			 "instance \"%s\" has gone between two samples", top->feed.name);
	return cli_fail(errors);
}

static int top_run(int argc, char **argv)
{
	struct top_args args = {.interval_ns = 1000000000, .column = COLUMN_SHARE};
	struct errors *errors = errors_new();
	struct top top = {0};
	int code;

	cli_parse(&syntax, argc, argv, &args);
	top.interval_ns = args.interval_ns;
	top.column = args.column;
	if (!feed_open(&top.feed, args.live.name, errors))
		return cli_fail(errors);
	errors_free(errors);
	code = args.once ? top_once(&top, args.live.json) : top_show(&top);
	sample_free(&top.now);
	sample_free(&top.last);
	json_decref(top.picture_of);
	arena_free(top.picture_arena);
	arena_free(top.arena);
	feed_close(&top.feed);
	return code;
}

const struct subcommand cli_top = {
    .name = "top",
    .args = "[--interval 1s] [--sort COLUMN] [--once [--json]] [--name NAME]",
    .help = "shows nodes by the time they take, and the graph, in a terminal",
    .run = top_run,
};
