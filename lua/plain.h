// SPDX-License-Identifier: BSD-3-Clause
// Modules for require() that need no script and no graph: what jansson and the program's own search
// for a word that was meant do, for all that is written in Lua.

#ifndef SLUICE_LUA_PLAIN_H
#define SLUICE_LUA_PLAIN_H

#include "lua/state.h"

// `sluice.json`: encode(value [, order]) is the value as one line of JSON, keys by name but those
// of the list `order` first, or a Lua error that says what cannot be written and where;
// decode(text) is the value, or nil and why not; list(table) marks a table that is a list also when
// it is empty; null stands for null, which decode() makes nil.
int plain_json(lua_State *);

// `sluice.suggest`: a function, see plain_suggest().
int plain_suggest_open(lua_State *);

// suggest(word, names): the one of the list that was meant, or nil.
int plain_suggest(lua_State *);

#endif
