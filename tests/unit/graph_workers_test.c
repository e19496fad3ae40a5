// SPDX-License-Identifier: BSD-3-Clause
// Which worker runs what: as written, as assigned, and what is refused.

#include <sched.h>
#include <stdlib.h>

#include "engine.h"

#define PORTS "ports: {left: memory, right: memory}\n"
#define TWO                                                                                        \
	PORTS "nodes:\n"                                                                           \
	      "  rx: {PortInc: {port: left}}\n"                                                    \
	      "  gen: Source\n"                                                                    \
	      "  tx: {PortOut: {port: right}}\n"                                                   \
	      "graph: [rx -> Probe -> tx, gen -> tx]\n"

// The number of the worker that runs a node, or -1 when several do or none.
static int worker_of(const struct graph *graph, const char *name)
{
	int node = graph_find_node(graph, name);

	CU_ASSERT_FATAL(node >= 0);
	return __builtin_popcountll(graph->nodes[node].workers) == 1
		   ? __builtin_ctzll(graph->nodes[node].workers)
		   : -1;
}

static int last_core(void)
{
	int core = CPU_SETSIZE - 1;

	while (!CPU_ISSET(core, graph_cores()))
		core--;
	return core;
}

static int first_core(void)
{
	int core = 0;

	while (!CPU_ISSET(core, graph_cores()))
		core++;
	return core;
}

static void one_by_default(void)
{
	struct graph *graph = engine_graph(TWO);

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_FALSE(graph->workers_written);
	CU_ASSERT_EQUAL(graph->n_workers, 1);
	CU_ASSERT_EQUAL(graph->workers[0].core, last_core());
	CU_ASSERT_EQUAL(graph->workers[0].n_sources, 2);
	CU_ASSERT_EQUAL(worker_of(graph, "tx"), 0);
	CU_ASSERT_EQUAL(graph->ports[0].rx_queues, 1);
	CU_ASSERT_EQUAL(graph->ports[0].tx_queues, 0);
	CU_ASSERT_EQUAL(graph->ports[1].tx_queues, 1);
	graph_free(graph);
}

static void weights_are_read(void)
{
	struct graph *graph = engine_graph(
	    TWO "workers: [{sources: [gen, rx], policy: {weighted: {gen: 1000, rx: 3}}}]\n");

	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL_FATAL(graph->workers[0].n_sources, 2);
	CU_ASSERT_EQUAL(graph->workers[0].sources[0].node, 1);
	CU_ASSERT_EQUAL(graph->workers[0].sources[0].weight, 1000);
	CU_ASSERT_EQUAL(graph->workers[0].sources[1].node, 0);
	CU_ASSERT_EQUAL(graph->workers[0].sources[1].weight, 3);
	graph_free(graph);
	graph = engine_graph(TWO "workers: [{policy: round_robin}]\n");
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(graph->workers[0].n_sources, 2);
	graph_free(graph);
}

static void two_are_assigned(void)
{
	struct graph *graph;

	if (!engine_cores(2))
		return;
	graph = engine_graph(TWO "workers: 2\n");
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(graph->n_workers, 2);
	CU_ASSERT_EQUAL(worker_of(graph, "rx"), 0);
	CU_ASSERT_EQUAL(worker_of(graph, "gen"), 1);
	CU_ASSERT_EQUAL(worker_of(graph, "Probe#1"), 0);
	CU_ASSERT_EQUAL(worker_of(graph, "tx"), -1);
	CU_ASSERT_EQUAL(graph->workers[1].core, last_core());
	CU_ASSERT_EQUAL(graph->ports[1].tx_queues, 2);
	graph_free(graph);
}

// Sources that meet in a node which one worker only can run stay together.
static void unshared_nodes_keep_sources_together(void)
{
	struct graph *graph;

	if (!engine_cores(2))
		return;
	graph = engine_graph("nodes: {a: Source, b: Source, c: Source, p: Pass}\n"
			     "graph: ['a -> p', 'c -> [side]p', b -> Sink]\nworkers: 2\n");
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(worker_of(graph, "a"), 0);
	CU_ASSERT_EQUAL(worker_of(graph, "b"), 1);
	CU_ASSERT_EQUAL(worker_of(graph, "c"), 0);
	graph_free(graph);
	// A Queue parts them: those behind it are run by the one that polls it.
	graph = engine_graph("nodes: {a: Source, q: Queue, p: Pass}\n"
			     "graph: ['a -> q -> p']\nworkers: 2\n");
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(worker_of(graph, "a"), 0);
	CU_ASSERT_EQUAL(worker_of(graph, "p"), 1);
	CU_ASSERT_EQUAL(worker_of(graph, "q"), -1);
	graph_free(graph);
}

static void lists_that_are_wrong(void)
{
	EXPECT_FAULTS(TWO "workers: 0\n", "g.yaml:7:10: error: 0 workers, it should be 1 to 32");
	EXPECT_FAULTS(TWO "workers: []\n", "g.yaml:7:10: error: 0 workers, it should be 1 to 32");
	EXPECT_FAULTS(TWO "workers: 33\n", "g.yaml:7:10: error: 33 workers, it should be 1 to 32");
	EXPECT_FAULTS(
	    TWO "workers: many\n",
	    "g.yaml:7:10: error: workers is the text \"many\", it should be a number or a "
	    "list of {core, sources, policy}");
	EXPECT_FAULTS(TWO "workers: {core: 1}\n",
		      "g.yaml:7:10: error: workers is a map, it should be a number or a list of "
		      "{core, sources, policy}");
	EXPECT_FAULTS(TWO "workers: [rx]\n",
		      "g.yaml:7:11: error: the text \"rx\" is no worker, it should be {core: 1, "
		      "sources: [rx]}");
	EXPECT_FAULTS(TWO "workers: [{sources: [rx, tx, gem, elephant]}]\n",
		      "g.yaml:7:26: error: PortOut 'tx' is no source, a worker is given nodes that "
		      "make packets\n"
		      "g.yaml:7:30: error: no source \"gem\"; did you mean \"gen\"?\n"
		      "g.yaml:7:35: error: no source \"elephant\"");
	EXPECT_FAULTS(
	    TWO "workers: [{sources: [rx]}]\n",
	    "g.yaml:4:3: error: source 'gen' is run by no worker; add it to the sources of "
	    "one");
	EXPECT_FAULTS(
	    TWO "workers: [{sources: [rx, gen, rx]}]\n",
	    "g.yaml:7:31: error: source \"rx\" is named twice, each is polled as often as its "
	    "weight says");
	EXPECT_FAULTS(
	    TWO "workers: [{sources: rx}]\n",
	    "g.yaml:7:21: error: worker: sources: the text \"rx\" is given, it should be a "
	    "list of text");
}

static void policies_that_are_wrong(void)
{
	EXPECT_FAULTS(
	    TWO "workers: [{policy: fair}]\n",
	    "g.yaml:7:20: error: policy is the text \"fair\", it should be round_robin or "
	    "{weighted: {source: number}}");
	EXPECT_FAULTS(TWO "workers: [{policy: {weighted: 3}}]\n",
		      "g.yaml:7:20: error: policy is a map, it should be round_robin or {weighted: "
		      "{source: number}}");
	EXPECT_FAULTS(
	    TWO "workers: [{sources: [rx, gen], policy: {weighted: {rx: 0, gen: 1001}}}]\n",
	    "g.yaml:7:56: error: the weight of \"rx\" is 0, it should be a number from 1 to "
	    "1000\n"
	    "g.yaml:7:64: error: the weight of \"gen\" is 1001, it should be a number from "
	    "1 to 1000");
	EXPECT_FAULTS(
	    TWO "workers: [{sources: [rx], policy: {weighted: {gen: 2}}}]\n",
	    "g.yaml:7:47: error: \"gen\" has a weight, but is not among the sources of this "
	    "worker");
}

static void cores_that_cannot_be(void)
{
	struct engine_text text = {0}, expected = {0};
	int free_core = 0;

	engine_put(&text, TWO "workers: [{core: %d, sources: [rx]}, {core: %d, sources: [gen]}]\n",
		   first_core(), first_core());
	engine_put(&expected,
		   "g.yaml:7:%d: error: core %d has a worker already (line 7); each worker has a "
		   "core of its own",
		   first_core() > 9 ? 38 : 37, first_core());
	EXPECT_FAULTS(text.text, expected.text);
	free(text.text);
	free(expected.text);
	while (free_core < CPU_SETSIZE && CPU_ISSET(free_core, graph_cores()))
		free_core++;
	if (first_core() == 0 && CPU_COUNT(graph_cores()) == free_core && free_core > 1) {
		text = (struct engine_text){0};
		expected = (struct engine_text){0};
		engine_put(&text, TWO "workers: [{core: %d}]\n", free_core);
		engine_put(&expected,
			   "g.yaml:7:11: error: core %d is not among those that this process is "
			   "allowed (0-%d)",
			   free_core, free_core - 1);
		EXPECT_FAULTS(text.text, expected.text);
		free(text.text);
		free(expected.text);
		if (free_core >= 32)
			return;
		text = (struct engine_text){0};
		expected = (struct engine_text){0};
		engine_put(&text, TWO "workers: %d\n", free_core + 1);
		engine_put(
		    &expected,
		    "g.yaml:7:10: error: %d workers want a core each, this process is allowed "
		    "%d (0-%d)",
		    free_core + 1, free_core, free_core - 1);
		EXPECT_FAULTS(text.text, expected.text);
		free(text.text);
		free(expected.text);
	}
}

static void what_two_workers_cannot_share(void)
{
	if (!engine_cores(2) || last_core() != first_core() + 1 || first_core() != 0)
		return;
	EXPECT_FAULTS(
	    "nodes:\n  a: Source\n  b: Source\n  p: Pass\n"
	    "graph: [a -> Probe -> p, 'b -> [side]p']\n"
	    "workers: [{core: 0, sources: [a]}, {core: 1, sources: [b]}]\n",
	    "g.yaml:4:3: error: Pass 'p' is reached by the workers on core 0 (a -> Probe#1 "
	    "-> p) and core 1 (b -> p), but only one worker can run it; put a Queue before "
	    "it");
	EXPECT_FAULTS("nodes:\n  a: Source\ngraph: [a -> Sink]\n"
		      "workers: [{core: 0, sources: [a]}, {core: 1, sources: [a]}]\n",
		      "g.yaml:2:3: error: Source 'a' is reached by the workers on core 0 (a) and "
		      "core 1 (a), but only one worker can run it; put a Queue before it");
	EXPECT_FAULTS(
	    "nodes:\n  a: Source\ngraph: [a -> Sink]\nworkers: 2\n",
	    "g.yaml:4:10: error: 1 worker would have nothing to do: the graph falls into 1 "
	    "part that can run by itself; split it with HashSplit and Queue, or use fewer "
	    "workers");
	EXPECT_FAULTS(
	    "ports: {out: {pcap: {tx: a.pcap}}}\nnodes:\n  a: Source\n  b: Source\n"
	    "  tx: {PortOut: {port: out}}\n"
	    "graph: [a -> tx, b -> tx]\n"
	    "workers: [{core: 0, sources: [a]}, {core: 1, sources: [b]}]\n",
	    "g.yaml:5:3: error: 2 workers send to port 'out' by 'tx', but a pcap port has "
	    "1 transmit queue; let one worker do it, with a Queue between it and the "
	    "others");
}

static const CU_TestInfo cases[] = {
    {"one worker by default", one_by_default},
    {"weights are read", weights_are_read},
    {"two workers are assigned", two_are_assigned},
    {"unshared nodes keep sources together", unshared_nodes_keep_sources_together},
    {"lists that are wrong", lists_that_are_wrong},
    {"policies that are wrong", policies_that_are_wrong},
    {"cores that cannot be", cores_that_cannot_be},
    {"what two workers cannot share", what_two_workers_cannot_share},
    CU_TEST_INFO_NULL,
};
SUITE(graph_workers, cases, .eal = true)
