// SPDX-License-Identifier: BSD-3-Clause
// Captures as they are asked for and listed over the control socket.

#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "control/capture.h"
#include "value/table.h"

const char *const capture_queries[] = {"gate",	 "direction", "filter", "snaplen",
				       "sample", "count",     NULL};

struct queries {
	struct arena *arena;
	struct value *map;
	struct errors *errors;
};

static const struct place place = {.file = "capture"};

static enum MHD_Result query_add(void *cls, enum MHD_ValueKind kind, const char *name,
				 const char *text)
{
	struct queries *queries = cls;
	struct value *value = value_scalar(queries->arena, place, text ? text : "");

	(void)kind;
	value->quoted = false;
	if (value_get(queries->map, name))
		error_at(queries->errors, place, "%s is given twice", name);
	else
		value_put(queries->arena, queries->map, arena_strdup(queries->arena, name), place,
			  value);
	return MHD_YES;
}

static ssize_t stream_read(void *state, char *to, size_t n)
{
	return capture_read(state, to, n);
}

static void stream_stop(void *state)
{
	capture_finish(state, "the run ended");
}

static void stream_close(void *state)
{
	capture_close(state);
}

static void capture_answer(struct capture *capture, struct answer *answer)
{
	answer->type = "application/x-pcapng";
	snprintf(answer->location, sizeof(answer->location), "/captures/%u", capture->id);
	answer->stream = (struct answer_stream){.read = stream_read,
						.stop = stream_stop,
						.close = stream_close,
						.state = capture,
						.waker = capture->waker};
}

static void serve_capture(const struct request *request, bool port, struct answer *answer)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct queries queries = {
	    .arena = arena, .map = value_new(arena, VALUE_MAP, place), .errors = errors};
	const struct subject subject = {.place = place, .written = queries.map};
	struct capture_wish *wish;
	struct capture *capture = NULL;

	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, query_add, &queries);
	wish = table_fill(arena, capture_params, "capture", place, queries.map, NULL, errors);
	if (wish && !errors_count(errors)) {
		wish->name = request->parts[0];
		wish->port = port;
		if (port && !value_get(queries.map, "direction"))
			wish->direction.n = CAPTURE_BOTH;
		errors_about(errors, &subject);
		if (capture_possible(run_graph(request->run), wish, errors))
			capture = capture_begin(request->control, wish, errors);
	}
	if (capture) {
		errors_free(errors);
		capture_answer(capture, answer);
	} else {
		answer_errors(answer, errors_exit_code(errors) == ERROR_MACHINE ? 503 : 400,
			      errors);
	}
	arena_free(arena);
}

void serve_node_capture(const struct request *request, struct answer *answer)
{
	if (node_part(request, answer))
		serve_capture(request, false, answer);
}

void serve_port_capture(const struct request *request, struct answer *answer)
{
	if (port_part(request, answer))
		serve_capture(request, true, answer);
}

static json_t *links_json(const struct capture *capture, json_int_t *captured, json_int_t *dropped)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < capture->n_links; i++) {
		const struct capture_link *link = &capture->links[i];
		struct capture_tally tally = capture_tally(capture, i);
		json_int_t written = (json_int_t)counter_read(&link->written);

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "name", link->name,
				    "description", link->description, "seen",
				    (json_int_t)tally.seen, "accepted", (json_int_t)tally.accepted,
				    "captured", written, "dropped", (json_int_t)tally.dropped));
		*captured += written;
		*dropped += (json_int_t)tally.dropped;
	}
	return list;
}

static json_t *capture_json(const struct capture *capture)
{
	const struct capture_wish *wish = &capture->wish;
	json_int_t captured = 0, dropped = 0;
	json_t *links = links_json(capture, &captured, &dropped);
	bool ended = __atomic_load_n(&capture->ended, __ATOMIC_ACQUIRE) || capture->closed;

	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:s, s:I, s:I, s:o}", "id",
			 (int)capture->id, wish->port ? "port" : "node", wish->name, "gate",
			 wish->gate, "direction", capture_params[1].choices[wish->direction.n],
			 "filter", wish->filter, "snaplen", (json_int_t)wish->snaplen, "sample",
			 (json_int_t)wish->sample, "count", (json_int_t)wish->count, "seconds",
			 (double)(capture_wall_ns() - capture->begun_ns) / 1e9, "state",
			 ended ? "ended" : "running", "captured", captured, "dropped", dropped,
			 "links", links);
}

void serve_captures(const struct request *request, struct answer *answer)
{
	answer->json = json_array();
	for (const struct capture *capture = request->control->captures; capture;
	     capture = capture->next)
		json_array_insert_new(answer->json, 0, capture_json(capture));
}

void serve_capture_end(const struct request *request, struct answer *answer)
{
	for (struct capture *capture = request->control->captures; capture;
	     capture = capture->next) {
		char id[16];

		snprintf(id, sizeof(id), "%u", capture->id);
		if (capture->closed || strcmp(request->parts[0], id) != 0)
			continue;
		capture_finish(capture, NULL);
		answer->json = capture_json(capture);
		return;
	}
	answer_error(answer, 404, "there is no capture \"%s\"", request->parts[0]);
}
