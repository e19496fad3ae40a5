// SPDX-License-Identifier: BSD-3-Clause
// sluice capture: packets that pass a link of a graph that runs, to a file, a pipe or the terminal.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/capture_output.h"
#include "cli/live.h"
#include "cli/signals.h"
#include "cli/text.h"

struct capture_args {
	struct cli_live live;
	char *target;	     // then the name in it
	const char *gate;    // NULL: none was given
	const char *file;    // NULL: standard output
	bool in;	     // `[1]fwd`
	const char *wish[4]; // after `queries`; NULL: not given
	char *filter;	     // NULL: none
};

enum { WISH_DIRECTION, WISH_COUNT, WISH_SNAPLEN, WISH_SAMPLE };
enum { KEY_SAMPLE = 256, KEY_DIRECTION, KEY_BOTH };

static const char *const queries[] = {"direction", "count", "snaplen", "sample"};

static const struct argp_option options[] = {
    {"count", 'c', "NUMBER", 0, "ends after so many packets", 0},
    {"write", 'w', "FILE", 0, "writes pcapng to the file (-: to standard output)", 0},
    {"snaplen", 's', "BYTES", 0, "takes so many bytes of a packet (262144)", 0},
    {"sample", KEY_SAMPLE, "NUMBER", 0, "takes one packet in so many", 0},
    {"direction", KEY_DIRECTION, "out|in|both", 0,
     "what leaves the node (the default), enters it, or both; what a port sends, receives, or both "
     "(the default)",
     0},
    {"both", KEY_BOTH, NULL, 0, "the same as --direction both", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct capture_args *args = into;

	switch (key) {
	case 'c':
		args->wish[WISH_COUNT] = arg;
		return 0;
	case 'w':
		args->file = arg;
		return 0;
	case 's':
		args->wish[WISH_SNAPLEN] = arg;
		return 0;
	case KEY_SAMPLE:
		args->wish[WISH_SAMPLE] = arg;
		return 0;
	case KEY_DIRECTION:
		args->wish[WISH_DIRECTION] = arg;
		return 0;
	case KEY_BOTH:
		args->wish[WISH_DIRECTION] = "both";
		return 0;
	case ARGP_KEY_ARG:
		if (args->target)
			args->filter = text_join(args->filter, arg);
		else
			args->target = arg;
		return 0;
	case ARGP_KEY_END:
		if (!args->target)
			argp_error(state, "the node or port is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .options = options,
    .take = take,
    .args_doc = "NODE|NODE[GATE]|[GATE]NODE|PORT [FILTER]...",
    .doc = "Captures packets that pass links of a graph that runs: those that leave a node by a "
	   "gate (rx[0]) or by any (rx), that enter it by a gate ([1]fwd), or that a port receives "
	   "and sends."
	   "\vThe packets go to standard output as pcapng, whole blocks at once (sluice capture rx "
	   "| tcpdump -r -), or in words where that is a terminal. FILTER is an expression of "
	   "pcap-filter(7). Ctrl-C ends it; then standard error has how many packets there were, "
	   "and how many more came than it could take, with --json as JSON.\n\n"
	   "Exit codes: 0 done, 1 the instance went away, 2 bad input, 3 no such instance runs, or "
	   "the file cannot be written.",
};

// Parts `[GATE]NAME` or `NAME[GATE]`. false: it is neither.
static bool target_part(struct capture_args *args)
{
	char *text = args->target, *open = strchr(text, '['), *close = strchr(text, ']');

	if (!open && !close)
		return *text;
	if (!open || !close || close < open + 2 || strchr(open + 1, '[') || strchr(close + 1, ']'))
		return false;
	*close = '\0';
	args->gate = open + 1;
	if (open == text) {
		args->in = true;
		args->target = close + 1;
	} else {
		*open = '\0';
		if (close[1])
			return false;
	}
	return *args->target;
}

static void query_add(struct client *client, FILE *to, const char *name, const char *text,
		      char *separator)
{
	char *escaped = client_escape(client, text);

	fprintf(to, "%c%s=%s", *separator, name, escaped);
	*separator = '&';
	free(escaped);
}

static char *path_make(const struct capture_args *args, struct client *client, bool port)
{
	char *name = client_escape(client, args->target), *path = NULL, separator = '?';
	size_t n = 0;
	FILE *to = open_memstream(&path, &n);

	fprintf(to, "/%s/%s/capture", port ? "ports" : "nodes", name);
	free(name);
	if (args->gate)
		query_add(client, to, "gate", args->gate, &separator);
	if (args->in && !args->wish[WISH_DIRECTION])
		query_add(client, to, "direction", "in", &separator);
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
		if (args->wish[i])
			query_add(client, to, queries[i], args->wish[i], &separator);
	if (args->filter)
		query_add(client, to, "filter", args->filter, &separator);
	fclose(to);
	return path;
}

// What is being captured, for the callbacks of the stream.
struct session {
	const char *name; // of the instance
	struct client_stream stream;
	struct capture_output *output;
};

static bool output_take(void *to, const void *bytes, size_t n)
{
	return capture_output_take(((struct session *)to)->output, bytes, n);
}

// Asks for the end over a connection of its own; what was captured before still comes.
static void output_stop(void *to)
{
	struct session *at = to;
	struct errors *errors = errors_new();
	struct client *client = client_open(at->name, errors);
	const struct client_request request = {.method = "DELETE", .path = at->stream.location};
	struct client_reply reply;

	if (client && client_ask(client, &request, &reply, errors))
		client_reply_free(&reply);
	client_close(client);
	errors_free(errors);
}

static bool stream_try(const struct capture_args *args, struct client *client, bool port,
		       struct session *at, struct errors *errors)
{
	char *path = path_make(args, client, port);
	bool good;

	at->stream = (struct client_stream){
	    .request = {.method = "GET", .path = path, .fault_file = "sluice"},
	    .take = output_take,
	    .to = at,
	    .stop_fd = signals_event(),
	    .stop = output_stop};
	good = client_stream(client, &at->stream, errors);
	free(path);
	at->stream.request.path = NULL;
	return good;
}

static bool hints(const struct errors *errors)
{
	char *text = errors_text(errors);
	bool found = text && strstr(text, "did you mean");

	free(text);
	return found;
}

// A node of that name, or else a port.
static bool stream_take(const struct capture_args *args, struct client *client, struct session *at,
			int *code)
{
	struct errors *errors = errors_new(), *second;
	bool good = stream_try(args, client, false, at, errors);

	if (!good && at->stream.status == 404 && !args->gate) {
		second = errors_new();
		good = stream_try(args, client, true, at, second);
		if (good || at->stream.status != 404 || (!hints(errors) && hints(second))) {
			errors_free(errors);
			errors = second;
		} else {
			errors_free(second);
			if (!hints(errors)) {
				errors_free(errors);
				errors = errors_new();
				error_at(errors, (struct place){.file = "sluice"},
					 "there is no node or port \"%s\"", args->target);
			}
		}
	}
	if (good)
		errors_free(errors);
	else
		*code = cli_fail(errors);
	return good;
}

// -1 after an error; else the descriptor, or -2: text.
static int file_open(const char *file)
{
	int fd;

	if (!file)
		return isatty(STDOUT_FILENO) ? -2 : STDOUT_FILENO;
	if (!strcmp(file, "-"))
		return STDOUT_FILENO;
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		fprintf(stderr, "sluice: error: cannot write \"%s\": %s\n", file, strerror(errno));
	return fd;
}

static int capture(const struct capture_args *args, struct client *client, int fd)
{
	const char *file = args->file ? args->file : "standard output";
	struct session at = {.name = client_instance(client)->name,
			     .output = capture_output_new(fd < 0 ? -1 : fd, file)};
	int code = EXIT_DONE;
	bool good = stream_take(args, client, &at, &code);

	if (good)
		code = capture_output_fault(at.output);
	else if (at.stream.status == 200)
		code = EXIT_FAILED;
	if (at.stream.status == 200)
		capture_output_sum(at.output, stderr, args->live.json);
	capture_output_free(at.output);
	return code;
}

static int capture_run(int argc, char **argv)
{
	struct capture_args args = {0};
	int code = EXIT_DONE, fd;
	struct client *client;

	signal(SIGPIPE, SIG_IGN);
	cli_parse(&syntax, argc, argv, &args);
	if (!target_part(&args)) {
		fprintf(stderr,
			"sluice: error: \"%s\" is no NODE, NODE[GATE], [GATE]NODE or PORT\n",
			args.target);
		free(args.filter);
		return EXIT_INPUT;
	}
	if (!signals_listen()) {
		fprintf(stderr, "sluice: error: no thread can be started: %s\n", strerror(errno));
		return EXIT_MACHINE;
	}
	client = live_open(args.live.name, &code);
	fd = client ? file_open(args.file) : -1;
	if (client && fd == -1)
		code = EXIT_MACHINE;
	if (client && fd != -1)
		code = capture(&args, client, fd);
	if (fd > STDERR_FILENO && close(fd) && !code) {
		fprintf(stderr, "sluice: error: cannot write \"%s\": %s\n", args.file,
			strerror(errno));
		code = EXIT_MACHINE;
	}
	client_close(client);
	free(args.filter);
	return code;
}

const struct subcommand cli_capture = {
    .name = "capture",
    .args = "NODE[GATE] [-c N] [-w FILE] [FILTER]... [--json] [--name NAME]",
    .help = "captures packets that pass a link of a graph that runs",
    .run = capture_run,
};
