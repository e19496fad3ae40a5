// SPDX-License-Identifier: BSD-3-Clause
// What the tests of LuaNode share: graphs around a script, and what came of their packets.

#ifndef SLUICE_TESTS_LUANODE_RIG_H
#define SLUICE_TESTS_LUANODE_RIG_H

#include "flow.h"
#include "lua/luanode.h"

#define LUANODE_BURST 32

// Templates of several kinds of packets, each 14 bytes or more.
extern const char luanode_packets[];

// The text of a graph: a source of so many packets in batches of `burst`, the node `lua` with the
// script and lines of other parameters, and the sinks `one` and `two`. The caller frees it.
char *luanode_text(unsigned burst, const char *params, const char *packets, unsigned count,
		   const char *script);

// Opens it, in batches of LUANODE_BURST, to be walked by the test.
struct run *luanode_open_run(const char *params, const char *packets, unsigned count,
			     const char *script);

// The first worker's script.
struct luanode *luanode_script_of(struct run *);

// How many packets came to either sink, and how many were dropped for a reason (NULL: that is not
// asked).
void luanode_counts_expect(struct run *, uint64_t one, uint64_t two, const char *reason,
			   uint64_t dropped);

// Runs the command `call` with these arguments; what is answered, or the error, has the text in it.
void luanode_call_expect(struct run *, const char *args, const char *expected);

#endif
