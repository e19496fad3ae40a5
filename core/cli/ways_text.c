// SPDX-License-Identifier: BSD-3-Clause
// The ways of a packet as text: nodes with their gates as a graph file has them, cycles, what was
// changed, and how it ended.

#include "cli/ways_text.h"

#include <string.h>

#include "value/arena.h"

#define NAME_WIDTH 32

struct printing {
	struct arena *arena;
	const json_t *ways;
	bool would;
	FILE *to;
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

// "[1]" or "[miss]"; gate 0 without a name is not shown, as nobody would write it.
static const char *gate_text(struct arena *arena, const json_t *step, const char *key,
			     const char *name_key)
{
	const char *name = text_of(step, name_key);

	if (*name)
		return arena_printf(arena, "[%s]", name);
	return number_of(step, key) ? arena_printf(arena, "[%lld]", number_of(step, key)) : "";
}

static const char *time_text(struct arena *arena, json_int_t ns)
{
	if (ns < 10000)
		return arena_printf(arena, "%lld ns", ns);
	if (ns < 10000000)
		return arena_printf(arena, "%lld us", ns / 1000);
	return arena_printf(arena, "%lld ms", ns / 1000000);
}

static const char *joined(struct arena *arena, const char *a, const char *b)
{
	return *a && *b ? arena_printf(arena, "%s; %s", a, b) : *a ? a : b;
}

static const char *changes_text(struct arena *arena, const json_t *list)
{
	const char *text = "";
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", json_string_value(one));
	return text;
}

static const char *end_text(const struct printing *at, const json_t *end)
{
	const char *what = text_of(end, "what"), *would = at->would ? "would be " : "";

	if (!strcmp(what, "sent"))
		return arena_printf(at->arena, "%ssent by port %s", would, text_of(end, "port"));
	if (!strcmp(what, "consumed"))
		return arena_printf(at->arena, "%sconsumed", would);
	if (!strcmp(what, "dropped"))
		return arena_printf(at->arena, "%sdropped: %s (%s)", would, text_of(end, "reason"),
				    text_of(end, "help"));
	return arena_printf(at->arena, "%s: %s", what, text_of(end, "help"));
}

static void way_print(const struct printing *at, size_t index, int indent);

static void line_print(const struct printing *at, int indent, const char *name, const char *cycles,
		       const char *what)
{
	const char *line =
	    arena_printf(at->arena, "%*s%-*s %13s  %s", indent, "",
			 NAME_WIDTH - indent > 0 ? NAME_WIDTH - indent : 0, name, cycles, what);
	size_t n = strlen(line);

	while (n && line[n - 1] == ' ')
		n--;
	fprintf(at->to, "%.*s\n", (int)n, line);
}

static void step_print(const struct printing *at, const json_t *step, const json_t *end, int indent)
{
	struct arena *arena = at->arena;
	const json_t *cycles = json_object_get(step, "cycles"), *held;
	const char *what = changes_text(arena, json_object_get(step, "changed"));

	held = json_object_get(step, "held_ns");
	if (held && !at->would)
		what = joined(
		    arena, what,
		    arena_printf(arena, "held for %s", time_text(arena, json_integer_value(held))));
	if (end)
		what = joined(arena, what, end_text(at, end));
	line_print(at, indent,
		   arena_printf(arena, "%s%s%s (%s)", gate_text(arena, step, "in", "in_name"),
				text_of(step, "node"), gate_text(arena, step, "out", "out_name"),
				text_of(step, "type")),
		   cycles ? arena_printf(arena, "%lld cycles", json_integer_value(cycles)) : "",
		   what);
}

// The copies that a step of a way made.
static void copies_print(const struct printing *at, size_t from, size_t step, int indent)
{
	const json_t *way;
	size_t i;

	json_array_foreach (at->ways, i, way)
		if (json_object_get(way, "from") && (size_t)number_of(way, "from") == from &&
		    (size_t)number_of(way, "step") == step)
			way_print(at, i, indent);
}

static void way_print(const struct printing *at, size_t index, int indent)
{
	const json_t *way = json_array_get(at->ways, index), *step;
	const json_t *steps = json_object_get(way, "steps"), *end = json_object_get(way, "end");
	size_t n = json_array_size(steps), i;

	if (json_object_get(way, "from")) {
		const char *what = changes_text(at->arena, json_object_get(way, "changed"));
		const char *gate = gate_text(at->arena, way, "out", "out_name");

		if (!n)
			what = joined(at->arena, what, end_text(at, end));
		line_print(at, indent,
			   arena_printf(at->arena, "a copy by %s", *gate ? gate : "[0]"), "", what);
		indent += 2;
	}
	json_array_foreach (steps, i, step) {
		step_print(at, step, i + 1 == n ? end : NULL, indent);
		copies_print(at, index, i, indent + 2);
	}
}

void ways_print(const json_t *ways, bool would, FILE *to)
{
	struct printing at = {.arena = arena_new(), .ways = ways, .would = would, .to = to};

	if (json_array_size(ways))
		way_print(&at, 0, 2);
	arena_free(at.arena);
}
