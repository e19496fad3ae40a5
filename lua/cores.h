// SPDX-License-Identifier: BSD-3-Clause
// What cores can do, as functions of sluice.bench.native.

#ifndef SLUICE_LUA_CORES_H
#define SLUICE_LUA_CORES_H

#include <lua.h>

// hz(): cycles of the time stamp counter in a second.
int cores_hz(lua_State *);

// probe(core, other): nanoseconds that a cache line takes there and back between two cores, or nil
// where threads cannot run on them.
int cores_probe(lua_State *);

// copy(core, other, size): the roofline of a switch that has a core of its own: packets a second of
// so many bytes that the one core writes, the other copies once, and the first reads, in batches
// and with no work beside that; and the cycles a packet of the copying. nil as probe().
int cores_copy(lua_State *);

#endif
