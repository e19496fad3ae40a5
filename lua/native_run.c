// SPDX-License-Identifier: BSD-3-Clause
// What lua/lib asks of the program about the graph that runs: counters, commands, time.

#include <string.h>
#include <time.h>

#include "lua/convert.h"
#include "lua/inside.h"
#include "value/log.h"
#include "value/table.h"

struct run *native_run(lua_State *lua)
{
	struct run *run = script_of(lua)->run;

	if (!run)
		luaL_error(lua, "nothing runs yet: this can be asked in on.start(), every(), "
				"after() and the like");
	return run;
}

static int text_push(lua_State *lua)
{
	lua_pushstring(lua, lua_touserdata(lua, 1));
	return 1;
}

// Should Lua have no memory for them, that is the error, and they are freed all the same; so it is
// with all that is ours in what follows.
int native_raise(lua_State *lua, struct errors *errors)
{
	char *text = errors_text(errors);

	lua_pushcfunction(lua, text_push);
	lua_pushlightuserdata(lua, text);
	lua_pcall(lua, 1, 1, 0);
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
int native_now(lua_State *lua)
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
	const struct graph *graph = run_graph(native_run(lua));
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

static int json_push(lua_State *lua)
{
	convert_json(lua, lua_touserdata(lua, 1));
	return 1;
}

int native_json(lua_State *lua, json_t *json)
{
	int status;

	lua_pushcfunction(lua, json_push);
	lua_pushlightuserdata(lua, json);
	status = lua_pcall(lua, 1, 1, 0);
	json_decref(json);
	return status == LUA_OK ? 1 : lua_error(lua);
}

// stats(kind, name) gives the counters of a node or port as `sluice run --json` prints them, or
// nil; of a worker by its place, from 1
static int native_stats(lua_State *lua)
{
	struct run *run = native_run(lua);
	const char *kind = luaL_checkstring(lua, 1);
	int index;

	if (!strcmp(kind, "workers")) {
		index = (int)luaL_checkinteger(lua, 2) - 1;
		if (index < 0 || (unsigned)index >= run_workers(run))
			return 0;
		return native_json(lua, run_worker_json(run, (unsigned)index));
	}
	if (!strcmp(kind, "ports")) {
		index = graph_find_port(run_graph(run), luaL_checkstring(lua, 2));
		return index < 0 ? 0 : native_json(lua, run_port_json(run, (unsigned)index));
	}
	index = graph_find_node(run_graph(run), luaL_checkstring(lua, 2));
	return index < 0 ? 0 : native_json(lua, run_node_json(run, (unsigned)index));
}

// seconds(): how long the graph has run
static int native_seconds(lua_State *lua)
{
	lua_pushnumber(lua, (double)run_time_ns(native_run(lua)) / 1e9);
	return 1;
}

// What call() has on the way; it is freed whatever comes.
struct call {
	struct run *run;
	struct arena *arena;
	struct errors *errors;
	json_t *reply;
};

// Arguments of call(), and a struct call behind them.
static int call_run(lua_State *lua)
{
	struct call *call = lua_touserdata(lua, 6);
	struct place place = {.file = luaL_checkstring(lua, 4),
			      .line = (unsigned)luaL_checkinteger(lua, 5)};
	const char *node = luaL_checkstring(lua, 1), *command = luaL_checkstring(lua, 2);
	const char *what = arena_printf(call->arena, "%s %s", node, command);
	struct value *args = convert_value(lua, 3, call->arena, place, what, call->errors);

	if (args->kind == VALUE_LIST && !args->n)
		args->kind = VALUE_MAP;
	if (!errors_count(call->errors))
		call->reply = run_command(call->run, node, command, args, call->errors);
	return 0;
}

// call(node, command, arguments, file, line): the answer, or a Lua error
static int native_call(lua_State *lua)
{
	struct call call = {.run = native_run(lua), .arena = arena_new(), .errors = errors_new()};
	int status;

	lua_settop(lua, 5);
	lua_pushcfunction(lua, call_run);
	lua_insert(lua, 1);
	lua_pushlightuserdata(lua, &call);
	status = lua_pcall(lua, 6, 0, 0);
	arena_free(call.arena);
	if (status == LUA_OK && !call.reply)
		return native_raise(lua, call.errors);
	errors_free(call.errors);
	return status == LUA_OK ? native_json(lua, call.reply) : lua_error(lua);
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

	char place[300];
	const struct log_about about = {.place = place};

	snprintf(place, sizeof(place), "%s:%d", luaL_checkstring(lua, 1),
		 (int)luaL_checkinteger(lua, 2));
	log_say(LOG_LEVEL_ERROR, &about, "%s", luaL_checkstring(lua, 3));
	if (code > script->exit_code)
		script->exit_code = code;
	return 0;
}

// traceback(coroutine, text): the text of an error and where it came from, frames of the script
// only
static int native_traceback(lua_State *lua)
{
	luaL_checktype(lua, 1, LUA_TTHREAD);
	state_message(lua, 2);
	state_traceback(lua, lua_tothread(lua, 1), lua_tostring(lua, -1), 0);
	return 1;
}

// traced(error): the handler of errors for xpcall(), which sees where they come from
static int native_traced(lua_State *lua)
{
	state_message(lua, 1);
	state_traceback(lua, lua, lua_tostring(lua, -1), 1);
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
    {"running", native_running},
    {"now", native_now},
    {"names", native_names},
    {"stats", native_stats},
    {"seconds", native_seconds},
    {"call", native_call},
    {"stop", native_stop},
    {"hold", native_hold},
    {"complain", native_complain},
    {"traceback", native_traceback},
    {"traced", native_traced},
    {"duration", native_duration},
    {NULL, NULL},
};

void native_run_push(struct script *script)
{
	lua_pushlightuserdata(script->lua, script);
	luaL_setfuncs(script->lua, functions, 1);
}
