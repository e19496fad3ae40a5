// SPDX-License-Identifier: BSD-3-Clause
// Random graphs of all modules are traced: every packet is still accounted for, and where a node
// sees one packet at a time anyway, the same packets leave by the same ports as without.

#include <stdlib.h>
#include <string.h>

#include "random_graph.h"
#include "trace_rig.h"

#define GRAPHS 100
#define SHAPES_KEPT 5

static void port_feed(struct random *random, struct port *port)
{
	uint8_t bytes[600];

	for (unsigned n = random_below(random, 100); n > 0; n--) {
		uint32_t length = 14 + random_below(random, sizeof(bytes) - 14);

		for (uint32_t i = 0; i < length; i++)
			bytes[i] = (uint8_t)random_next(random);
		memcpy(bytes, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\x00\x45", 15);
		port->driver->tester->feed(port, bytes, length);
	}
}

// What left by all ports, in any order.
struct sent {
	uint64_t n;
	uint64_t sum;
};

static void sent_add(struct port *port, unsigned index, struct sent *sent)
{
	for (unsigned i = 0; i < port->driver->tester->sent(port); i++) {
		struct port_packet packet = port->driver->tester->sent_packet(port, i);
		uint64_t hash = 0xcbf29ce484222325 + index;

		for (uint32_t k = 0; k < packet.length; k++)
			hash = (hash ^ packet.bytes[k]) * 0x100000001b3;
		sent->n++;
		sent->sum += hash;
	}
}

// Whether anything was dropped because there was too much of it, which depends on the order in
// which ways come together.
static bool was_full(struct run *run)
{
	static const reason_t reasons[] = {REASON_NO_MEMORY, REASON_REFUSED, REASON_FULL,
					   REASON_LOOP_FULL};
	uint64_t sum = 0;

	for (unsigned i = 0; i < run_graph(run)->n_nodes; i++)
		for (unsigned r = 0; r < 4; r++)
			sum += engine_dropped(run, run_graph(run)->nodes[i].name, reasons[r]);
	return sum;
}

// Runs it, and traces all packets with `traced`.
static struct sent drive(const char *text, uint64_t seed, bool traced, bool *full)
{
	struct run *run = engine_replay(text);
	struct random random = {seed};
	struct trace_rig *rig = NULL;
	struct sent sent = {0};
	unsigned n_ports;

	CU_ASSERT_FATAL(run != NULL);
	n_ports = run_graph(run)->n_ports;
	if (traced)
		rig = trace_rig_new(run, NULL, 1000000);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < n_ports; i++)
			port_feed(&random, run_port(run, i));
		for (unsigned i = 0; i < 10; i++) {
			run_step(run);
			if (rig)
				trace_rig_settle(rig);
			run_set_time(run, (round * 10 + i) * 1000000ULL);
		}
	}
	for (unsigned i = 0; i < n_ports; i++)
		run_port(run, i)->driver->tester->end(run_port(run, i));
	engine_steps(run, 100);
	if (rig) {
		trace_rig_settle(rig);
		CU_ASSERT_TRUE(tracer_lost(rig->tracer) > 0 || rig->n_whole == rig->n);
		trace_rig_free(rig);
	}
	for (unsigned i = 0; i < n_ports; i++)
		sent_add(run_port(run, i), i, &sent);
	*full |= was_full(run);
	CU_ASSERT_EQUAL(run_faults(run), 0);
	engine_finish(run);
	return sent;
}

// Whether what leaves may depend on which packets come together: a bridge learns from a whole batch
// before it forwards it, a script sees batches, a loop's packets wait for the next pass.
static bool batches_matter(const char *text)
{
	static const char *const words[] = {"L2Fwd", "LuaNode", "RoundRobin"};
	struct graph *graph = engine_graph(text);
	bool matter = false;

	CU_ASSERT_FATAL(graph != NULL);
	for (unsigned i = 0; i < graph->n_links; i++)
		matter |= graph->links[i].back;
	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		matter |= strstr(text, words[i]) != NULL;
	graph_free(graph);
	return matter;
}

static void same_packets(void)
{
	unsigned compared = 0;

	for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
		struct random random = {seed * 0x9e3779b97f4a7c15};
		char *text = random_graph(&random);
		bool full = false;
		struct sent with = drive(text, seed, true, &full), without;

		if (!batches_matter(text)) {
			without = drive(text, seed, false, &full);
			if (!full && (with.n != without.n || with.sum != without.sum)) {
				printf("\nseed %lu: %lu packets, without tracing %lu\n%s\n", seed,
				       with.n, without.n, text);
				CU_FAIL("tracing changed what was sent");
			}
			compared += !full;
		}
		free(text);
	}
	CU_ASSERT_TRUE(compared > SHAPES_KEPT);
}

static const CU_TestInfo cases[] = {
    {"random graphs, with a trace and without", same_packets},
    CU_TEST_INFO_NULL,
};
SUITE(trace_random, cases, .eal = true)
