// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: what scripts do wrong, in every place where they can, loses no packet; what a script can
// ask is answered; all of it once more with garbage collected at every instruction.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "lua/luanode.h"
#include "suite.h"

#define BURST 32

static unsigned burst = BURST;

// Source, node, two sinks; the script is put into the text as a block of YAML.
static char *graph_text(const char *params, const char *packets, unsigned count, const char *script)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	fprintf(out,
		"burst: %u\n"
		"nodes:\n  make: {Source: {count: %u, templates: [%s]}}\n"
		"  lua:\n    LuaNode:\n      %s\n      code: |\n",
		burst, count, packets, params);
	for (const char *at = script; *at;) {
		size_t line = strcspn(at, "\n");

		fprintf(out, "        %.*s\n", (int)line, at);
		at += line + (at[line] == '\n');
	}
	fprintf(out, "  one: Sink\n  two: Sink\n"
		     "graph:\n  - make -> [0]lua[0] -> one\n  - lua[1] -> two\n");
	fclose(out);
	return text;
}

static struct run *lua_open(const char *params, const char *packets, unsigned count,
			    const char *script)
{
	char *text = graph_text(params, packets, count, script);
	struct run *run = flow_open(text, true);

	free(text);
	return run;
}

// Each 14 bytes or more, of several kinds.
static const char packets_any[] = "\"ether / ipv4 src=10.0.0.1 / udp dport=53 / pad 90\", "
				  "\"ether / vlan id=7 / ipv6 / tcp dport=80\", "
				  "\"ether / ipv4 ttl=1 / icmp\", "
				  "\"ether / arp\", "
				  "\"ether / ipv4 / udp / pad 9000\", "
				  "\"02 00 00 00 00 02 02 00 00 00 00 01 08 00\"";

static struct luanode *script_of(struct run *run)
{
	return node_local(run_node(run, (unsigned)graph_find_node(run_graph(run), "lua")), 0);
}

// What has become of the packets that came in, and of those that were made.
static void counts_expect(struct run *run, uint64_t one, uint64_t two, const char *reason,
			  uint64_t dropped)
{
	CU_ASSERT_EQUAL(flow_counts(run, "one").consumed, one);
	CU_ASSERT_EQUAL(flow_counts(run, "two").consumed, two);
	if (reason)
		CU_ASSERT_EQUAL(flow_dropped(run, "lua", reason), dropped);
}

// Errors of any kind at any place: each drops its batch, with what the call has made, and the next
// batch comes through.
static const struct {
	const char *line, *reason, *text;
} wrong[] = {
    {"error('no')", "script_error", "no"},
    {"error({})", "script_error", "an error that is a table"},
    {"error()", "script_error", "an error that is a nil"},
    {"local x = nil; x.y = 1", "script_error", "attempt to index a nil value (local 'x')"},
    {"nothing()", "script_error", "attempt to call a nil value (global 'nothing')"},
    {"while true do end", "script_limit",
     "the script took more than 100000 instructions without coming to an end"},
    {"while true do pcall(error) end", "script_limit",
     "the script took more than 100000 instructions without coming to an end"},
    {"coroutine.wrap(function() while true do end end)()", "script_limit",
     "the script took more than 100000 instructions without coming to an end"},
    {"local t = {} for i = 1, 1e9 do t[i] = {} end", "script_limit", NULL},
    {"string.rep('x', 1 << 30)", "script_limit", "not enough memory"},
    {"local function f() return f() + 1 end f()", "script_limit", NULL},
    {"coroutine.yield()", "script_error", "attempt to yield from outside a coroutine"},
    {"setmetatable({}, {__gc = print})", "script_error",
     "a script of a node can have no finalizers (__gc)"},
    {"batch.select('ip')", "script_error",
     "bad argument #1 to 'select' (batch (is it batch:name(), with a colon?) expected, "
     "got string)"},
    {"batch:select('udpp')", "script_error",
     "\"udpp\" is no pcap-filter expression: can't parse filter expression: syntax error"},
    {"batch:select('inbound')", "script_error", NULL},
    {"batch:select(io.stdout)", "script_error",
     "bad argument #1 to 'select' (filter or text expected, got FILE*)"},
    {"batch:gate(64)", "script_error", "bad argument #1 to 'gate' (a gate should be 0 to 63)"},
    {"batch:gate(-1)", "script_error", "bad argument #1 to 'gate' (a gate should be 0 to 63)"},
    {"batch:drop(1, 'boredom')", "script_error",
     "bad argument #2 to 'drop' (invalid option 'boredom')"},
    {"batch:packet(0)", "script_error", "there is no packet 0 in a batch of 32"},
    {"batch:packet(33)", "script_error", "there is no packet 33 in a batch of 32"},
    {"batch:mask(1, 40)", "script_error", "there is no packet 40 in a batch of 32"},
    {"batch:set('ip.ttl', 256)", "script_error", "ip.ttl: 256 is given, it should be 0 to 255"},
    {"batch:set('ip.ttl', -1)", "script_error", "ip.ttl: -1 is given, it should be 0 to 255"},
    {"batch:set('ip.proto', 6)", "script_error", "ip.proto can be read only"},
    {"batch:set('ip.source', 6)", "script_error", "there is no field \"ip.source\""},
    {"batch:set('ipv4.src', '10.0.0')", "script_error",
     "ipv4.src: 10.0.0 is given, it should be an IPv4 address"},
    {"batch:set('ip.src', 'x')", "script_error", "ip.src: x is given, it should be an address"},
    {"batch:set('ether.src', '02:00')", "script_error",
     "ether.src: 02:00 is given, it should be a MAC address"},
    {"batch:set('ipv6.src', 5)", "script_error",
     "ipv6.src: 5 is given, it should be an IPv6 address"},
    {"batch:where('ip.ttl', 5, 'a')", "script_error", "ip.ttl: a is given, it should be 0 to 255"},
    {"batch:packet(1):u8(90)", "script_error", "1 byte at 90: the packet has 90"},
    {"batch:packet(1):u32(87)", "script_error", "4 bytes at 87: the packet has 90"},
    {"batch:packet(1):u8(-1)", "script_error", "1 byte at -1: the packet has 90"},
    {"batch:packet(1):u48(math.maxinteger)", "script_error", NULL},
    {"batch:packet(1):bytes(0, 91)", "script_error", "91 bytes at 0: the packet has 90"},
    {"batch:packet(1):bytes(0, math.mininteger)", "script_error", NULL},
    {"batch:packet(1):set_u8(0, 256)", "script_error", "256 does not fit into 1 byte"},
    {"batch:packet(1):set_u16(89, 0)", "script_error", "2 bytes at 89: the packet has 90"},
    {"batch:packet(1):set_bytes(88, 'abc')", "script_error", "3 bytes at 88: the packet has 90"},
    {"batch:packet(1):trim(13)", "script_error",
     "13 bytes: the packet has 90, of which 14 must stay"},
    {"batch:packet(1):trim(91)", "script_error",
     "91 bytes: the packet has 90, of which 14 must stay"},
    {"batch:packet(1):cut(77)", "script_error",
     "77 bytes: the packet has 90, of which 14 must stay"},
    {"batch:packet(1).u8(1)", "script_error",
     "bad argument #1 to 'u8' (packet (is it packet:name(), with a colon?) expected, got "
     "number)"},
    {"batch:packet(1).u8(io.stdout, 1)", "script_error", NULL},
    {"batch:new('short')", "script_error", "a new packet of 5 bytes; it should have 14 or more"},
    {"batch:new(('x'):rep(5000))", "script_error",
     "a new packet of 5000 bytes; a buffer has room for 2048"},
    {"for i = 1, 65 do batch:new(('x'):rep(60)) end", "script_error",
     "more than 64 new packets in one call"},
    {"ip4('1.2.3')", "script_error", "\"1.2.3\" is no IPv4 address"},
    {"mac('1:2')", "script_error", "\"1:2\" is no MAC address"},
    {"ip4_text(1 << 32)", "script_error", "4294967296 is no such address"},
    {"local p = batch:packet(1) getmetatable(p).__index = nil", "script_error", NULL},
    {"local t = {} for i = 1, 300 do t[i] = filter('port ' .. i) end", "script_error",
     "more than 256 filters at a time"},
};

// In two of three batches.
static void made_and_dropped(struct run *run, const char *line, const char *reason)
{
	struct node_counts counts = flow_counts(run, "lua");
	uint64_t dropped = flow_dropped(run, "lua", reason);

	if (dropped != 2 * BURST + counts.made || counts.own[0] != 2) {
		fprintf(stderr, "%s: %lu dropped, %lu made, %lu errors\n", line, dropped,
			counts.made, counts.own[0]);
		CU_FAIL("not all packets of the failed calls were dropped");
	}
}

static void errors(void)
{
	for (unsigned i = 0; i < RTE_DIM(wrong); i++) {
		char script[1000];
		struct run *run;

		snprintf(script, sizeof(script),
			 "local calls = 0\n"
			 "function process(batch)\n"
			 "  calls = calls + 1\n"
			 "  batch:gate(1)\n"
			 "  batch:drop(1)\n"
			 "  if calls == 2 then return end\n"
			 "  batch:new(('n'):rep(60)) %s\n"
			 "end\n",
			 wrong[i].line);
		run = lua_open("instructions: 100000\n      memory: 8MiB",
			       "\"ether / ipv4 / udp dport=53 / pad 90\"", 3 * BURST, script);
		flow_walk(run);
		if (wrong[i].text && strcmp(script_of(run)->text, wrong[i].text) != 0) {
			fprintf(stderr, "%s: %s\n", wrong[i].line, script_of(run)->text);
			CU_FAIL("another error");
		}
		// Without memory there is no place.
		if (strcmp(wrong[i].reason, "script_limit") != 0)
			CU_ASSERT_STRING_EQUAL(script_of(run)->place, "lua.code:7");
		counts_expect(run, 0, BURST - 1, "script", 1);
		made_and_dropped(run, wrong[i].line, wrong[i].reason);
		flow_close(run);
	}
}

// What a script must not be.
static void refusals(void)
{
	static const struct {
		const char *script, *text;
	} bad[] = {
	    {"x = = 1", "code: lua.code:1: unexpected symbol near '='"},
	    {"x = 1", "code: code:1: there is no function process(batch)"},
	    {"process = 5", "code: code:1: there is no function process(batch)"},
	    {"\n\nerror('never')", "code: lua.code:3: never"},
	    {"function process() end\nfunction open(node) error('no ' .. node.name) end",
	     "code: lua.code:2: no lua"},
	    {"function process() end open = 5", "attempt to call a number value"},
	    {"while true do end", "more than 100000 instructions"},
	    {"t = {} for i = 1, 99 do t[i] = ('x'):rep(1 << 20) .. i end",
	     "code: not enough memory"},
	    {"filter('udpp')", "code: lua.code:1: \"udpp\" is no pcap-filter expression"},
	    {"filter(5)", "bad argument #1 to 'filter' (string expected, got number)"},
	    {"require('nowhere')", "module 'nowhere' not found"},
	    {"setmetatable(_G, {__index = function() error('all') end}) x = y", "lua.code:1: all"},
	};

	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		struct run_options options = {.replay = true, .start_ns = FLOW_START_NS};
		struct errors *errors = errors_new();
		char *yaml = graph_text("instructions: 100000\n      memory: 8MiB", packets_any, 1,
					bad[i].script);
		struct graph *graph = flow_graph(yaml);
		struct run *run;
		char *text;

		CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
		run = run_open(graph, &options, errors);
		CU_ASSERT_PTR_NULL(run);
		CU_ASSERT_EQUAL(errors_exit_code(errors), ERROR_INPUT);
		text = errors_text(errors);
		if (!strstr(text, bad[i].text)) {
			fprintf(stderr, "%s\n%s", bad[i].script, text);
			CU_FAIL("another error");
		}
		free(text);
		errors_free(errors);
		free(yaml);
	}
}

// All that a script can call, each with what it answers on packets_any; an answer that is wrong is
// an error in the script.
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

static void call_expect(struct run *run, const char *args, const char *expected)
{
	char *text = flow_call(run, "lua", "call", args);

	if (!strstr(text, expected)) {
		fprintf(stderr, "%s: %s\n", args, text);
		CU_FAIL("another answer");
	}
	free(text);
}

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
	char expected[200];
	struct run *run;

	burst = 6;
	run = lua_open("instructions: 0\n      args: [{name: name, value: value}]", packets_any,
		       6 * calls, all_functions);
	burst = BURST;
	if (collecting)
		lua_sethook(script_of(run)->lua, collect, LUA_MASKCOUNT, 1);
	flow_walk(run);
	counts = flow_counts(run, "lua");
	CU_ASSERT_EQUAL(counts.own[0], 0);
	if (counts.own[0])
		fprintf(stderr, "%s: %s\n", script_of(run)->place, script_of(run)->text);
	CU_ASSERT_EQUAL(counts.made, 3 * calls);
	// Packets 1 and 3 and one that was made; packet 6 and one that was made.
	counts_expect(run, 3 * calls, 2 * calls, "script", 3 * calls);
	CU_ASSERT_EQUAL(flow_dropped(run, "lua", "full"), calls);
	snprintf(expected, sizeof(expected),
		 "{\"calls\":%u,\"half\":\"0.5\",\"less\":-1,\"with\":\"7\",\"yes\":true}", calls);
	call_expect(run, "{name: total, args: [{name: with, value: 7}]}", expected);
	call_expect(run, "{name: plain}", "{\"result\":\"text\"}");
	call_expect(run, "{name: nothing}", "{}");
	call_expect(run, "{name: fails}", ": as asked");
	call_expect(run, "{name: deep}", "\"x\" is a table");
	call_expect(run, "{name: binary}", "is no UTF-8 text");
	call_expect(run, "{name: missing}", "the script has no command \"missing\"");
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
	struct run *run = lua_open("", packets_any, 2 * BURST,
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
	call_expect(run, "{name: packet}", "the packet is no longer there");
	call_expect(run, "{name: method}", "the batch is no longer there");
	call_expect(run, "{name: field}", "the batch is no longer there");
	call_expect(run, "{name: size}", "the batch is no longer there");
	call_expect(run, "{name: loop}", "the batch is no longer there");
	counts_expect(run, 2 * BURST, 0, NULL, 0);
	flow_close(run);
}

// Errors and endless loops in the other callbacks do no harm to what follows.
static void callbacks(void)
{
	static const char *const ends[] = {"error('at the end')", "while true do end",
					   "error(setmetatable({}, {__tostring = error}))"};

	for (unsigned i = 0; i < RTE_DIM(ends); i++) {
		char script[500];
		struct run *run;

		snprintf(script, sizeof(script),
			 "function process(batch) batch:gate(1) end\n"
			 "function close() %s end\n"
			 "commands = {bad = function() %s end,\n"
			 "  answer = function() return setmetatable({}, {__index = error}) end}",
			 ends[i], ends[i]);
		run = lua_open("instructions: 100000", packets_any, BURST, script);
		call_expect(run, "{name: bad}", "lua.code:3: ");
		call_expect(run, "{name: answer}", "{}");
		flow_walk(run);
		counts_expect(run, 0, BURST, NULL, 0);
		flow_close(run);
	}
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
	call_expect(run, "{name: n}", "[{\"n\":64000,\"worker\":0},{\"n\":64000,\"worker\":1}]");
	counts_expect(run, 64000 - 3200, 64000 - 3200, "script_error", 6400);
	CU_ASSERT_EQUAL(flow_counts(run, "lua").own[0], 200);
	flow_close(run);
}

// With on_error: stop the run ends, and was a failure.
static void stops(void)
{
	struct run *run = lua_open("on_error: stop", packets_any, 2 * BURST,
				   "function process() error('enough') end");

	CU_ASSERT_EQUAL(run_tend(run), RUN_BUSY);
	run_step(run);
	CU_ASSERT_EQUAL(run_tend(run), RUN_FAULT);
	CU_ASSERT_EQUAL(run_faults(run), 1);
	run_stop(run);
	CU_ASSERT_EQUAL(run_faults(run), 1);
	CU_ASSERT_EQUAL(run_packets_out(run), 0);
	run_close(run);
}

// A graph change keeps the script that runs, and refuses to lose what it knows.
static void changes(void)
{
	static const char script[] = "local n = 0\n"
				     "function process(batch) n = n + batch.n end\n"
				     "commands = {n = function() return n end}";
	struct run *run = lua_open("", packets_any, BURST, script);
	const char *const params[] = {"", "memory: 32MiB", "memory: 32MiB"};

	flow_walk(run);
	for (unsigned i = 0; i < RTE_DIM(params); i++) {
		struct errors *errors = errors_new();
		char *text = graph_text(params[i], packets_any, BURST, script);

		CU_ASSERT_EQUAL(run_switch(run, flow_graph(text), i == 2, errors), i == 1 ? -1 : 0);
		free(text);
		text = errors_text(errors);
		if (i == 1)
			CU_ASSERT_PTR_NOT_NULL(
			    strstr(text, "would lose of LuaNode 'lua': what its script keeps"));
		free(text);
		errors_free(errors);
		call_expect(run, "{name: n}", i < 2 ? "{\"result\":32}" : "{\"result\":0}");
	}
	flow_close(run);
}

static const CU_TestInfo luanode_cases[] = {
    {"errors lose no packet", errors},
    {"refused when the graph is loaded", refusals},
    {"all functions", functions},
    {"all functions, collecting garbage at each instruction", functions_collecting},
    {"packets that are kept", kept},
    {"the other callbacks", callbacks},
    {"two workers", two_workers},
    {"an error that ends the run", stops},
    {"changes of the graph", changes},
    CU_TEST_INFO_NULL,
};
SUITE(luanode, luanode_cases, .eal = true)
