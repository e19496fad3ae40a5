// SPDX-License-Identifier: BSD-3-Clause
// What lua/lib asks of the program about other graphs than the script's own: they are made, and
// swapped in.

#include "lua/inside.h"

#define GRAPH_TYPE "sluice.graph"

static int graph_collect(lua_State *lua)
{
	struct graph **graph = luaL_checkudata(lua, 1, GRAPH_TYPE);

	graph_free(*graph);
	*graph = NULL;
	return 0;
}

static struct graph **graph_push(lua_State *lua)
{
	struct graph **graph = lua_newuserdatauv(lua, sizeof(struct graph *), 0);

	*graph = NULL;
	if (luaL_newmetatable(lua, GRAPH_TYPE)) {
		lua_pushcfunction(lua, graph_collect);
		lua_setfield(lua, -2, "__gc");
	}
	lua_setmetatable(lua, -2);
	return graph;
}

// Arguments: root, graph, script, errors, faults.
static int graph_make(lua_State *lua)
{
	struct graph **graph = lua_touserdata(lua, 2);
	struct script *script = lua_touserdata(lua, 3);
	struct errors *errors = lua_touserdata(lua, 4);
	unsigned faults = (unsigned)lua_tointeger(lua, 5);
	struct value *root;

	// A Lua error on the way leaves the arena to script_close().
	if (script->arena)
		arena_free(script->arena);
	script->arena = arena_new();
	root = tree_value(script, lua, 1, faults, script->arena, errors);
	*graph = graph_from_value(script->arena, script->options.file, root, NULL, 0, errors);
	script->arena = NULL;
	return 0;
}

// graph(root, faults): what a script has built, checked; a Lua error with all faults
static int native_graph(lua_State *lua)
{
	lua_Integer faults = luaL_checkinteger(lua, 2);
	struct graph **graph = graph_push(lua);
	struct errors *errors = errors_new();

	lua_pushcfunction(lua, graph_make);
	lua_pushvalue(lua, 1);
	lua_pushlightuserdata(lua, graph);
	lua_pushlightuserdata(lua, script_of(lua));
	lua_pushlightuserdata(lua, errors);
	lua_pushinteger(lua, faults);
	if (lua_pcall(lua, 5, 0, 0) != LUA_OK) {
		errors_free(errors);
		return lua_error(lua);
	}
	if (!*graph && errors_count(errors))
		return native_raise(lua, errors);
	errors_free(errors);
	return *graph ? 1 : luaL_error(lua, "the graph has faults, so it is not made");
}

// graph_file(file): the same of a YAML file
static int native_graph_file(lua_State *lua)
{
	const char *file = luaL_checkstring(lua, 1);
	struct graph **graph = graph_push(lua);
	struct errors *errors = errors_new();

	*graph = graph_load(file, NULL, 0, errors);
	if (!*graph)
		return native_raise(lua, errors);
	errors_free(errors);
	return 1;
}

// swap(graph, allow_loss): what becomes of nodes and ports, and how long the workers were parked
static int native_swap(lua_State *lua)
{
	struct graph **graph = luaL_checkudata(lua, 1, GRAPH_TYPE), *new = *graph;
	struct run *run = native_run(lua);
	struct errors *errors;

	if (!new)
		return luaL_error(lua, "this graph has been swapped in already, or was refused");
	native_json(lua, run_diff_json(run, new));
	*graph = NULL;
	errors = errors_new();
	if (run_switch(run, new, lua_toboolean(lua, 2), errors))
		return native_raise(lua, errors);
	errors_free(errors);
	lua_pushinteger(lua, (lua_Integer)run_parked_ns(run));
	lua_setfield(lua, -2, "parked_ns");
	return 1;
}

static const luaL_Reg functions[] = {
    {"graph", native_graph},
    {"graph_file", native_graph_file},
    {"swap", native_swap},
    {NULL, NULL},
};

void native_graph_push(struct script *script)
{
	lua_pushlightuserdata(script->lua, script);
	luaL_setfuncs(script->lua, functions, 1);
}
