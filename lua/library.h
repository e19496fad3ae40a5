// SPDX-License-Identifier: BSD-3-Clause
// What is written in Lua lies in the program: nothing need be found when it starts. lua/lib/x.lua
// is `sluice.x`, lua/bench/y/z.lua is `sluice.bench.y.z`.

#ifndef SLUICE_LUA_LIBRARY_H
#define SLUICE_LUA_LIBRARY_H

#include <stddef.h>

struct library_file {
	const char *name;   // as require() is given it: "sluice.service"
	const char *source; // "=sluice.chain": what Lua calls it
	const char *text;
	const char *end;
};

extern const struct library_file library_files[];	   // ends with a nameless one
const struct library_file *library_find(const char *name); // NULL: there is none

#endif
