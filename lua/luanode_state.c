// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: one worker's script from its text to its end. All that may fail runs in protected calls.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lua/luanode.h"

// What stays at the bottom of the stack.
enum { AT_HANDLER = 1, AT_PROCESS, AT_BATCH };

static const char node_key; // of the struct luanode in the registry

// Splits "FILE:LINE: text". false: it does not begin so. What comes out of a coroutine has the
// place where that was resumed in front of its own, which is the one that counts.
static bool place_split(struct luanode *node, const char *text)
{
	size_t n;

	for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
		const char *end = at + 1;

		while (isdigit((unsigned char)*end))
			end++;
		if (end == at + 1 || end[0] != ':' || end[1] != ' ')
			continue;
		snprintf(node->place, sizeof(node->place), "%.*s", (int)(end - text), text);
		n = (size_t)(at - text);
		if (!strncmp(end + 2, text, n + 1))
			return place_split(node, end + 2);
		snprintf(node->text, sizeof(node->text), "%s", end + 2);
		return true;
	}
	return false;
}

// Notes an error with its place, which is the innermost line of the script where the message has
// none. It allocates nothing: there may be no memory left.
static int handler(lua_State *lua)
{
	const char *text = lua_tostring(lua, 1);
	struct luanode *node;
	lua_Debug frame;

	lua_rawgetp(lua, LUA_REGISTRYINDEX, &node_key);
	node = lua_touserdata(lua, -1);
	lua_pop(lua, 1);
	if (!node || (text && place_split(node, text)))
		return 1;
	if (text)
		snprintf(node->text, sizeof(node->text), "%s", text);
	else
		snprintf(node->text, sizeof(node->text), "an error that is a %s",
			 luaL_typename(lua, 1));
	node->place[0] = 0;
	for (int level = 1; lua_getstack(lua, level, &frame); level++) {
		lua_getinfo(lua, "Sl", &frame);
		if (frame.currentline <= 0)
			continue;
		snprintf(node->place, sizeof(node->place), "%s:%d", frame.short_src,
			 frame.currentline);
		break;
	}
	return 1;
}

bool luanode_call(struct luanode *node, int n_args, int n_results)
{
	lua_State *lua = node->lua;
	const char *text;
	int status;

	state_begin(lua);
	status = lua_pcall(lua, n_args, n_results, AT_HANDLER);
	if (likely(status == LUA_OK))
		return true;
	text = lua_tostring(lua, -1);
	if (status != LUA_ERRRUN) {
		node->place[0] = 0;
		snprintf(node->text, sizeof(node->text), "%s", text ? text : "an error");
	}
	lua_pop(lua, 1);
	return false;
}

bool luanode_process_call(struct luanode *node)
{
	lua_pushvalue(node->lua, AT_PROCESS);
	lua_pushvalue(node->lua, AT_BATCH);
	return luanode_call(node, 1, 0);
}

// Standard output belongs to the program's own reports.
static int print(lua_State *lua)
{
	int n = lua_gettop(lua);

	for (int i = 1; i <= n; i++) {
		fprintf(stderr, "%s%s", i > 1 ? "\t" : "", luaL_tolstring(lua, i, NULL));
		lua_pop(lua, 1);
	}
	fputc('\n', stderr);
	return 0;
}

// What would reach into functions and metatables of ours goes; what says where one is stays.
static void debug_reduce(lua_State *lua)
{
	lua_getglobal(lua, "debug");
	lua_createtable(lua, 0, 2);
	lua_getfield(lua, -2, "traceback");
	lua_setfield(lua, -2, "traceback");
	lua_getfield(lua, -2, "getinfo");
	lua_setfield(lua, -2, "getinfo");
	lua_pushvalue(lua, -1);
	lua_setglobal(lua, "debug");
	luaL_getsubtable(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	lua_insert(lua, -2);
	lua_setfield(lua, -2, "debug");
	lua_pop(lua, 2);
}

// Upvalues of the functions of the surface, at 1 and up.
static void ups_push(lua_State *lua, struct luanode *node)
{
	lua_pushlightuserdata(lua, node);
	lua_createtable(lua, LUANODE_PACKETS, 1);
	luanode_fields_open(lua);
	lua_newtable(lua);
	lua_newtable(lua);
}

static void functions_set(lua_State *lua, const luaL_Reg *functions)
{
	for (int i = 1; i <= LUANODE_UPS; i++)
		lua_pushvalue(lua, i);
	luaL_setfuncs(lua, functions, LUANODE_UPS);
}

static void metatable_protect(lua_State *lua, const char *name)
{
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
	lua_pushstring(lua, name);
	lua_setfield(lua, -2, "__name");
}

// Makes all packets that there will ever be, and what iterates over them.
static void packets_make(lua_State *lua, struct luanode *node)
{
	const luaL_Reg iterate[] = {{"next", luanode_packets_next}, {NULL, NULL}};

	lua_newtable(lua);
	functions_set(lua, iterate);
	lua_getfield(lua, -1, "next");
	lua_rawseti(lua, LUANODE_UP_PACKETS, 0);
	lua_pop(lua, 1);

	lua_newtable(lua);
	functions_set(lua, luanode_packet_metamethods);
	lua_newtable(lua);
	functions_set(lua, luanode_packet_functions);
	lua_setfield(lua, -2, "__index");
	metatable_protect(lua, "packet");
	node->packet_meta = lua_topointer(lua, -1);
	for (unsigned i = 0; i < LUANODE_PACKETS; i++) {
		struct luanode_packet *packet = lua_newuserdatauv(lua, sizeof(*packet), 0);

		*packet = (struct luanode_packet){.index = i};
		lua_pushvalue(lua, -2);
		lua_setmetatable(lua, -2);
		lua_rawseti(lua, LUANODE_UP_PACKETS, i + 1);
	}
	lua_pop(lua, 1);
}

// Pushes the batch. Its functions are found in a table, whose own metatable answers for the rest.
static void batch_make(lua_State *lua, struct luanode *node)
{
	node->batch = lua_newuserdatauv(lua, 1, 0);
	lua_newtable(lua);
	lua_newtable(lua);
	functions_set(lua, luanode_batch_functions);
	lua_getfield(lua, -1, "__len");
	lua_setfield(lua, -3, "__len");
	lua_newtable(lua);
	lua_getfield(lua, -2, "__index");
	lua_setfield(lua, -2, "__index");
	lua_setmetatable(lua, -2);
	lua_setfield(lua, -2, "__index");
	metatable_protect(lua, "batch");
	lua_setmetatable(lua, -2);
}

static const luaL_Reg globals[] = {
    {"filter", luanode_filter},
    {"ip4", luanode_ip4},
    {"ip4_text", luanode_ip4_text},
    {"mac", luanode_mac},
    {"mac_text", luanode_mac_text},
    {"print", print},
    {NULL, NULL},
};

void luanode_args_push(lua_State *lua, const struct param_list *args)
{
	lua_createtable(lua, 0, (int)args->n);
	for (unsigned i = 0; i < args->n; i++) {
		const struct luanode_arg *arg = param_item(luanode_arg, *args, i);

		lua_pushstring(lua, arg->value);
		lua_setfield(lua, -2, arg->name);
	}
}

static void script_load(lua_State *lua, const struct luanode_script *script)
{
	char name[64];
	int status;

	if (script->path) {
		status = luaL_loadfilex(lua, script->path, "t");
	} else {
		snprintf(name, sizeof(name), "=%.50s.code", script->name);
		status = luaL_loadbufferx(lua, script->code, strlen(script->code), name, "t");
	}
	if (status != LUA_OK)
		lua_error(lua);
	lua_call(lua, 0, 0);
}

// Pushes what the script's open() is given.
static void about_push(lua_State *lua, const struct luanode_script *script)
{
	lua_createtable(lua, 0, 4);
	lua_pushstring(lua, script->name);
	lua_setfield(lua, -2, "name");
	lua_pushinteger(lua, script->gates);
	lua_setfield(lua, -2, "gates");
	lua_pushinteger(lua, script->queue);
	lua_setfield(lua, -2, "queue");
	lua_pushinteger(lua, script->workers);
	lua_setfield(lua, -2, "workers");
}

// Arguments: the struct luanode and the struct luanode_script. Returns process() and the batch.
static int script_open(lua_State *lua)
{
	struct luanode *node = lua_touserdata(lua, 1);
	const struct luanode_script *script = lua_touserdata(lua, 2);

	lua_settop(lua, 0);
	lua_pushlightuserdata(lua, node);
	lua_rawsetp(lua, LUA_REGISTRYINDEX, &node_key);
	ups_push(lua, node);
	state_path(lua, script->path ? script->path : "");
	debug_reduce(lua);
	luanode_filter_open(lua, node);
	packets_make(lua, node);
	lua_pushglobaltable(lua);
	functions_set(lua, globals);
	lua_pop(lua, 1);
	luanode_args_push(lua, script->args);
	lua_setglobal(lua, "args");

	script_load(lua, script);
	if (lua_getglobal(lua, "process") != LUA_TFUNCTION)
		return luaL_error(lua, "%s:1: there is no function process(batch)",
				  script->path ? script->path : "code");
	batch_make(lua, node);
	if (lua_getglobal(lua, "open") != LUA_TNIL) {
		about_push(lua, script);
		lua_call(lua, 1, 0);
	} else {
		lua_pop(lua, 1);
	}
	node->opened = true;
	return 2;
}

bool luanode_load(struct luanode *node, const struct luanode_script *script)
{
	node->lua = state_new(script->limits);
	if (!node->lua) {
		snprintf(node->text, sizeof(node->text), "no memory for Lua within %lu bytes",
			 script->limits.memory_bytes);
		return false;
	}
	lua_pushcfunction(node->lua, handler);
	lua_pushcfunction(node->lua, script_open);
	lua_pushlightuserdata(node->lua, node);
	lua_pushlightuserdata(node->lua, (void *)(uintptr_t)script);
	return luanode_call(node, 2, 2);
}

static int script_close(lua_State *lua)
{
	if (lua_getglobal(lua, "close") != LUA_TNIL)
		lua_call(lua, 0, 0);
	return 0;
}

bool luanode_close(struct luanode *node)
{
	bool closed = true;

	if (!node->lua)
		return true;
	if (node->opened) {
		lua_pushcfunction(node->lua, script_close);
		closed = luanode_call(node, 0, 0);
	}
	state_close(node->lua);
	node->lua = NULL;
	return closed;
}
