// SPDX-License-Identifier: BSD-3-Clause
// A script: a Lua file that builds a graph, and may then drive it while it runs. All of it on the
// control thread. What a script sees is in lua/lib; what that asks of the program is in native.c.

#ifndef SLUICE_LUA_SCRIPT_H
#define SLUICE_LUA_SCRIPT_H

#include "lua/state.h"
#include "run/run.h"

struct script;

struct script_options {
	const char *file;
	const char *text; // of the file; NULL: it is read
	size_t length;
	const struct graph_set *sets;
	unsigned n_sets;
	struct state_limits limits; // all zero: the defaults
	bool quiet_output;	    // print() goes to standard error
};

#define SCRIPT_MEMORY (256ull << 20)
#define SCRIPT_INSTRUCTIONS 500000000ull

// Whether a file is a script, by its name.
bool script_named(const char *file);

// Runs the file. NULL after a Lua error; faults of the graph are reported too, and script_graph()
// then gives NULL.
struct script *script_open(const struct script_options *, struct errors *);
void script_close(struct script *); // NULL is allowed

// The graph that the script has built, checked; the caller's. NULL after any error.
struct graph *script_graph(struct script *, struct errors *);

// The same as a tree in the arena, not yet checked; its file name is that of the options. NULL
// after a Lua error.
struct value *script_value(struct script *, struct arena *, struct errors *);

// Prints the vars of a script with types, defaults and help, as far as its call of vars(). Exit
// code.
int script_describe(const struct script_options *, FILE *, struct errors *);

// Driving. The run is the caller's and stays until script_finish().
void script_start(struct script *, struct run *);
// Runs what is due; returns in how many ns to call again, UINT64_MAX: nothing waits for a time.
uint64_t script_tick(struct script *);
bool script_stopping(const struct script *); // the script wants the run to stop
// Tasks of the script are not done: a run whose sources have ended goes on until they are.
bool script_holding(const struct script *);
// Runs what the script does at the end, ends its programs; the exit code. Counters are final.
int script_finish(struct script *);

#endif
