// SPDX-License-Identifier: BSD-3-Clause
// Lua states within limits, and what their errors say.

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "lua/library.h"
#include "lua_rig.h"

#define INSTRUCTIONS 100000

// Runs it within small limits; the message, or "" if it came to its end.
static void expect_message(const char *text, const char *wanted)
{
	lua_State *lua =
	    state_new((struct state_limits){.memory_bytes = 2 << 20, .instructions = INSTRUCTIONS});
	const char *found = "";

	CU_ASSERT_EQUAL(luaL_loadbufferx(lua, text, strlen(text), "@t.lua", "t"), LUA_OK);
	if (!state_call(lua, 0, 0))
		found = lua_tostring(lua, -1);
	EXPECT_TEXT(found ? found : "(no text)", wanted);
	state_close(lua);
}

#define NO_GC                                                                                      \
	"a script has no finalizers (__gc), because nothing could stop them: close what it opens"
#define TOO_MANY "the script took more than 100000 instructions without coming to an end"

static void test_instructions(void)
{
	expect_message("while true do end", "t.lua:1: " TOO_MANY "\nt.lua:1: in the script");
	expect_message("local n = 0\nfor i = 1, 20000 do n = n + i end", "");
	// No pcall() goes on for long, and no coroutine has more of them.
	expect_message("while true do\npcall(function() while true do end end)\nend",
		       "t.lua:2: " TOO_MANY "\nt.lua:2: in the script");
	expect_message("local f = coroutine.wrap(function()\nwhile true do end\nend)\nf()",
		       "t.lua:4: t.lua:2: " TOO_MANY "\nt.lua:4: in the script");
	expect_message("while true do\ncoroutine.wrap(function() pcall(error) end)()\nend",
		       "t.lua:2: " TOO_MANY "\nt.lua:2: in the script");
	expect_message("setmetatable({}, {__gc = function() while true do end end})",
		       "t.lua:1: " NO_GC "\nt.lua:1: in the script");
	expect_message("debug.setmetatable(1, {__gc = true})",
		       "t.lua:1: " NO_GC "\nt.lua:1: in the script");
	expect_message("assert(setmetatable({}, {__index = {a = 5}}).a == 5)", "");
	expect_message("debug.sethook()", "t.lua:1: attempt to call a nil value (field 'sethook')\n"
					  "t.lua:1: in the script");
}

static void test_memory(void)
{
	expect_message("local all = {} while true do all[#all + 1] = ('x'):rep(1000) .. #all end",
		       "not enough memory");
	expect_message("local s = ('x'):rep(1 << 23)", "not enough memory");
	// What was too much is free again.
	expect_message("assert(not pcall(string.rep, 'x', 1 << 23)) local s = ('x'):rep(1 << 19)",
		       "");
	expect_message("local f = coroutine.wrap(function() local s = ('x'):rep(1 << 23) end) f()",
		       "not enough memory");
}

// Each stretch has its instructions; memory is counted to the byte.
static void test_stretches(void)
{
	lua_State *lua = state_new((struct state_limits){.instructions = INSTRUCTIONS});
	size_t before;

	for (int i = 0; i < 10; i++) {
		luaL_loadstring(lua, "for i = 1, 50000 do end");
		CU_ASSERT(state_call(lua, 0, 0));
		CU_ASSERT(!state_exhausted(lua));
	}
	luaL_loadstring(lua, "while true do end");
	CU_ASSERT(!state_call(lua, 0, 0));
	CU_ASSERT(state_exhausted(lua));
	lua_settop(lua, 0);
	lua_gc(lua, LUA_GCCOLLECT);
	before = state_bytes(lua);
	luaL_loadstring(lua, "big = ('x'):rep(100000)");
	CU_ASSERT(state_call(lua, 0, 0));
	lua_gc(lua, LUA_GCCOLLECT);
	CU_ASSERT(state_bytes(lua) >= before + 100000);
	CU_ASSERT(state_bytes(lua) < before + 101000);
	luaL_loadstring(lua, "big = nil");
	CU_ASSERT(state_call(lua, 0, 0));
	lua_gc(lua, LUA_GCCOLLECT);
	CU_ASSERT(state_bytes(lua) < before + 1000);
	state_close(lua);
}

static void test_messages(void)
{
	expect_message("local function inner() error('why') end\n"
		       "local function outer() inner() return 1 end\nouter()",
		       "t.lua:1: why\nt.lua:1: in inner\nt.lua:2: in outer\n"
		       "t.lua:3: in the script");
	expect_message("error('why', 0)", "why\nt.lua:1: in the script");
	expect_message("error()", "an error without a text\nt.lua:1: in the script");
	expect_message("error({})", "an error that is a table, it should be a text\n"
				    "t.lua:1: in the script");
	expect_message("error(setmetatable({}, {__tostring = function() return 'own' end}))",
		       "own\nt.lua:1: in the script");
	expect_message("error(5)", "5\nt.lua:1: in the script");
}

// A long name is shown whole.
static void test_long_name(void)
{
	lua_State *lua = state_new((struct state_limits){0});
	char name[300];

	memset(name, 'd', sizeof(name));
	memcpy(name, "@/", 2);
	strcpy(name + sizeof(name) - 7, "/t.lua");
	luaL_loadbufferx(lua, "\nlocal x = y.z", 14, name, "t");
	CU_ASSERT(!state_call(lua, 0, 0));
	CU_ASSERT(!strncmp(lua_tostring(lua, -1), name + 1, strlen(name + 1)));
	CU_ASSERT_PTR_NOT_NULL(strstr(lua_tostring(lua, -1), "/t.lua:2: attempt to index"));
	state_close(lua);
}

// Whatever memory there is, a script says that it is too little, or runs.
static void test_little_memory(void)
{
	unsigned refused = 0, went = 0;

	for (uint64_t bytes = 1 << 10; bytes < 600 << 10; bytes += bytes < 64 << 10 ? 997 : 3989) {
		struct state_limits limits = {.memory_bytes = bytes};
		char *faults =
		    lua_faults("chain(Source{count = 1}, MACSwap(), Sink())", NULL, 0, &limits);

		if (!*faults)
			went++;
		else if (strstr(faults, "(--script-memory raises the limit)"))
			refused++;
		else
			puts(faults);
		free(faults);
	}
	CU_ASSERT(refused > 10);
	CU_ASSERT(went > 10);
}

static void test_library(void)
{
	CU_ASSERT_PTR_NOT_NULL(library_find("sluice.build"));
	CU_ASSERT_PTR_NULL(library_find("sluice.elephant"));
	for (const struct library_file *file = library_files; file->name; file++) {
		lua_State *lua = state_new((struct state_limits){0});

		CU_ASSERT_EQUAL(luaL_loadbufferx(lua, file->text, (size_t)(file->end - file->text),
						 file->source, "t"),
				LUA_OK);
		state_close(lua);
	}
}

// Scripts that begin as files of people do.
static void test_beginnings(void)
{
	struct errors *errors = errors_new();
	static const char *const texts[] = {
	    "\xef\xbb\xbf"
	    "chain(Source(), Sink())",
	    "#!/usr/bin/env sluice\nchain(Source(), Sink())",
	    "\xef\xbb\xbf#!/usr/bin/env sluice\r\nchain(Source(), Sink())\r\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct script_options options = {
		    .file = "t.lua", .text = texts[i], .length = strlen(texts[i])};
		struct script *script = script_open(&options, errors);
		struct graph *graph = script ? script_graph(script, errors) : NULL;

		CU_ASSERT(graph != NULL);
		graph_free(graph);
		script_close(script);
	}
	errors_print(errors, stdout);
	errors_free(errors);
}

static const CU_TestInfo cases[] = {
    {"instructions", test_instructions},
    {"memory", test_memory},
    {"stretches", test_stretches},
    {"messages", test_messages},
    {"long name", test_long_name},
    {"little memory", test_little_memory},
    {"library", test_library},
    {"beginnings", test_beginnings},
    CU_TEST_INFO_NULL,
};
SUITE(lua_state, cases)
