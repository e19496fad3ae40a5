// SPDX-License-Identifier: BSD-3-Clause
// Between Lua's values and ours: tables become value trees, JSON becomes tables.

#ifndef SLUICE_LUA_CONVERT_H
#define SLUICE_LUA_CONVERT_H

#include <jansson.h>

#include "lua/state.h"
#include "value/value.h"

// The value at `index` as a tree in the arena, all of it at `place`. Tables with the keys 1 to n
// are lists, those with names are maps, by name; a table with the field `reference` stands for
// that text (nodes and ports in parameters). What cannot be a value is reported there, with `what`
// (may be NULL) and the path to it in front, and becomes null. Texts count as quoted: no number is
// read out of them.
struct value *convert_value(lua_State *, int index, struct arena *, struct place, const char *what,
			    struct errors *);

// The same for where vars are going to be expanded: a dollar sign is no var.
struct value *convert_written(lua_State *, int index, struct arena *, struct place,
			      const char *what, struct errors *);

// Pushes it. Lists begin at 1; integers are whole up to 2^63 - 1, and beyond as Lua's math.ult()
// sees them.
void convert_json(lua_State *, const json_t *);

#endif
