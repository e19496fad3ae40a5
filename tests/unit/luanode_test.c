// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: what a script can ask is answered, and once more with garbage collected at each
// instruction; workers, commands and changes of the graph.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "luanode_rig.h"
#include "suite.h"

// All that a script can call, each with what it answers on luanode_packets; an answer that is wrong
// is an error in the script.
static const char all_functions[] =
    "local dns, total, kept, kept_batch = filter('udp and dst port 53'), 0\n"
    "local function is(got, wanted)\n"
    "  if got ~= wanted then\n"
    "    error(('%s, not %s'):format(tostring(got), tostring(wanted)), 2)\n"
    "  end\n"
    "end\n"
    "local function list(array)\n"
    "  local texts = {}\n"
    "  for i, value in ipairs(array) do texts[i] = tostring(value) end\n"
    "  return table.concat(texts, ' ')\n"
    "end\n"
    "is(args.name, 'value')\n"
    "is(ip4('10.0.0.1'), 0x0a000001) is(ip4_text(0x0a0000ff), '10.0.0.255')\n"
    "is(mac('02:00:00:00:00:ff'), 0x0200000000ff)\n"
    "is(mac_text(0x0200000000ff), '02:00:00:00:00:ff')\n"
    "is(filter('udp and dst port 53'), dns)\n"
    "is(setmetatable({}, {__index = {x = 1}}).x, 1)\n"
    "is(debug.traceback() ~= nil, true) is(debug.setmetatable, nil)\n"
    "function open(node)\n"
    "  is(node.name, 'lua') is(node.gates, 2) is(node.queue, 0) is(node.workers, 1)\n"
    "end\n"
    "function close() is(total > 0, true) end\n"
    "local function fields(batch)\n"
    "  is(list(batch:size()), '90 78 42 42 9000 14')\n"
    "  is(list(batch:get('ether.type')), '2048 33024 2048 2054 2048 2048')\n"
    "  is(mac_text(batch:get('ether.dst')[6]), '02:00:00:00:00:02')\n"
    "  is(list(batch:get('vlan.id')), 'false 7 false false false false')\n"
    "  is(batch:get('vlan.type')[2], 0x86dd) is(batch:get('vlan.pcp')[2], 0)\n"
    "  is(list(batch:get('ip.ttl')), '64 64 1 false 64 false')\n"
    "  is(list(batch:get('ip.proto')), '17 6 1 false 17 false')\n"
    "  is(batch:get('ip.src')[1], ip4('10.0.0.1')) is(batch:get('ip.src')[2], 'fd00::1')\n"
    "  is(list(batch:get('sport')), '1000 1000 false false 1000 false')\n"
    "  is(list(batch:get('dport')), '53 80 false false 2000 false')\n"
    "  is(list(batch:get('tcp.flags')), 'false 2 false false false false')\n"
    "  is(batch:get('icmp.type')[3], 8) is(batch:get('udp.length')[1], 8)\n"
    "  is(batch:get('ipv4.len')[1], 28) is(batch:get('ipv6.len')[2], 20)\n"
    "end\n"
    "local function masks(batch)\n"
    "  is(batch.n, 6) is(#batch, 6) is(batch.all, 63) is(batch.input, 0)\n"
    "  is(batch.now >= 0, true)\n"
    "  is(batch:select(dns), 1) is(batch:select('udp'), 17)\n"
    "  is(batch:select('udp', ~1), 16) is(batch:select('ip[ip[2:2]:1] = 0', 0), 0)\n"
    "  is(batch:count(), 6) is(batch:count(17), 2) is(batch:count(~0), 6)\n"
    "  is(batch:mask(), 0) is(batch:mask(1, 5), 17)\n"
    "  is(batch:where('ip.ttl', 1), 4) is(batch:where('ip.ttl', 2, 64), 19)\n"
    "  is(batch:where('ip.ttl', 0, 255, 3), 3)\n"
    "  is(batch:where('ip.src', '10.0.0.0', '10.0.0.255'), 21)\n"
    "  is(batch:where('ip.src', 'fd00::', 'fd00::ffff'), 2)\n"
    "  is(batch:where('ether.src', '02:00:00:00:00:01'), 63)\n"
    "  local seen = {}\n"
    "  for i, packet in batch:packets(21) do seen[#seen + 1] = i * 10000 + #packet end\n"
    "  is(list(seen), '10090 30042 59000')\n"
    "end\n"
    "local function one(batch)\n"
    "  local p = batch:packet(5)\n"
    "  is(#p, 9000) is(p:length(), 9000) is(p:u8(12), 8) is(p:u16(12), 0x0800)\n"
    "  is(p:u32(26), ip4('10.0.0.1')) is(p:u48(6), mac('02:00:00:00:00:01'))\n"
    "  is(p:bytes(12, 2), '\\8\\0') is(#p:bytes(), 9000) is(#p:bytes(8990), 10)\n"
    "  is(p:bytes(9000, 0), '')\n"
    "  p:set_u8(8999, 1) p:set_u16(8990, 2) p:set_u32(8980, 3) p:set_u48(8970, 4)\n"
    "  p:set_bytes(8960, 'abc')\n"
    "  is(p:u8(8999), 1) is(p:u16(8990), 2) is(p:u32(8980), 3) is(p:u48(8970), 4)\n"
    "  is(p:bytes(8960, 3), 'abc')\n"
    "  is(p:get('dport'), 2000) is(p:set('dport', 53), true) is(p:get('dport'), 53)\n"
    "  is(p:get('vlan.id'), false) is(p:set('vlan.id', 5), false)\n"
    "  p:trim(100) is(#p, 100) is(p:append(('x'):rep(20)), true) is(#p, 120)\n"
    "  is(p:append(('x'):rep(60000)), false)\n"
    "  is(p:prepend('12345678901234'), true) is(#p, 134) is(p:u8(0), 0x31)\n"
    "  is(p:prepend(('x'):rep(60000)), false)\n"
    "  is(p:cut(14), true) is(#p, 120) is(p:finish(), true) is(p:get('udp.length'), 86)\n"
    "  is(p:get('ipv4.len'), 106) is(batch:packet(4):finish(), false)\n"
    "  is(batch:packet(2):finish(), true)\n"
    "end\n"
    "local function payload(batch)\n"
    "  is(list({batch:packet(1):payload()}), '42 0')\n"
    "  is(list({batch:packet(2):payload()}), '78 0')\n"
    "  is(batch:packet(3):payload(), nil) is(batch:packet(6):payload(), nil)\n"
    "end\n"
    "local function sets(batch)\n"
    "  is(batch:set('ip.dscp', 46), 23) is(batch:get('ip.dscp')[2], 46)\n"
    "  is(batch:set('vlan.id', 9), 2) is(batch:get('vlan.id')[2], 9)\n"
    "  is(batch:set('ip.dst', '10.9.9.9', 3), 1) is(batch:set('ip.dst', 'fd00::9'), 2)\n"
    "  is(batch:set('ether.dst', mac('02:00:00:00:00:aa'), 32), 32)\n"
    "  is(batch:set('sport', {7, false, 8, nil, 9}), 17)\n"
    "  is(batch:get('sport')[5], 9) is(batch:set('tcp.flags', 0x12), 2)\n"
    "end\n"
    "function process(batch)\n"
    "  if kept then\n"
    "    is(select(2, pcall(kept.length, kept)):match('packet is no longer') ~= nil, true)\n"
    "  end\n"
    "  fields(batch) masks(batch) payload(batch) one(batch) sets(batch)\n"
    "  is(pcall(function() return batch.wrong end), false)\n"
    "  batch:gate(1) batch:gate(0, 1) batch:drop(2) batch:gate(1, 2)\n"
    "  batch:packet(3):gate(0) batch:packet(4):drop() batch:packet(4):gate(0)\n"
    "  batch:drop(16, 'full')\n"
    "  local made = batch:new(('n'):rep(60), 1)\n"
    "  is(#made, 60) made:set_u8(0, 2)\n"
    "  batch:new(('m'):rep(14)):drop()\n"
    "  batch:new(('o'):rep(14)):gate(0)\n"
    "  kept = batch:packet(1)\n"
    "  total = total + 1\n"
    "end\n"
    "commands = {\n"
    "  total = {help = 'how many', run = function(given)\n"
    "    is(pcall(kept.length, kept), false)\n"
    "    return {calls = total, with = given.with, half = 0.5, yes = true, less = -1}\n"
    "  end},\n"
    "  plain = function() return 'text' end,\n"
    "  nothing = function() end,\n"
    "  fails = function() error('as asked') end,\n"
    "  deep = function() return {x = {}} end,\n"
    "  binary = function() return '\\xff' end,\n"
    "}\n";

// Collects all garbage at each instruction.
static void collect(lua_State *lua, lua_Debug *where)
{
	(void)where;
	lua_gc(lua, LUA_GCCOLLECT);
}

static void functions_run(bool collecting)
{
	unsigned calls = collecting ? 1 : 3;
	struct node_counts counts;
	char expected[200], *text;
	struct run *run;

	text = luanode_text(6, "instructions: 0\n      args: [{name: name, value: value}]",
			    luanode_packets, 6 * calls, all_functions);
	run = flow_open(text, true);
	free(text);
	if (collecting)
		lua_sethook(luanode_script_of(run)->lua, collect, LUA_MASKCOUNT, 1);
	flow_walk(run);
	counts = flow_counts(run, "lua");
	CU_ASSERT_EQUAL(counts.own[0], 0);
	if (counts.own[0])
		fprintf(stderr, "%s: %s\n", luanode_script_of(run)->place,
			luanode_script_of(run)->text);
	CU_ASSERT_EQUAL(counts.made, 3 * calls);
	// Packets 1 and 3 and one that was made; packet 6 and one that was made.
	luanode_counts_expect(run, 3 * calls, 2 * calls, "script", 3 * calls);
	CU_ASSERT_EQUAL(flow_dropped(run, "lua", "full"), calls);
	snprintf(expected, sizeof(expected),
		 "{\"calls\":%u,\"half\":\"0.5\",\"less\":-1,\"with\":\"7\",\"yes\":true}", calls);
	luanode_call_expect(run, "{name: total, args: [{name: with, value: 7}]}", expected);
	luanode_call_expect(run, "{name: plain}", "{\"result\":\"text\"}");
	luanode_call_expect(run, "{name: nothing}", "{}");
	luanode_call_expect(run, "{name: fails}", ": as asked");
	luanode_call_expect(run, "{name: deep}", "\"x\" is a table");
	luanode_call_expect(run, "{name: binary}", "is no UTF-8 text");
	luanode_call_expect(run, "{name: missing}", "the script has no command \"missing\"");
	flow_close(run);
}

static void functions(void)
{
	functions_run(false);
}

static void functions_collecting(void)
{
	functions_run(true);
}

// A packet that was kept, or a batch, is refused afterwards; while a call runs, what was kept
// stands for what is at its place.
static void kept(void)
{
	struct run *run = luanode_open_run("", luanode_packets, 2 * LUANODE_BURST,
					   "local batch, packet, next, state, last\n"
					   "function process(b)\n"
					   "  batch, packet = b, b:packet(1)\n"
					   "  next, state, last = b:packets()\n"
					   "end\n"
					   "commands = {\n"
					   "  packet = function() return packet:u8(0) end,\n"
					   "  method = function() return batch:count() end,\n"
					   "  field = function() return batch.n end,\n"
					   "  size = function() return #batch end,\n"
					   "  loop = function() return (next(state, last)) end,\n"
					   "}");

	flow_walk(run);
	luanode_call_expect(run, "{name: packet}", "the packet is no longer there");
	luanode_call_expect(run, "{name: method}", "the batch is no longer there");
	luanode_call_expect(run, "{name: field}", "the batch is no longer there");
	luanode_call_expect(run, "{name: size}", "the batch is no longer there");
	luanode_call_expect(run, "{name: loop}", "the batch is no longer there");
	luanode_counts_expect(run, 2 * LUANODE_BURST, 0, NULL, 0);
	flow_close(run);
}

// Two workers have a state each; a command asks both.
static void two_workers(void)
{
	struct run *run;

	if (!flow_two_cores())
		return;
	run = flow_open("workers: [{core: 0, sources: [a]}, {core: 1, sources: [b]}]\n"
			"nodes:\n"
			"  a: {Source: {count: 64000}}\n"
			"  b: {Source: {count: 64000}}\n"
			"  lua:\n"
			"    LuaNode:\n"
			"      code: |\n"
			"        local n, queue = 0\n"
			"        function open(node) queue = node.queue end\n"
			"        function process(batch)\n"
			"          n = n + batch.n\n"
			"          if n % 640 == 0 then error('now and then') end\n"
			"          batch:gate(queue)\n"
			"        end\n"
			"        commands = {n = function() return {n = n} end}\n"
			"  one: Sink\n"
			"  two: Sink\n"
			"graph:\n"
			"  - a -> [0]lua -> one\n"
			"  - b -> [0]lua[1] -> two\n",
			false);
	CU_ASSERT_TRUE(flow_end(run));
	luanode_call_expect(run, "{name: n}",
			    "[{\"n\":64000,\"worker\":0},{\"n\":64000,\"worker\":1}]");
	luanode_counts_expect(run, 64000 - 3200, 64000 - 3200, "script_error", 6400);
	CU_ASSERT_EQUAL(flow_counts(run, "lua").own[0], 200);
	flow_close(run);
}

// A graph change keeps the script that runs, and refuses to lose what it knows.
static void changes(void)
{
	static const char script[] = "local n = 0\n"
				     "function process(batch) n = n + batch.n end\n"
				     "commands = {n = function() return n end}";
	struct run *run = luanode_open_run("", luanode_packets, LUANODE_BURST, script);
	const char *const params[] = {"", "memory: 32MiB", "memory: 32MiB"};

	flow_walk(run);
	for (unsigned i = 0; i < RTE_DIM(params); i++) {
		struct errors *errors = errors_new();
		char *text =
		    luanode_text(LUANODE_BURST, params[i], luanode_packets, LUANODE_BURST, script);

		CU_ASSERT_EQUAL(run_switch(run, flow_graph(text), i == 2, errors), i == 1 ? -1 : 0);
		free(text);
		text = errors_text(errors);
		if (i == 1)
			CU_ASSERT_PTR_NOT_NULL(
			    strstr(text, "would lose of LuaNode 'lua': what its script keeps"));
		free(text);
		errors_free(errors);
		luanode_call_expect(run, "{name: n}", i < 2 ? "{\"result\":32}" : "{\"result\":0}");
	}
	flow_close(run);
}

static const CU_TestInfo luanode_cases[] = {
    {"all functions", functions},
    {"all functions, collecting garbage at each instruction", functions_collecting},
    {"packets that are kept", kept},
    {"two workers", two_workers},
    {"changes of the graph", changes},
    CU_TEST_INFO_NULL,
};
SUITE(luanode, luanode_cases, .eal = true)
