// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: commands that the script defines, run for each worker in its own state.

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "lua/luanode.h"

#define KEYS_MAX 64 // of an answer

struct command_call {
	const struct luanode_call_args *args;
	struct reply *reply;
	unsigned worker;
	unsigned workers;
};

// Pushes the function of the command, after the script's table.
static void command_push(lua_State *lua, const char *name)
{
	if (lua_getglobal(lua, "commands") != LUA_TTABLE)
		luaL_error(lua, "the script has no table \"commands\"");
	switch (lua_getfield(lua, -1, name)) {
	case LUA_TFUNCTION:
		return;
	case LUA_TTABLE:
		if (lua_getfield(lua, -1, "run") == LUA_TFUNCTION)
			return;
		luaL_error(lua, "the script's command \"%s\" has no function \"run\"", name);
		break;
	default:
		luaL_error(lua, "the script has no command \"%s\"", name);
	}
}

static int key_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Texts go into JSON, so they must be UTF-8 without zeros. The value is on the top of the stack.
static const char *text_checked(lua_State *lua, const char *key)
{
	size_t n;
	const char *text = lua_tolstring(lua, -1, &n);

	luaL_getsubtable(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	lua_getfield(lua, -1, "utf8");
	lua_getfield(lua, -1, "len");
	lua_pushvalue(lua, -4);
	lua_call(lua, 1, 1);
	if (strlen(text) != n || !lua_toboolean(lua, -1))
		luaL_error(lua, "the answer's \"%s\" is no UTF-8 text", key);
	lua_pop(lua, 3);
	return text;
}

static void reply_value(lua_State *lua, struct reply *reply, const char *key)
{
	char text[32];

	switch (lua_type(lua, -1)) {
	case LUA_TBOOLEAN:
		reply_bool(reply, key, lua_toboolean(lua, -1));
		break;
	case LUA_TNUMBER:
		if (lua_isinteger(lua, -1)) {
			reply_u64(reply, key, (uint64_t)lua_tointeger(lua, -1));
			break;
		}
		snprintf(text, sizeof(text), "%.14g", lua_tonumber(lua, -1));
		reply_text(reply, key, text);
		break;
	case LUA_TSTRING:
		reply_text(reply, key, text_checked(lua, key));
		break;
	default:
		luaL_error(lua,
			   "the answer's \"%s\" is a %s, it should be a text, a number or "
			   "true or false",
			   key, luaL_typename(lua, -1));
	}
}

// The table on the top, in the order of its keys.
static void reply_table(lua_State *lua, struct reply *reply)
{
	const char *keys[KEYS_MAX] = {NULL};
	unsigned n = 0;

	lua_pushnil(lua);
	while (lua_next(lua, -2)) {
		lua_pop(lua, 1);
		if (lua_type(lua, -1) != LUA_TSTRING)
			luaL_error(lua, "an answer's keys should be names");
		if (n == KEYS_MAX)
			luaL_error(lua, "an answer of more than %d values", KEYS_MAX);
		text_checked(lua, "key");
		keys[n++] = lua_tostring(lua, -1);
	}
	qsort(keys, n, sizeof(*keys), key_compare);
	for (unsigned i = 0; i < n; i++) {
		lua_getfield(lua, -1, keys[i]);
		reply_value(lua, reply, keys[i]);
		lua_pop(lua, 1);
	}
}

static int command_run(lua_State *lua)
{
	const struct command_call *call = lua_touserdata(lua, 1);

	command_push(lua, call->args->name);
	luanode_args_push(lua, &call->args->args);
	lua_call(lua, 1, 1);
	if (call->workers > 1) {
		reply_item(call->reply);
		reply_u64(call->reply, "worker", call->worker);
	}
	if (lua_istable(lua, -1))
		reply_table(lua, call->reply);
	else if (!lua_isnil(lua, -1))
		reply_value(lua, call->reply, "result");
	return 0;
}

int luanode_command(struct node *node, const void *args, struct reply *reply, struct errors *errors)
{
	for (unsigned i = 0; i < node->workers; i++) {
		struct luanode *local = node_local(node, i);
		struct command_call call = {args, reply, i, node->workers};

		lua_pushcfunction(local->lua, command_run);
		lua_pushlightuserdata(local->lua, &call);
		if (luanode_call(local, 1, 0))
			continue;
		if (local->place[0])
			error_input(errors, NULL, "%s: %s", local->place, local->text);
		else
			error_input(errors, NULL, "%s", local->text);
		return -1;
	}
	return 0;
}
