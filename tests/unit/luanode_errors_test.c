// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: what scripts do wrong, in every place where they can, loses no packet, and is said.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "luanode_rig.h"
#include "suite.h"

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
     "a script has no finalizers (__gc), because nothing could stop them: close what it opens"},
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

	if (dropped != 2 * LUANODE_BURST + counts.made || counts.own[0] != 2) {
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
		run = luanode_open_run("instructions: 100000\n      memory: 8MiB",
				       "\"ether / ipv4 / udp dport=53 / pad 90\"",
				       3 * LUANODE_BURST, script);
		flow_walk(run);
		if (wrong[i].text && strcmp(luanode_script_of(run)->text, wrong[i].text) != 0) {
			fprintf(stderr, "%s: %s\n", wrong[i].line, luanode_script_of(run)->text);
			CU_FAIL("another error");
		}
		// Without memory there is no place.
		if (strcmp(wrong[i].reason, "script_limit") != 0)
			CU_ASSERT_STRING_EQUAL(luanode_script_of(run)->place, "lua.code:7");
		luanode_counts_expect(run, 0, LUANODE_BURST - 1, "script", 1);
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
		char *yaml = luanode_text(LUANODE_BURST, "instructions: 100000\n      memory: 8MiB",
					  luanode_packets, 1, bad[i].script);
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
		run = luanode_open_run("instructions: 100000", luanode_packets, LUANODE_BURST,
				       script);
		luanode_call_expect(run, "{name: bad}", "lua.code:3: ");
		luanode_call_expect(run, "{name: answer}", "{}");
		flow_walk(run);
		luanode_counts_expect(run, 0, LUANODE_BURST, NULL, 0);
		flow_close(run);
	}
}

// With on_error: stop the run ends, and was a failure.
static void stops(void)
{
	struct run *run = luanode_open_run("on_error: stop", luanode_packets, 2 * LUANODE_BURST,
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

static const CU_TestInfo luanode_errors_cases[] = {
    {"errors lose no packet", errors},
    {"refused when the graph is loaded", refusals},
    {"the other callbacks", callbacks},
    {"an error that ends the run", stops},
    CU_TEST_INFO_NULL,
};
SUITE(luanode_errors, luanode_errors_cases, .eal = true)
