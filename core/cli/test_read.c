// SPDX-License-Identifier: BSD-3-Clause
// sluice test: from a test file to its cases, with every fault of the file reported.

#include <stdlib.h>
#include <string.h>

#include "cli/test.h"
#include "value/table.h"

// Where we are in one file.
struct reading {
	struct test_file *file;
	struct errors *errors;
};

static void keys_check(struct reading *at, const struct value *map, const char *what,
		       const char *const *known)
{
	size_t n = 0;

	while (known[n])
		n++;
	for (size_t i = 0; i < map->n; i++) {
		const char *key = map->members[i].key, *near;
		size_t j = 0;

		while (j < n && strcmp(key, known[j]) != 0)
			j++;
		if (j < n)
			continue;
		near = suggest(key, known, n);
		error_at(at->errors, map->members[i].place, "\"%s\" is not a key of a %s%s%s%s",
			 key, what, near ? "; did you mean \"" : "", near ? near : "",
			 near ? "\"?" : "");
	}
}

static bool kind_check(struct reading *at, const struct value *value, enum value_kind kind,
		       const char *what, const char *wanted)
{
	if (value->kind == kind)
		return true;
	error_at(at->errors, value->place, "%s is %s, it should be %s", what,
		 value_describe(at->file->arena, value), wanted);
	return false;
}

static const char *scalar_read(struct reading *at, const struct value *map, const char *key,
			       const char *wanted)
{
	const struct value *value = value_get(map, key);

	if (!value || !kind_check(at, value, VALUE_SCALAR, key, wanted))
		return NULL;
	return value->text;
}

static void port_mark(struct test_file *file, const struct member *member)
{
	for (unsigned i = 0; i < file->n_ports; i++)
		if (!strcmp(file->ports[i], member->key))
			return;
	file->ports = memory_grow(file->ports, file->n_ports + 1, sizeof(*file->ports));
	file->port_places =
	    memory_grow(file->port_places, file->n_ports + 1, sizeof(*file->port_places));
	file->ports[file->n_ports] = member->key;
	file->port_places[file->n_ports++] = member->place;
}

static void packet_list_read(struct reading *at, const struct value *list,
			     struct test_packets *packets)
{
	packets->packets = arena_alloc(at->file->arena, (list->n + 1) * sizeof(struct frame));
	for (size_t i = 0; i < list->n; i++) {
		const struct value *item = list->items[i];
		const char *why;

		if (!kind_check(at, item, VALUE_SCALAR, "a packet", "words or hexadecimal"))
			continue;
		if (!frame_parse(at->file->arena, item->text, &packets->packets[i], &why))
			error_at(at->errors, item->place, "%s", why);
	}
	packets->n = (unsigned)list->n;
}

// A path as written in the test file is relative to it.
static const char *path_from(struct test_file *file, const char *path)
{
	const char *slash = strrchr(file->path, '/');

	if (path[0] == '/' || !slash)
		return path;
	return arena_printf(file->arena, "%.*s/%s", (int)(slash - file->path), file->path, path);
}

// `{port: [packets]}`, `{port: capture}`.
static struct test_packets *traffic_read(struct reading *at, const struct value *step,
					 const char *key, unsigned *n)
{
	const struct value *map = value_get(step, key);
	struct test_packets *all;

	*n = 0;
	if (!map || map->kind == VALUE_NULL ||
	    !kind_check(at, map, VALUE_MAP, key, "a map of ports and packets"))
		return NULL;
	all = arena_alloc(at->file->arena, (map->n + 1) * sizeof(*all));
	for (size_t i = 0; i < map->n; i++) {
		const struct member *member = &map->members[i];
		struct test_packets *packets = &all[(*n)++];

		packets->port = member->key;
		packets->place = member->place;
		port_mark(at->file, member);
		if (member->value->kind == VALUE_LIST)
			packet_list_read(at, member->value, packets);
		else if (member->value->kind == VALUE_SCALAR)
			test_capture_read(at->file->arena, path_from(at->file, member->value->text),
					  member->value->place, packets, at->errors);
		else if (member->value->kind == VALUE_MAP)
			error_at(at->errors, member->value->place,
				 "packets are a map, they should be a list of packets or the path "
				 "of a capture");
	}
	return all;
}

static void counters_read(struct reading *at, const struct value *map, struct test_step *step)
{
	const struct value *counters = value_get(map, "counters");
	const char *why;
	uint64_t n;

	if (!counters || counters->kind == VALUE_NULL ||
	    !kind_check(at, counters, VALUE_MAP, "counters", "a map of counters and numbers"))
		return;
	step->counters = counters;
	for (size_t i = 0; i < counters->n; i++) {
		const struct value *value = counters->members[i].value;

		if (value->kind != VALUE_SCALAR || !parse_u64(value->text, &n, &why))
			error_at(at->errors, value->place, "%s is %s, it should be a number",
				 counters->members[i].key, value_describe(at->file->arena, value));
	}
}

static void wait_read(struct reading *at, const struct value *map, struct test_step *step)
{
	const struct value *value = value_get(map, "wait");
	struct duration duration;
	const char *why = "is no duration (for example 10s)";

	if (value->kind == VALUE_SCALAR && parse_duration(value->text, &duration, &why))
		step->wait_ns = duration.ns;
	else
		error_at(at->errors, value->place, "wait: \"%s\" %s",
			 value->kind == VALUE_SCALAR ? value->text : "", why);
}

// `{node: command}`, `{node: {command: arguments}}`.
static void call_read(struct reading *at, const struct value *map, struct test_step *step)
{
	const struct value *call = value_get(map, "call");
	const struct value *command = NULL;

	if (call->kind == VALUE_MAP && call->n == 1)
		command = call->members[0].value;
	if (command && command->kind == VALUE_SCALAR) {
		step->command = command->text;
	} else if (command && command->kind == VALUE_MAP && command->n == 1) {
		step->command = command->members[0].key;
		step->args = command->members[0].value;
	} else {
		error_at(at->errors, call->place,
			 "call is %s, it should be {node: {command: {argument: value}}}",
			 value_describe(at->file->arena, call));
		return;
	}
	step->node = call->members[0].key;
	step->reply = value_get(map, "reply");
	step->error = scalar_read(at, map, "error", "a text");
	if (step->reply && step->error)
		error_at(at->errors, map->place, "a command either replies or fails, not both");
}

static void polls_read(struct reading *at, const struct value *map, struct test_step *step)
{
	const char *text = scalar_read(at, map, "polls", "a number");
	const char *why;

	if (text &&
	    (!parse_u64(text, &step->polls, &why) || step->polls < 1 || step->polls > 1000000))
		error_at(at->errors, value_get(map, "polls")->place,
			 "polls: \"%s\" is no number from 1 to 1000000", text);
}

static void traffic_step_read(struct reading *at, const struct value *map, struct test_step *step)
{
	step->in = traffic_read(at, map, "in", &step->n_in);
	step->out = traffic_read(at, map, "out", &step->n_out);
	counters_read(at, map, step);
	polls_read(at, map, step);
}

static void step_read(struct reading *at, const struct value *map, struct test_step *step)
{
	static const char *const keys[] = {"in",   "out",   "counters", "polls", "wait",
					   "call", "reply", "error",	NULL};

	if (!kind_check(at, map, VALUE_MAP, "a step", "a map with in, wait or call"))
		return;
	keys_check(at, map, "step", keys);
	step->written = map;
	if (value_get(map, "wait") && value_get(map, "call"))
		error_at(at->errors, map->place, "a step either waits or calls, not both");
	if (value_get(map, "wait")) {
		step->kind = TEST_WAIT;
		wait_read(at, map, step);
	} else if (value_get(map, "call")) {
		step->kind = TEST_CALL;
		call_read(at, map, step);
	}
	traffic_step_read(at, map, step);
}

static void case_read(struct reading *at, const struct value *map, struct test_case *test)
{
	static const char *const keys[] = {"name",  "in",    "out",  "counters",
					   "polls", "steps", "skip", NULL};
	const struct value *steps;

	test->place = map->place;
	test->name = "";
	if (!kind_check(at, map, VALUE_MAP, "a case", "a map with name, in, out or steps"))
		return;
	keys_check(at, map, "case", keys);
	if (value_get(map, "name"))
		test->name = scalar_read(at, map, "name", "a text");
	else
		error_at(at->errors, map->place, "a case needs a name");
	test->skip = scalar_read(at, map, "skip", "a text that says why");
	steps = value_get(map, "steps");
	if (!steps) {
		test->steps = arena_alloc(at->file->arena, sizeof(*test->steps));
		test->n_steps = 1;
		test->steps->written = map;
		traffic_step_read(at, map, test->steps);
		return;
	}
	if (!kind_check(at, steps, VALUE_LIST, "steps", "a list of steps"))
		return;
	test->steps = arena_alloc(at->file->arena, (steps->n + 1) * sizeof(*test->steps));
	test->n_steps = (unsigned)steps->n;
	for (size_t i = 0; i < steps->n; i++)
		step_read(at, steps->items[i], &test->steps[i]);
}

static void sets_read(struct reading *at, const struct value *root)
{
	const struct value *map = value_get(root, "set");

	if (!map || map->kind == VALUE_NULL ||
	    !kind_check(at, map, VALUE_MAP, "set", "a map of names and values"))
		return;
	at->file->sets = arena_alloc(at->file->arena, map->n * sizeof(*at->file->sets));
	for (size_t i = 0; i < map->n; i++) {
		const struct member *member = &map->members[i];

		if (kind_check(at, member->value, VALUE_SCALAR, member->key, "a text"))
			at->file->sets[at->file->n_sets++] =
			    (struct graph_set){.name = member->key, .value = member->value->text};
	}
}

static void root_read(struct reading *at, const struct value *root)
{
	static const char *const keys[] = {"graph", "set", "cases", NULL};
	const struct value *graph, *cases;

	if (!kind_check(at, root, VALUE_MAP, "a test file", "a map with graph and cases"))
		return;
	keys_check(at, root, "test file", keys);
	graph = value_get(root, "graph");
	cases = value_get(root, "cases");
	if (!graph)
		error_at(at->errors, root->place,
			 "graph is missing, it should be a graph or the path of a graph file");
	else if (graph->kind == VALUE_SCALAR)
		at->file->graph_path = path_from(at->file, graph->text);
	else
		kind_check(at, graph, VALUE_MAP, "graph", "a graph or the path of a graph file");
	sets_read(at, root);
	if (!cases) {
		error_at(at->errors, root->place, "cases is missing, it should be a list of cases");
		return;
	}
	if (!kind_check(at, cases, VALUE_LIST, "cases", "a list of cases"))
		return;
	at->file->cases = arena_alloc(at->file->arena, (cases->n + 1) * sizeof(*at->file->cases));
	at->file->n_cases = (unsigned)cases->n;
	for (size_t i = 0; i < cases->n; i++)
		case_read(at, cases->items[i], &at->file->cases[i]);
}

struct test_file *test_read(const char *path, struct errors *errors)
{
	struct arena *arena = arena_new();
	struct test_file *file = arena_alloc(arena, sizeof(*file));
	struct reading at = {.file = file, .errors = errors};
	unsigned before = errors_count(errors);
	struct value *root;

	file->path = path;
	file->arena = arena;
	root = yaml_read_file(arena, path, errors);
	if (root)
		root_read(&at, root);
	if (errors_count(errors) == before)
		return file;
	test_free(file);
	return NULL;
}

void test_free(struct test_file *file)
{
	struct arena *arena;

	if (!file)
		return;
	for (struct test_edit *edit = file->edits; edit; edit = edit->next)
		json_decref(edit->now);
	arena = file->arena;
	free(file->ports);
	free(file->port_places);
	arena_free(arena);
}
