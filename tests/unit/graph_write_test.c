// SPDX-License-Identifier: BSD-3-Clause
// A graph back to text: what is written loads to the same graph. And what a change from one graph
// to another does to each node and port.

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define PORTS "ports: {left: memory, right: memory}\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"

static void round_trip(struct graph *graph)
{
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_TRUE(engine_round_trip(graph));
	graph_free(graph);
}

static void written_by_hand(void)
{
	round_trip(engine_graph("nodes: {s: Source}\n"));
	round_trip(engine_graph(PORTS "nodes:\n" RX_TX "  p: Pass\n"
				      "graph: ['rx -> [side]p[miss] -> Probe -> [1]p',\n"
				      "        'p[hit] -> Probe -> tx']\n"));
	round_trip(engine_graph("eal: 'a: b'\nburst: 3\nidle: spin\nmemory: 3MiB\n" PORTS
				"nodes:\n" RX_TX "  m: Mesh\n"
				"graph: ['rx -> [7]m[9] -> tx']\n"
				"workers: [{sources: [rx], policy: {weighted: {rx: 4}}}]\n"));
	round_trip(engine_graph("nodes:\n"
				"  s:\n"
				"    Source:\n"
				"      templates: [ether / ipv4 / udp dport=53, 'ff ff ff ff ff ff "
				"00 00 00 00 00 00 08 00']\n"
				"      count: 18446744073709551615\n"
				"  q: {Queue: {size: 77, backpressure: 'off'}}\n"
				"graph: [s -> q -> Sink]\n"));
}

// A dollar sign in what is written must not be read as a var.
static void dollar_signs(void)
{
	round_trip(engine_graph("vars: {who: me}\nname: web\neal: '$$5 -- $$x $who'\n"
				"ports: {out: {pcap: {tx: 'a$$b.pcap'}}}\n"
				"nodes: {s: Source, tx: {PortOut: {port: out}}}\n"
				"graph: [s -> tx]\n"));
}

static void texts_that_look_like_others(void)
{
	static const char *const texts[] = {
	    "'5'",   "'true'", "'~'",	"'null'", "'a # b'", "'- x'", "\"a\\tb\"", "'[x]'", "'\"'",
	    "\"'\"", "'%'",    "' x '", "'a: '",  "'&a'",    "'*a'",  "'!a'",	   "'@'",   "ünï",
	};
	struct engine_text text;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		text = (struct engine_text){0};
		engine_put(&text, "eal: %s\nnodes: {s: Source}\n", texts[i]);
		round_trip(engine_graph(text.text));
		free(text.text);
	}
}

// The examples that load here: some want modules or cores that are not there.
static void examples(void)
{
	unsigned n = 0;
	glob_t found;

	CU_ASSERT_FATAL(glob("graphs/*.yaml", 0, NULL, &found) == 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct errors *errors = errors_new();
		struct graph *graph = graph_load(found.gl_pathv[i], NULL, 0, errors);

		if (graph) {
			round_trip(graph);
			n++;
		}
		errors_free(errors);
	}
	CU_ASSERT_TRUE(n >= 1);
	globfree(&found);
}

// The fates of the nodes and ports of `new`, and of those of `old`, by a letter each: "kept live
// Replaced new / gone".
static void expect_diff(const char *old_text, const char *new_text, const char *expected)
{
	static const char letters[] = {'k', 'l', 'R', 'n', 'x'};
	struct graph *old = engine_graph(old_text), *new = engine_graph(new_text);
	struct engine_text got = {0};
	struct arena *arena = arena_new();
	struct graph_diff *diff;

	CU_ASSERT_FATAL(old && new);
	diff = graph_diff(arena, old, new);
	for (unsigned i = 0; i < new->n_ports; i++)
		engine_put(&got, "%s:%c ", new->ports[i].name, letters[diff->ports[i]]);
	for (unsigned i = 0; i < new->n_nodes; i++)
		engine_put(&got, "%s:%c ", new->nodes[i].name, letters[diff->nodes[i]]);
	engine_put(&got, "/");
	for (unsigned i = 0; i < old->n_ports; i++)
		if (diff->gone_ports[i] == FATE_REMOVED)
			engine_put(&got, " %s", old->ports[i].name);
	for (unsigned i = 0; i < old->n_nodes; i++)
		if (diff->gone_nodes[i] == FATE_REMOVED)
			engine_put(&got, " %s", old->nodes[i].name);
	for (unsigned i = 0; i < new->n_nodes; i++)
		if (diff->losses[i])
			engine_put(&got, " !%s loses %s", new->nodes[i].name, diff->losses[i]);
	EXPECT_TEXT(got.text, expected);
	free(got.text);
	arena_free(arena);
	graph_free(old);
	graph_free(new);
}

static void fates(void)
{
#define OLD                                                                                        \
	PORTS "nodes:\n" RX_TX "  p: {Probe: {fixed: 5}}\n  k: Keeper\n"                           \
	      "graph: [rx -> p -> k -> tx]\n"

	expect_diff(OLD, OLD, "left:k right:k rx:k tx:k p:k k:k /");
	expect_diff(OLD,
		    PORTS "nodes:\n" RX_TX "  p: {Probe: {fixed: 5, live: 1}}\n  k: Keeper\n"
			  "graph: [rx -> p -> Probe -> k -> tx]\n",
		    "left:k right:k rx:k tx:k p:l k:k Probe#1:n /");
	// What takes over says what it loses; what cannot take loses its state.
	expect_diff(OLD,
		    PORTS "nodes:\n" RX_TX "  p: {Probe: {fixed: 6}}\n  k: {Keeper: {version: 1}}\n"
			  "graph: [rx -> p -> k -> tx]\n",
		    "left:k right:k rx:k tx:k p:R k:R / p k !k loses its state");
	expect_diff(OLD,
		    PORTS "nodes:\n" RX_TX "  p: {Probe: {fixed: 4}}\n"
			  "graph: [rx -> p -> tx]\n",
		    "left:k right:k rx:k tx:k p:R / p k !p loses what is above the new number");
	// Another module of the same name is another node.
	expect_diff(OLD, PORTS "nodes:\n" RX_TX "  p: Emitter\ngraph: [rx -> p -> tx]\n",
		    "left:k right:k rx:k tx:k p:n / p k");
	// A port that is replaced replaces what holds it.
	expect_diff(OLD,
		    "ports: {left: {memory: {segments: 64}}, right: memory}\nnodes:\n" RX_TX
		    "  p: {Probe: {fixed: 5}}\ngraph: [rx -> p -> tx]\n",
		    "left:R right:k rx:R tx:k p:k / left rx k");
	expect_diff(OLD,
		    "ports: {left: memory, right: 'null'}\nnodes:\n" RX_TX "graph: [rx -> tx]\n",
		    "left:k right:R rx:k tx:R / right tx p k");
	// So does another port.
	expect_diff(OLD,
		    "ports: {left: memory, other: memory}\nnodes:\n"
		    "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: other}}\n"
		    "graph: [rx -> tx]\n",
		    "left:k other:n rx:k tx:R / right tx p k");
	// A number of gates that differs makes another node; unnamed ones never go on.
	expect_diff(PORTS "nodes:\n" RX_TX "  m: Mesh\ngraph: ['rx -> m -> Probe -> tx']\n",
		    PORTS "nodes:\n" RX_TX "  m: Mesh\ngraph: ['rx -> m[1] -> Probe -> tx']\n",
		    "left:k right:k rx:k tx:k m:R Probe#1:n / m Probe#1");
}

// A Queue is made for one worker or for several.
static void fates_with_workers(void)
{
#define QUEUE "nodes: {a: Source, q: Queue, k: Sink}\ngraph: [a -> q -> k]\n"

	if (!engine_cores(2))
		return;
	expect_diff(QUEUE, QUEUE "workers: 2\n", "a:k q:R k:k / q");
	expect_diff(QUEUE "workers: 2\n", QUEUE, "a:k q:R k:k / q");
	expect_diff(QUEUE "workers: 2\n", QUEUE "workers: 2\n", "a:k q:k k:k /");
}

static const CU_TestInfo cases[] = {
    {"graphs by hand", written_by_hand},
    {"dollar signs", dollar_signs},
    {"texts that look like others", texts_that_look_like_others},
    {"examples", examples},
    {"fates of nodes and ports", fates},
    {"fates with other workers", fates_with_workers},
    CU_TEST_INFO_NULL,
};
SUITE(graph_write, cases, .eal = true)
