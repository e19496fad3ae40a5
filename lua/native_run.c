// SPDX-License-Identifier: BSD-3-Clause
// What lua/lib asks of the program about the graph that runs: counters, commands, changes.

#include <string.h>
#include <time.h>

#include "lua/convert.h"
#include "lua/inside.h"
#include "value/table.h"

#define GRAPH_TYPE "sluice.graph"

static struct script *script_of(lua_State *lua)
{
	return lua_touserdata(lua, lua_upvalueindex(1));
}

static struct run *run_of(lua_State *lua)
{
	struct run *run = script_of(lua)->run;

	if (!run)
		luaL_error(lua, "nothing runs yet: this can be asked in on.start(), every(), "
				"after() and the like");
	return run;
}

// All errors as one Lua error, a line each.
static int raise_errors(lua_State *lua, struct errors *errors)
{
	char *text = errors_text(errors);

	lua_pushstring(lua, text);
	free(text);
	errors_free(errors);
	return lua_error(lua);
}

// running(): whether a graph runs
static int native_running(lua_State *lua)
{
	lua_pushboolean(lua, script_of(lua)->run != NULL);
	return 1;
}

// now(): nanoseconds on the monotonic clock
static int native_now(lua_State *lua)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	lua_pushinteger(lua, (lua_Integer)now.tv_sec * 1000000000 + now.tv_nsec);
	return 1;
}

// names(kind): the nodes ("nodes") or ports ("ports") of the running graph, in their order; of
// nodes also name -> module
static int native_names(lua_State *lua)
{
	const struct graph *graph = run_graph(run_of(lua));
	bool ports = !strcmp(luaL_checkstring(lua, 1), "ports");
	unsigned n = ports ? graph->n_ports : graph->n_nodes;

	lua_createtable(lua, (int)n, (int)n);
	for (unsigned i = 0; i < n; i++) {
		const char *name = ports ? graph->ports[i].name : graph->nodes[i].name;

		lua_pushstring(lua, name);
		lua_rawseti(lua, -2, (lua_Integer)i + 1);
		lua_pushstring(lua,
			       ports ? graph->ports[i].driver->name : graph->nodes[i].type->name);
		lua_setfield(lua, -2, name);
	}
	return 1;
}

static int push_json(lua_State *lua, json_t *json)
{
	convert_json(lua, json);
	json_decref(json);
	return 1;
}

// stats(kind, name): the counters of a node or port as `sluice run --json` prints them, or
// nil. Workers: by place, from 1
static int native_stats(lua_State *lua)
{
	struct run *run = run_of(lua);
	const char *kind = luaL_checkstring(lua, 1);
	int index;

	if (!strcmp(kind, "workers")) {
		index = (int)luaL_checkinteger(lua, 2) - 1;
		if (index < 0 || (unsigned)index >= run_workers(run))
			return 0;
		return push_json(lua, run_worker_json(run, (unsigned)index));
	}
	if (!strcmp(kind, "ports")) {
		index = graph_find_port(run_graph(run), luaL_checkstring(lua, 2));
		return index < 0 ? 0 : push_json(lua, run_port_json(run, (unsigned)index));
	}
	index = graph_find_node(run_graph(run), luaL_checkstring(lua, 2));
	return index < 0 ? 0 : push_json(lua, run_node_json(run, (unsigned)index));
}

// seconds(): how long the graph has run
static int native_seconds(lua_State *lua)
{
	lua_pushnumber(lua, (double)run_time_ns(run_of(lua)) / 1e9);
	return 1;
}

// call(node, command, arguments, file, line): the answer, or a Lua error
static int native_call(lua_State *lua)
{
	struct run *run = run_of(lua);
	struct place place = {.file = luaL_checkstring(lua, 4),
			      .line = (unsigned)luaL_checkinteger(lua, 5)};
	const char *node = luaL_checkstring(lua, 1), *command = luaL_checkstring(lua, 2);
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *args = convert_value(lua, 3, arena, place, errors);
	json_t *reply = NULL;

	if (args->kind == VALUE_LIST && !args->n)
		args->kind = VALUE_MAP;
	if (!errors_count(errors))
		reply = run_command(run, node, command, args, errors);
	arena_free(arena);
	if (!reply)
		return raise_errors(lua, errors);
	errors_free(errors);
	return push_json(lua, reply);
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

// graph(root): what a script has built, checked; a Lua error with all faults
static int native_graph(lua_State *lua)
{
	struct script *script = script_of(lua);
	struct errors *errors = errors_new();
	struct graph **graph = graph_push(lua);
	struct value *root;

	// A Lua error on the way leaves the arena to script_close().
	if (script->arena)
		arena_free(script->arena);
	script->arena = arena_new();
	root = tree_value(script, lua, 1, script->arena, errors);
	*graph = graph_from_value(script->arena, script->options.file, root, NULL, 0, errors);
	script->arena = NULL;
	if (errors_count(errors))
		return raise_errors(lua, errors);
	errors_free(errors);
	return 1;
}

// graph_file(file, sets): the same of a YAML file
static int native_graph_file(lua_State *lua)
{
	const char *file = luaL_checkstring(lua, 1);
	struct errors *errors = errors_new();
	struct graph **graph = graph_push(lua);

	*graph = graph_load(file, NULL, 0, errors);
	if (!*graph)
		return raise_errors(lua, errors);
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

static void diff_push(lua_State *lua, const struct graph *old, const struct graph *new)
{
	struct arena *arena = arena_new();
	const struct graph_diff *diff = graph_diff(arena, old, new);

	lua_newtable(lua);
	lua_newtable(lua); // nodes
	for (unsigned i = 0; i < new->n_nodes; i++) {
		list_add(lua, fate_names[diff->nodes[i]], new->nodes[i].name);
		if (diff->losses[i])
			list_add(lua, "losses", diff->losses[i]);
	}
	for (unsigned i = 0; i < old->n_nodes; i++)
		if (diff->gone_nodes[i] == FATE_REMOVED)
			list_add(lua, "removed", old->nodes[i].name);
	lua_setfield(lua, -2, "nodes");
	lua_newtable(lua);
	for (unsigned i = 0; i < new->n_ports; i++)
		list_add(lua, fate_names[diff->ports[i]], new->ports[i].name);
	for (unsigned i = 0; i < old->n_ports; i++)
		if (diff->gone_ports[i] == FATE_REMOVED)
			list_add(lua, "removed", old->ports[i].name);
	lua_setfield(lua, -2, "ports");
	arena_free(arena);
}

// swap(graph, allow_loss): what becomes of nodes and ports, and how long the workers were parked
static int native_swap(lua_State *lua)
{
	struct graph **graph = luaL_checkudata(lua, 1, GRAPH_TYPE), *new = *graph;
	struct run *run = run_of(lua);
	struct errors *errors;

	if (!new)
		return luaL_error(lua, "this graph has been swapped in already, or was refused");
	diff_push(lua, run_graph(run), new);
	*graph = NULL;
	errors = errors_new();
	if (run_switch(run, new, lua_toboolean(lua, 2), errors))
		return raise_errors(lua, errors);
	errors_free(errors);
	lua_pushinteger(lua, (lua_Integer)run_switch_ns(run));
	lua_setfield(lua, -2, "parked_ns");
	return 1;
}

// stop(code): ends the run; the highest code counts
static int native_stop(lua_State *lua)
{
	struct script *script = script_of(lua);
	int code = (int)luaL_optinteger(lua, 1, 0);

	if (code > script->exit_code)
		script->exit_code = code;
	script->stopping = true;
	return 0;
}

// hold(whether): the run does not end by itself while the script has something to do
static int native_hold(lua_State *lua)
{
	script_of(lua)->holding = lua_toboolean(lua, 1);
	return 0;
}

// complain(file, line, text, code): said at once; the run goes on, and ends with the code
static int native_complain(lua_State *lua)
{
	struct script *script = script_of(lua);
	int code = (int)luaL_checkinteger(lua, 4);

	fprintf(stderr, "%s:%d: error: %s\n", luaL_checkstring(lua, 1),
		(int)luaL_checkinteger(lua, 2), luaL_checkstring(lua, 3));
	if (code > script->exit_code)
		script->exit_code = code;
	return 0;
}

// traceback(coroutine, text): the text of an error and where it came from, frames of the script
// only
static int native_traceback(lua_State *lua)
{
	luaL_checktype(lua, 1, LUA_TTHREAD);
	state_traceback(lua, lua_tothread(lua, 1), luaL_tolstring(lua, 2, NULL), 0);
	return 1;
}

// traced(error): the handler of errors for xpcall(), which sees where they come from
static int native_traced(lua_State *lua)
{
	state_traceback(lua, lua, luaL_tolstring(lua, 1, NULL), 1);
	return 1;
}

// duration(value): nanoseconds of a text ("100ms") or of a number of seconds; nil: it is neither
static int native_duration(lua_State *lua)
{
	struct duration duration;
	const char *why;

	if (lua_type(lua, 1) == LUA_TNUMBER) {
		double seconds = lua_tonumber(lua, 1);

		if (!(seconds >= 0 && seconds < 1e9))
			return 0;
		lua_pushinteger(lua, (lua_Integer)(seconds * 1e9));
		return 1;
	}
	if (lua_type(lua, 1) != LUA_TSTRING ||
	    !parse_duration(lua_tostring(lua, 1), &duration, &why) || duration.ns > INT64_MAX / 4)
		return 0;
	lua_pushinteger(lua, (lua_Integer)duration.ns);
	return 1;
}

static const luaL_Reg functions[] = {
    {"running", native_running},     {"now", native_now},
    {"names", native_names},	     {"stats", native_stats},
    {"seconds", native_seconds},     {"call", native_call},
    {"graph", native_graph},	     {"graph_file", native_graph_file},
    {"swap", native_swap},	     {"stop", native_stop},
    {"hold", native_hold},	     {"complain", native_complain},
    {"traceback", native_traceback}, {"traced", native_traced},
    {"duration", native_duration},   {NULL, NULL},
};

void native_run_push(struct script *script)
{
	lua_pushlightuserdata(script->lua, script);
	luaL_setfuncs(script->lua, functions, 1);
}
