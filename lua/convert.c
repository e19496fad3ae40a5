// SPDX-License-Identifier: BSD-3-Clause
// Tables to value trees and JSON to tables. Neither calls what a script may have defined.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lua/convert.h"

struct convert {
	lua_State *lua;
	struct arena *arena;
	struct place place;
	struct errors *errors;
	unsigned depth;
	size_t count;
	bool failed; // one fault is enough: the rest would be like it
};

static struct value *convert(struct convert *, int index);

static struct value *refuse(struct convert *at, const char *format, const char *what)
{
	if (!at->failed)
		error_at(at->errors, at->place, format, what);
	at->failed = true;
	return value_new(at->arena, VALUE_NULL, at->place);
}

// A dollar sign is no var here: it is written twice for whoever expands them.
static const char *text_of(struct convert *at, const char *text)
{
	size_t dollars = 0;
	char *copy, *to;

	for (const char *from = text; *from; from++)
		dollars += *from == '$';
	if (!dollars)
		return arena_strdup(at->arena, text);
	copy = to = arena_alloc(at->arena, strlen(text) + dollars + 1);
	for (const char *from = text; *from; from++) {
		*to++ = *from;
		if (*from == '$')
			*to++ = '$';
	}
	return copy;
}

static struct value *convert_text(struct convert *at, int index)
{
	size_t length;
	const char *text = lua_tolstring(at->lua, index, &length);
	struct value *value;

	if (strlen(text) != length)
		return refuse(at, "%s has a NUL byte in it, which no text of a graph may have",
			      text);
	value = value_scalar(at->arena, at->place, text_of(at, text));
	value->quoted = true;
	return value;
}

static struct value *convert_number(struct convert *at, int index)
{
	double number = lua_tonumber(at->lua, index);
	char text[40];

	if (lua_isinteger(at->lua, index))
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)lua_tointeger(at->lua, index));
	else if (number == (double)(int64_t)number && number > -1e15 && number < 1e15)
		snprintf(text, sizeof(text), "%.0f", number);
	else
		snprintf(text, sizeof(text), "%.17g", number);
	return value_scalar(at->arena, at->place, arena_strdup(at->arena, text));
}

static struct value *convert_list(struct convert *at, int index, lua_Unsigned n)
{
	struct value *list = value_new(at->arena, VALUE_LIST, at->place);

	for (lua_Unsigned i = 1; i <= n && !at->failed; i++) {
		struct value *item;

		lua_rawgeti(at->lua, index, (lua_Integer)i);
		item = convert(at, lua_gettop(at->lua));
		// An empty table in a list is an item of which nothing is given.
		if (item->kind == VALUE_LIST && !item->n)
			item->kind = VALUE_MAP;
		value_append(at->arena, list, item);
		lua_pop(at->lua, 1);
	}
	return list;
}

static lua_Unsigned table_count(lua_State *lua, int index)
{
	lua_Unsigned n = 0;

	lua_pushnil(lua);
	while (lua_next(lua, index)) {
		n++;
		lua_pop(lua, 1);
	}
	return n;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

// By name, because Lua keeps no order.
static struct value *convert_map(struct convert *at, int index)
{
	struct value *map = value_new(at->arena, VALUE_MAP, at->place);

	lua_pushnil(at->lua);
	while (lua_next(at->lua, index)) {
		if (lua_type(at->lua, -2) != LUA_TSTRING)
			refuse(at, "a key of a table is a %s, it should be a name",
			       luaL_typename(at->lua, -2));
		else
			value_add(at->arena, map,
				  arena_strdup(at->arena, lua_tostring(at->lua, -2)), at->place,
				  convert(at, lua_gettop(at->lua)));
		lua_pop(at->lua, 1);
		if (at->failed) {
			lua_pop(at->lua, 1);
			break;
		}
	}
	qsort(map->members, map->n, sizeof(*map->members), by_key);
	return map;
}

static struct value *convert_table(struct convert *at, int index)
{
	lua_Unsigned n = lua_rawlen(at->lua, index);
	struct value *value;

	if (at->depth >= VALUE_DEPTH_MAX)
		return refuse(at, "tables lie in each other more than %s deep", "64");
	lua_pushliteral(at->lua, "reference");
	if (lua_rawget(at->lua, index) == LUA_TSTRING) {
		value = convert_text(at, lua_gettop(at->lua));
		lua_pop(at->lua, 1);
		return value;
	}
	lua_pop(at->lua, 1);
	at->depth++;
	if (n == table_count(at->lua, index))
		value = convert_list(at, index, n);
	else if (!n)
		value = convert_map(at, index);
	else
		value = refuse(at, "a table has %s, it should be a list or a map",
			       "both numbers and names as keys, or holes");
	at->depth--;
	return value;
}

static struct value *convert(struct convert *at, int index)
{
	if (at->failed)
		return value_new(at->arena, VALUE_NULL, at->place);
	if (++at->count > VALUE_COUNT_MAX)
		return refuse(at, "there are more than %s values", "a million");
	if (!lua_checkstack(at->lua, 8))
		return refuse(at, "there is no memory for %s", "so deep a table");
	switch (lua_type(at->lua, index)) {
	case LUA_TNIL:
		return value_new(at->arena, VALUE_NULL, at->place);
	case LUA_TBOOLEAN:
		return value_scalar(at->arena, at->place,
				    lua_toboolean(at->lua, index) ? "true" : "false");
	case LUA_TNUMBER:
		return convert_number(at, index);
	case LUA_TSTRING:
		return convert_text(at, index);
	case LUA_TTABLE:
		return convert_table(at, index);
	default:
		return refuse(at,
			      "a %s cannot be a parameter, it should be a number, a text, true or "
			      "false, or a table of them",
			      luaL_typename(at->lua, index));
	}
}

struct value *convert_value(lua_State *lua, int index, struct arena *arena, struct place place,
			    struct errors *errors)
{
	struct convert at = {.lua = lua, .arena = arena, .place = place, .errors = errors};

	return convert(&at, lua_absindex(lua, index));
}

static void convert_object(lua_State *lua, const json_t *object)
{
	const char *key;
	json_t *value;

	lua_createtable(lua, 0, (int)json_object_size(object));
	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		convert_json(lua, value);
		lua_setfield(lua, -2, key);
	}
}

void convert_json(lua_State *lua, const json_t *json)
{
	luaL_checkstack(lua, 4, "JSON");
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		convert_object(lua, json);
		break;
	case JSON_ARRAY:
		lua_createtable(lua, (int)json_array_size(json), 0);
		for (size_t i = 0; i < json_array_size(json); i++) {
			convert_json(lua, json_array_get(json, i));
			lua_rawseti(lua, -2, (lua_Integer)i + 1);
		}
		break;
	case JSON_STRING:
		lua_pushlstring(lua, json_string_value(json), json_string_length(json));
		break;
	case JSON_INTEGER:
		lua_pushinteger(lua, json_integer_value(json));
		break;
	case JSON_REAL:
		lua_pushnumber(lua, json_real_value(json));
		break;
	case JSON_NULL:
		lua_pushnil(lua);
		break;
	default:
		lua_pushboolean(lua, json_is_true(json));
		break;
	}
}
