// SPDX-License-Identifier: BSD-3-Clause
// Everything that core/graph can say of a graph that is wrong, word for word. What workers have to
// do with it is in graph_workers_test.c.

#include "engine.h"

#define PORTS "ports: {left: memory, right: memory}\n"
#define RX_TX "  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n"
// The nodes begin in line 3, what follows GRAPH(LINKS) with the links in line 6.
#define GRAPH(LINKS) PORTS "nodes:\n" RX_TX "  p: Pass\n" LINKS

static void files_that_are_no_graph(void)
{
	EXPECT_FAULTS("", "g.yaml: error: is empty, it should be a graph file");
	EXPECT_FAULTS("~\n",
		      "g.yaml:1:1: error: the file is empty, it should hold ports, nodes and a "
		      "graph");
	EXPECT_FAULTS("- a\n",
		      "g.yaml:1:1: error: the file is a list, it should be a map with ports, nodes "
		      "and graph");
	EXPECT_FAULTS(
	    "nodes: {}\n",
	    "g.yaml: error: the graph has no source, so nothing would ever run; it should "
	    "have a node that makes packets (PortInc, Source)");
	EXPECT_FAULTS("nodez: {}\nnodes: {rx: Source}\n",
		      "g.yaml:1:1: error: \"nodez\" is not a key of a graph file; did you mean "
		      "\"nodes\"?");
	EXPECT_FAULTS(
	    "elephant: {}\nnodes: {rx: Source}\n",
	    "g.yaml:1:1: error: \"elephant\" is not a key of a graph file, it should be "
	    "one of vars, modules, ports, nodes, graph, workers, memory, eal, idle, burst, "
	    "watch, name");
	EXPECT_FAULTS(
	    "burst: 65\nnodes: {rx: Source}\n",
	    "g.yaml:1:8: error: graph: burst: \"65\" is out of range, it should be 1 to 64");
}

static void sections_of_the_wrong_kind(void)
{
	EXPECT_FAULTS("nodes: {rx: Source}\nports: 5\n",
		      "g.yaml:2:8: error: ports is the text \"5\", it should be a map of names and "
		      "types");
	EXPECT_FAULTS("nodes: [rx]\n",
		      "g.yaml:1:8: error: nodes is a list, it should be a map of names and types");
	EXPECT_FAULTS("nodes: {rx: Source}\ngraph: rx -> tx\n",
		      "g.yaml:2:8: error: graph is the text \"rx -> tx\", it should be a list of "
		      "links (- a -> b)");
	EXPECT_FAULTS("nodes: {rx: Source}\ngraph: [{a: b}]\n",
		      "g.yaml:2:9: error: a map is no link, it should be a text like a -> b");
	EXPECT_FAULTS("nodes: {rx: Source}\nmodules: mine.so\n",
		      "g.yaml:2:10: error: modules is the text \"mine.so\", it should be a list of "
		      "shared objects (./mine.so)");
	EXPECT_FAULTS("nodes: {rx: Source}\nmodules: [[a]]\n",
		      "g.yaml:2:11: error: a list is no module, it should be the path of a shared "
		      "object");
	EXPECT_FAULTS(
	    "nodes: {rx: Source}\nmodules: [mine.so]\n",
	    "g.yaml:2:11: error: the module \"mine.so\" has no folder, it should be a path "
	    "like ./mine.so");
	EXPECT_FAULTS("nodes: {rx: Source}\nvars: 7\n",
		      "g.yaml:2:7: error: vars is the text \"7\", it should be a map of names and "
		      "values");
}

static void ports_and_nodes_that_are_wrong(void)
{
	EXPECT_FAULTS("ports:\n  a b: memory\n  left: memori\n  right:\n  none: {}\n"
		      "  two: {memory: , pcap: }\n  list: [memory]\nnodes: {rx: Source}\n",
		      "g.yaml:2:3: error: \"a b\" cannot be the name of a port, it should be "
		      "letters, digits, _ and -, a letter first, at most 63\n"
		      "g.yaml:3:9: error: no driver \"memori\"; did you mean \"memory\"?\n"
		      "g.yaml:4:3: error: port \"right\" has no type, it should be name: driver\n"
		      "g.yaml:5:9: error: port \"none\" is a map, it should be a type or "
		      "{type: {parameter: value}}\n"
		      "g.yaml:6:19: error: port \"two\" has more than one type, it should be "
		      "{memory: {parameter: value}}\n"
		      "g.yaml:7:9: error: port \"list\" is a list, it should be a type or {type: "
		      "{parameter: value}}");
	EXPECT_FAULTS(
	    "nodes:\n  1a: Source\n  Source: Source\n  x: Sorce\n  y: Hippopotamus\n  z:\n"
	    "  Probe#1: Source\n",
	    "g.yaml:2:3: error: \"1a\" cannot be the name of a node, it should be "
	    "letters, digits, _ and -, a letter first, at most 63\n"
	    "g.yaml:3:3: error: \"Source\" is the name of a module, a node needs one of "
	    "its own\n"
	    "g.yaml:4:6: error: no module \"Sorce\"; did you mean \"Source\"?\n"
	    "g.yaml:5:6: error: no module \"Hippopotamus\" (`sluice modules` lists them)\n"
	    "g.yaml:6:3: error: node \"z\" has no type, it should be name: Module");
	EXPECT_FAULTS("ports: {zebra: camelopard}\nnodes: {s: Source}\n",
		      "g.yaml:1:16: error: no driver \"camelopard\" (`sluice drivers` lists them)");
}

static void parameters_that_are_wrong(void)
{
	EXPECT_FAULTS("ports: {left: {memory: {keep: 0, kept: 1}}}\n"
		      "nodes: {rx: {PortInc: {port: lefd}}, s: {Source: {count: many}}}\n",
		      "g.yaml:1:31: error: memory: keep: \"0\" is out of range, it should be 1 to "
		      "16777216\n"
		      "g.yaml:1:34: error: memory: \"kept\" is not a parameter; there are frames, "
		      "segments, keep, open\n"
		      "g.yaml:2:30: error: PortInc: port: \"lefd\" is not a port; did you mean "
		      "\"left\"?\n"
		      "g.yaml:2:58: error: Source: count: \"many\" is not a number, it should be 0 "
		      "to 18446744073709551615");
	EXPECT_FAULTS(
	    "nodes: {s: Source, q: {Queue: {size: 8, high: 9}}}\ngraph: [s -> q -> Sink]\n",
	    "g.yaml:1:47: error: Queue: high: 9 is more than the queue can hold, which is "
	    "8");
}

static void links_that_are_no_links(void)
{
	EXPECT_FAULTS(
	    GRAPH("graph:\n"
		  "  - rx\n"
		  "  - rx -> \n"
		  "  - rx - tx\n"
		  "  - rx -> p[ -> tx\n"
		  "  - rx -> p[1 -> tx\n"
		  "  - -> tx\n"
		  "  - '[0]rx -> tx'\n"
		  "  - 'p -> tx[0]'\n"
		  "  - rx -> ?x\n"
		  "  - \"rx -> %%%\"\n"),
	    "g.yaml:7:5: error: \"rx\" is no link, it should be like a -> b\n"
	    "g.yaml:8:10: error: the link \"rx ->\" ends where the name of a node or "
	    "module should be\n"
	    "g.yaml:9:8: error: \"-\" in a link, it should be an arrow (->)\n"
	    "g.yaml:10:14: error: \"-\" in a link, it should be the number or name of a "
	    "gate\n"
	    "g.yaml:11:15: error: \"-\" in a link, it should be a closing ]\n"
	    "g.yaml:12:5: error: \"-\" in a link, it should be the name of a node or "
	    "module\n"
	    "g.yaml:13:7: error: the link begins with an input gate, it should begin with "
	    "a node\n"
	    "g.yaml:14:14: error: the link ends with an output gate, it should end with a "
	    "node\n"
	    "g.yaml:15:11: error: \"?\" in a link, it should be the name of a node or "
	    "module\n"
	    "g.yaml:16:12: error: \"%\" in a link, it should be the name of a node or "
	    "module");
}

static void links_to_what_is_not_there(void)
{
	EXPECT_FAULTS(
	    GRAPH("graph:\n"
		  "  - rx -> q -> tx\n"
		  "  - rx -> camelopard\n"
		  "  - p[third] -> tx\n"
		  "  - p[2] -> tx\n"
		  "  - p -> [-1]p\n"
		  "  - tx -> p\n"
		  "  - p -> rx\n"
		  "  - p -> [18446744073709551616]p\n"
		  "  - rx[1] -> [1]tx\n"
		  "  - Mesh[64] -> tx\n"),
	    "g.yaml:7:11: error: no node or module \"q\"\n"
	    "g.yaml:8:11: error: no node or module \"camelopard\"\n"
	    "g.yaml:9:7: error: Pass 'p' has no output gate third, it has hit, miss\n"
	    "g.yaml:10:7: error: Pass 'p' has no output gate 2, it has hit, miss\n"
	    "g.yaml:11:11: error: Pass 'p' has no input gate -1, it has main, side\n"
	    "g.yaml:12:5: error: PortOut 'tx' has no output gates, so no link can leave "
	    "it\n"
	    "g.yaml:13:10: error: PortInc 'rx' has no input gates, so no link can enter "
	    "it\n"
	    "g.yaml:14:11: error: Pass 'p' has no input gate 18446744073709551616, it has "
	    "main, side\n"
	    "g.yaml:15:8: error: PortInc 'rx' has no output gate 1, it has 0\n"
	    "g.yaml:15:15: error: PortOut 'tx' has no input gate 1, it has 0\n"
	    "g.yaml:16:10: error: Mesh 'Mesh#1' has no output gate 64, it has 0 to 63");
}

static void gates_that_are_linked_twice(void)
{
	EXPECT_FAULTS(
	    GRAPH("graph:\n"
		  "  - rx -> p[miss] -> tx\n"
		  "  - p[1] -> tx\n"
		  "  - rx -> tx\n"),
	    "g.yaml:8:13: error: output gate p[miss] is linked already (line 7); one link "
	    "leaves a gate, a Tee copies packets to several\n"
	    "g.yaml:9:11: error: output gate rx is linked already (line 7); one link "
	    "leaves a gate, a Tee copies packets to several");
}

static void nodes_that_nothing_reaches(void)
{
	EXPECT_FAULTS(GRAPH("graph:\n"
			    "  - rx -> tx\n"
			    "  - p -> [1]p\n"),
		      "g.yaml:5:3: error: no source reaches Pass 'p'; link it, or leave it out");
	EXPECT_FAULTS(
	    "nodes: {q: Queue}\ngraph: [q -> Sink]\n",
	    "g.yaml: error: the graph has no source, so nothing would ever run; it should "
	    "have a node that makes packets (PortInc, Source)");
}

static void ports_that_are_used_wrongly(void)
{
	EXPECT_FAULTS(
	    "ports: {left: memory, right: memory, spare: memory}\nnodes:\n" RX_TX
	    "  again: {PortInc: {port: left}}\n"
	    "graph: [rx -> tx, again -> tx]\n",
	    "g.yaml:1:38: error: no node uses port 'spare'; use it in one, or leave it "
	    "out\n"
	    "g.yaml:5:3: error: port 'left' is received from by 'rx' already (line 3); one "
	    "node receives from a port, a Tee or HashSplit behind it serves several");
	EXPECT_FAULTS(
	    "ports: {left: {pcap: {rx: a.pcap}}, right: {pcap: {tx: b.pcap}}}\nnodes:\n"
	    "  rx: {PortInc: {port: right}}\n  tx: {PortOut: {port: left}}\n"
	    "graph: [rx -> tx]\n",
	    "g.yaml:3:3: error: PortInc 'rx' cannot receive from port 'right': as it is "
	    "written, this pcap port does not receive\n"
	    "g.yaml:4:3: error: PortOut 'tx' cannot send to port 'left': as it is written, "
	    "this pcap port does not send");
}

static const CU_TestInfo cases[] = {
    {"files that are no graph", files_that_are_no_graph},
    {"sections of the wrong kind", sections_of_the_wrong_kind},
    {"ports and nodes that are wrong", ports_and_nodes_that_are_wrong},
    {"parameters that are wrong", parameters_that_are_wrong},
    {"links that are no links", links_that_are_no_links},
    {"links to what is not there", links_to_what_is_not_there},
    {"gates that are linked twice", gates_that_are_linked_twice},
    {"nodes that nothing reaches", nodes_that_nothing_reaches},
    {"ports that are used wrongly", ports_that_are_used_wrongly},
    CU_TEST_INFO_NULL,
};
SUITE(graph_errors, cases, .eal = true)
