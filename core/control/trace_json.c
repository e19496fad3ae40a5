// SPDX-License-Identifier: BSD-3-Clause
// The ways of packets as JSON.

#include "control/trace_ways.h"
#include "value/frame.h"

static void gate_put(json_t *object, const char *key, const char *name_key, gate_t gate,
		     const char *const *names)
{
	json_object_set_new(object, key, json_integer(gate));
	if (names && names[gate])
		json_object_set_new(object, name_key, json_string(names[gate]));
}

static struct frame_known known(const struct trace_event *event)
{
	return (struct frame_known){event->bytes, event->n_bytes, event->length};
}

// What was changed between two events; nothing is put where nothing was.
static void changes_put(struct arena *arena, json_t *object, const struct trace_event *before,
			const struct trace_event *after)
{
	const char *texts[FRAME_CHANGES];
	unsigned n = before && after ? frame_changes(arena, known(before), known(after), texts) : 0;
	json_t *list = n ? json_array() : NULL;

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_string(texts[i]));
	if (list)
		json_object_set_new(object, "changed", list);
}

static uint64_t tsc_ns(uint64_t cycles)
{
	return (uint64_t)((double)cycles * 1e9 / (double)run_cycles_hz());
}

static json_t *step_json(struct arena *arena, const struct way_step *step, bool shape)
{
	const struct module_type *type = step->node->type;
	json_t *object = json_pack("{s:s, s:s}", "node", step->node->name, "type", type->name);

	if (step->call && type->igates)
		gate_put(object, "in", "in_name", step->call->gate, type->igate_names);
	if (step->leaves)
		gate_put(object, "out", "out_name", step->leaves->gate, type->ogate_names);
	if (shape)
		return object;
	if (step->call && type->igates) {
		json_object_set_new(object, "cycles", json_integer(step->call->cycles));
		json_object_set_new(object, "worker", json_integer(step->call->worker));
	} else if (step->leaves) {
		json_object_set_new(object, "worker", json_integer(step->leaves->worker));
	}
	if (step->released && step->call)
		json_object_set_new(
		    object, "held_ns",
		    json_integer((json_int_t)tsc_ns(step->released->tsc - step->call->tsc)));
	changes_put(arena, object, step->before, step->leaves);
	return object;
}

static json_t *dropped_json(const struct trace_node *node, reason_t reason)
{
	return json_pack("{s:s, s:s, s:s}", "what", "dropped", "reason",
			 reason_name(node->type, reason), "help", reason_help(node->type, reason));
}

static json_t *what_json(const char *what, const char *help)
{
	return json_pack("{s:s, s:s}", "what", what, "help", help);
}

static json_t *end_of_call(struct arena *arena, const struct way_step *step)
{
	const char *name = arena_printf(arena, "%s (%s)", step->node->name, step->node->type->name);

	switch (step->call->end) {
	case TRACE_DROPPED:
		return dropped_json(step->node, step->call->reason);
	case TRACE_CONSUMED:
		if (step->node->port)
			return json_pack("{s:s, s:s}", "what", "sent", "port", step->node->port);
		return json_pack("{s:s}", "what", "consumed");
	case TRACE_HELD:
		return what_json("held", step->node->port ? "until its port takes it"
							  : "it had not left when the trace ended");
	case TRACE_GONE:
		return what_json("gone",
				 arena_printf(arena, "%s did not say what it did with it", name));
	case TRACE_UNSEEN:
		return what_json("unseen",
				 "no batch was free to look at it alone, so it went on unseen");
	case TRACE_UNEXPLAINED:
		return what_json(
		    "unexplained",
		    arena_printf(arena, "%s cannot be explained without changing it", name));
	default:
		return what_json("unfinished", "what became of it was not seen in time");
	}
}

static json_t *end_json(struct arena *arena, const struct way *ways, const struct way *way)
{
	const struct way_step *last = way->n_steps ? &way->steps[way->n_steps - 1] : NULL;
	const struct trace_event *at_link = way->dropped;

	if (at_link && at_link->end == TRACE_DROPPED)
		return dropped_json(last ? last->node : ways[way->from].steps[way->from_step].node,
				    at_link->reason);
	if (at_link)
		return what_json("given_up", "it went over so many links that it was followed no "
					     "longer");
	if (last && last->call && !last->leaves)
		return end_of_call(arena, last);
	return what_json("unfinished", "what became of it was not seen in time");
}

static json_t *way_json(struct arena *arena, const struct way *ways, const struct way *way,
			bool shape)
{
	json_t *steps = json_array(), *object = json_object();

	if (way->from >= 0) {
		const struct way_step *maker = &ways[way->from].steps[way->from_step];

		json_object_set_new(object, "from", json_integer(way->from));
		json_object_set_new(object, "step", json_integer(way->from_step));
		gate_put(object, "out", "out_name", way->copied->gate,
			 maker->node->type->ogate_names);
		if (!shape)
			changes_put(arena, object, way->copied_before, way->copied);
	}
	for (unsigned i = 0; i < way->n_steps; i++)
		json_array_append_new(steps, step_json(arena, &way->steps[i], shape));
	json_object_set_new(object, "steps", steps);
	json_object_set_new(object, "end", end_json(arena, ways, way));
	return object;
}

static json_t *all_json(struct arena *arena, const struct way *ways, unsigned n, bool shape)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, way_json(arena, ways, &ways[i], shape));
	return list;
}

json_t *ways_shape_json(struct arena *arena, const struct way *ways, unsigned n)
{
	return all_json(arena, ways, n, true);
}

// The bytes as they were where the way began.
static const struct trace_event *first_bytes(const struct way *way)
{
	if (!way->n_steps)
		return way->now;
	return way->steps[0].before ? way->steps[0].before : way->steps[0].leaves;
}

json_t *ways_json(struct arena *arena, const struct ways_packet *packet, unsigned watch)
{
	struct way *ways;
	unsigned n = ways_make(arena, packet, watch, &ways);
	const struct trace_event *first = n ? first_bytes(&ways[0]) : NULL;

	if (!first)
		return NULL;
	return json_pack("{s:s, s:I, s:o}", "frame",
			 frame_headers(arena, first->bytes, first->n_bytes), "length",
			 (json_int_t)first->length, "ways", all_json(arena, ways, n, false));
}
