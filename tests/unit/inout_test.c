// SPDX-License-Identifier: BSD-3-Clause
// PortOut, Queue and Source where a whole graph's packets do not show it: several workers, devices
// that take packets later, what a change of graph does, chance.

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../drivers/memory.h"
#include "captures.h"
#include "driver.h"
#include "flow.h"
#include "suite.h"

// The number that a Source counted up in the last four bytes of a source address.
static unsigned number(struct port *port, unsigned i)
{
	const uint8_t *bytes = memory_sent_packet(port, i).bytes;

	return (unsigned)bytes[8] << 24 | bytes[9] << 16 | bytes[10] << 8 | bytes[11];
}

static const char retry_graph[] =
    "ports: {out: {memory: {keep: 100}}}\n"
    "nodes:\n"
    "  left: {Source: {count: 2000, fields: [{field: ether.src, values: 5000}]}}\n"
    "  right: {Source: {count: 2000, fields: [{field: ether.src, values: 5000}], templates: ["
    "\"ether src=02:00:00:10:00:00 / pad 60\"]}}\n"
    "  tx: {PortOut: {port: out, retry: true}}\n"
    "graph: [left -> tx, right -> tx]\n"
    "workers: [{core: 0, sources: [left]}, {core: 1, sources: [right]}]\n";

// Fetches what was sent; next: the number that each side sends next.
static unsigned fetch(struct port *port, unsigned next[2])
{
	unsigned n = memory_sent(port);

	for (unsigned i = 0; i < n; i++) {
		unsigned at = number(port, i), side = at >= 0x100000;

		CU_ASSERT_EQUAL(at & 0xfffff, next[side]);
		next[side]++;
	}
	memory_sent_clear(port);
	return n;
}

// A device that takes 100 packets, then nothing until they are fetched: none is lost, and those of
// a worker stay in order.
static void retry_on_two_workers(void)
{
	unsigned next[2] = {1, 0}, total = 0;
	enum run_state state;
	struct port *port;
	struct run *run;

	if (!flow_two_cores())
		return;
	run = flow_open(retry_graph, false);
	port = flow_port(run, "out");
	do {
		state = run_tend(run);
		if (memory_sent(port) == 100 || state == RUN_DONE)
			total += fetch(port, next);
		sched_yield();
	} while (state == RUN_BUSY);
	CU_ASSERT_EQUAL(state, RUN_DONE);
	CU_ASSERT_EQUAL(total, 4000);
	CU_ASSERT_EQUAL(flow_dropped(run, "tx", "refused"), 0);
	flow_close(run);
}

// Packets come far faster than a file is written. Where they end by themselves the file is waited
// for, without being asked; where they do not, it is not.
static void file_is_waited_for(void)
{
	const char *path = capture_path("waited.pcap");
	struct port_counters counters;
	char text[400];
	struct run *run;

	snprintf(text, sizeof(text),
		 "ports: {out: {pcap: {tx: %s}}}\n"
		 "graph: [gen -> tx]\n"
		 "nodes: {gen: {Source: {size: 1500, count: 40000}}, tx: {PortOut: {port: out}}}\n",
		 path);
	run = flow_open(text, false);
	CU_ASSERT_TRUE(flow_end(run));
	run_port_counts(run, 0, &counters);
	CU_ASSERT_EQUAL(counters.tx_packets, 40000);
	CU_ASSERT_EQUAL(flow_dropped(run, "tx", "refused"), 0);
	flow_close(run);

	snprintf(text, sizeof(text),
		 "ports: {out: {pcap: {tx: %s}}}\n"
		 "graph: [gen -> tx]\n"
		 "nodes: {gen: {Source: {size: 1500}}, tx: {PortOut: {port: out}}}\n",
		 path);
	run = flow_open(text, false);
	while (!flow_dropped(run, "tx", "refused"))
		run_tend(run);
	flow_close(run);
	unlink(path);
}

// Sources that bring more in one poll than the queue has room for above its high watermark, and are
// polled thrice before the queue is.
static void queue_has_room_for_what_comes(void)
{
	struct run *run =
	    flow_open("nodes:\n"
		      "  make: {Source: {count: 10000, burst: 47}}\n"
		      "  copy: Tee\n"
		      "  q: {Queue: {size: 64}}\n"
		      "graph: [make -> copy, 'copy[0] -> q', 'copy[1] -> q', q -> Sink]\n"
		      "workers: [{sources: [make, q], policy: {weighted: {make: 3, q: 1}}}]\n",
		      true);

	flow_walk(run);
	CU_ASSERT_EQUAL(flow_dropped(run, "q", "full"), 0);
	CU_ASSERT_EQUAL(flow_counts(run, "q").out[0], 20000);
	flow_close(run);
}

static const char queue_graph[] =
    "ports: {out: memory}\n"
    "nodes:\n"
    "  make: {Source: {count: 50000, fields: [{field: ether.src, values: 100000}]}}\n"
    "  q: {Queue: {size: 100}}\n"
    "  tx: {PortOut: {port: out}}\n"
    "graph: [make -> q -> tx]\n"
    "workers: [{core: 0, sources: [make]}, {core: 1, sources: [q]}]\n";

static void queue_between_workers(void)
{
	struct port *port;
	struct run *run;
	unsigned wrong = 0;

	if (!flow_two_cores())
		return;
	run = flow_open(queue_graph, false);
	port = flow_port(run, "out");
	CU_ASSERT_TRUE(flow_end(run));
	CU_ASSERT_EQUAL_FATAL(memory_sent(port), 50000);
	for (unsigned i = 0; i < 50000; i++)
		wrong += number(port, i) != i + 1;
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(flow_dropped(run, "q", "full"), 0);
	flow_close(run);
}

static const char queue_alone[] =
    "ports: {out: memory}\n"
    "nodes:\n"
    "  make: {Source: {count: 96, burst: 32, fields: [{field: ether.src, values: 1000}]}}\n"
    "  q: {Queue: {size: %u, burst: 1}}\n"
    "  tx: {PortOut: {port: out}}\n"
    "graph: [make -> q -> tx]\n";

// What a queue holds leaves by the old graph when another takes its place.
static void queue_changes_size(void)
{
	struct errors *errors = errors_new();
	struct port *port;
	struct run *run;
	char text[600];

	snprintf(text, sizeof(text), queue_alone, 4096);
	run = flow_open(text, true);
	run_step(run);
	run_step(run);
	CU_ASSERT_EQUAL(flow_counts(run, "q").held, 62);
	snprintf(text, sizeof(text), queue_alone, 64);
	CU_ASSERT_EQUAL(run_switch(run, flow_graph(text), false, errors), 0);
	port = flow_port(run, "out");
	CU_ASSERT_EQUAL(memory_sent(port), 64);
	flow_walk(run);
	CU_ASSERT_EQUAL_FATAL(memory_sent(port), 96);
	for (unsigned i = 0; i < 96; i++)
		CU_ASSERT_EQUAL(number(port, i), i + 1);
	flow_close(run);
	errors_free(errors);
}

// A ring made for one worker does not serve two.
static void queue_changes_workers(void)
{
	static const char one[] = "nodes: {a: Source, b: Source, q: Queue, end: Sink}\n"
				  "graph: [a -> q -> end, b -> q]\n"
				  "workers: [{core: 0, sources: [a, b, q]}]\n";
	static const char two[] =
	    "nodes: {a: Source, b: Source, q: Queue, end: Sink}\n"
	    "graph: [a -> q -> end, b -> q]\n"
	    "workers: [{core: 0, sources: [a, q]}, {core: 1, sources: [b]}]\n";
	struct arena *arena = arena_new();
	struct graph *old = flow_graph(one), *new;
	struct graph_diff *diff;

	if (flow_two_cores()) {
		new = flow_graph(two);
		diff = graph_diff(arena, old, new);
		CU_ASSERT_EQUAL(diff->nodes[graph_find_node(new, "q")], FATE_REPLACED);
		CU_ASSERT_EQUAL(diff->nodes[graph_find_node(new, "a")], FATE_KEPT);
		CU_ASSERT_EQUAL(diff->n_losses, 0);
		graph_free(new);
	}
	graph_free(old);
	arena_free(arena);
}

#define CHANCES 1000

static void chances(unsigned seed, unsigned *numbers)
{
	char text[500];
	struct port *port;
	struct run *run;

	snprintf(
	    text, sizeof(text),
	    "ports: {out: memory}\n"
	    "nodes:\n"
	    "  make: {Source: {count: %u, templates: [\"ether src=02:00:00:00:00:00 / pad 60\"],"
	    " fields: [{field: ether.src, mode: random, values: 50, step: 2, seed: %u}]}}\n"
	    "  tx: {PortOut: {port: out}}\n"
	    "graph: [make -> tx]\n",
	    CHANCES, seed);
	run = flow_open(text, true);
	flow_walk(run);
	port = flow_port(run, "out");
	CU_ASSERT_EQUAL_FATAL(memory_sent(port), CHANCES);
	for (unsigned i = 0; i < CHANCES; i++)
		numbers[i] = number(port, i);
	flow_close(run);
}

static void chance_has_a_seed(void)
{
	static unsigned a[CHANCES], b[CHANCES], c[CHANCES];
	unsigned seen[100] = {0};

	chances(7, a);
	chances(7, b);
	chances(8, c);
	CU_ASSERT_EQUAL(memcmp(a, b, sizeof(a)), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(a, c, sizeof(a)), 0);
	for (unsigned i = 0; i < CHANCES; i++) {
		CU_ASSERT_FATAL(a[i] < 100);
		seen[a[i]]++;
	}
	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(seen[i] > 0, i % 2 == 0);
}

static const CU_TestInfo cases[] = {
    {"a device that takes packets later, and two workers", retry_on_two_workers},
    {"a file is waited for where all ends by itself", file_is_waited_for},
    {"a queue has room for what still comes", queue_has_room_for_what_comes},
    {"a queue keeps the order between workers, and loses nothing", queue_between_workers},
    {"a queue of another size loses nothing", queue_changes_size},
    {"a queue for one worker is not one for two", queue_changes_workers},
    {"chance comes from the seed, and finds all values", chance_has_a_seed},
    CU_TEST_INFO_NULL,
};
SUITE(inout, cases, .eal = true)
