// SPDX-License-Identifier: BSD-3-Clause
// Tables to value trees and JSON to tables. Neither calls what a script may have defined.

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua/convert.h"

// Where in the value we are, for messages: `entries[0].mac`. Items count from 0, as the tables'
// own messages do.
struct step {
	const struct step *up;
	const char *key; // NULL: an item
	lua_Unsigned item;
};

struct convert {
	lua_State *lua;
	struct arena *arena;
	struct place place;
	const char *what; // what the value belongs to, or NULL
	bool vars;
	struct errors *errors;
	const struct step *step;
	unsigned depth;
	size_t count;
	unsigned faults;
	bool endless; // nothing of it is of use
};

static struct value *convert(struct convert *, int index);

static const char *path_text(struct arena *arena, const struct step *step)
{
	const char *up;

	if (!step)
		return "";
	up = path_text(arena, step->up);
	if (strlen(up) > 100)
		return up;
	if (!step->key)
		return arena_printf(arena, "%s[%llu]", up, (unsigned long long)step->item);
	return arena_printf(arena, "%s%s%s", up, *up ? "." : "", step->key);
}

static struct value *refuse(struct convert *at, const char *format, const char *what)
{
	struct value *value = value_new(at->arena, VALUE_NULL, at->place);
	const char *path = path_text(at->arena, at->step);
	const char *why = arena_printf(at->arena, format, what);

	value->faulty = true;
	// Of many functions in a list, say, a few are enough.
	if (at->faults++ < 10)
		error_at(at->errors, at->place, "%s%s%s%s%s", at->what ? at->what : "",
			 at->what ? ": " : "", path, *path ? ": " : "", why);
	return value;
}

static struct value *refuse_all(struct convert *at, const char *format, const char *what)
{
	at->endless = true;
	return refuse(at, format, what);
}

// Where vars are expanded, a dollar sign is written twice.
static const char *text_of(struct convert *at, const char *text)
{
	size_t dollars = 0;
	char *copy, *to;

	for (const char *from = text; *from && at->vars; from++)
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

static bool is_utf8(const char *text, size_t length)
{
	json_t *string = json_stringn(text, length);

	json_decref(string);
	return string;
}

// The text at `index` as graph files may have it, else NULL.
static const char *text_check(struct convert *at, int index)
{
	size_t length;
	const char *text = lua_tolstring(at->lua, index, &length);

	if (strlen(text) != length)
		refuse(at, "\"%s\" has a NUL byte behind it, which no text of a graph may have",
		       text);
	else if (!is_utf8(text, length))
		refuse(at, "the text has bytes that are not UTF-8, it should be%s UTF-8", "");
	else
		return text_of(at, text);
	return NULL;
}

static struct value *convert_text(struct convert *at, int index)
{
	const char *text = text_check(at, index);
	struct value *value = value_scalar(at->arena, at->place, text ? text : "");

	value->quoted = true;
	value->faulty = !text;
	return value;
}

// The shortest of those that are read as the same number.
static void number_print(double number, char *text, size_t room)
{
	if (number == floor(number) && fabs(number) < 1e20) {
		snprintf(text, room, "%.0f", number);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, room, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			return;
	}
}

static struct value *convert_number(struct convert *at, int index)
{
	char text[40];

	if (lua_isinteger(at->lua, index))
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)lua_tointeger(at->lua, index));
	else
		number_print(lua_tonumber(at->lua, index), text, sizeof(text));
	return value_scalar(at->arena, at->place, arena_strdup(at->arena, text));
}

static struct value *convert_list(struct convert *at, int index, lua_Unsigned n)
{
	struct value *list = value_new(at->arena, VALUE_LIST, at->place);
	struct step step = {.up = at->step};

	at->step = &step;
	for (lua_Unsigned i = 1; i <= n && !at->endless; i++) {
		struct value *item;

		step.item = i - 1;
		lua_rawgeti(at->lua, index, (lua_Integer)i);
		item = convert(at, lua_gettop(at->lua));
		// An empty table in a list is an item of which nothing is given.
		if (item->kind == VALUE_LIST && !item->n)
			item->kind = VALUE_MAP;
		value_append(at->arena, list, item);
		lua_pop(at->lua, 1);
	}
	at->step = step.up;
	return list;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

// The key below the value on top.
static void convert_member(struct convert *at, struct value *map)
{
	const char *key = text_check(at, -2);
	struct step step = {.up = at->step, .key = key};

	if (!key)
		return;
	at->step = &step;
	value_add(at->arena, map, key, at->place, convert(at, lua_gettop(at->lua)));
	at->step = step.up;
}

// By name, because Lua keeps no order.
static struct value *convert_map(struct convert *at, int index)
{
	struct value *map = value_new(at->arena, VALUE_MAP, at->place);

	lua_pushnil(at->lua);
	while (lua_next(at->lua, index)) {
		convert_member(at, map);
		lua_pop(at->lua, 1);
		if (at->endless) {
			lua_pop(at->lua, 1);
			break;
		}
	}
	qsort(map->members, map->n, sizeof(*map->members), by_key);
	return map;
}

// What the keys of a table are: how many names, how many numbers, the highest of these.
struct keys {
	lua_Unsigned names, items, last;
	const char *other; // type of a key that is neither, or NULL
};

static struct keys table_keys(lua_State *lua, int index)
{
	struct keys keys = {0};

	lua_pushnil(lua);
	while (lua_next(lua, index)) {
		lua_pop(lua, 1);
		if (lua_isinteger(lua, -1) && lua_tointeger(lua, -1) > 0) {
			keys.items++;
			if ((lua_Unsigned)lua_tointeger(lua, -1) > keys.last)
				keys.last = (lua_Unsigned)lua_tointeger(lua, -1);
		} else if (lua_type(lua, -1) == LUA_TSTRING) {
			keys.names++;
		} else {
			keys.other = lua_type(lua, -1) == LUA_TNUMBER ? "number below 1"
								      : luaL_typename(lua, -1);
		}
	}
	return keys;
}

static struct value *convert_keys(struct convert *at, int index)
{
	struct keys keys = table_keys(at->lua, index);

	if (keys.other)
		return refuse(at, "a key of the table is a %s, it should be a name", keys.other);
	if (keys.names && keys.items)
		return refuse(at,
			      "the table has both numbers and names as keys, it should be a "
			      "list or a map%s",
			      "");
	if (keys.items != keys.last)
		return refuse(at,
			      "the list has holes, it should have all items from 1 to its "
			      "last one%s",
			      "");
	return keys.names ? convert_map(at, index) : convert_list(at, index, keys.items);
}

static struct value *convert_table(struct convert *at, int index)
{
	struct value *value;

	if (at->depth >= VALUE_DEPTH_MAX)
		return refuse_all(at, "tables lie in each other more than %s deep", "64");
	lua_pushliteral(at->lua, "reference");
	if (lua_rawget(at->lua, index) == LUA_TSTRING) {
		value = convert_text(at, lua_gettop(at->lua));
		lua_pop(at->lua, 1);
		return value;
	}
	lua_pop(at->lua, 1);
	at->depth++;
	value = convert_keys(at, index);
	at->depth--;
	return value;
}

static struct value *convert(struct convert *at, int index)
{
	if (at->endless)
		return value_new(at->arena, VALUE_NULL, at->place);
	if (++at->count > VALUE_COUNT_MAX)
		return refuse_all(at, "there are more than %s values", "a million");
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
			      "a %s is given, it should be a number, a text, true or false, or a "
			      "table of them",
			      luaL_typename(at->lua, index));
	}
}

static struct value *convert_all(struct convert *at, int index)
{
	struct value *value = convert(at, lua_absindex(at->lua, index));

	if (!at->endless)
		return value;
	value = value_new(at->arena, VALUE_MAP, at->place);
	value->faulty = true;
	return value;
}

struct value *convert_value(lua_State *lua, int index, struct arena *arena, struct place place,
			    const char *what, struct errors *errors)
{
	struct convert at = {
	    .lua = lua, .arena = arena, .place = place, .what = what, .errors = errors};

	return convert_all(&at, index);
}

struct value *convert_written(lua_State *lua, int index, struct arena *arena, struct place place,
			      const char *what, struct errors *errors)
{
	struct convert at = {.lua = lua,
			     .arena = arena,
			     .place = place,
			     .what = what,
			     .vars = true,
			     .errors = errors};

	return convert_all(&at, index);
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
