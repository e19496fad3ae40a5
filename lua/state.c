// SPDX-License-Identifier: BSD-3-Clause
// Lua states with limits. The allocator counts what it gives; a hook counts instructions in steps.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/library.h"
#include "lua/plain.h"
#include "lua/state.h"

#define HOOK_STEP 1000 // instructions from one look at the limit to the next

struct guard {
	struct state_limits limits;
	size_t bytes;
	uint64_t used; // instructions of this stretch
	bool exhausted;
	bool interrupted;
};

static struct guard *guard_of(const lua_State *lua)
{
	void *guard;

	lua_getallocf((lua_State *)(uintptr_t)lua, &guard);
	return guard;
}

static void *guard_alloc(void *data, void *old, size_t old_bytes, size_t bytes)
{
	struct guard *guard = data;
	void *new;

	// Of new objects, `old_bytes` is their kind.
	if (!old)
		old_bytes = 0;
	if (!bytes) {
		free(old);
		guard->bytes -= old_bytes;
		return NULL;
	}
	if (guard->limits.memory_bytes && bytes > old_bytes &&
	    guard->bytes + (bytes - old_bytes) > guard->limits.memory_bytes) {
		guard->exhausted = true;
		return NULL;
	}
	new = realloc(old, bytes);
	if (new)
		guard->bytes += bytes - old_bytes;
	return new;
}

// Once the limit is reached it fails at every step, so that no pcall() can go on for long.
static void guard_count(lua_State *lua, lua_Debug *where)
{
	struct guard *guard = guard_of(lua);

	(void)where;
	guard->used += HOOK_STEP;
	if (guard->limits.interrupted && guard->limits.interrupted()) {
		guard->interrupted = true;
		lua_sethook(lua, guard_count, LUA_MASKCOUNT, 1);
		luaL_where(lua, 0);
		lua_pushliteral(lua, "the script was interrupted here");
		lua_concat(lua, 2);
		lua_error(lua);
	}
	if (!guard->limits.instructions || guard->used <= guard->limits.instructions)
		return;
	guard->exhausted = true;
	lua_sethook(lua, guard_count, LUA_MASKCOUNT, 1);
	luaL_where(lua, 0);
	lua_pushfstring(lua, "the script took more than %I instructions without coming to an end",
			(lua_Integer)guard->limits.instructions);
	lua_concat(lua, 2);
	lua_error(lua);
}

// setmetatable() and debug.setmetatable(), which are the upvalue. Lua counts no instructions in
// finalizers, so that they could go on for ever.
static int metatable_set(lua_State *lua)
{
	if (lua_type(lua, 2) == LUA_TTABLE) {
		lua_pushliteral(lua, "__gc");
		if (lua_rawget(lua, 2) != LUA_TNIL)
			return luaL_error(lua, "a script has no finalizers (__gc), because nothing "
					       "could stop them: close what it opens");
		lua_pop(lua, 1);
	}
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
	return lua_gettop(lua);
}

// Of the table on top.
static void metatable_guard(lua_State *lua)
{
	lua_getfield(lua, -1, "setmetatable");
	lua_pushcclosure(lua, metatable_set, 1);
	lua_setfield(lua, -2, "setmetatable");
}

// Functions that the program has better ones for, or that would lift the limits.
static void names_take(lua_State *lua)
{
	lua_getglobal(lua, "os");
	lua_pushnil(lua);
	lua_setfield(lua, -2, "exit");
	lua_getglobal(lua, "debug");
	lua_pushnil(lua);
	lua_setfield(lua, -2, "sethook");
	metatable_guard(lua);
	lua_pushglobaltable(lua);
	metatable_guard(lua);
	lua_pop(lua, 3);
}

static int libraries_open(lua_State *lua)
{
	luaL_openlibs(lua);
	names_take(lua);
	return 0;
}

lua_State *state_new(struct state_limits limits)
{
	struct guard *guard = calloc(1, sizeof(*guard));
	lua_State *lua = guard ? lua_newstate(guard_alloc, guard) : NULL;

	if (!lua) {
		free(guard);
		return NULL;
	}
	guard->limits = limits;
	lua_pushcfunction(lua, libraries_open);
	if (lua_pcall(lua, 0, 0, 0) != LUA_OK) {
		state_close(lua);
		return NULL;
	}
	return lua;
}

void state_close(lua_State *lua)
{
	struct guard *guard;

	if (!lua)
		return;
	guard = guard_of(lua);
	lua_sethook(lua, NULL, 0, 0);
	lua_close(lua);
	free(guard);
}

void state_begin(lua_State *lua)
{
	struct guard *guard = guard_of(lua);

	guard->used = 0;
	guard->exhausted = false;
	guard->interrupted = false;
	if (guard->limits.instructions || guard->limits.interrupted)
		lua_sethook(lua, guard_count, LUA_MASKCOUNT, HOOK_STEP);
}

// Frames of the library are of no use to whoever wrote the script.
static bool frame_shown(const lua_Debug *frame)
{
	return frame->source[0] == '@' && strcmp(frame->what, "C") != 0;
}

// Lua shortens long names of files to "...end/of/it.lua". A text that begins with one gets the
// whole name, if the file is among the frames.
static void text_add(luaL_Buffer *out, lua_State *from, const char *text, int level)
{
	lua_Debug frame;

	while (!strncmp(text, "...", 3) && lua_getstack(from, level++, &frame)) {
		size_t n;

		lua_getinfo(from, "S", &frame);
		n = strlen(frame.short_src);
		if (frame_shown(&frame) && !strncmp(text, frame.short_src, n) && text[n] == ':') {
			luaL_addstring(out, frame.source + 1);
			text += n;
			break;
		}
	}
	luaL_addstring(out, text);
}

// What the script calls the function at this level, or NULL: names that the library has for what it
// calls are of no use.
static const char *frame_name(lua_State *lua, const lua_Debug *frame, int level)
{
	lua_Debug caller;

	if (!lua_getstack(lua, level + 1, &caller))
		return NULL;
	lua_getinfo(lua, "S", &caller);
	return frame_shown(&caller) ? frame->name : NULL;
}

void state_traceback(lua_State *to, lua_State *from, const char *text, int level)
{
	lua_Debug frame;
	luaL_Buffer out;
	char before[200] = "", where[200];
	const char *name;

	luaL_buffinit(to, &out);
	text_add(&out, from, text, level);
	for (int end = level + 50; level < end && lua_getstack(from, level, &frame); level++) {
		lua_getinfo(from, "Sln", &frame);
		if (!frame_shown(&frame))
			continue;
		name = frame_name(from, &frame, level);
		snprintf(where, sizeof(where), ":%d: in %s", frame.currentline,
			 *frame.what == 'm' ? "the script"
			 : name		    ? name
					    : "a function");
		// A function that calls itself is shown once.
		if (!strcmp(where, before))
			continue;
		strcpy(before, where);
		luaL_addchar(&out, '\n');
		luaL_addstring(&out, frame.source + 1);
		luaL_addstring(&out, where);
	}
	luaL_pushresult(&out);
}

void state_message(lua_State *lua, int index)
{
	if (lua_isstring(lua, index) || luaL_getmetafield(lua, index, "__tostring") != LUA_TNIL)
		luaL_tolstring(lua, index, NULL);
	else if (lua_isnoneornil(lua, index))
		lua_pushliteral(lua, "an error without a text");
	else
		lua_pushfstring(lua, "an error that is a %s, it should be a text",
				luaL_typename(lua, index));
}

static int traceback(lua_State *lua)
{
	lua_settop(lua, 1);
	state_message(lua, 1);
	state_traceback(lua, lua, lua_tostring(lua, -1), 1);
	return 1;
}

bool state_call(lua_State *lua, int n_args, int n_results)
{
	int below = lua_gettop(lua) - n_args;
	bool ok;

	lua_pushcfunction(lua, traceback);
	lua_insert(lua, below);
	state_begin(lua);
	ok = lua_pcall(lua, n_args, n_results, below) == LUA_OK;
	lua_remove(lua, below);
	return ok;
}

size_t state_bytes(const lua_State *lua)
{
	return guard_of(lua)->bytes;
}

void state_shield(lua_State *lua)
{
	guard_of(lua)->limits.interrupted = NULL;
}

bool state_interrupted(const lua_State *lua)
{
	return guard_of(lua)->interrupted;
}

bool state_exhausted(const lua_State *lua)
{
	return guard_of(lua)->exhausted;
}

void state_preload(lua_State *lua, const char *name, lua_CFunction open)
{
	luaL_getsubtable(lua, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
	lua_pushcfunction(lua, open);
	lua_setfield(lua, -2, name);
	lua_pop(lua, 1);
}

// require() of a part of the library: its text is in the program.
static int library_open(lua_State *lua)
{
	const char *name = luaL_checkstring(lua, 1);
	const struct library_file *file = library_find(name);

	if (luaL_loadbufferx(lua, file->text, (size_t)(file->end - file->text), file->source,
			     "t") != LUA_OK)
		return lua_error(lua);
	lua_pushvalue(lua, 1);
	lua_call(lua, 1, 1);
	return 1;
}

void state_path(lua_State *lua, const char *script)
{
	const char *slash = strrchr(script, '/');

	lua_getglobal(lua, "package");
	if (slash)
		lua_pushlstring(lua, script, (size_t)(slash - script));
	else
		lua_pushliteral(lua, ".");
	lua_pushfstring(lua, "%s/?.lua;%s/?/init.lua;", lua_tostring(lua, -1),
			lua_tostring(lua, -1));
	lua_getfield(lua, -3, "path");
	lua_concat(lua, 2);
	lua_setfield(lua, -3, "path");
	lua_pop(lua, 2);
	for (const struct library_file *file = library_files; file->name; file++)
		state_preload(lua, file->name, library_open);
	state_preload(lua, "sluice.json", plain_json);
	state_preload(lua, "sluice.suggest", plain_suggest_open);
}
