// SPDX-License-Identifier: BSD-3-Clause
// JSON for what is written in Lua, by jansson, and the word that was meant. See plain.h.

#include <stdlib.h>
#include <string.h>

#include "lua/convert.h"
#include "lua/inside.h"
#include "lua/plain.h"

#define LIST "sluice.json.list" // metatable of tables that are lists though they may be empty
#define DEPTH_MAX 64

struct encode {
	lua_State *lua;
	const char **order; // keys that come first, in this order
	size_t n_order;
	unsigned depth;
	const char *why; // what cannot be written, or NULL
	char where[200]; // the way to it
};

struct key {
	const char *name;
	size_t rank;
};

static json_t *encode(struct encode *at, int index);

static json_t *refuse(struct encode *at, const char *why)
{
	if (!at->why)
		at->why = why;
	return NULL;
}

// Nothing in this file that holds jansson's memory may raise: so the way is written into a fixed
// place, from its end to its beginning.
static void where_add(struct encode *at, const char *name, size_t item)
{
	char rest[sizeof(at->where)];

	memcpy(rest, at->where, sizeof(rest));
	if (name)
		snprintf(at->where, sizeof(at->where), ".%.60s%.130s", name, rest);
	else
		snprintf(at->where, sizeof(at->where), "[%zu]%.170s", item, rest);
}

static json_t *encode_list(struct encode *at, int index, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 1; i <= n; i++) {
		json_t *item;

		lua_rawgeti(at->lua, index, (lua_Integer)i);
		item = encode(at, lua_gettop(at->lua));
		lua_pop(at->lua, 1);
		if (!item) {
			where_add(at, NULL, i);
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, item);
	}
	return list;
}

static size_t key_rank(const struct encode *at, const char *name)
{
	size_t rank = 0;

	while (rank < at->n_order && strcmp(at->order[rank], name) != 0)
		rank++;
	return rank;
}

static int by_rank(const void *a, const void *b)
{
	const struct key *one = a, *other = b;

	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return strcmp(one->name, other->name);
}

// The keys of a map in the order in which they are written; the caller frees them.
static struct key *keys_sorted(struct encode *at, int index, size_t n)
{
	struct key *keys = malloc((n + 1) * sizeof(*keys));
	size_t i = 0;

	lua_pushnil(at->lua);
	while (lua_next(at->lua, index)) {
		lua_pop(at->lua, 1);
		if (!keys)
			continue;
		keys[i].name = lua_tostring(at->lua, -1);
		keys[i].rank = key_rank(at, keys[i].name);
		i++;
	}
	if (keys)
		qsort(keys, n, sizeof(*keys), by_rank);
	return keys;
}

// The value of a key that the table itself keeps alive: finding it needs no new text.
static json_t *member(struct encode *at, int index, const char *name)
{
	json_t *value = NULL;

	lua_pushnil(at->lua);
	while (lua_next(at->lua, index)) {
		if (lua_tostring(at->lua, -2) == name) {
			value = encode(at, lua_gettop(at->lua));
			lua_pop(at->lua, 2);
			return value;
		}
		lua_pop(at->lua, 1);
	}
	return value;
}

static json_t *encode_map(struct encode *at, int index, size_t n)
{
	struct key *keys = keys_sorted(at, index, n);
	json_t *map = keys ? json_object() : refuse(at, "there is no memory for it");

	for (size_t i = 0; i < n && map; i++) {
		json_t *value = member(at, index, keys[i].name);

		if (value && !json_object_set_new(map, keys[i].name, value))
			continue;
		refuse(at, "its name is not UTF-8");
		where_add(at, keys[i].name, 0);
		json_decref(map);
		map = NULL;
	}
	free(keys);
	return map;
}

static bool is_list(lua_State *lua, int index)
{
	bool same;

	if (!lua_getmetatable(lua, index))
		return false;
	lua_rawgetp(lua, LUA_REGISTRYINDEX, LIST);
	same = lua_rawequal(lua, -1, -2);
	lua_pop(lua, 2);
	return same;
}

static json_t *encode_table(struct encode *at, int index)
{
	size_t names = 0, items = 0, n = lua_rawlen(at->lua, index);

	if (at->depth >= DEPTH_MAX)
		return refuse(at, "tables lie in each other more than 64 deep");
	lua_pushnil(at->lua);
	while (lua_next(at->lua, index)) {
		lua_pop(at->lua, 1);
		if (lua_type(at->lua, -1) != LUA_TSTRING) {
			items++;
			continue;
		}
		if (strlen(lua_tostring(at->lua, -1)) != lua_rawlen(at->lua, -1)) {
			lua_pop(at->lua, 1);
			return refuse(at, "one of its names has a NUL byte");
		}
		names++;
	}
	if (items != n || (names && items))
		return refuse(at, "its keys are neither names alone nor 1 to the last item");
	if (items || is_list(at->lua, index))
		return names ? refuse(at, "it is a list that has names")
			     : encode_list(at, index, n);
	return encode_map(at, index, names);
}

static json_t *encode(struct encode *at, int index)
{
	json_t *value = NULL;
	size_t length;
	const char *text;

	if (!lua_checkstack(at->lua, 8))
		return refuse(at, "there is no memory for it");
	switch (lua_type(at->lua, index)) {
	case LUA_TBOOLEAN:
		return json_boolean(lua_toboolean(at->lua, index));
	case LUA_TNUMBER:
		value = lua_isinteger(at->lua, index) ? json_integer(lua_tointeger(at->lua, index))
						      : json_real(lua_tonumber(at->lua, index));
		return value ? value : refuse(at, "it is a number that is not finite");
	case LUA_TSTRING:
		text = lua_tolstring(at->lua, index, &length);
		value = json_stringn(text, length);
		return value ? value : refuse(at, "it is a text that is not UTF-8");
	case LUA_TTABLE:
		at->depth++;
		value = encode_table(at, index);
		at->depth--;
		return value;
	case LUA_TLIGHTUSERDATA:
		if (!lua_touserdata(at->lua, index))
			return json_null();
		break;
	default:
		break;
	}
	return refuse(at, "it should be a number, a text, true, false, null or a table of them");
}

static int text_push(lua_State *lua)
{
	lua_pushstring(lua, lua_touserdata(lua, 1));
	return 1;
}

static int json_encode(lua_State *lua)
{
	struct encode at = {.lua = lua};
	json_t *json;
	char *text;
	int status;

	lua_settop(lua, 2);
	if (lua_istable(lua, 2)) {
		at.n_order = lua_rawlen(lua, 2);
		at.order = lua_newuserdatauv(lua, (at.n_order + 1) * sizeof(*at.order), 0);
		for (size_t i = 0; i < at.n_order; i++) {
			lua_rawgeti(lua, 2, (lua_Integer)i + 1);
			at.order[i] = luaL_checkstring(lua, -1);
			lua_pop(lua, 1); // the list keeps it
		}
	}
	json = encode(&at, 1);
	if (!json)
		return luaL_error(lua, "the value%s cannot be JSON: %s", at.where, at.why);
	text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	json_decref(json);
	if (!text)
		return luaL_error(lua, "there is no memory for the text");
	lua_pushcfunction(lua, text_push);
	lua_pushlightuserdata(lua, text);
	status = lua_pcall(lua, 1, 1, 0);
	free(text);
	return status == LUA_OK ? 1 : lua_error(lua);
}

static int json_decode(lua_State *lua)
{
	size_t length;
	const char *text = luaL_checklstring(lua, 1, &length);
	json_error_t error;
	json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

	if (json)
		return native_json(lua, json);
	lua_pushnil(lua);
	lua_pushfstring(lua, "column %d: %s", error.column, error.text);
	return 2;
}

static int json_list(lua_State *lua)
{
	luaL_checktype(lua, 1, LUA_TTABLE);
	lua_settop(lua, 1);
	lua_rawgetp(lua, LUA_REGISTRYINDEX, LIST);
	lua_setmetatable(lua, 1);
	return 1;
}

static const luaL_Reg functions[] = {
    {"encode", json_encode},
    {"decode", json_decode},
    {"list", json_list},
    {NULL, NULL},
};

int plain_json(lua_State *lua)
{
	luaL_newlib(lua, functions);
	lua_pushlightuserdata(lua, NULL);
	lua_setfield(lua, -2, "null");
	lua_newtable(lua);
	lua_rawsetp(lua, LUA_REGISTRYINDEX, LIST);
	return 1;
}

int plain_suggest(lua_State *lua)
{
	const char *word = luaL_checkstring(lua, 1);
	unsigned n = (unsigned)lua_rawlen(lua, 2);
	const char **names = lua_newuserdatauv(lua, (n + 1) * sizeof(*names), 0);
	const char *near;

	luaL_checkstack(lua, 4, "names");
	for (unsigned i = 0; i < n; i++) {
		lua_rawgeti(lua, 2, (lua_Integer)i + 1);
		names[i] = luaL_checkstring(lua, -1);
		lua_pop(lua, 1); // the list keeps it
	}
	near = suggest(word, names, n);
	if (near)
		lua_pushstring(lua, near);
	else
		lua_pushnil(lua);
	return 1;
}

int plain_suggest_open(lua_State *lua)
{
	lua_pushcfunction(lua, plain_suggest);
	return 1;
}
