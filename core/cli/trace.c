// SPDX-License-Identifier: BSD-3-Clause
// sluice trace: the ways that packets go through a graph that runs.

#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/text.h"
#include "cli/ways_text.h"

struct trace_args {
	struct cli_live live;
	const char *n;
	const char *node;
	const char *timeout;
	const char *sample;
	bool summary;
	char *filter;
};

enum { KEY_NODE = 0x200, KEY_TIMEOUT, KEY_SAMPLE, KEY_SUMMARY };

static const struct argp_option options[] = {
    {"count", 'n', "N", 0, "packets to trace; 10 if not given", 0},
    {"node", KEY_NODE, "NODE", 0, "ways begin there, not where packets come into the graph", 0},
    {"timeout", KEY_TIMEOUT, "DURATION", 0, "ends then at the latest; 10s if not given", 0},
    {"sample", KEY_SAMPLE, "N", 0, "takes one in N of the packets", 0},
    {"summary", KEY_SUMMARY, NULL, 0, "shows the distinct ways with their counts", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct trace_args *args = into;

	(void)state;
	switch (key) {
	case 'n':
		args->n = arg;
		return 0;
	case KEY_NODE:
		args->node = arg;
		return 0;
	case KEY_TIMEOUT:
		args->timeout = arg;
		return 0;
	case KEY_SAMPLE:
		args->sample = arg;
		return 0;
	case KEY_SUMMARY:
		args->summary = true;
		return 0;
	case ARGP_KEY_ARG:
		args->filter = text_join(args->filter, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .options = options,
    .take = take,
    .args_doc = "[FILTER]",
    .doc = "Shows what becomes of packets in a graph that runs: the nodes and gates that each "
	   "goes by, the cycles that it took there, what was changed, and how it ended."
	   "\vFILTER says which packets, as tcpdump takes it (see pcap-filter(7)).\n\n"
	   "Exit codes: 0 done, 1 fewer packets came in time, 2 bad input, 3 no such instance "
	   "runs.",
};

// The lines of the answer as they come.
struct tracing {
	const struct trace_args *args;
	char *line;
	size_t n, room;
	int code;
};

static void packet_print(const json_t *line)
{
	printf("%lld: %s, %lld bytes\n",
	       (long long)json_integer_value(json_object_get(line, "packet")),
	       json_string_value(json_object_get(line, "frame")),
	       (long long)json_integer_value(json_object_get(line, "length")));
	ways_print(json_object_get(line, "ways"), false, stdout);
}

static void summary_print(const json_t *line)
{
	long long count = json_integer_value(json_object_get(line, "count"));

	if (json_object_get(line, "others")) {
		printf("%lld packet%s went other ways\n", count, count == 1 ? "" : "s");
		return;
	}
	printf("%lld packet%s, %lld cycles%s\n", count, count == 1 ? "" : "s",
	       (long long)json_integer_value(json_object_get(line, "cycles")),
	       count == 1 ? "" : " each");
	ways_print(json_object_get(line, "ways"), false, stdout);
}

static void end_take(struct tracing *tracing, const json_t *end)
{
	const char *why = json_string_value(json_object_get(end, "why"));
	long long packets = json_integer_value(json_object_get(end, "packets"));
	long long asked = json_integer_value(json_object_get(end, "asked"));
	long long lost = json_integer_value(json_object_get(end, "events_lost"));

	tracing->code = EXIT_DONE;
	if (packets < asked) {
		tracing->code = EXIT_FAILED;
		fprintf(stderr, "sluice: note: %lld of %lld packets %s\n", packets, asked,
			why && !strcmp(why, "stopped") ? "came before the graph stopped"
						       : "came in time");
	}
	if (lost)
		fprintf(stderr,
			"sluice: note: %lld events found no room, so some ways are not whole\n",
			lost);
}

static void line_take(struct tracing *tracing, const char *text, size_t n)
{
	json_t *line = json_loadb(text, n, 0, NULL);
	const json_t *end = json_object_get(line, "end");

	if (end)
		end_take(tracing, end);
	if (tracing->args->live.json)
		live_print_json(line);
	else if (json_object_get(line, "packet"))
		packet_print(line);
	else if (!end)
		summary_print(line);
	json_decref(line);
}

static bool part_take(void *to, const void *bytes, size_t n)
{
	struct tracing *tracing = to;
	const char *end;
	size_t length;

	if (tracing->n + n > tracing->room) {
		tracing->room = (tracing->n + n) * 2;
		tracing->line = memory_grow(tracing->line, tracing->room, 1);
	}
	memcpy(tracing->line + tracing->n, bytes, n);
	tracing->n += n;
	while ((end = memchr(tracing->line, '\n', tracing->n))) {
		length = (size_t)(end - tracing->line) + 1;
		line_take(tracing, tracing->line, length - 1);
		tracing->n -= length;
		memmove(tracing->line, tracing->line + length, tracing->n);
	}
	fflush(stdout);
	return !ferror(stdout);
}

// A number as such, anything else as it was written: the instance says what is wrong with it.
static void number_put(json_t *body, const char *key, const char *text)
{
	bool number = text && *text && strlen(text) < 19 && !text[strspn(text, "0123456789")];

	if (number)
		json_object_set_new(body, key, json_integer(atoll(text)));
	else if (text)
		json_object_set_new(body, key, json_string(text));
}

static char *body_make(const struct trace_args *args)
{
	json_t *body = json_object();
	char *text;

	number_put(body, "n", args->n);
	number_put(body, "sample", args->sample);
	if (args->filter)
		json_object_set_new(body, "filter", json_string(args->filter));
	if (args->node)
		json_object_set_new(body, "node", json_string(args->node));
	if (args->timeout)
		json_object_set_new(body, "timeout", json_string(args->timeout));
	if (args->summary)
		json_object_set_new(body, "summary", json_true());
	text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	return text;
}

static int trace(const void *of, struct client *client)
{
	const struct trace_args *args = of;
	struct tracing tracing = {.args = args, .code = EXIT_FAILED};
	struct errors *errors = errors_new();
	struct client_stream stream = {
	    .request = {.method = "POST", .path = "/trace", .fault_file = "sluice"},
	    .take = part_take,
	    .to = &tracing,
	    .stop_fd = -1};
	char *body = body_make(args);

	if (!body)
		return cli_fail(errors);
	stream.request.body = body;
	stream.request.n_body = strlen(body);
	if (client_stream(client, &stream, errors))
		errors_free(errors);
	else
		tracing.code = cli_fail(errors);
	free(body);
	free(tracing.line);
	return tracing.code;
}

static int trace_run(int argc, char **argv)
{
	struct trace_args args = {0};
	int code;

	cli_parse(&syntax, argc, argv, &args);
	code = live_run(&args, trace);
	free(args.filter);
	return code;
}

const struct subcommand cli_trace = {
    .name = "trace",
    .args = "[FILTER] [-n N] [--summary] [--node NODE] [--json] [--name NAME]",
    .help = "shows the ways of packets through a graph that runs",
    .run = trace_run,
};
