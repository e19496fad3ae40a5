// SPDX-License-Identifier: BSD-3-Clause
// vars{} of scripts: each type, set and left, and what --help prints. What is refused is in
// tests/bad.

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "lua_rig.h"

#define GRAPH "\nchain(Source(), Sink())"

static void expect_sets(const char *text, const struct graph_set *sets, unsigned n,
			const char *wanted)
{
	char *faults = lua_faults(text, sets, n, NULL);

	EXPECT_TEXT(faults, wanted);
	free(faults);
}

static const char all[] =
    "vars{\n"
    "  frames = 10, loss = 0.5, fast = true, name = 'x', plain = {5},\n"
    "  wait = {'1s', type = 'duration'}, room = {'1KiB', type = 'bytes'},\n"
    "  speed = {'1Gbps', type = 'rate'}, peer = {'02:00:00:00:00:01', type = 'mac'},\n"
    "  net = {'10.0.0.0/8', type = 'ipv4'}, net6 = {'fe80::/10', type = 'ipv6'},\n"
    "  mode = {'fast', choices = {'fast', 'safe'}, help = 'how'},\n"
    "  some = {2, min = 1, max = 8}, part = {1, type = 'number', min = 0},\n"
    "}\n";

static void test_defaults(void)
{
	struct engine_text text = {0};

	engine_put(&text, "%s%s", all,
		   "check(vars.frames == 10 and math.type(vars.frames) == 'integer', 'frames')\n"
		   "check(vars.loss == 0.5 and vars.fast == true and vars.name == 'x', 'plain')\n"
		   "check(vars.plain == 5 and vars.wait == '1s' and vars.room == '1KiB', 'units')\n"
		   "check(vars.speed == '1Gbps' and vars.peer == '02:00:00:00:00:01', 'texts')\n"
		   "check(vars.net == '10.0.0.0/8' and vars.net6 == 'fe80::/10', 'nets')\n"
		   "check(vars.mode == 'fast' and vars.some == 2, 'ranges')\n"
		   "check(math.type(vars.part) == 'float', 'part')\n"
		   "local n = 0 for name, value in pairs(vars) do n = n + 1 end check(n == 14, n)\n"
		   "local v = vars{late = 1} check(v.late == 1 and v.frames == 10)\n" GRAPH);
	lua_expect(text.text, "");
	free(text.text);
}

static void test_set(void)
{
	static const struct graph_set sets[] = {
	    {"frames", "-7"},	    {"loss", "0.25"},	 {"fast", "false"},
	    {"name", "$x"},	    {"plain", "0x10"},	 {"wait", "5ms"},
	    {"room", "2MiB"},	    {"speed", "10kpps"}, {"peer", "02:00:00:00:00:05"},
	    {"net", "192.168.0.1"}, {"net6", "::1"},	 {"mode", "safe"},
	    {"some", "8"},	    {"part", "0"},
	};
	struct engine_text text = {0};

	engine_put(&text, "%s%s", all,
		   "check(vars.frames == -7 and vars.loss == 0.25 and vars.fast == false, 1)\n"
		   "check(vars.name == '$x' and vars.plain == 16 and vars.wait == '5ms', 2)\n"
		   "check(vars.room == '2MiB' and vars.speed == '10kpps', 3)\n"
		   "check(vars.peer == '02:00:00:00:00:05' and vars.net == '192.168.0.1', 4)\n"
		   "check(vars.net6 == '::1' and vars.mode == 'safe' and vars.some == 8, 5)\n"
		   "check(vars.part == 0, 6)\n" GRAPH);
	expect_sets(text.text, sets, sizeof(sets) / sizeof(*sets), "");
	free(text.text);
}

// A var goes where a parameter of its kind does.
static void test_used(void)
{
	static const struct graph_set sets[] = {{"frames", "3"}, {"name", "gen"}};

	expect_sets("vars{frames = 1, name = 'x'}\n"
		    "chain(Source(vars.name, {count = vars.frames}), Sink())\n"
		    "check(node.gen)",
		    sets, 2, "");
	expect_sets("vars{frames = 1, name = 'x'}\nchain(Source(), Sink())",
		    (const struct graph_set[]){{"frames", "1.5"}, {"nam", "x"}}, 2,
		    "--set: error: vars: frames: \"1.5\" is not a whole number, it should be "
		    "-9223372036854775808 to 9223372036854775807\n"
		    "--set: error: t.lua has no var \"nam\"; did you mean \"name\"?\n");
}

static void expect_help(const char *script, const char *wanted)
{
	struct script_options options = {.file = "t.lua", .text = script, .length = strlen(script)};
	struct errors *errors = errors_new();
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	CU_ASSERT_EQUAL(script_describe(&options, file, errors), 0);
	fclose(file);
	CU_ASSERT_EQUAL(errors_count(errors), 0);
	EXPECT_TEXT(text, wanted);
	free(text);
	errors_free(errors);
}

static void test_help(void)
{
	expect_help("vars{frames = {10, help = 'how many', min = 1, max = 100}, iface = {},\n"
		    "low = {1, min = 1}, high = {1, max = 8}, mode = {'a', choices = {'a', 'b'}},\n"
		    "n = {1, choices = {1, 2}}, wait = {'1s', type = 'duration'}, fast = false}\n"
		    "error('not run')",
		    "  --set fast=BOOLEAN (default false)\n"
		    "  --set frames=INTEGER  how many, 1 to 100 (default 10)\n"
		    "  --set high=INTEGER, up to 8 (default 1)\n"
		    "  --set iface=TEXT (must be given)\n"
		    "  --set low=INTEGER, 1 or more (default 1)\n"
		    "  --set mode=TEXT, a or b (default a)\n"
		    "  --set n=INTEGER, 1 or 2 (default 1)\n"
		    "  --set wait=DURATION (default 1s)\n");
	expect_help("chain(Source(), Sink())", "t.lua has no vars.\n");
}

static const CU_TestInfo cases[] = {
    {"defaults", test_defaults}, {"set", test_set}, {"used", test_used},
    {"help", test_help},	 CU_TEST_INFO_NULL,
};
SUITE(lua_vars, cases)
