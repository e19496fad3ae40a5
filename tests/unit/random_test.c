// SPDX-License-Identifier: BSD-3-Clause
// Thousands of random graphs of all modules run in replay: whatever comes in, every packet is
// accounted for by each node and on each link, and the pools are whole at the end. LONG=1 runs more
// of them; SEED=n begins at another one.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_tap.h"
#include "random_graph.h"

#define MAGIC 0x5c1ce001u

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static bool is_long(void)
{
	const char *text = getenv("LONG");

	return text && *text;
}

// A frame that may be anything: too short, tagged, IP with options, random bytes.
static uint32_t frame_make(struct random *random, uint8_t *bytes)
{
	uint32_t length =
	    random_chance(random, 10) ? random_below(random, 20) : 14 + random_below(random, 1500);
	unsigned at = 12;

	for (uint32_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)random_next(random);
	memcpy(bytes, "\x02\0\0\0\0", 5);
	bytes[5] &= 3;
	memcpy(bytes + 6, "\x02\0\0\0\0", 5);
	bytes[11] &= 3;
	for (unsigned tags = random_below(random, 4); tags > 1; tags--) {
		memcpy(bytes + at, "\x81\x00", 2);
		at += 4;
	}
	if (random_chance(random, 70)) {
		memcpy(bytes + at, "\x08\x00", 2);
		bytes[at + 2] = (uint8_t)(random_chance(random, 80) ? 0x45 : random_next(random));
		bytes[at + 11] = random_chance(random, 50) ? 17 : 6;
		memcpy(bytes + at + 14, "\x0a\0\0", 3);
		memcpy(bytes + at + 18, "\x0a\0\0", 3);
	} else if (random_chance(random, 50)) {
		memcpy(bytes + at, "\x86\xdd\x60", 3);
	}
	return length;
}

static void port_feed(struct random *random, struct port *port)
{
	uint8_t bytes[2048];

	for (unsigned n = random_below(random, 200); n > 0; n--) {
		uint32_t length = frame_make(random, bytes);

		port->driver->tester->feed(port, bytes, length);
	}
}

// Any command of any node, with arguments of the right kind; what it says is its own matter.
static void command_try(struct random *random, struct run *run)
{
	const struct graph *graph = run_graph(run);
	const struct graph_node *node = &graph->nodes[random_below(random, graph->n_nodes)];
	struct engine_text text = {0};
	unsigned n = 0;
	const struct command *command;

	while (node->type->commands && node->type->commands[n].name)
		n++;
	if (!n)
		return;
	command = &node->type->commands[random_below(random, n)];
	if (random_params(random, command->args, false, "p0", node->ogates, &text)) {
		struct errors *errors = errors_new();
		struct arena *arena = arena_new();
		struct value *args = yaml_read_text(arena, "command", text.text, text.n, errors);

		json_decref(run_command(run, node->name, command->name, args, errors));
		arena_free(arena);
		errors_free(errors);
	}
	free(text.text);
}

// What left by the gates that lead to an input gate has come in there.
static bool links_add_up(struct run *run)
{
	const struct graph *graph = run_graph(run);
	struct node_counts *counts = memory_new(graph->n_nodes, sizeof(*counts));
	bool good = true;

	for (unsigned i = 0; i < graph->n_nodes; i++)
		run_node_counts(run, i, &counts[i]);
	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];

		counts[link->to].in[link->igate] -= counts[link->from].out[link->ogate];
	}
	for (unsigned i = 0; i < graph->n_nodes; i++)
		for (unsigned gate = 0; gate < graph->nodes[i].igates; gate++)
			good &= !counts[i].in[gate];
	free(counts);
	return good;
}

// A tap that is there in some rounds, with batches waiting or not.
static void tap_turn(struct random *random, struct run *run, struct engine_tap *tap, bool *there)
{
	struct errors *errors = errors_new();

	if (*there) {
		CU_ASSERT_EQUAL(run_untap(run, &tap->tap, errors), 0);
	} else {
		engine_tap_new(tap, random_chance(random, 50));
		CU_ASSERT_EQUAL(run_tap(run, &tap->tap, errors), 0);
	}
	*there = !*there;
	errors_free(errors);
}

static void drive(struct random *random, struct run *run)
{
	struct engine_tap tap;
	bool tapped = false;
	unsigned n_ports = run_graph(run)->n_ports;
	uint64_t now_ns = 0;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < n_ports; i++)
			port_feed(random, run_port(run, i));
		for (unsigned i = 0; i < 10; i++) {
			run_step(run);
			if (random_chance(random, 30))
				tap_turn(random, run, &tap, &tapped);
			now_ns += random_below(random, 300000000);
			run_set_time(run, now_ns);
		}
		run_tend(run);
		command_try(random, run);
	}
	for (unsigned i = 0; i < n_ports; i++)
		run_port(run, i)->driver->tester->end(run_port(run, i));
	engine_steps(run, 100);
	if (tapped)
		tap_turn(random, run, &tap, &tapped);
}

static bool graph_try(uint64_t seed)
{
	struct random random = {seed * 0x9e3779b97f4a7c15ULL};
	char *text = random_graph(&random);
	unsigned failures = CU_get_number_of_failures();
	struct run *run = engine_replay(text);

	if (run) {
		CU_ASSERT_TRUE(engine_round_trip(run_graph(run)));
		drive(&random, run);
		run_stop(run);
		CU_ASSERT_TRUE(links_add_up(run));
		CU_ASSERT_EQUAL(run_faults(run), 0);
		engine_finish(run);
	}
	failures = CU_get_number_of_failures() - failures;
	if (failures)
		printf("\nSEED=%lu\n%s\n", seed, text);
	free(text);
	return !failures;
}

static void random_graphs(void)
{
	unsigned long n = from_environment("GRAPHS", is_long() ? 10000 : 1000);
	unsigned long seed = from_environment("SEED", 1);
	unsigned failed = 0;

	for (unsigned long i = 0; i < n && failed < 3; i++)
		failed += !graph_try(seed + i);
}

// Numbered packets, 200 bytes long, through one node and out by each of its gates.
static void numbered_feed(struct run *run, unsigned n)
{
	uint8_t bytes[200] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 186};
	uint32_t tail[2] = {MAGIC, 0};

	memcpy(bytes + 22, "\x40\x11\x00\x00\x0a\0\0\x01\x0a\0\0\x02", 12);
	for (; tail[1] < n; tail[1]++) {
		memcpy(bytes + sizeof(bytes) - sizeof(tail), tail, sizeof(tail));
		run_port(run, 0)->driver->tester->feed(run_port(run, 0), bytes, sizeof(bytes));
	}
}

static bool in_order(struct port *port)
{
	uint32_t last = 0, tail[2];

	for (unsigned i = 0; i < port->driver->tester->sent(port); i++) {
		struct port_packet packet = port->driver->tester->sent_packet(port, i);

		if (packet.length < sizeof(tail))
			continue;
		memcpy(tail, packet.bytes + packet.length - sizeof(tail), sizeof(tail));
		if (tail[0] != MAGIC)
			continue;
		if (tail[1] < last)
			return false;
		last = tail[1];
	}
	return true;
}

static void order_try(struct random *random, const struct module_type *type)
{
	unsigned n_gates = type->ogates == GATES_ANY ? 4 : type->ogates;
	struct engine_text text = {0};
	struct run *run;
	bool good = true;

	engine_put(&text, "burst: %u\nports:\n  in: {memory: {open: true}}\n",
		   1 + random_below(random, 64));
	for (unsigned i = 0; i < n_gates; i++)
		engine_put(&text, "  out%u: memory\n", i);
	engine_put(&text, "nodes:\n  rx: {PortInc: {port: in}}\n");
	for (unsigned i = 0; i < n_gates; i++)
		engine_put(&text, "  tx%u: {PortOut: {port: out%u}}\n", i, i);
	engine_put(&text, "  n: ");
	if (!random_node(random, type, &text)) {
		free(text.text);
		return;
	}
	engine_put(&text, "\ngraph:\n  - rx -> n\n");
	for (unsigned i = 0; i < n_gates; i++)
		engine_put(&text, "  - n[%u] -> tx%u\n", i, i);
	run = type->reads ? NULL : engine_replay(text.text);
	if (run) {
		numbered_feed(run, 500);
		for (unsigned i = 0; i < 50; i++) {
			run_step(run);
			run_set_time(run, i * 50000000ULL);
		}
		for (unsigned i = 0; i < n_gates; i++)
			good &= in_order(run_port(run, 1 + i));
		engine_finish(run);
	}
	if (!good)
		printf("\nout of order:\n%s\n", text.text);
	CU_ASSERT_TRUE(good);
	free(text.text);
}

static void order_is_kept(void)
{
	struct random random = {from_environment("SEED", 1)};
	unsigned n, n_wanted = 0, n_list;
	const struct module_type **modules = random_modules(&n), **list;

	// A module that cannot be made up would be left out of all of this unseen.
	n_list = module_list(&list);
	for (unsigned i = 0; i < n_list; i++)
		n_wanted += random_wanted(list[i]);
	CU_ASSERT_EQUAL(n, n_wanted);
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < 20; j++)
			order_try(&random, modules[i]);
	free(modules);
}

static const CU_TestInfo cases[] = {
    {"random graphs", random_graphs},
    {"each module keeps the order by gate", order_is_kept},
    CU_TEST_INFO_NULL,
};
SUITE(random_graphs, cases, .eal = true)
