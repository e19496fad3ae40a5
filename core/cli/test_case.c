// SPDX-License-Identifier: BSD-3-Clause
// sluice test: one case on a graph of its own. The ports that the file names are replaced by test
// ports, time is set, and one thread walks.

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/test.h"
#include "cli/text.h"
#include "lua/script.h"
#include "value/table.h"

// A graph has come to rest when so many walks in a row moved nothing: packets that go round in a
// loop need a walk for each round.
#define IDLE_WALKS 64
#define WALKS_MAX 20000

#define START_NS 1000000000000ull

// One case as it runs.
struct trial {
	struct test_file *file;
	const struct test_case *test;
	const struct driver_type *driver; // of the test ports
	struct run *run;
	struct test_result *result;
	bool update;
	uint64_t now_ns;
};

void test_fault(struct test_file *file, struct test_result *result, struct place place,
		const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	result->faults = memory_grow(result->faults, result->n_faults + 1, sizeof(*result->faults));
	result->faults[result->n_faults++] =
	    arena_printf(file->arena, "%s:%u:%u: %s", place.file, place.line, place.col, text);
	free(text);
}

static const struct driver_type *tester_find(void)
{
	const struct driver_type **list;
	unsigned n = driver_list(&list);

	for (unsigned i = 0; i < n; i++)
		if (list[i]->tester)
			return list[i];
	return NULL;
}

// What a script builds with the file's vars; it drives nothing here.
static struct value *script_tree(struct test_file *file, struct arena *arena, struct errors *errors)
{
	struct script_options options = {
	    .file = file->graph_path, .sets = file->sets, .n_sets = file->n_sets};
	unsigned before = errors_count(errors);
	struct script *script = script_open(&options, errors);
	struct value *root = script ? script_value(script, arena, errors) : NULL;

	script_close(script);
	return errors_count(errors) == before ? root : NULL;
}

// The graph's tree, read anew for each case: loading a graph changes it.
static struct value *tree_read(struct test_file *file, struct arena *arena, struct errors *errors)
{
	struct value *root;

	if (file->graph_path && script_named(file->graph_path))
		return script_tree(file, arena, errors);
	if (file->graph_path)
		return yaml_read_file(arena, file->graph_path, errors);
	root = yaml_read_file(arena, file->path, errors);
	return root ? value_get(root, "graph") : NULL;
}

static int ports_replace(struct trial *trial, struct arena *arena, struct value *root,
			 struct errors *errors)
{
	const char *params = trial->driver->tester->params;
	struct test_file *file = trial->file;
	struct value *ports = root->kind == VALUE_MAP ? value_get(root, "ports") : NULL;
	unsigned before = errors_count(errors);

	for (unsigned i = 0; i < file->n_ports; i++) {
		struct member *member =
		    ports && ports->kind == VALUE_MAP ? value_member(ports, file->ports[i]) : NULL;
		struct value *spec;

		if (!member) {
			error_at(errors, file->port_places[i], "the graph has no port \"%s\"",
				 file->ports[i]);
			continue;
		}
		spec = value_new(arena, VALUE_MAP, member->place);
		value_put(arena, spec, trial->driver->name, member->place,
			  yaml_read_text(arena, file->path, params, strlen(params), errors));
		member->value = spec;
	}
	return errors_count(errors) > before ? -1 : 0;
}

static struct graph *graph_for(struct trial *trial, struct errors *errors)
{
	struct test_file *file = trial->file;
	unsigned before = errors_count(errors);
	struct arena *arena = arena_new();
	struct value *root = tree_read(file, arena, errors);

	if (!root || errors_count(errors) > before || ports_replace(trial, arena, root, errors)) {
		arena_free(arena);
		return NULL;
	}
	// A script has seen its vars already.
	return graph_from_value(
	    arena, file->graph_path ? file->graph_path : file->path, root, file->sets,
	    file->graph_path && script_named(file->graph_path) ? 0 : file->n_sets, errors);
}

static struct port *trial_port(const struct trial *trial, const char *name)
{
	return run_port(trial->run, (unsigned)graph_find_port(run_graph(trial->run), name));
}

static void walk(struct trial *trial, const struct test_step *step)
{
	unsigned idle = 0, walks = 0;

	for (uint64_t i = 0; i < step->polls; i++)
		run_step(trial->run);
	while (!step->polls && idle < IDLE_WALKS && walks++ < WALKS_MAX)
		idle = run_step(trial->run) > 0 ? 0 : idle + 1;
	run_tend(trial->run);
	if (walks >= WALKS_MAX)
		test_fault(trial->file, trial->result, step->written->place,
			   "the graph does not come to rest: a source makes packets without end "
			   "(give it a count, or the step a number of polls)");
}

// The clock moves in small parts, so that what goes by time goes as it would.
static void wait_for(struct trial *trial, const struct test_step *step)
{
	uint64_t parts = step->wait_ns / 1000000;

	if (parts > 1000)
		parts = 1000;
	if (parts < 1)
		parts = 1;
	for (uint64_t i = 1; i <= parts; i++) {
		uint64_t at = (uint64_t)((unsigned __int128)step->wait_ns * i / parts);

		run_set_time(trial->run, trial->now_ns + at);
		run_tend(trial->run);
		run_step(trial->run);
	}
	trial->now_ns += step->wait_ns;
}

// Notes what does away with so many faults.
static void edit_add(struct trial *trial, const struct test_step *step, const char *key,
		     bool counter, json_t *now, unsigned n_faults)
{
	struct test_edit *edit = arena_alloc(trial->file->arena, sizeof(*edit));

	*edit = (struct test_edit){.step = step->written,
				   .key = key,
				   .counter = counter,
				   .now = now,
				   .next = trial->file->edits};
	trial->file->edits = edit;
	trial->result->n_updated += n_faults;
}

static void call_failed(struct trial *trial, const struct test_step *step,
			const struct errors *errors)
{
	char *text = errors_text(errors);

	if (!step->error)
		test_fault(trial->file, trial->result, step->written->place,
			   "the command failed: %s", text);
	else if (!strstr(text, step->error))
		test_fault(trial->file, trial->result, step->written->place,
			   "the command failed with other words\n    - %s\n    + %s", step->error,
			   text);
	free(text);
}

static void call(struct trial *trial, const struct test_step *step)
{
	struct errors *errors = errors_new();
	json_t *reply = run_command(trial->run, step->node, step->command, step->args, errors);
	json_t *expected = step->reply ? text_json(step->reply) : NULL;
	char *a, *b;

	if (!reply) {
		call_failed(trial, step, errors);
	} else if (step->error) {
		test_fault(trial->file, trial->result, step->written->place,
			   "the command worked, it should have failed with \"%s\"", step->error);
	} else if (expected && !json_equal(reply, expected)) {
		a = json_dumps(expected, JSON_ENCODE_ANY);
		b = json_dumps(reply, JSON_ENCODE_ANY);
		test_fault(trial->file, trial->result, step->reply->place,
			   "the reply differs\n    - %s\n    + %s", a, b);
		free(a);
		free(b);
		if (trial->update)
			edit_add(trial, step, "reply", false, json_incref(reply), 1);
	}
	json_decref(reply);
	json_decref(expected);
	errors_free(errors);
}

static struct frame *sent_frames(struct trial *trial, struct port *port, unsigned *n)
{
	const struct driver_tester *tester = trial->driver->tester;
	struct frame *frames;

	*n = tester->sent(port);
	frames = arena_alloc(trial->file->arena, (*n + 1) * sizeof(*frames));
	for (unsigned i = 0; i < *n; i++) {
		struct port_packet packet = tester->sent_packet(port, i);

		frames[i].bytes = arena_alloc(trial->file->arena, packet.length + 1);
		frames[i].n = packet.length;
		memcpy(frames[i].bytes, packet.bytes, packet.length);
	}
	tester->sent_clear(port);
	return frames;
}

static const struct test_packets *expected_at(const struct test_step *step, const char *port)
{
	for (unsigned i = 0; i < step->n_out; i++)
		if (!strcmp(step->out[i].port, port))
			return &step->out[i];
	return NULL;
}

static void out_check(struct trial *trial, const struct test_step *step)
{
	struct arena *arena = trial->file->arena;
	json_t *now = json_object();
	unsigned differs = 0;

	for (unsigned i = 0; i < trial->file->n_ports; i++) {
		const char *name = trial->file->ports[i], *diff;
		const struct test_packets *expected = expected_at(step, name);
		struct frame *got;
		unsigned n;

		got = sent_frames(trial, trial_port(trial, name), &n);
		for (unsigned j = 0; j < n; j++) {
			if (!j)
				json_object_set_new(now, name, json_array());
			json_array_append_new(
			    json_object_get(now, name),
			    json_string(frame_describe(arena, got[j].bytes, got[j].n)));
		}
		diff = test_diff(arena, name, expected ? expected->packets : NULL,
				 expected ? expected->n : 0, got, n);
		if (!diff)
			continue;
		differs++;
		test_fault(trial->file, trial->result,
			   expected ? expected->place : step->written->place, "%s", diff);
	}
	if (differs && trial->update)
		edit_add(trial, step, "out", false, json_incref(now), differs);
	json_decref(now);
}

static void counters_check(struct trial *trial, const struct test_step *step)
{
	for (size_t i = 0; step->counters && i < step->counters->n; i++) {
		const struct member *member = &step->counters->members[i];
		uint64_t expected = strtoull(member->value->text, NULL, 0), now;

		if (!test_counter(trial->run, member->key, &now)) {
			test_fault(trial->file, trial->result, member->place,
				   "no counter \"%s\"; they are like node.in, node.out[0], "
				   "node.made, node.dropped.reason and port.rx_packets",
				   member->key);
		} else if (now != expected) {
			test_fault(trial->file, trial->result, member->value->place,
				   "%s is %" PRIu64 ", it should be %" PRIu64, member->key, now,
				   expected);
			if (trial->update)
				edit_add(trial, step, member->key, true,
					 json_integer((json_int_t)now), 1);
		}
	}
}

static void step_run(struct trial *trial, const struct test_step *step)
{
	const struct driver_tester *tester = trial->driver->tester;

	if (step->kind == TEST_WAIT)
		wait_for(trial, step);
	else if (step->kind == TEST_CALL)
		call(trial, step);
	for (unsigned i = 0; i < step->n_in; i++) {
		struct port *port = trial_port(trial, step->in[i].port);

		for (unsigned j = 0; j < step->in[i].n; j++)
			tester->feed(port, step->in[i].packets[j].bytes, step->in[i].packets[j].n);
	}
	walk(trial, step);
	out_check(trial, step);
	counters_check(trial, step);
}

static void steps_run(struct trial *trial)
{
	const struct test_case *test = trial->test;
	unsigned lost, faults;

	for (unsigned i = 0; i < test->n_steps; i++)
		step_run(trial, &test->steps[i]);
	run_stop(trial->run);
	faults = run_faults(trial->run);
	lost = run_packets_out(trial->run);
	if (faults)
		test_fault(trial->file, trial->result, test->place,
			   "%u fault%s while it ran (see above)", faults, faults == 1 ? "" : "s");
	if (lost)
		test_fault(trial->file, trial->result, test->place,
			   "%u packet%s of the pool did not come back", lost, lost == 1 ? "" : "s");
}

int test_case_run(struct test_file *file, const struct test_case *test, bool update,
		  struct test_result *result, struct errors *errors)
{
	struct run_options options = {.replay = true, .no_cores = true, .start_ns = START_NS};
	struct trial trial = {.file = file,
			      .test = test,
			      .driver = tester_find(),
			      .result = result,
			      .update = update,
			      .now_ns = START_NS};
	struct graph *graph;

	if (!trial.driver) {
		error_machine_at(errors, test->place,
				 "no driver of this program can stand in for ports in tests");
		return -1;
	}
	graph = graph_for(&trial, errors);
	if (!graph)
		return -1;
	trial.run = run_open(graph, &options, errors);
	if (!trial.run)
		return -1;
	steps_run(&trial);
	run_close(trial.run);
	return 0;
}
