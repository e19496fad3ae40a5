// SPDX-License-Identifier: BSD-3-Clause
// A script's life: it is run, its graph is taken, it drives, it is closed.

#include <stdlib.h>
#include <string.h>

#include "lua/inside.h"
#include "value/file.h"
#include "value/log.h"
#include "value/yaml_text.h"

bool script_named(const char *file)
{
	size_t n = strlen(file);

	return n > 4 && !strcmp(file + n - 4, ".lua");
}

// Opens the library: prelude.lua is given the program's functions, sets the globals and returns
// what the main file builds and what drives it.
static int prelude_open(lua_State *lua)
{
	struct script *script = lua_touserdata(lua, 1);

	state_path(lua, script->options.file);
	native_push(script);
	native_run_push(script);
	native_graph_push(script);
	luaL_getsubtable(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	lua_pushvalue(lua, -2);
	lua_setfield(lua, -2, "sluice.native");
	lua_getglobal(lua, "require");
	lua_pushliteral(lua, "sluice.prelude");
	lua_call(lua, 1, 1);
	lua_getfield(lua, -1, "root");
	script->root = luaL_ref(lua, LUA_REGISTRYINDEX);
	lua_getfield(lua, -1, "hooks");
	script->hooks = luaL_ref(lua, LUA_REGISTRYINDEX);
	return 0;
}

static struct script *script_new(const struct script_options *options, struct errors *errors)
{
	struct script *script = memory_new(1, sizeof(*script));
	struct state_limits *limits = &script->options.limits;

	script->options = *options;
	if (!limits->memory_bytes)
		limits->memory_bytes = SCRIPT_MEMORY;
	if (!limits->instructions)
		limits->instructions = SCRIPT_INSTRUCTIONS;
	script->errors = errors;
	script->lua = state_new(*limits);
	if (!script->lua) {
		if (limits->memory_bytes < 1 << 20)
			script_fault(script, "not enough memory", errors);
		else
			error_machine_at(errors, (struct place){.file = options->file},
					 "there is no memory for the script");
		free(script);
		return NULL;
	}
	return script;
}

// Calls a hook of the library; hook_result is what it returns, if that is a number, else -1.
static bool hook_run(struct script *script, const char *name, struct errors *errors)
{
	lua_State *lua = script->lua;

	script->hook_result = -1;
	lua_rawgeti(lua, LUA_REGISTRYINDEX, script->hooks);
	lua_getfield(lua, -1, name);
	lua_remove(lua, -2);
	if (!state_call(lua, 0, 1)) {
		script_fault_take(script, errors);
		return false;
	}
	if (lua_isinteger(lua, -1))
		script->hook_result = lua_tointeger(lua, -1);
	lua_pop(lua, 1);
	return true;
}

// Calls a hook from outside; its result, or -1. A Lua error is printed, and ends the run.
static lua_Integer hook_call(struct script *script, const char *name)
{
	struct errors *errors = errors_new();
	lua_Integer result = -1;

	script->errors = errors;
	if (hook_run(script, name, errors)) {
		result = script->hook_result;
	} else {
		script->stopping = true;
	}
	// Faults of a graph that was made on the way count too.
	if (errors_count(errors))
		script->exit_code = state_interrupted(script->lua) ? 1 : ERROR_INPUT;
	log_errors(errors);
	errors_free(errors);
	script->errors = NULL;
	return result;
}

// As Lua does with files: a mark of UTF-8 and a first line that begins with # are no part of them.
static int main_load(lua_State *lua)
{
	const struct script_options *options = lua_touserdata(lua, 1);
	const char *text = options->text, *end = text + options->length;

	lua_pushfstring(lua, "@%s", options->file);
	if (end - text >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	if (text < end && *text == '#')
		while (text < end && *text != '\n')
			text++;
	if (luaL_loadbufferx(lua, text, (size_t)(end - text), lua_tostring(lua, -1), "t") != LUA_OK)
		return lua_error(lua);
	return 1;
}

static bool main_run(struct script *script, struct errors *errors)
{
	lua_State *lua = script->lua;

	lua_pushcfunction(lua, main_load);
	lua_pushlightuserdata(lua, &script->options);
	if (!state_call(lua, 1, 1) || !state_call(lua, 0, 0)) {
		if (script->described)
			return true;
		script_fault_take(script, errors);
		return false;
	}
	return hook_run(script, "built", errors);
}

static bool script_run(struct script *script, struct errors *errors)
{
	struct script_options *options = &script->options;
	char *bytes = NULL;
	bool ok;

	lua_pushcfunction(script->lua, prelude_open);
	lua_pushlightuserdata(script->lua, script);
	if (!state_call(script->lua, 1, 0)) {
		script_fault_take(script, errors);
		return false;
	}
	if (!options->text) {
		options->text = bytes = file_read(options->file, &options->length, errors);
		if (!bytes)
			return false;
	}
	ok = !yaml_text_refused(&(struct yaml_text){options->file, (const void *)options->text,
						    options->length, errors}) &&
	     main_run(script, errors);
	if (bytes)
		options->text = NULL;
	free(bytes);
	return ok;
}

struct script *script_open(const struct script_options *options, struct errors *errors)
{
	struct script *script = script_new(options, errors);

	if (!script || script_run(script, errors))
		return script;
	script_close(script);
	return NULL;
}

void script_close(struct script *script)
{
	if (!script)
		return;
	// Programs that were started for a graph that never ran are ended too.
	if (script->hooks)
		hook_call(script, "close");
	state_close(script->lua);
	if (script->arena)
		arena_free(script->arena);
	free(script);
}

int script_describe(const struct script_options *options, FILE *to, struct errors *errors)
{
	struct script *script = script_new(options, errors);
	bool ok;

	if (!script)
		return ERROR_MACHINE;
	script->describe = to;
	ok = script_run(script, errors);
	if (ok && !script->described)
		fprintf(to, "%s has no vars.\n", options->file);
	script_close(script);
	return ok ? 0 : ERROR_INPUT;
}

// Building the tree may fail for want of memory, so it is done within a call.
static int value_take(lua_State *lua)
{
	struct script *script = lua_touserdata(lua, 1);
	struct arena *arena = lua_touserdata(lua, 2);

	lua_rawgeti(lua, LUA_REGISTRYINDEX, script->root);
	lua_pushlightuserdata(lua, tree_value(script, lua, -1, 0, arena, script->errors));
	return 1;
}

struct value *script_value(struct script *script, struct arena *arena, struct errors *errors)
{
	struct value *root;

	script->errors = errors;
	lua_pushcfunction(script->lua, value_take);
	lua_pushlightuserdata(script->lua, script);
	lua_pushlightuserdata(script->lua, arena);
	if (!state_call(script->lua, 2, 1)) {
		script_fault_take(script, errors);
		return NULL;
	}
	root = lua_touserdata(script->lua, -1);
	lua_pop(script->lua, 1);
	return root;
}

struct graph *script_graph(struct script *script, struct errors *errors)
{
	unsigned before = errors_count(errors);
	struct arena *arena = arena_new();
	struct value *root = script_value(script, arena, errors);
	struct graph *graph;

	if (!root) {
		arena_free(arena);
		return NULL;
	}
	graph = graph_from_value(arena, script->options.file, root, NULL, 0, errors);
	if (!graph || (!script->faults && errors_count(errors) == before))
		return graph;
	graph_free(graph);
	return NULL;
}

void script_start(struct script *script, struct run *run)
{
	script->run = run;
	hook_call(script, "start");
}

uint64_t script_tick(struct script *script)
{
	lua_Integer wait = script->stopping ? -1 : hook_call(script, "tick");

	return wait < 0 ? UINT64_MAX : (uint64_t)wait;
}

bool script_stopping(const struct script *script)
{
	return script->stopping;
}

bool script_holding(const struct script *script)
{
	return script->holding && !script->stopping;
}

int script_finish(struct script *script)
{
	// What it does at the end it may do after Ctrl-C too.
	state_shield(script->lua);
	hook_call(script, "finish");
	hook_call(script, "close");
	script->run = NULL;
	return script->exit_code;
}
