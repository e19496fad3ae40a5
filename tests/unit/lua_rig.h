// SPDX-License-Identifier: BSD-3-Clause
// What the tests of Lua share: scripts from text, their faults, graphs and runs. Each script is run
// twice, once as it is and once with the collector at work at every step.

#ifndef SLUICE_TESTS_LUA_RIG_H
#define SLUICE_TESTS_LUA_RIG_H

#include "lua/script.h"

// The faults of a script `t.lua`, as printed; "" if there are none. `limits` may be NULL. The
// caller frees it.
char *lua_faults(const char *text, const struct graph_set *, unsigned n_sets,
		 const struct state_limits *);

// Fails the test, showing both, unless the script has exactly these faults.
void lua_expect(const char *text, const char *expected);

// Fails the test unless the script builds the graph of the YAML text.
void lua_expect_graph(const char *text, const char *yaml);

// Runs the graph that a script builds until it ends or the script stops it; the exit code, -1 if
// the script is faulty, -2 if it is not over in 10 s.
int lua_run(const char *text);

// Fails the test unless the run comes to `stop(42)`: each script of these checks things itself with
// check(condition, what), which is defined for it.
void lua_expect_run(const char *text);

#endif
