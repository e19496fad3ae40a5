// SPDX-License-Identifier: BSD-3-Clause
// Inside lua/: a script and its parts.

#ifndef SLUICE_LUA_INSIDE_H
#define SLUICE_LUA_INSIDE_H

#include "lua/script.h"

struct script {
	lua_State *lua;
	struct script_options options;
	struct errors *errors; // of the call that goes on; where faults are collected
	struct arena *arena;   // of a graph that is being made; NULL: none
	struct run *run;       // NULL: nothing runs
	FILE *describe;	       // NULL: vars() goes on
	bool described;
	int root;	 // registry: what the main file has built
	int hooks;	 // registry: start, tick, finish of sluice.drive
	unsigned faults; // of the graph, found while the script ran
	lua_Integer hook_result;
	int exit_code;
	bool stopping;
	bool holding;
};

// The tree of the graph that the table at `index` describes (lua/lib/build.lua); `faulty` if the
// script has had more faults than those before it was begun.
struct value *tree_value(struct script *, lua_State *, int index, unsigned faults, struct arena *,
			 struct errors *);

// Within such a function: its script, which is its upvalue.
static inline struct script *script_of(lua_State *lua)
{
	return lua_touserdata(lua, lua_upvalueindex(1));
}

// The functions that lua/lib asks of the program, as one table on the stack.
void native_push(struct script *);
void native_run_push(struct script *); // adds those that need a graph that runs to the table

void native_graph_push(struct script *); // and those that make graphs

// The run of the script of the function that is called; a Lua error if nothing runs.
struct run *native_run(lua_State *);

// All errors as one Lua error, a line each; they are freed.
int native_raise(lua_State *, struct errors *);

// now(): nanoseconds on the monotonic clock. The harness (lua/bench) has it too.
int native_now(lua_State *);

// Pushes it and gives it back to jansson, also when Lua has no memory for it. 1.
int native_json(lua_State *, json_t *);

// Reports the text of a Lua error, `FILE:LINE: what\n  trace`, at its place.
void script_fault(const struct script *, const char *text, struct errors *);
// The same of the one on top of the stack, which is taken off.
void script_fault_take(struct script *, struct errors *);

#endif
