// SPDX-License-Identifier: BSD-3-Clause
// Generators and Meters in graphs: every packet is whole and accounted for, through stalls, damage
// and changes of the graph.

#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_udp.h>

#include "driver.h"
#include "engine.h"
#include "flow.h"

#include "../../modules/stamp.h"

enum { INTENDED, ATTEMPTED, UNSENT, STARVED };
enum { RECEIVED, SKIPPED, LATE, DUPLICATES, REORDERED, OLD, DAMAGED, FOREIGN, UNTIMED };

static void advance(struct run *run, uint64_t ns)
{
	run_set_time(run, FLOW_START_NS + ns);
	flow_walk(run);
}

// A packet that a memory port sent, and what its checksums should be.
static bool sums_right(struct port_packet packet, unsigned l3, bool ip6)
{
	const void *l4 = packet.bytes + l3 + (ip6 ? 40 : 20);

	if (ip6)
		return !rte_ipv6_udptcp_cksum_verify((const void *)(packet.bytes + l3), l4);
	return rte_raw_cksum(packet.bytes + l3, 20) == 0xffff &&
	       !rte_ipv4_udptcp_cksum_verify((const void *)(packet.bytes + l3), l4);
}

static void checksums_stay_right(void)
{
	static const char *const texts[] = {"false", "true"};

	for (unsigned payload = 0; payload < 2; payload++) {
		struct engine_text text = {0};
		struct run *run;
		struct port *port;
		unsigned wrong = 0, n;

		engine_put(&text,
			   "ports: {out: memory}\n"
			   "nodes:\n"
			   "  gen:\n"
			   "    Generator:\n"
			   "      rate: 10Gbps\n"
			   "      count: 3000\n"
			   "      stream: 65535\n"
			   "      payload: %s\n"
			   "      templates: [ether / ipv4 / udp, ether / vlan id=5 / ipv6 / udp]\n"
			   "      sizes: [84, 101, 1514, 5000]\n"
			   "      fields: [{field: sport, values: 65536, mode: random},\n"
			   "               {field: ether.src, values: 7}]\n"
			   "  tx: {PortOut: {port: out}}\n"
			   "graph: [gen -> tx]\n",
			   texts[payload]);
		run = flow_open(text.text, true);
		for (unsigned i = 0; i <= 50; i++)
			advance(run, i * 100000);
		port = flow_port(run, "out");
		n = port->driver->tester->sent(port);
		CU_ASSERT_EQUAL(n, 3000);
		for (unsigned i = 0; i < n; i++) {
			struct port_packet packet = port->driver->tester->sent_packet(port, i);
			bool ip6 = i / 4 % 2;
			unsigned l3 = ip6 ? 18 : 14, at = l3 + (ip6 ? 48 : 28);
			struct stamp stamp;

			wrong += !sums_right(packet, l3, ip6);
			wrong += stamp_read(packet.bytes + at,
					    rte_raw_cksum(packet.bytes + at + STAMP_BYTES,
							  packet.length - at - STAMP_BYTES),
					    &stamp) != STAMP_GOOD;
			wrong += stamp_covers(packet.bytes + at) != payload;
			wrong += stamp.sequence != i || stamp.stream != 65535;
		}
		CU_ASSERT_EQUAL(wrong, 0);
		flow_close(run);
		free(text.text);
	}
}

// A stall of a day, and a thousand million packets that nobody makes.
static void long_stalls(void)
{
	struct run *run = flow_open("nodes:\n"
				    "  gen: {Generator: {rate: 14880952pps, late: 10us}}\n"
				    "  mix: {Generator: {rate: 10Gbps, sizes: [60, 590, 1514]}}\n"
				    "  random: {Generator: {rate: 14880952pps, pattern: poisson}}\n"
				    "graph: [gen -> Meter, mix -> Meter, random -> Meter]\n",
				    true);
	uint64_t bits = 3 * 86400 * 10000000000ull;
	struct node_counts gen, mix, random;

	flow_walk(run);
	for (unsigned day = 1; day <= 3; day++)
		advance(run, day * 86400000000000ull);
	gen = flow_counts(run, "gen");
	mix = flow_counts(run, "mix");
	random = flow_counts(run, "random");
	CU_ASSERT_EQUAL(gen.own[INTENDED], 3 * 86400 * 14880952ull + 1);
	CU_ASSERT_EQUAL(gen.own[INTENDED], gen.own[ATTEMPTED] + gen.own[UNSENT]);
	CU_ASSERT_EQUAL(gen.own[ATTEMPTED], 1 + 3 * 149);
	// Three frames take (84 + 614 + 1538) x 8 bits.
	CU_ASSERT_EQUAL(mix.own[INTENDED], bits / 17888 * 3 + 1 + (bits % 17888 >= 672) +
					       (bits % 17888 >= 672 + 4912));
	CU_ASSERT_EQUAL(mix.own[INTENDED], mix.own[ATTEMPTED] + mix.own[UNSENT]);
	CU_ASSERT_DOUBLE_EQUAL((double)random.own[INTENDED], 3 * 86400 * 14880952.0, 10000);
	CU_ASSERT_EQUAL(random.own[INTENDED], random.own[ATTEMPTED] + random.own[UNSENT]);
	flow_close(run);
}

// Whatever byte behind the stamp is changed, and however the frame is cut into segments.
static void payload_damage(void)
{
	struct run *run = flow_open("ports: {in: {memory: {open: true, segments: 64}}}\n"
				    "nodes: {rx: {PortInc: {port: in}}, seen: Meter}\n"
				    "graph: [rx -> seen]\n",
				    true);
	uint8_t bytes[301] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x12, 0x34};
	struct stamp stamp = {.sequence = 1};
	struct port *port = flow_port(run, "in");
	unsigned end = 14 + STAMP_BYTES;
	struct node_counts counts;

	for (unsigned i = end; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	stamp_write(bytes + 14, STAMP_MAGIC_ALL, &stamp,
		    rte_raw_cksum(bytes + end, sizeof(bytes) - end));
	port->driver->tester->feed(port, bytes, sizeof(bytes));
	for (unsigned i = end; i < sizeof(bytes); i++) {
		bytes[i] ^= 1 << i % 8;
		port->driver->tester->feed(port, bytes, sizeof(bytes));
		bytes[i] ^= 1 << i % 8;
	}
	port->driver->tester->feed(port, bytes, sizeof(bytes) - 1);
	flow_walk(run);
	counts = flow_counts(run, "seen");
	CU_ASSERT_EQUAL(counts.own[RECEIVED], 1);
	CU_ASSERT_EQUAL(counts.own[DAMAGED], sizeof(bytes) - end + 1);
	CU_ASSERT_EQUAL(counts.own[FOREIGN], 0);
	flow_close(run);
}

// The sequence goes on, and so do the Meter's counts, when other parameters are given.
static void changes_of_the_graph(void)
{
	static const char form[] = "nodes:\n"
				   "  gen: {Generator: {rate: %s, stream: %u}}\n"
				   "  seen: {Meter: {span: %u, streams: %u}}\n"
				   "graph: [gen -> seen]\n";
	static const struct {
		const char *rate;
		unsigned stream, span, streams;
	} steps[] = {{"1Mpps", 3, 4096, 16},
		     {"2Mpps", 3, 4096, 16},
		     {"2Mpps", 3, 1024, 8},
		     {"2Mpps", 3, 1024, 64},
		     {"1Gbps", 3, 1024, 64}};
	struct run *run = NULL;
	struct node_counts counts;
	char text[300], *reply;

	for (unsigned i = 0; i < RTE_DIM(steps); i++) {
		snprintf(text, sizeof(text), form, steps[i].rate, steps[i].stream, steps[i].span,
			 steps[i].streams);
		if (!run) {
			run = flow_open(text, true);
		} else {
			char *faults = NULL;

			CU_ASSERT_TRUE(engine_switch(run, text, true, &faults));
			if (faults)
				printf("%s", faults);
			free(faults);
		}
		advance(run, i * 1000000);
		advance(run, i * 1000000 + 500000);
	}
	counts = flow_counts(run, "seen");
	CU_ASSERT_EQUAL(counts.own[RECEIVED], flow_counts(run, "gen").own[ATTEMPTED]);
	CU_ASSERT_EQUAL(counts.own[SKIPPED] + counts.own[DUPLICATES] + counts.own[REORDERED], 0);
	CU_ASSERT_EQUAL(counts.own[OLD] + counts.own[DAMAGED] + counts.own[FOREIGN], 0);
	reply = flow_call(run, "seen", "streams", "{}");
	snprintf(text, sizeof(text),
		 "[{\"duplicates\":0,\"lost\":0,\"old\":0,\"received\":%lu,\"reordered\":0,"
		 "\"stream\":3}]",
		 counts.own[RECEIVED]);
	CU_ASSERT_STRING_EQUAL(reply, text);
	free(reply);
	flow_close(run);
}

// A worker and the clock of the machine.
static void under_way(void)
{
	struct run *run = flow_open(""
				    "nodes:\n"
				    "  gen: {Generator: {rate: 200kpps, count: 2000}}\n"
				    "  seen: Meter\n"
				    "graph: [gen -> seen]\n",
				    false);
	struct node_counts gen, seen;

	CU_ASSERT_TRUE(flow_end(run));
	gen = flow_counts(run, "gen");
	seen = flow_counts(run, "seen");
	CU_ASSERT_EQUAL(gen.own[INTENDED], 2000);
	CU_ASSERT_EQUAL(gen.own[ATTEMPTED] + gen.own[UNSENT], 2000);
	CU_ASSERT_EQUAL(seen.own[RECEIVED], gen.own[ATTEMPTED]);
	CU_ASSERT_EQUAL(seen.own[SKIPPED] + seen.own[UNTIMED], 0);
	flow_close(run);
}

// Nothing is sent before the delay is over, all of it after; what the core did before is no gap.
static void delayed_start(void)
{
	struct run *run = flow_open("nodes:\n"
				    "  gen: {Generator: {rate: 1Mpps, start: false}}\n"
				    "  seen: Meter\n"
				    "graph: [gen -> seen]\n",
				    true);
	char *reply;

	advance(run, 0);
	reply = flow_call(run, "gen", "start", "{count: 1000, delay: 20ms}");
	CU_ASSERT_PTR_NOT_NULL(strstr(reply, "\"running\":true"));
	free(reply);
	advance(run, 5000000); // the first poll: the delay begins here
	advance(run, 24999999);
	CU_ASSERT_EQUAL(flow_counts(run, "gen").own[INTENDED], 0);
	advance(run, 25000000);
	CU_ASSERT_EQUAL(flow_counts(run, "gen").own[ATTEMPTED], 1);
	for (unsigned us = 1; us < 1000; us++)
		advance(run, 25000000 + us * 1000);
	CU_ASSERT_EQUAL(flow_counts(run, "gen").own[ATTEMPTED], 1000);
	CU_ASSERT_EQUAL(flow_counts(run, "seen").own[RECEIVED], 1000);
	advance(run, 90000000);
	reply = flow_call(run, "gen", "gaps", "{}");
	CU_ASSERT_PTR_NOT_NULL(strstr(reply, "\"hiccups\":0,"));
	free(reply);
	flow_close(run);
}

static const CU_TestInfo cases[] = {
    {"checksums around a stamp stay right", checksums_stay_right},
    {"long stalls", long_stalls},
    {"damage behind the stamp", payload_damage},
    {"changes of the graph", changes_of_the_graph},
    {"workers", under_way},
    {"delayed start", delayed_start},
    CU_TEST_INFO_NULL,
};
SUITE(traffic, cases, .eal = true)
