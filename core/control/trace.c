// SPDX-License-Identifier: BSD-3-Clause
// POST /trace: who traces gets a line of JSON for each packet, as soon as its way is known, and a
// last one that says why there are no more.

#include <stdlib.h>
#include <string.h>

#include "control/trace.h"
#include "control/trace_summary.h"
#include "control/trace_ways.h"
#include "run/clock.h"
#include "value/table.h"

#define TICK_NS 1000000	    // between two looks at what workers have seen
#define WINDOW 512	    // packets that a trace has on their way at once
#define TEXT_MAX (1u << 20) // bytes that wait for the client before no more packets are chosen

struct trace_request {
	uint32_t n;
	const char *filter;
	const char *node;
	struct duration timeout;
	uint32_t sample;
	bool summary;
};

static const struct param trace_params[] = {
    PARAM(trace_request, n, .def = "10", .min = 1, .max = 10000000, .help = "packets to trace"),
    PARAM(trace_request, filter, .def = "", .example = "udp and port 53",
	  .help = "which packets, as tcpdump takes it; empty: any"),
    PARAM(trace_request, node, .def = "",
	  .help = "the node at which ways begin; empty: wherever packets come into the graph"),
    PARAM(trace_request, timeout, .def = "10s", .min = 1000000, .max = 3600000000000,
	  .help = "when the trace ends at the latest"),
    PARAM(trace_request, sample, .def = "1", .min = 1, .help = "one in so many of those packets"),
    PARAM(trace_request, summary, .def = "false",
	  .help = "the distinct ways with their counts, instead of each packet's"),
    PARAM_END,
};

struct traces {
	struct run *run;
	struct tracer *tracer;
	struct ways *ways;
	struct session *sessions;
};

// One who traces.
struct session {
	struct traces *traces;
	struct trace_watch watch;
	int number; // of the watch; -1: it is no longer there
	struct filter filter;
	char *node;
	uint64_t n;
	uint64_t given; // packets that workers might choose so far
	uint64_t done;
	uint64_t end_ns;
	uint64_t lost; // events, when it began
	struct summary *summary;
	char *text; // that waits for the client
	size_t n_text, room;
	bool ended;
	bool left; // the client has, but the watch could not be taken away yet
	struct waker *waker;
	struct session *next;
};

static int text_add(const char *text, size_t n, void *to)
{
	struct session *session = to;

	if (session->n_text + n > session->room) {
		session->room = (session->n_text + n) * 2;
		session->text = memory_grow(session->text, session->room, 1);
	}
	memcpy(session->text + session->n_text, text, n);
	session->n_text += n;
	return 0;
}

static void line_add(struct session *session, json_t *line)
{
	json_dump_callback(line, text_add, session, JSON_COMPACT);
	json_decref(line);
	text_add("\n", 1, session);
	waker_wake(session->waker);
}

// Lets workers choose more, as far as those that are chosen already are done with and read.
static void session_allow(struct session *session)
{
	uint64_t target = session->done + WINDOW;

	if (session->ended || session->n_text > TEXT_MAX)
		return;
	target = target < session->n ? target : session->n;
	if (target > session->given)
		tracer_allow(&session->watch, (int)(target - session->given));
	session->given = target > session->given ? target : session->given;
}

static void packet_done(struct session *session, const struct ways_packet *packet)
{
	struct arena *arena;
	json_t *way, *line;

	if (session->ended)
		return;
	session->done++;
	if (session->summary) {
		summary_add(session->summary, packet, (unsigned)session->number);
		return;
	}
	arena = arena_new();
	way = ways_json(arena, packet, (unsigned)session->number);
	line = json_pack("{s:I}", "packet", (json_int_t)session->done);
	if (way)
		json_object_update(line, way);
	json_decref(way);
	line_add(session, line);
	arena_free(arena);
}

static void done(void *arg, struct ways_packet *packet, unsigned watches, bool whole)
{
	struct traces *traces = arg;

	(void)whole;
	for (struct session *session = traces->sessions; session; session = session->next)
		if (session->number >= 0 && watches >> session->number & 1)
			packet_done(session, packet);
}

static void session_end(struct session *session, const char *why)
{
	struct traces *traces = session->traces;
	json_t *list, *entry;
	size_t i;

	if (session->ended)
		return;
	tracer_allow(&session->watch, -1);
	tracer_drain(traces->tracer);
	ways_flush(traces->ways, 1u << session->number);
	list = session->summary ? summary_json(session->summary) : NULL;
	json_array_foreach (list, i, entry)
		line_add(session, json_incref(entry));
	json_decref(list);
	session->ended = true;
	line_add(session, json_pack("{s:{s:s, s:I, s:I, s:I}}", "end", "why", why, "packets",
				    (json_int_t)session->done, "asked", (json_int_t)session->n,
				    "events_lost",
				    (json_int_t)(tracer_lost(traces->tracer) - session->lost)));
}

// Takes it out of the workers' sight; false: a worker did not park, it is tried again.
static bool session_unwatch(struct session *session)
{
	if (session->number >= 0) {
		if (tracer_unwatch(session->traces->tracer, &session->watch))
			return false;
		ways_flush(session->traces->ways, 1u << session->number);
	}
	session->number = -1;
	return true;
}

static void session_free(struct session *session)
{
	struct session **at = &session->traces->sessions;

	while (*at && *at != session)
		at = &(*at)->next;
	if (*at)
		*at = session->next;
	filter_free(&session->filter);
	summary_free(session->summary);
	waker_free(session->waker);
	free(session->node);
	free(session->text);
	free(session);
}

static ssize_t session_read(void *state, char *to, size_t n)
{
	struct session *session = state;

	if (!session->n_text)
		return session->ended ? STREAM_END : 0;
	if (n > session->n_text)
		n = session->n_text;
	memcpy(to, session->text, n);
	session->n_text -= n;
	memmove(session->text, session->text + n, session->n_text);
	session_allow(session);
	return (ssize_t)n;
}

static void session_stop(void *state)
{
	session_end(state, "stopped");
}

static void session_close(void *state)
{
	struct session *session = state;

	session->ended = true;
	session->left = true;
	tracer_allow(&session->watch, -1);
	if (session_unwatch(session))
		session_free(session);
}

void traces_tick(struct control *control)
{
	struct traces *traces = control->traces;
	struct session *next;
	uint64_t now;

	if (!traces || !traces->sessions)
		return;
	tracer_drain(traces->tracer);
	ways_settle(traces->ways);
	now = monotonic_ns();
	for (struct session *session = traces->sessions; session; session = next) {
		next = session->next;
		if (session->done >= session->n)
			session_end(session, "all");
		else if (now >= session->end_ns)
			session_end(session, "timeout");
		session_allow(session);
		// Once it has ended it need not be watched for, though its client reads on.
		if (session->ended && session_unwatch(session) && session->left)
			session_free(session);
	}
}

uint64_t traces_wait_ns(const struct control *control)
{
	if (!control->traces)
		return UINT64_MAX;
	for (const struct session *session = control->traces->sessions; session;
	     session = session->next)
		if (session->number >= 0)
			return TICK_NS;
	return UINT64_MAX;
}

void traces_close(struct control *control)
{
	struct traces *traces = control->traces;

	if (!traces)
		return;
	// Those that a worker kept: it has stopped by now.
	while (traces->sessions) {
		(void)session_unwatch(traces->sessions);
		session_free(traces->sessions);
	}
	tracer_free(traces->tracer);
	ways_free(traces->ways);
	free(traces);
	control->traces = NULL;
}

// Made with the first trace: what a packet's mark says holds until the end.
static struct traces *traces_get(struct control *control, struct errors *errors)
{
	struct traces *traces = control->traces;

	if (traces)
		return traces;
	traces = memory_new(1, sizeof(*traces));
	traces->run = control->run;
	traces->ways = ways_new(done, traces);
	traces->tracer = tracer_new(control->run, ways_take, traces->ways, errors);
	if (traces->tracer) {
		control->traces = traces;
		return traces;
	}
	ways_free(traces->ways);
	free(traces);
	return NULL;
}

static int session_filter(struct session *session, const char *expression, struct errors *errors)
{
	struct place place = {.file = "filter"};
	char why[FILTER_WHY];

	if (!*expression)
		return 0;
	switch (filter_compile(expression, &session->filter, why)) {
	case FILTER_COMPILED:
		filter_translate(&session->filter);
		session->watch.filter = &session->filter;
		return 0;
	case FILTER_WRONG:
		error_at(errors, place, "%s", why);
		return -1;
	default:
		error_machine_at(errors, place, "%s", why);
		return -1;
	}
}

// NULL after errors.
static struct session *session_make(struct traces *traces, const struct trace_request *asked,
				    struct errors *errors)
{
	struct session *session = memory_new(1, sizeof(*session));

	session->traces = traces;
	session->number = -1;
	session->n = asked->n;
	session->end_ns = monotonic_ns() + asked->timeout.ns;
	session->lost = tracer_lost(traces->tracer);
	session->summary = asked->summary ? summary_new() : NULL;
	session->node = *asked->node ? strdup(asked->node) : NULL;
	session->watch.node = session->node;
	session->watch.sample = asked->sample;
	session->waker = waker_new();
	session->next = traces->sessions;
	traces->sessions = session;
	if (!session->waker)
		error_machine(errors, NULL, "no descriptor is left for the trace");
	else if (!session_filter(session, asked->filter, errors))
		session->number = tracer_watch(traces->tracer, &session->watch, errors);
	if (session->number >= 0)
		return session;
	session_free(session);
	return NULL;
}

void serve_trace(const struct request *request, struct answer *answer)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	const struct trace_request *asked =
	    body_fill(arena, request, trace_params, "trace", errors);
	struct session *session = NULL;
	struct traces *traces;

	if (asked && *asked->node && !node_find(request->run, asked->node, answer)) {
		arena_free(arena);
		errors_free(errors);
		return;
	}
	traces = asked ? traces_get(request->control, errors) : NULL;
	if (traces)
		session = session_make(traces, asked, errors);
	arena_free(arena);
	if (!session) {
		answer_errors(answer, errors_exit_code(errors) == ERROR_MACHINE ? 503 : 400,
			      errors);
		return;
	}
	errors_free(errors);
	session_allow(session);
	answer->type = "application/x-ndjson";
	answer->stream = (struct answer_stream){.read = session_read,
						.stop = session_stop,
						.close = session_close,
						.state = session,
						.waker = session->waker};
}
