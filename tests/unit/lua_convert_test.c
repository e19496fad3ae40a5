// SPDX-License-Identifier: BSD-3-Clause
// Lua's values as parameters of every type, and JSON as Lua's values.

#include <stdlib.h>
#include <string.h>

#include "lua/convert.h"
#include "suite.h"
#include "table_rig.h"

static const struct place here = {"t.lua", 7, 0};

// Pushes what the expression gives.
static void evaluate(lua_State *lua, const char *expression)
{
	lua_pushfstring(lua, "return %s", expression);
	if (luaL_dostring(lua, lua_tostring(lua, -1)) != LUA_OK) {
		CU_FAIL("not Lua");
		puts(lua_tostring(lua, -1));
	}
}

// The faults of filling `table` from an expression; *strct lies in the arena.
static char *lua_fill(struct arena *arena, const struct param *table, const char *expression,
		      void **strct)
{
	static const char *const ports[] = {"left", "right"};
	static const char *const gates[] = {"match", "miss", ""};
	static const struct table_scope scope = {ports, 2, gates, 3};
	lua_State *lua = state_new((struct state_limits){0});
	struct errors *errors = errors_new();
	struct value *value;
	char *text;

	evaluate(lua, expression);
	value = convert_value(lua, -1, arena, here, "L2Fwd", errors);
	*strct = table_fill(arena, table, "L2Fwd", here, value, &scope, errors);
	text = errors_text(errors);
	errors_free(errors);
	state_close(lua);
	return text;
}

static const struct param *row_of(const char *name)
{
	const struct param *row = kinds;

	while (strcmp(row->name, name) != 0)
		row++;
	return row;
}

struct attempt {
	const char *param;
	const char *written; // in Lua
	const char *printed; // what the field gives back; NULL: it is refused
	const char *why;
};

static void attempt(const struct attempt *a)
{
	struct arena *arena = arena_new();
	const char *expression = arena_printf(arena, "{%s = %s}", a->param, a->written);
	void *strct;
	char *found = lua_fill(arena, kinds, expression, &strct);

	if (a->printed) {
		expect_text(found, "", expression);
		if (strct)
			expect_text(table_field_value(arena, row_of(a->param), strct)->text,
				    a->printed, expression);
	} else {
		expect_text(
		    found, arena_printf(arena, "t.lua:7: error: L2Fwd: %s: %s\n", a->param, a->why),
		    expression);
	}
	free(found);
	arena_free(arena);
}

static void attempts(const struct attempt *a)
{
	for (; a->param; a++)
		attempt(a);
}

#define U32_WHY "it should be 0 to 4294967295"
#define U64_WHY "it should be 0 to 18446744073709551615"

static void test_numbers(void)
{
	static const struct attempt list[] = {
	    {"yes", "true", "true"},
	    {"yes", "false", "false"},
	    {"yes", "1", NULL, "\"1\" is not true or false"},
	    {"yes", "'true'", NULL,
	     "\"true\" is in quotes, it should be true or false without them"},
	    {"u8", "255", "255"},
	    {"u8", "256", NULL, "\"256\" is out of range, it should be 0 to 255"},
	    {"u16", "0xffff", "65535"},
	    {"u32", "1e3", "1000"},
	    {"u32", "2^32", NULL, "\"4294967296\" is out of range, " U32_WHY},
	    {"u32", "1.5", NULL, "\"1.5\" is not a whole number, " U32_WHY},
	    {"u32", "'5'", NULL, "\"5\" is in quotes, it should be a number without them"},
	    {"u32", "'many'", NULL, "\"many\" is not a number, " U32_WHY},
	    {"u32", "true", NULL, "\"true\" is not a number, " U32_WHY},
	    {"u64", "math.maxinteger", "9223372036854775807"},
	    {"u64", "2^63", "9223372036854775808"},
	    {"u64", "2^64", NULL, "\"18446744073709551616\" is out of range, " U64_WHY},
	    {"u64", "-1", NULL, "\"-1\" is out of range, " U64_WHY},
	    {"u64", "math.huge", NULL, "\"inf\" is not a number, " U64_WHY},
	    {"i32", "-2147483648", "-2147483648"},
	    {"i64", "math.mininteger", "-9223372036854775808"},
	    {"i64", "-0.0", "0"},
	    {"real", "0.1", "0.1"},
	    {"real", "1/3", "0.3333333333333333"},
	    {"real", "1e300", "1e+300"},
	    {"share", "1.01", NULL, "\"1.01\" is out of range, it should be 0 to 1"},
	    {0},
	};

	attempts(list);
}

static void test_texts(void)
{
	static const struct attempt list[] = {
	    {"text", "'$name ${other} $$'", "$name ${other} $$"},
	    {"text", "'grün'", "grün"},
	    {"text", "'a\\0b'", NULL,
	     "\"a\" has a NUL byte behind it, which no text of a graph may have"},
	    {"text", "'\\xff'", NULL, "the text has bytes that are not UTF-8, it should be UTF-8"},
	    {"tag", "'abcde'", NULL, "\"abcde\" has 5 bytes, it should have 2 to 4 bytes"},
	    {"wait", "'10ms'", "10ms"},
	    {"wait", "10", NULL, "\"10\" has no unit, it should be one of ns, us, ms, s, min, h"},
	    {"buffer", "4096", "4KiB"},
	    {"window", "'1KiB'", "1KiB"},
	    {"rate", "'10Mpps'", "10Mpps"},
	    {"mac", "'02:00:00:00:00:01'", "02:00:00:00:00:01"},
	    {"mac", "'02:00'", NULL, "\"02:00\" is not " MAC_EG},
	    {"net4", "'10.1.0.0/16'", "10.1.0.0/16"},
	    {"net6", "'fe80::/10'", "fe80::/10"},
	    {"gate", "2", "2"},
	    {"gate", "'miss'", "1"},
	    {"mode", "'router'", "router"},
	    {"hex", "'01 02 ff'", "0102ff"},
	    {"port", "'right'", "right"},
	    {"port", "{reference = 'left', other = 1}", "left"},
	    {"port", "'middle'", NULL, "\"middle\" is not a port; there are left, right"},
	    {0},
	};

	attempts(list);
}

static void test_not_values(void)
{
#define SHOULD "it should be a number, a text, true or false, or a table of them"
	static const struct attempt list[] = {
	    {"text", "print", NULL, "a function is given, " SHOULD},
	    {"text", "coroutine.create(print)", NULL, "a thread is given, " SHOULD},
	    {"text", "io.stdout", NULL, "a userdata is given, " SHOULD},
	    {"text", "{1, a = 2}", NULL,
	     "the table has both numbers and names as keys, it should be a list or a map"},
	    {"text", "{1, nil, 3}", NULL,
	     "the list has holes, it should have all items from 1 to its last one"},
	    {"text", "{[1e9] = 1}", NULL,
	     "the list has holes, it should have all items from 1 to its last one"},
	    {"text", "{1, nil, 3, a = 4}", NULL,
	     "the table has both numbers and names as keys, it should be a list or a map"},
	    {"text", "{[true] = 1}", NULL, "a key of the table is a boolean, it should be a name"},
	    {"text", "{[0] = 1}", NULL,
	     "a key of the table is a number below 1, it should be a name"},
	    {"text", "{[1.5] = 1}", NULL,
	     "a key of the table is a number below 1, it should be a name"},
	    {0},
	};

	attempts(list);
}

static void expect_fill(const char *expression, const char *wanted)
{
	struct arena *arena = arena_new();
	void *strct;
	char *found = lua_fill(arena, lists, expression, &strct);

	expect_text(found, wanted, expression);
	free(found);
	arena_free(arena);
}

static void test_lists(void)
{
	struct arena *arena = arena_new();
	const struct lists *strct;
	void *filled;
	char *found = lua_fill(arena, lists,
			       "{size = 1, entries = {{mac = '02:00:00:00:00:01', gate = 1}, "
			       "'02:00:00:00:00:02'}, fields = {'src'}}",
			       &filled);

	expect_text(found, "", "lists");
	strct = filled;
	CU_ASSERT_FATAL(strct != NULL);
	CU_ASSERT_EQUAL(strct->entries.n, 2);
	CU_ASSERT_EQUAL(param_item(entry, strct->entries, 0)->gate.n, 1);
	CU_ASSERT_EQUAL(param_item(entry, strct->entries, 1)->mac.addr_bytes[5], 2);
	CU_ASSERT_EQUAL(strct->fields.n, 1);
	free(found);
	arena_free(arena);
	expect_fill("{size = 1, entries = {}}", "");
	expect_fill("{size = 1, entries = {{}}}",
		    "t.lua:7: error: L2Fwd: entries[0].mac is missing, it should be " MAC_EG "\n");
	expect_fill("{size = 1, entries = {{mac = print}}}",
		    "t.lua:7: error: L2Fwd: entries[0].mac: a function is given, " SHOULD "\n");
	expect_fill("{size = 1, colour = 2}",
		    "t.lua:7: error: L2Fwd: \"colour\" is not a parameter; there are size, "
		    "entries, fields\n");
	expect_fill("{size = 1, ['a\\0'] = 2}",
		    "t.lua:7: error: L2Fwd: \"a\" has a NUL byte behind it, which no text of a "
		    "graph may have\n");
}

// Neither depth nor number of values is without end.
static void test_endless(void)
{
	struct arena *arena = arena_new();
	void *strct;
	char *found;

	found = lua_fill(arena, lists, "(function() local t = {} t.a = t return t end)()", &strct);
	CU_ASSERT_PTR_NOT_NULL(strstr(found, ": tables lie in each other more than 64 deep\n"));
	CU_ASSERT_PTR_NULL(strct);
	free(found);
	found = lua_fill(
	    arena, lists,
	    "(function() local t = {1} for i = 1, 40 do t = {t, t} end return t end)()", &strct);
	CU_ASSERT_PTR_NOT_NULL(strstr(found, ": there are more than a million values\n"));
	free(found);
	arena_free(arena);
}

// Where vars are expanded, and only there, dollar signs are written twice.
static void test_dollars(void)
{
	lua_State *lua = state_new((struct state_limits){0});
	struct arena *arena = arena_new();
	struct errors *errors = errors_new();

	lua_pushliteral(lua, "a$b$$");
	expect_text(convert_value(lua, -1, arena, here, NULL, errors)->text, "a$b$$", "plain");
	expect_text(convert_written(lua, -1, arena, here, NULL, errors)->text, "a$$b$$$$", "vars");
	CU_ASSERT_EQUAL(errors_count(errors), 0);
	CU_ASSERT_EQUAL(lua_gettop(lua), 1);
	errors_free(errors);
	arena_free(arena);
	state_close(lua);
}

static void test_json(void)
{
	static const char text[] =
	    "{\"n\": 9223372036854775807, \"low\": -9223372036854775808, \"real\": 0.5,"
	    " \"yes\": true, \"no\": false, \"none\": null, \"text\": \"a\\u0000b\","
	    " \"list\": [1, [2], {\"a\": 3}], \"empty\": {}}";
	static const char check[] =
	    "local t = ...\n"
	    "assert(math.type(t.n) == 'integer' and t.n == math.maxinteger)\n"
	    "assert(t.low == math.mininteger and math.type(t.real) == 'float')\n"
	    "assert(t.yes == true and t.no == false and t.none == nil)\n"
	    "assert(t.text == 'a\\0b' and #t.list == 3 and t.list[2][1] == 2)\n"
	    "assert(t.list[3].a == 3 and next(t.empty) == nil)\n";
	lua_State *lua = state_new((struct state_limits){0});
	json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);

	CU_ASSERT_EQUAL(luaL_loadstring(lua, check), LUA_OK);
	convert_json(lua, json);
	if (lua_pcall(lua, 1, 0, 0) != LUA_OK)
		CU_FAIL("what JSON became");
	// A counter beyond 2^63 comes whole, as an integer below zero.
	json_decref(json);
	json = json_integer((json_int_t)0xfffffffffffffffeull);
	convert_json(lua, json);
	CU_ASSERT_EQUAL((uint64_t)lua_tointeger(lua, -1), 0xfffffffffffffffeull);
	json_decref(json);
	state_close(lua);
}

static const CU_TestInfo cases[] = {
    {"numbers", test_numbers}, {"texts", test_texts},	  {"not values", test_not_values},
    {"lists", test_lists},     {"endless", test_endless}, {"dollars", test_dollars},
    {"json", test_json},       CU_TEST_INFO_NULL,
};
SUITE(lua_convert, cases)
