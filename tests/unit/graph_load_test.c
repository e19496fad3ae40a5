// SPDX-License-Identifier: BSD-3-Clause
// From text to a graph: order, links, gates, unnamed nodes, settings, metadata.

#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define PORTS "ports: {left: memory, right: memory}\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"

static const struct graph_node *node_of(const struct graph *graph, const char *name)
{
	int node = graph_find_node(graph, name);

	CU_ASSERT_FATAL(node >= 0);
	return &graph->nodes[node];
}

// The only link between two nodes.
static const struct graph_link *link_of(const struct graph *graph, const char *from, const char *to)
{
	for (unsigned i = 0; i < graph->n_links; i++)
		if (!strcmp(graph->nodes[graph->links[i].from].name, from) &&
		    !strcmp(graph->nodes[graph->links[i].to].name, to))
			return &graph->links[i];
	CU_FAIL_FATAL("there is no such link");
	return NULL;
}

// Every link leads upwards, or is marked as one that leads back; orders are a permutation.
static void order_check(const struct graph *graph)
{
	bool *seen = memory_new(graph->n_nodes, sizeof(*seen));

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		CU_ASSERT_FATAL(graph->nodes[i].order < graph->n_nodes);
		CU_ASSERT_FALSE(seen[graph->nodes[i].order]);
		seen[graph->nodes[i].order] = true;
	}
	for (unsigned i = 0; i < graph->n_links; i++) {
		const struct graph_link *link = &graph->links[i];

		CU_ASSERT_EQUAL(link->back,
				graph->nodes[link->to].order <= graph->nodes[link->from].order);
	}
	free(seen);
}

static void chain_is_in_order(void)
{
	struct graph *graph = engine_graph(PORTS "nodes:\n"
						 "  tx: {PortOut: {port: right}}\n"
						 "  b: Probe\n"
						 "  a: Probe\n"
						 "  rx: {PortInc: {port: left}}\n"
						 "graph:\n"
						 "  - b -> tx\n"
						 "  - a -> b\n"
						 "  - rx -> a\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(node_of(graph, "rx")->order, 0);
	CU_ASSERT_EQUAL(node_of(graph, "a")->order, 1);
	CU_ASSERT_EQUAL(node_of(graph, "b")->order, 2);
	CU_ASSERT_EQUAL(node_of(graph, "tx")->order, 3);
	CU_ASSERT_TRUE(node_of(graph, "rx")->source);
	CU_ASSERT_FALSE(node_of(graph, "a")->source);
	CU_ASSERT_TRUE(node_of(graph, "rx")->receives);
	CU_ASSERT_EQUAL(node_of(graph, "rx")->port, 0);
	CU_ASSERT_FALSE(node_of(graph, "tx")->receives);
	CU_ASSERT_EQUAL(node_of(graph, "tx")->port, 1);
	CU_ASSERT_EQUAL(node_of(graph, "a")->port, -1);
	for (unsigned i = 0; i < graph->n_links; i++) {
		CU_ASSERT_TRUE(graph->links[i].single);
		CU_ASSERT_FALSE(graph->links[i].back);
	}
	order_check(graph);
	graph_free(graph);
}

static void joins_are_not_single(void)
{
	struct graph *graph = engine_graph(PORTS "nodes:\n" RX_TX "  fork: Scatter\n"
						 "  a: Probe\n"
						 "  b: Probe\n"
						 "graph:\n"
						 "  - rx -> fork[0] -> a -> tx\n"
						 "  - fork[1] -> b -> tx\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_TRUE(link_of(graph, "fork", "a")->single);
	CU_ASSERT_TRUE(link_of(graph, "fork", "b")->single);
	CU_ASSERT_FALSE(link_of(graph, "a", "tx")->single);
	CU_ASSERT_FALSE(link_of(graph, "b", "tx")->single);
	CU_ASSERT_EQUAL(node_of(graph, "fork")->ogates, 2);
	order_check(graph);
	graph_free(graph);
}

static void loops_have_a_back_link(void)
{
	struct graph *graph =
	    engine_graph(PORTS "nodes:\n" RX_TX "  p: Pass\n"
			       "  q: Pass\n"
			       "  own: Mesh\n"
			       "graph:\n"
			       "  - rx -> p[hit] -> q[hit] -> [side]p[miss] -> own -> tx\n"
			       "  - own[1] -> [1]own\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_FALSE(link_of(graph, "p", "q")->back);
	CU_ASSERT_TRUE(link_of(graph, "p", "q")->single);
	CU_ASSERT_TRUE(link_of(graph, "q", "p")->back);
	CU_ASSERT_FALSE(link_of(graph, "q", "p")->single);
	CU_ASSERT_EQUAL(link_of(graph, "q", "p")->igate, 1);
	CU_ASSERT_TRUE(link_of(graph, "own", "own")->back);
	CU_ASSERT_EQUAL(node_of(graph, "own")->igates, 2);
	CU_ASSERT_EQUAL(node_of(graph, "own")->ogates, 2);
	order_check(graph);
	graph_free(graph);
}

static void gates_go_by_number_or_name(void)
{
	struct arena *arena = arena_new();
	struct graph *graph = engine_graph(PORTS "nodes:\n" RX_TX "  p: Pass\n"
						 "  m: Mesh\n"
						 "graph:\n"
						 "  - rx -> [ 1 ]p[ miss ]->[63]m[63]->tx\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(link_of(graph, "rx", "p")->igate, 1);
	CU_ASSERT_EQUAL(link_of(graph, "p", "m")->ogate, 1);
	CU_ASSERT_EQUAL(link_of(graph, "p", "m")->igate, 63);
	CU_ASSERT_EQUAL(node_of(graph, "m")->igates, 64);
	CU_ASSERT_EQUAL(node_of(graph, "m")->ogates, 64);
	CU_ASSERT_STRING_EQUAL(graph_gate_text(arena, node_of(graph, "p"), true, 1), "p[miss]");
	CU_ASSERT_STRING_EQUAL(graph_gate_text(arena, node_of(graph, "p"), false, 0), "[main]p");
	CU_ASSERT_STRING_EQUAL(graph_gate_text(arena, node_of(graph, "m"), true, 5), "m[5]");
	CU_ASSERT_STRING_EQUAL(graph_gate_text(arena, node_of(graph, "rx"), true, 0), "rx");
	graph_free(graph);
	arena_free(arena);
}

static void unnamed_nodes_are_numbered(void)
{
	struct graph *graph = engine_graph(PORTS "nodes:\n" RX_TX "graph:\n"
						 "  - rx -> Probe -> Scatter -> Probe -> tx\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_TRUE(node_of(graph, "Probe#1")->unnamed);
	CU_ASSERT_TRUE(node_of(graph, "Probe#2")->unnamed);
	CU_ASSERT_TRUE(node_of(graph, "Scatter#1")->unnamed);
	CU_ASSERT_FALSE(node_of(graph, "rx")->unnamed);
	CU_ASSERT_EQUAL(graph->n_nodes, 5);
	link_of(graph, "Probe#1", "Scatter#1");
	link_of(graph, "Scatter#1", "Probe#2");
	graph_free(graph);
}

// Names that a written graph gave to unnamed nodes are not given again, in whatever order they are.
static void unnamed_names_are_not_given_twice(void)
{
	struct graph *graph =
	    engine_graph(PORTS "nodes:\n" RX_TX "  Probe#2: Probe\n"
			       "  Probe#1: Probe\n"
			       "graph:\n"
			       "  - rx -> Probe#1 -> Probe#2 -> Probe -> Probe -> tx\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(graph->n_nodes, 6);
	for (unsigned i = 0; i < graph->n_nodes; i++)
		CU_ASSERT_EQUAL(graph_find_node(graph, graph->nodes[i].name), (int)i);
	link_of(graph, "Probe#2", "Probe#3");
	link_of(graph, "Probe#3", "Probe#4");
	graph_free(graph);
}

static void settings_are_read(void)
{
	struct graph *graph =
	    engine_graph("name: test\n"
			 "burst: 7\n"
			 "watch: 3\n"
			 "idle: spin\n"
			 "memory: 64MiB\n"
			 "eal: --no-huge\n" PORTS "nodes:\n" RX_TX "graph: [rx -> tx]\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_STRING_EQUAL(graph->settings.name, "test");
	CU_ASSERT_EQUAL(graph->settings.burst, 7);
	CU_ASSERT_EQUAL(graph->settings.watch, 3);
	CU_ASSERT_EQUAL(graph->settings.idle.n, IDLE_SPIN);
	CU_ASSERT_EQUAL(graph->settings.memory.bytes, 64 << 20);
	CU_ASSERT_STRING_EQUAL(graph->settings.eal, "--no-huge");
	graph_free(graph);
}

static void vars_are_set(void)
{
	static const char text[] = "vars: {size: 5, first: [rx -> tx]}\n" PORTS "burst: $size\n"
				   "nodes:\n" RX_TX "graph: $first\n";
	static const struct graph_set set = {"size", "9"};
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *root = yaml_read_text(arena, "g.yaml", text, strlen(text), errors);
	struct graph *graph = graph_from_value(arena, "g.yaml", root, &set, 1, errors);

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(graph->settings.burst, 9);
	CU_ASSERT_EQUAL(graph->n_links, 1);
	graph_free(graph);
	errors_free(errors);
}

// What an earlier file did wrong is no matter of a later one.
static void earlier_faults_do_not_count(void)
{
	static const char text[] = PORTS "nodes:\n" RX_TX "graph: [rx -> tx]\n";
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *root = yaml_read_text(arena, "g.yaml", text, strlen(text), errors);
	struct graph *graph;

	error_at(errors, (struct place){.file = "earlier.yaml"}, "it was wrong");
	graph = graph_from_value(arena, "g.yaml", root, NULL, 0, errors);
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(graph->n_workers, 1);
	CU_ASSERT_EQUAL(graph->workers[0].n_sources, 1);
	CU_ASSERT_EQUAL(node_of(graph, "tx")->order, 1);
	graph_free(graph);
	errors_free(errors);
}

static void metadata_follows_every_path(void)
{
	struct graph *graph;

	// Round a loop, too: what comes back has been marked.
	graph =
	    engine_graph(PORTS "nodes:\n" RX_TX "  m: Mark\n"
			       "  p: Pass\n"
			       "  r: Marked\n"
			       "graph: ['rx -> m -> p[hit] -> r -> tx', 'p[miss] -> [side]p']\n");
	CU_ASSERT_PTR_NOT_NULL(graph);
	graph_free(graph);
	EXPECT_FAULTS(PORTS "nodes:\n" RX_TX "  fork: Scatter\n"
			    "  m: Mark\n"
			    "  a: Probe\n"
			    "  r: Marked\n"
			    "graph:\n"
			    "  - rx -> fork[0] -> m -> r -> tx\n"
			    "  - fork[1] -> a -> r\n",
		      "g.yaml:8:3: error: Marked 'r' reads the metadata test_mark, which nothing "
		      "writes on the path rx -> fork -> a -> r");
	EXPECT_FAULTS(
	    PORTS "nodes:\n" RX_TX "  m: MarkWide\n"
		  "  r: Marked\n"
		  "graph: [rx -> m -> r -> tx]\n",
	    "g.yaml:6:3: error: Marked 'r' has the metadata test_mark as u32, another node "
	    "of this graph as u64");
}

// Chains, stars and links from everywhere to everywhere load as fast as they are written.
static void large_graphs_load(void)
{
	struct engine_text text = {0};
	struct graph *graph;

	engine_put(&text, PORTS "nodes:\n" RX_TX);
	for (unsigned i = 0; i < 1000; i++)
		engine_put(&text, "  n%u: Mesh\n", i);
	engine_put(&text, "graph:\n  - rx -> n0\n  - n999 -> tx\n");
	for (unsigned i = 999; i > 0; i--)
		engine_put(&text, "  - n%u -> n%u\n", i - 1, i);
	for (unsigned i = 0; i < 1000; i++)
		engine_put(&text, "  - n%u[1] -> [%u]n%u\n", i, 1 + i % 7, i * 7919 % 1000);
	graph = engine_graph(text.text);
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(graph->n_nodes, 1002);
	CU_ASSERT_EQUAL(graph->n_links, 2001);
	CU_ASSERT_EQUAL(node_of(graph, "rx")->order, 0);
	order_check(graph);
	graph_free(graph);
	free(text.text);
}

static const CU_TestInfo cases[] = {
    {"a chain is numbered from its source", chain_is_in_order},
    {"links that meet are not single", joins_are_not_single},
    {"a loop has one link that leads back", loops_have_a_back_link},
    {"gates go by number or name", gates_go_by_number_or_name},
    {"unnamed nodes are numbered by module", unnamed_nodes_are_numbered},
    {"names of unnamed nodes are not given twice", unnamed_names_are_not_given_twice},
    {"settings are read", settings_are_read},
    {"vars are set", vars_are_set},
    {"earlier faults do not count", earlier_faults_do_not_count},
    {"metadata must be written on every path", metadata_follows_every_path},
    {"1,000 nodes load", large_graphs_load},
    CU_TEST_INFO_NULL,
};
SUITE(graph_load, cases, .eal = true)
