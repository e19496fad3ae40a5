// SPDX-License-Identifier: BSD-3-Clause
// What lua/lib asks of the program about other graphs than the script's own: they are made, and
// swapped in.

#include <string.h>

#include "lua/inside.h"

#define GRAPH_TYPE "sluice.graph"

static struct script *script_of(lua_State *lua)
{
	return lua_touserdata(lua, lua_upvalueindex(1));
}

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

static const char *const fate_names[] = {
    [FATE_KEPT] = "kept", [FATE_LIVE] = "live",	      [FATE_REPLACED] = "replaced",
    [FATE_NEW] = "new",	  [FATE_REMOVED] = "removed",
};

// Appends `text` to the list of that name in the table on top.
static void list_add(lua_State *lua, const char *list, const char *text)
{
	luaL_getsubtable(lua, -1, list);
	lua_pushstring(lua, text);
	lua_rawseti(lua, -2, (lua_Integer)lua_rawlen(lua, -2) + 1);
	lua_pop(lua, 1);
}

// A table with an empty list for each fate.
static void lists_push(lua_State *lua)
{
	lua_newtable(lua);
	for (size_t i = 0; i < sizeof(fate_names) / sizeof(*fate_names); i++) {
		lua_newtable(lua);
		lua_setfield(lua, -2, fate_names[i]);
	}
	lua_newtable(lua);
	lua_setfield(lua, -2, "losses");
}

struct diff {
	const struct graph *old, *new;
	const struct graph_diff *found;
};

// Argument: a struct diff.
static int diff_table(lua_State *lua)
{
	const struct diff *diff = lua_touserdata(lua, 1);
	const struct graph *old = diff->old, *new = diff->new;

	lua_newtable(lua);
	lists_push(lua); // nodes
	for (unsigned i = 0; i < new->n_nodes; i++) {
		list_add(lua, fate_names[diff->found->nodes[i]], new->nodes[i].name);
		if (diff->found->losses[i])
			list_add(lua, "losses", diff->found->losses[i]);
	}
	for (unsigned i = 0; i < old->n_nodes; i++)
		if (diff->found->gone_nodes[i] == FATE_REMOVED)
			list_add(lua, "removed", old->nodes[i].name);
	lua_setfield(lua, -2, "nodes");
	lists_push(lua);
	for (unsigned i = 0; i < new->n_ports; i++)
		list_add(lua, fate_names[diff->found->ports[i]], new->ports[i].name);
	for (unsigned i = 0; i < old->n_ports; i++)
		if (diff->found->gone_ports[i] == FATE_REMOVED)
			list_add(lua, "removed", old->ports[i].name);
	lua_setfield(lua, -2, "ports");
	return 1;
}

static void diff_push(lua_State *lua, const struct graph *old, const struct graph *new)
{
	struct arena *arena = arena_new();
	struct diff diff = {old, new, graph_diff(arena, old, new)};
	int status;

	lua_pushcfunction(lua, diff_table);
	lua_pushlightuserdata(lua, &diff);
	status = lua_pcall(lua, 1, 1, 0);
	arena_free(arena);
	if (status != LUA_OK)
		lua_error(lua);
}

// swap(graph, allow_loss): what becomes of nodes and ports, and how long the workers were parked
static int native_swap(lua_State *lua)
{
	struct graph **graph = luaL_checkudata(lua, 1, GRAPH_TYPE), *new = *graph;
	struct run *run = native_run(lua);
	struct errors *errors;

	if (!new)
		return luaL_error(lua, "this graph has been swapped in already, or was refused");
	diff_push(lua, run_graph(run), new);
	*graph = NULL;
	errors = errors_new();
	if (run_switch(run, new, lua_toboolean(lua, 2), errors))
		return native_raise(lua, errors);
	errors_free(errors);
	lua_pushinteger(lua, (lua_Integer)run_switch_ns(run));
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
