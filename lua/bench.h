// SPDX-License-Identifier: BSD-3-Clause
// The benchmark harness (lua/bench): a Lua state without a graph, in a process of its own that
// starts the others.

#ifndef SLUICE_LUA_BENCH_H
#define SLUICE_LUA_BENCH_H

// Runs `sluice bench` with its arguments, argv[1] and so on; the exit code.
int bench_main(int argc, char **argv);

#endif
