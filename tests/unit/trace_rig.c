// SPDX-License-Identifier: BSD-3-Clause
// Traces of runs, for tests.

#include "trace_rig.h"

#include <stdlib.h>
#include <string.h>

#include "value/table.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void gate_put(struct engine_text *text, const json_t *object)
{
	const json_t *gate = json_object_get(object, "out");

	if (!json_integer_value(gate))
		return;
	if (*text_of(object, "out_name"))
		engine_put(text, "[%s]", text_of(object, "out_name"));
	else
		engine_put(text, "[%d]", (int)json_integer_value(gate));
}

static void changes_put(struct engine_text *text, const json_t *object)
{
	const json_t *list = json_object_get(object, "changed"), *one;
	size_t i;

	json_array_foreach (list, i, one)
		engine_put(text, "%s%s", i ? ", " : "{", json_string_value(one));
	if (list)
		engine_put(text, "}");
}

void trace_rig_line(struct engine_text *text, const json_t *packet)
{
	const json_t *way, *step, *end;
	size_t i, k;

	json_array_foreach (json_object_get(packet, "ways"), i, way) {
		if (i) {
			engine_put(text, " + %d.%d",
				   (int)json_integer_value(json_object_get(way, "from")),
				   (int)json_integer_value(json_object_get(way, "step")));
			gate_put(text, way);
			changes_put(text, way);
			engine_put(text, " ");
		}
		json_array_foreach (json_object_get(way, "steps"), k, step) {
			engine_put(text, "%s%s", k ? " " : "", text_of(step, "node"));
			gate_put(text, step);
			changes_put(text, step);
		}
		end = json_object_get(way, "end");
		engine_put(text, ": %s", text_of(end, "what"));
		if (*text_of(end, "port"))
			engine_put(text, " %s", text_of(end, "port"));
		if (*text_of(end, "reason"))
			engine_put(text, " %s", text_of(end, "reason"));
	}
	engine_put(text, "\n");
}

static void done(void *arg, struct ways_packet *packet, unsigned watches, bool whole)
{
	struct trace_rig *rig = arg;
	struct arena *arena;
	json_t *json;

	if (!(watches >> rig->number & 1))
		return;
	rig->n++;
	rig->n_whole += whole;
	if (rig->quiet)
		return;
	arena = arena_new();
	json = ways_json(arena, packet, (unsigned)rig->number);
	CU_ASSERT_FATAL(json != NULL);
	trace_rig_line(&rig->text, json);
	json_decref(json);
	arena_free(arena);
}

struct trace_rig *trace_rig_new(struct run *run, const char *node, int n)
{
	struct trace_rig *rig = memory_new(1, sizeof(*rig));
	struct errors *errors = errors_new();

	rig->ways = ways_new(done, rig);
	rig->tracer = tracer_new(run, ways_take, rig->ways, errors);
	CU_ASSERT_FATAL(rig->tracer != NULL);
	rig->watch.node = node;
	tracer_allow(&rig->watch, n);
	rig->number = tracer_watch(rig->tracer, &rig->watch, errors);
	CU_ASSERT_FATAL(rig->number >= 0);
	errors_free(errors);
	engine_put(&rig->text, "%s", "");
	return rig;
}

void trace_rig_settle(struct trace_rig *rig)
{
	for (unsigned i = 0; i < 2; i++) {
		tracer_drain(rig->tracer);
		ways_settle(rig->ways);
	}
}

void trace_rig_free(struct trace_rig *rig)
{
	CU_ASSERT_EQUAL(tracer_unwatch(rig->tracer, &rig->watch), 0);
	tracer_free(rig->tracer);
	ways_free(rig->ways);
	free(rig->text.text);
	free(rig);
}

bool trace_rig_ways_are(struct trace_rig *rig, const char *expected)
{
	bool same;

	trace_rig_settle(rig);
	same = engine_text_is(rig->text.text, expected);
	rig->text.n = 0;
	rig->text.text[0] = 0;
	return same;
}

// What an explanation is put together in.
struct explained {
	struct arena *arena;
	struct engine_text text;
};

static void explained(void *arg, struct ways_packet *packet, unsigned watches, bool whole)
{
	struct explained *to = arg;
	json_t *json = ways_json(to->arena, packet, 0);

	(void)watches;
	(void)whole;
	trace_rig_line(&to->text, json);
	json_decref(json);
}

bool trace_rig_explained(struct run *run, const char *node, gate_t gate, const char *words,
			 const char *expected)
{
	struct explained to = {.arena = arena_new()};
	struct ways *ways = ways_new(explained, &to);
	struct errors *errors = errors_new();
	struct explain explain = {.igate = gate, .arena = to.arena};
	struct frame frame;
	const char *why;
	uint64_t parked_ns;
	bool same;

	CU_ASSERT_FATAL(frame_parse(to.arena, words, &frame, &why));
	explain.node = (unsigned)graph_find_node(run_graph(run), node);
	explain.bytes = frame.bytes;
	explain.n = frame.n;
	CU_ASSERT_EQUAL(run_explain(run, &explain, ways_take, ways, &parked_ns, errors), 0);
	ways_flush(ways, 1);
	same = engine_text_is(to.text.text ? to.text.text : "", expected);
	ways_free(ways);
	errors_free(errors);
	arena_free(to.arena);
	free(to.text.text);
	return same;
}
