// SPDX-License-Identifier: BSD-3-Clause
// Building graphs in Lua: each function and form once, against the graph file that says the same.

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "lua_rig.h"

static void test_chains(void)
{
	static const char yaml[] = "nodes: {s: Source, k: Sink}\ngraph: [s -> MACSwap -> k]\n";

	lua_expect_graph("chain(Source('s'), MACSwap(), Sink('k'))", yaml);
	lua_expect_graph("Source('s')\nSink('k')\nchain('s', MACSwap(), 'k')", yaml);
	lua_expect_graph("chain({Source('s'), {MACSwap()}}, {}, Sink('k'))", yaml);
	lua_expect_graph("local _ = Source('s') >> MACSwap() >> Sink('k')", yaml);
	lua_expect_graph("chain(function() return Source('s') end, MACSwap, Sink('k'))", yaml);
	lua_expect_graph("local tail = chain(MACSwap(), Sink('k'))\nchain(Source('s'), tail)",
			 yaml);
	lua_expect_graph("local function nf() return MACSwap() end\n"
			 "local piece = chain(nf)\nchain(Source('s'), piece, Sink('k'))",
			 yaml);
	lua_expect_graph("chain(Source('s', {}), MACSwap{}, Sink('k', nil))", yaml);
}

static void test_names(void)
{
	lua_expect_graph("chain(Source(), MACSwap(), MACSwap('mine'), MACSwap(), Sink())",
			 "nodes: {mine: MACSwap}\n"
			 "graph: [Source -> MACSwap -> mine -> MACSwap -> Sink]\n");
	lua_expect_graph("chain(Source('Source'..1), Sink())\ncheck(node.Source1.name == 'Source1')"
			 "\ncheck(node.Source1.module == 'Source')",
			 "nodes: {Source1: Source}\ngraph: [Source1 -> Sink]\n");
}

static void test_gates(void)
{
	static const char both[] = "nodes: {s: Source, f: {Filter: {expression: udp}}, a: Sink, b: "
				   "Discard}\ngraph: ['s -> f', 'f[match] -> a', 'f[miss] -> b']\n";

	lua_expect_graph("local s, f = Source('s'), Filter('f', {expression = 'udp'})\n"
			 "local a, b = Sink('a'), Discard('b')\n"
			 "chain(s, f) chain(f:gate('match'), a) chain(f:gate('miss'), b)",
			 both);
	lua_expect_graph("local s, f = Source('s'), Filter('f', {expression = 'udp'})\n"
			 "local a, b = Sink('a'), Discard('b')\n"
			 "chain(s, f:gate(0), a) chain(f:gate(1), b:input(0))",
			 both);
	lua_expect_graph("chain(Source('s'), Filter('f', {expression = 'udp'}), "
			 "parallel(Sink('a'), Discard('b')))",
			 both);
	lua_expect_graph("local s, f = Source('s'), Filter('f', {expression = 'udp'})\n"
			 "local a, b = Sink('a'), Discard('b')\n"
			 "local _ = s >> f:input(0):gate(0) >> a\n_ = f:gate(1) >> b",
			 both);
}

static void test_parallel(void)
{
	lua_expect_graph("chain(Source('s'), RoundRobin('r'), parallel(MACSwap('a'), "
			 "MACSwap('b')), "
			 "Sink('k'))",
			 "nodes: {s: Source, r: RoundRobin, a: MACSwap, b: MACSwap, k: Sink}\n"
			 "graph: [s -> r, 'r[0] -> a', 'r[1] -> b', a -> k, b -> k]\n");
	// As many outputs as inputs: one to one.
	lua_expect_graph(
	    "chain(parallel(Source('s'), Source('t')), parallel(Sink('a'), Sink('b')))",
	    "nodes: {s: Source, t: Source, a: Sink, b: Sink}\n"
	    "graph: [s -> a, t -> b]\n");
	lua_expect_graph("chain(parallel{Source('s'), Source('t')}, Sink('a'))",
			 "nodes: {s: Source, t: Source, a: Sink}\ngraph: [s -> a, t -> a]\n");
	lua_expect_graph("chain(RoundRobin('r'), parallel(\n"
			 "chain(MACSwap('a'), MACSwap('b')), MACSwap('c')), Sink('k'))\n"
			 "chain(Source('s'), 'r')",
			 "nodes: {r: RoundRobin, a: MACSwap, b: MACSwap, c: MACSwap,"
			 " k: Sink, s: Source}\n"
			 "graph: [a -> b, 'r[0] -> a', 'r[1] -> c', b -> k, c -> k, s -> r]\n");
}

static void test_ports(void)
{
	static const char both[] =
	    "ports: {left: {\"null\": {count: 5}}, right: \"null\"}\n"
	    "nodes: {rx: {PortInc: {port: left}}, tx: {PortOut: {port: right}}}\n"
	    "graph: [rx -> tx]\n";

	lua_expect_graph("local left, right = port.null('left', {count = 5}), port.null('right')\n"
			 "chain(PortInc('rx', {port = left}), PortOut('tx', {port = right}))",
			 both);
	lua_expect_graph(
	    "port.null('left', {count = 5})\nport.null('right', {})\n"
	    "chain(PortInc('rx', {port = port.left}), PortOut('tx', {port = 'right'}))",
	    both);
	lua_expect("local left = port.null{count = 5}\ncheck(left.name == 'null1')\n"
		   "check(left.driver == 'null')\nlocal p = chain(left, MACSwap(), left)\n"
		   "check(node['PortInc#1'] and node['PortOut#1'])\n"
		   "local _ = port.null{} >> port.null{}",
		   "");
}

static void test_settings(void)
{
	lua_expect_graph(
	    "settings{burst = 16, idle = 'spin', eal = 'a $name'}\nsettings{watch = 8}\n"
	    "chain(Source('s', {count = 2}), Sink('k'))",
	    "burst: 16\neal: a $$name\nidle: spin\nwatch: 8\n"
	    "nodes: {s: {Source: {count: 2}}, k: Sink}\ngraph: [s -> k]\n");
}

static void test_workers(void)
{
	char lua[300], yaml[300];
	int core = 0;

	while (!CPU_ISSET(core, graph_cores()))
		core++;
	snprintf(lua, sizeof(lua),
		 "local s = Source('s')\nchain(s, Sink('k'))\nworker{core = %d, sources = {s}}",
		 core);
	snprintf(yaml, sizeof(yaml),
		 "nodes: {s: Source, k: Sink}\ngraph: [s -> k]\n"
		 "workers: [{core: %d, sources: [s]}]\n",
		 core);
	lua_expect_graph(lua, yaml);
}

// A graph beside the script's own leaves that as it was.
static void test_graphs(void)
{
	lua_expect_graph("Source('s')\nlocal other = graph(function()\n"
			 "chain(Source('s'), Discard('other'))\nend)\n"
			 "check(type(other) == 'userdata')\ncheck(not pcall(function() return "
			 "node.other end))\nchain('s', Sink('k'))",
			 "nodes: {s: Source, k: Sink}\ngraph: [s -> k]\n");
	lua_expect("check(not pcall(graph, function() error('no') end))\n"
		   "check(not pcall(graph, function() chain(Source{count = 'x'}, Sink()) end))\n"
		   "check(type(graph('graphs/generate.yaml')) == "
		   "'userdata')\nchain(Source(), Sink())",
		   "");
	// Its faults are nobody else's.
	lua_expect(
	    "local ok, why = pcall(graph, function() chain(Source{count = 'x'}, Sink()) "
	    "end)\ncheck(why:find('t.lua:1: error: Source: count: \"x\" is not a number', 1, "
	    "true), why)\nchain(Source(), Sink())",
	    "");
	lua_expect("local ok, why = pcall(graph, function()\nSink('a') Sink('a')\nend)\n"
		   "check(not ok)\nchain(Source(), Sink())",
		   "t.lua:2: error: \"a\" is the name of a node already, made in line 2\n");
}

static void test_modules(void)
{
	lua_expect("load_module('./none.so')\nchain(Source(), Sink())",
		   "t.lua:1: error: cannot load the module ./none.so: cannot open shared "
		   "object file: No such file or directory\n");
}

// A graph of 1,000 nodes is built in under 0.1 s (ten times that under sanitizers).
static void test_many(void)
{
	static const char text[] = "local nodes = {Source()}\n"
				   "for i = 2, 999 do nodes[i] = MACSwap('swap' .. i) end\n"
				   "nodes[1000] = Sink()\nchain(nodes)";
	struct errors *errors = errors_new();
	struct script_options options = {.file = "t.lua", .text = text, .length = strlen(text)};
	struct timespec before, after;
	struct script *script;
	struct graph *graph;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	script = script_open(&options, errors);
	graph = script_graph(script, errors);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	CU_ASSERT_FATAL(graph != NULL);
	CU_ASSERT_EQUAL(graph->n_nodes, 1000);
	CU_ASSERT((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec <
		  1000000000);
	graph_free(graph);
	script_close(script);
	errors_free(errors);
}

static const CU_TestInfo cases[] = {
    {"chains", test_chains},	 {"names", test_names},	  {"gates", test_gates},
    {"parallel", test_parallel}, {"ports", test_ports},	  {"settings", test_settings},
    {"workers", test_workers},	 {"graphs", test_graphs}, {"modules", test_modules},
    {"1,000 nodes", test_many},	 CU_TEST_INFO_NULL,
};
SUITE(lua_build, cases)
