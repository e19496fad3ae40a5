// SPDX-License-Identifier: BSD-3-Clause
// What the engine's own tests share (engine.h).

#include "engine.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME_LENGTH 60
#define NUMBER_AT 14

static struct graph *load(const char *text, struct errors *errors)
{
	struct arena *arena = arena_new();
	struct value *root = yaml_read_text(arena, "g.yaml", text, strlen(text), errors);

	if (root)
		return graph_from_value(arena, "g.yaml", root, NULL, 0, errors);
	arena_free(arena);
	return NULL;
}

// Prints what there is and fails the test if it should be nothing.
static void errors_end(struct errors *errors, bool fail)
{
	if (errors_count(errors)) {
		fputc('\n', stdout);
		errors_print(errors, stdout);
	}
	if (fail)
		CU_FAIL("a graph was refused");
	errors_free(errors);
}

struct graph *engine_graph(const char *text)
{
	struct errors *errors = errors_new();
	struct graph *graph = load(text, errors);

	errors_end(errors, !graph);
	return graph;
}

char *engine_faults(const char *text)
{
	struct errors *errors = errors_new();
	struct graph *graph = load(text, errors);
	char *faults = errors_text(errors);

	CU_ASSERT_EQUAL(graph == NULL, errors_count(errors) > 0);
	graph_free(graph);
	errors_free(errors);
	return faults;
}

bool engine_text_is(const char *got, const char *expected)
{
	if (got && !strcmp(got, expected))
		return true;
	printf("\nexpected:\n%s\ngot:\n%s\n", expected, got ? got : "(nothing)");
	return false;
}

bool engine_faults_are(const char *text, const char *expected)
{
	char *faults = engine_faults(text);
	size_t n = strlen(faults);
	bool same;

	if (n && faults[n - 1] == '\n')
		faults[n - 1] = 0;
	same = engine_text_is(faults, expected);
	free(faults);
	return same;
}

static struct run *open_with(const char *text, const struct run_options *options)
{
	struct graph *graph = engine_graph(text);
	struct errors *errors;
	struct run *run;

	if (!graph)
		return NULL;
	errors = errors_new();
	run = run_open(graph, options, errors);
	errors_end(errors, !run);
	return run;
}

struct run *engine_replay(const char *text)
{
	static const struct run_options options = {.replay = true};

	return open_with(text, &options);
}

struct run *engine_start(const char *text)
{
	static const struct run_options options = {.no_cores = true};
	struct run *run = open_with(text, &options);
	struct errors *errors;

	if (!run)
		return NULL;
	errors = errors_new();
	if (run_start(run, errors)) {
		errors_end(errors, true);
		run_close(run);
		return NULL;
	}
	errors_end(errors, false);
	return run;
}

unsigned engine_steps(struct run *run, unsigned max)
{
	unsigned n = 0;

	while (n < max && run_step(run) >= 0)
		n++;
	return n;
}

bool engine_switch(struct run *run, const char *text, bool allow_loss, char **faults)
{
	struct errors *errors = errors_new();
	struct graph *graph = load(text, errors);
	int status = -1;

	if (graph)
		status = run_switch(run, graph, allow_loss, errors);
	if (faults) {
		*faults = errors_text(errors);
		errors_free(errors);
	} else {
		errors_end(errors, status);
	}
	return !status;
}

struct node_counts engine_counts(struct run *run, const char *name)
{
	struct node_counts counts = {0};
	int node = graph_find_node(run_graph(run), name);

	CU_ASSERT_FATAL(node >= 0);
	run_node_counts(run, (unsigned)node, &counts);
	return counts;
}

uint64_t engine_dropped(struct run *run, const char *name, reason_t reason)
{
	return engine_counts(run, name).dropped[reason];
}

static struct port *port_of(struct run *run, const char *name)
{
	int port = graph_find_port(run_graph(run), name);

	CU_ASSERT_FATAL(port >= 0);
	return run_port(run, (unsigned)port);
}

void engine_feed(struct run *run, const char *name, uint32_t first, unsigned n)
{
	struct port *port = port_of(run, name);
	uint8_t frame[FRAME_LENGTH] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};

	for (unsigned i = 0; i < n; i++) {
		uint32_t number = first + i;

		memcpy(frame + NUMBER_AT, &number, sizeof(number));
		port->driver->tester->feed(port, frame, sizeof(frame));
	}
}

void engine_end(struct run *run, const char *name)
{
	struct port *port = port_of(run, name);

	port->driver->tester->end(port);
}

unsigned engine_sent(struct run *run, const char *name)
{
	struct port *port = port_of(run, name);

	return port->driver->tester->sent(port);
}

uint32_t engine_number(struct run *run, const char *name, unsigned i)
{
	struct port *port = port_of(run, name);
	struct port_packet packet = port->driver->tester->sent_packet(port, i);
	uint32_t number = UINT32_MAX;

	CU_ASSERT_FATAL(packet.length >= NUMBER_AT + sizeof(number));
	memcpy(&number, packet.bytes + NUMBER_AT, sizeof(number));
	return number;
}

bool engine_sent_in_order(struct run *run, const char *name, uint32_t first, unsigned n)
{
	unsigned sent = engine_sent(run, name);

	for (unsigned i = 0; i < sent && i < n; i++)
		if (engine_number(run, name, i) != first + i) {
			printf("\nport %s: packet %u bears number %u, expected %u\n", name, i,
			       engine_number(run, name, i), first + i);
			return false;
		}
	if (sent != n)
		printf("\nport %s: %u packets were sent, expected %u\n", name, sent, n);
	return sent == n;
}

// In + made + released = out + consumed + dropped + held, by node.
static void counts_check(struct run *run, unsigned index)
{
	const struct node *node = run_node(run, index);
	uint64_t in = 0, out = 0;
	struct node_counts counts;

	run_node_counts(run, index, &counts);
	for (unsigned i = 0; i < node->igates; i++)
		in += counts.in[i];
	for (unsigned i = 0; i < node->ogates; i++)
		out += counts.out[i];
	for (unsigned i = 0; i < reason_count(node->type); i++)
		out += counts.dropped[i];
	// .held is what is held now: what came in less what went out.
	if (in + counts.made != out + counts.consumed + counts.held) {
		printf("\n%s '%s': in %lu, made %lu; out and dropped %lu, consumed %lu, held %lu\n",
		       node->type->name, node->name, in, counts.made, out, counts.consumed,
		       counts.held);
		CU_FAIL("a node's packets do not add up");
	}
}

void engine_finish(struct run *run)
{
	run_stop(run);
	CU_ASSERT_EQUAL(run_packets_out(run), 0);
	if (!run_faults(run))
		for (unsigned i = 0; i < run_graph(run)->n_nodes; i++)
			counts_check(run, i);
	run_close(run);
}

bool engine_wait_end(struct run *run, enum run_state *state)
{
	time_t limit = time(NULL) + 10;
	struct timespec pause = {.tv_nsec = 200000};

	while ((*state = run_tend(run)) == RUN_BUSY) {
		if (time(NULL) > limit)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

bool engine_cores(int n)
{
	if (CPU_COUNT(graph_cores()) >= n)
		return true;
	test_skip("too few cores are allowed");
	return false;
}

void engine_put(struct engine_text *text, const char *format, ...)
{
	char *more, *whole;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&more, format, args);
	va_end(args);
	CU_ASSERT_FATAL(n >= 0);
	whole = realloc(text->text, text->n + (size_t)n + 1);
	CU_ASSERT_FATAL(whole != NULL);
	memcpy(whole + text->n, more, (size_t)n + 1);
	text->text = whole;
	text->n += (size_t)n;
	free(more);
}
