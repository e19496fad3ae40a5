// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: any bytes as requests to a graph that runs, in replay: method, path, query, headers
// and body. Each must be answered, JSON must be JSON, and all packets must be accounted for.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "control/route.h"
#include "port/eal.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START_NS 1000000000000ull
#define REQUESTS_MAX 6
#define PAIRS_MAX 16
#define INPUTS_MAX 1000 // that share a run
#define BETWEEN 1	// stands between two requests

// What a change may come to: arbitrary graphs could open whatever there is on this machine, so
// those are compared alone.
static const char *const graphs[] = {
    "nodes: {make: {Source: {burst: 2}}, fwd: {L2Fwd: {size: 64}}, q: Queue}\n"
    "graph: [make -> q -> fwd -> Sink]\n",
    "nodes: {make: {Source: {burst: 2}}, fwd: {L2Fwd: {size: 128}}, swap: MACSwap}\n"
    "graph: [make -> swap -> fwd -> Sink]\n",
};

struct pairs {
	char *names[PAIRS_MAX], *values[PAIRS_MAX];
	unsigned n;
};

static struct pairs queries, headers;
static bool compare_only;

static const char *pair_find(const struct pairs *pairs, const char *name)
{
	for (unsigned i = 0; i < pairs->n; i++)
		if (!strcasecmp(pairs->names[i], name))
			return pairs->values[i];
	return NULL;
}

static const char *query(const struct request *request, const char *name)
{
	(void)request;
	return compare_only && !strcmp(name, "dry_run") ? "1" : pair_find(&queries, name);
}

static const char *header(const struct request *request, const char *name)
{
	(void)request;
	return pair_find(&headers, name);
}

static void pair_add(struct pairs *pairs, char *name, char *value)
{
	if (pairs->n == PAIRS_MAX)
		return;
	pairs->names[pairs->n] = name;
	pairs->values[pairs->n++] = value;
}

static void queries_read(char *text)
{
	for (char *at; (at = strsep(&text, "&"));) {
		char *name = strsep(&at, "=");

		MHD_http_unescape(name);
		if (at)
			MHD_http_unescape(at);
		pair_add(&queries, name, at ? at : NULL);
	}
}

// Lines up to an empty one; the body is behind it.
static const char *headers_read(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) && *line) {
		char *name = strsep(&line, ":");

		if (line)
			pair_add(&headers, name, line);
	}
	return text ? text : "";
}

static void json_read(struct answer *answer)
{
	json_t *wanted = json_incref(answer->json), *got;
	char *text = NULL;
	size_t n = 0;

	json_stream(answer);
	if (answer->stream.read) {
		FILE *to = open_memstream(&text, &n);
		char part[3000];
		ssize_t some;

		while ((some = answer->stream.read(answer->stream.state, part, sizeof(part))) > 0)
			fwrite(part, (size_t)some, 1, to);
		fclose(to);
		answer->stream.close(answer->stream.state);
	} else {
		text = answer->text;
		answer->text = NULL;
	}
	got = json_loads(text, JSON_DECODE_ANY, NULL);
	if (!got || json_typeof(got) != json_typeof(wanted)) {
		fprintf(stderr, "no JSON: %s\n", text);
		abort();
	}
	json_decref(got);
	json_decref(wanted);
	free(text);
}

static void answer_take(struct control *control, struct answer *answer)
{
	char part[500];

	if (answer->status < 200 || answer->status > 599)
		abort();
	if (answer->json) {
		json_read(answer);
	} else if (answer->stream.read) {
		for (unsigned i = 0; i < 8; i++) {
			events_tick(control->events);
			if (answer->stream.read(answer->stream.state, part, sizeof(part)) < 0)
				break;
		}
		if (answer->stream.stop)
			answer->stream.stop(answer->stream.state);
		answer->stream.close(answer->stream.state);
	} else if (!answer->text && !answer->fixed) {
		abort();
	}
	free(answer->text);
}

static void serve(struct control *control, char *text)
{
	struct request request = {
	    .control = control, .run = control->run, .query = query, .header = header};
	struct answer answer = {.status = 200, .type = "text/plain"};
	char *line = strsep(&text, "\n"), *method = strsep(&line, " "), *path = strsep(&line, "?");
	char allow[ALLOW_BYTES] = "";
	const struct route *route;

	queries.n = headers.n = 0;
	if (line)
		queries_read(line);
	request.body = headers_read(text);
	request.n_body = strlen(request.body);
	if (!path)
		return;
	MHD_http_unescape(path);
	compare_only = request.n_body;
	if (!strcmp(method, "PUT") && !request.n_body) {
		request.body = graphs[queries.n % 2];
		request.n_body = strlen(request.body);
	}
	route = route_find(method, path, request.parts, allow);
	if (strlen(allow) >= ALLOW_BYTES)
		abort();
	if (!route)
		return;
	route->serve(&request, &answer);
	answer_take(control, &answer);
}

static struct graph *graph_make(struct errors *errors)
{
	struct arena *arena = arena_new();
	struct value *root =
	    yaml_read_text(arena, "fuzz.yaml", graphs[0], strlen(graphs[0]), errors);

	if (!root)
		abort();
	return graph_from_value(arena, "fuzz.yaml", root, NULL, 0, errors);
}

static struct run *run_make(void)
{
	struct run_options options = {.replay = true, .no_cores = true, .start_ns = START_NS};
	struct errors *errors = errors_new();
	struct graph *graph = graph_make(errors);
	struct run *run = graph ? run_open(graph, &options, errors) : NULL;

	if (!run) {
		errors_print(errors, stderr);
		abort();
	}
	errors_free(errors);
	return run;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct errors *errors = errors_new();
	struct eal_wishes wishes = {.memory_bytes = 256 << 20, .more = "--no-huge"};

	(void)argc;
	(void)argv;
	if (eal_start(&wishes, errors)) {
		errors_print(errors, stderr);
		exit(3);
	}
	errors_free(errors);
	return 0;
}

// To open a run takes as long as a hundred requests: many inputs share one, and what they do to it
// is undone as far as a graph can be told.
static struct run *run_have(void)
{
	static struct run *run;
	static unsigned used;

	if (run && used++ < INPUTS_MAX)
		return run;
	if (run) {
		run_stop(run);
		if (run_faults(run) || run_packets_out(run)) {
			fprintf(stderr, "%u faults, %u packets out\n", run_faults(run),
				run_packets_out(run));
			abort();
		}
		run_close(run);
	}
	used = 0;
	run = run_make();
	return run;
}

static void graph_back(struct run *run)
{
	struct errors *errors = errors_new();
	struct graph *graph = graph_make(errors);

	if (run_switch(run, graph, true, errors)) {
		errors_print(errors, stderr);
		abort();
	}
	errors_free(errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control control = {.run = run_have(), .name = "fuzz"};
	const struct graph *graph = run_graph(control.run);
	char *text = malloc(size + 1), *rest = text;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	control.events = events_new(control.run);
	for (unsigned i = 0; rest && i < REQUESTS_MAX; i++) {
		serve(&control, strsep(&rest, (const char[]){BETWEEN, '\0'}));
		run_step(control.run);
		run_tend(control.run);
	}
	events_free(control.events);
	if (run_graph(control.run) != graph)
		graph_back(control.run);
	free(text);
	return 0;
}
