// SPDX-License-Identifier: BSD-3-Clause
// A Lua state that is held within limits: how much memory it may have, and how many instructions
// it may take in one stretch.

#ifndef SLUICE_LUA_STATE_H
#define SLUICE_LUA_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

struct state_limits {
	uint64_t memory_bytes; // 0: no limit
	uint64_t instructions; // of the virtual machine in one stretch; 0: no limit
	// Asked again and again while a script goes on; once it says so, the script is ended. NULL:
	// nothing interrupts it.
	bool (*interrupted)(void);
};

// Opens the standard libraries, but for what would end the process behind the program's back
// (os.exit) or lift the limits (debug.sethook). NULL without memory. Close it with state_close().
lua_State *state_new(struct state_limits);
void state_close(lua_State *);

// Begins a new stretch of instructions; called before each call from outside.
void state_begin(lua_State *);

// Calls what lies below n_args arguments, as lua_pcall() does, in a new stretch. On failure false,
// with the message and the script's own traceback as one text on the stack.
bool state_call(lua_State *, int n_args, int n_results);

// Pushes the text of what was raised, whatever it is.
void state_message(lua_State *, int index);

// Pushes onto `to` the text and, a line each, the script's own frames of `from` from `level` on.
void state_traceback(lua_State *to, lua_State *from, const char *text, int level);

// Bytes that the state holds now.
size_t state_bytes(const lua_State *);

// From here on nothing interrupts it.
void state_shield(lua_State *);

// Whether the last failure was an interruption.
bool state_interrupted(const lua_State *);

// Whether the last failure was that of a limit.
bool state_exhausted(const lua_State *);

// Modules for require(), written in Lua or C: they are found before any file is.
void state_preload(lua_State *, const char *name, lua_CFunction open);

// Where require() looks: the folder of the script first, then the library in the program.
void state_path(lua_State *, const char *script);

#endif
