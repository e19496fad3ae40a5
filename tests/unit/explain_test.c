// SPDX-License-Identifier: BSD-3-Clause
// What would become of a packet is told as it would be, and nothing comes of it: no counter moves,
// no table learns, nothing is sent or held.

#include <stdlib.h>
#include <string.h>

#include "trace_rig.h"
#include "value/table.h"

#define PORTS "ports: {left: {memory: {open: true}}, right: memory}\nnodes:\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"
#define NODES PORTS RX_TX

#define UDP "ether / ipv4 / udp"

// All counters, but those that time moves.
static char *counters(struct run *run)
{
	json_t *all = json_object(), *nodes = json_object();
	char *text;

	for (unsigned i = 0; i < run_graph(run)->n_nodes; i++)
		json_object_set_new(nodes, run_graph(run)->nodes[i].name, run_node_json(run, i));
	json_object_set_new(all, "nodes", nodes);
	for (unsigned i = 0; i < run_graph(run)->n_ports; i++)
		json_object_set_new(all, run_graph(run)->ports[i].name, run_port_json(run, i));
	text = json_dumps(all, JSON_SORT_KEYS);
	json_decref(all);
	CU_ASSERT_FATAL(text != NULL);
	return text;
}

// Explains in a graph that nothing came into, by gate 0 of the node.
static void expect(const char *graph, const char *node, const char *words, const char *ways)
{
	struct run *run = engine_replay(graph);
	unsigned out;
	char *before, *after;

	CU_ASSERT_FATAL(run != NULL);
	before = counters(run);
	out = run_packets_out(run);
	EXPECT_EXPLAINED(run, node, 0, words, ways);
	CU_ASSERT_EQUAL(run_packets_out(run), out);
	after = counters(run);
	CU_ASSERT_STRING_EQUAL(before, after);
	free(before);
	free(after);
	engine_steps(run, 3);
	CU_ASSERT_EQUAL(engine_sent(run, "right"), 0);
	engine_finish(run);
}

static void plain(void)
{
	expect(NODES "  a: MACSwap\ngraph: ['rx -> a -> tx']\n", "rx", UDP,
	       "rx a{ether src 02:00:00:00:00:01 -> 02:00:00:00:00:02, ether dst "
	       "02:00:00:00:00:02 -> 02:00:00:00:00:01} tx: sent right\n");
	expect(NODES "  a: MACSwap\ngraph: ['rx -> a -> tx']\n", "tx", UDP, "tx: sent right\n");
	expect(NODES "  u: {Update: {writes: [{offset: 100, bytes: 00}]}}\n"
		     "graph: ['rx -> u -> tx']\n",
	       "u", UDP, "u: dropped runt\n");
	expect(NODES "  m: Meter\n  n: Meter\n  t: Tee\n"
		     "graph: ['rx -> m -> t[0] -> tx', 't[1] -> n']\n",
	       "m", UDP, "m t tx: sent right + 0.1[1] n: consumed\n");
	expect(NODES "  push: {VLANPush: {vid: 7}}\n  pop: VLANPop\n"
		     "graph: ['rx -> push -> pop -> tx']\n",
	       "rx", UDP,
	       "rx push{+ vlan id=7, length 42 -> 46} pop{- vlan id=7, length 46 -> 42} tx: sent "
	       "right\n");
}

static void ways_apart(void)
{
	expect(NODES "  f: {Filter: {expression: udp}}\n  t: Tee\n"
		     "graph: ['rx -> f -> t -> tx', 't[1] -> Sink', 'f[miss] -> Discard']\n",
	       "rx", UDP, "rx f t tx: sent right + 0.2[1] Sink#1: consumed\n");
	expect(NODES "  f: {Filter: {expression: tcp}}\n"
		     "graph: ['rx -> f -> tx', 'f[miss] -> Discard']\n",
	       "f", UDP, "f[miss] Discard#1: dropped discarded\n");
	// Each time the same: nothing is counted on.
	expect(NODES "  r: RoundRobin\ngraph: ['rx -> r -> tx', 'r[1] -> Sink']\n", "r", UDP,
	       "r tx: sent right\n");
	expect(NODES "  h: HashSplit\n  b: {Burn: {per_packet: 10}}\n  s: {SetMAC: {src: "
		     "\"02:00:00:00:00:01\"}}\ngraph: ['rx -> h -> b -> s -> tx']\n",
	       "rx", UDP, "rx h b s tx: sent right\n");
}

// As if released at once, by whichever worker.
static void queues(void)
{
	expect(NODES "  q: Queue\n  r: Queue\ngraph: ['rx -> q -> r -> tx']\nworkers: 2\n", "rx",
	       UDP, "rx q r tx: sent right\n");
}

static void bridge(void)
{
	static const char text[] =
	    NODES "  l: {L2Fwd: {entries: [{mac: \"02:00:00:00:00:aa\", gate: 1}, {mac: "
		  "\"02:00:00:00:00:bb\", gate: 0}]}}\n"
		  "graph: ['rx -> [0]l[0] -> Sink', 'l[1] -> tx', 'l[2] -> Discard']\n";

	expect(text, "l", "ether dst=02:00:00:00:00:aa / ipv4", "l[1] tx: sent right\n");
	expect(text, "l", "ether dst=02:00:00:00:00:bb / ipv4", "l: dropped same_gate\n");
	expect(text, "l", "ether dst=01:80:c2:00:00:00 / ipv4", "l: dropped reserved\n");
	expect(text, "l", "ether src=02:00:00:00:00:11 dst=02:00:00:00:00:11 / ipv4",
	       "l: dropped same_gate\n");
	expect(text, "l", "ether src=02:00:00:00:00:11 dst=02:00:00:00:00:12 / ipv4",
	       "l[2] Discard#1: dropped discarded + 0.0[1] tx: sent right\n");
}

// A table that has learned from packets explains by what it learned, and learns no more.
static void learned(void)
{
	struct run *run =
	    engine_replay(NODES "  l: L2Fwd\ngraph: ['rx -> [0]l[0] -> Sink', 'l[1] -> tx', "
				"'l[2] -> Discard']\n");
	json_t *before, *after;
	struct errors *errors = errors_new();

	CU_ASSERT_FATAL(run != NULL);
	engine_feed(run, "left", 0, 1);
	engine_steps(run, 3);
	before = run_command(run, "l", "list", NULL, errors);
	EXPECT_EXPLAINED(run, "l", 0, "ether src=02:00:00:00:00:77 dst=02:00:00:00:00:01 / ipv4",
			 "l: dropped same_gate\n");
	after = run_command(run, "l", "list", NULL, errors);
	CU_ASSERT_TRUE(json_equal(before, after));
	CU_ASSERT_EQUAL(json_array_size(before), 1);
	json_decref(before);
	json_decref(after);
	errors_free(errors);
	engine_finish(run);
}

static void not_explained(void)
{
	expect(NODES "  l: {LuaNode: {code: \"function process(batch) end\"}}\n"
		     "graph: ['rx -> l -> tx']\n",
	       "rx", UDP, "rx l: unexplained\n");
}

static void loops(void)
{
	struct run *run = engine_replay(
	    "ports: {left: {memory: {open: true}}}\nnodes:\n  rx: {PortInc: {port: left}}\n"
	    "  t: Tee\n  a: Pass\ngraph: ['rx -> a -> t', 't -> a', 't[1] -> a']\n");
	struct arena *arena = arena_new();
	struct errors *errors = errors_new();
	struct explain explain = {.bytes = (const uint8_t[60]){2}, .n = 60, .arena = arena};
	uint64_t parked_ns;

	// It ends, whatever it says.
	CU_ASSERT_FATAL(run != NULL);
	for (unsigned i = 0; i < 3; i++) {
		unsigned out = run_packets_out(run);
		struct trace_rig *rig = trace_rig_new(run, NULL, 0);

		CU_ASSERT_EQUAL(
		    run_explain(run, &explain, ways_take, rig->ways, &parked_ns, errors), 0);
		CU_ASSERT_EQUAL(run_packets_out(run), out);
		trace_rig_free(rig);
	}
	errors_free(errors);
	arena_free(arena);
	engine_finish(run);
}

// Larger than a packet buffer.
static void large(void)
{
	char words[64];

	snprintf(words, sizeof(words), "ether / ipv4 / udp / pad %u", 9000);
	expect(NODES "  a: MACSwap\ngraph: ['rx -> a -> tx']\n", "tx", words, "tx: sent right\n");
}

static const CU_TestInfo cases[] = {
    {"nodes without state", plain},
    {"ways apart", ways_apart},
    {"queues", queues},
    {"a bridge", bridge},
    {"a bridge that has learned", learned},
    {"what cannot be explained", not_explained},
    {"round and round", loops},
    {"a large packet", large},
    CU_TEST_INFO_NULL,
};
SUITE(explain, cases, .eal = true)
