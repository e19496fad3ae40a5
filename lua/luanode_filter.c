// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: pcap-filter expressions, compiled once and run as Filter runs them.

#include <string.h>

#include "filter.h"
#include "lua/luanode.h"

#define FILTERS_MAX 256	  // that a script may have at a time
#define FILTERS_CACHED 64 // texts that are remembered
#define FILTER_META "filter"

struct script_filter {
	struct luanode *node; // NULL: not compiled
	struct filter filter;
};

static int filter_gc(lua_State *lua)
{
	struct script_filter *filter = lua_touserdata(lua, 1);

	if (!filter->node)
		return 0;
	filter->node->n_filters--;
	filter->node = NULL;
	filter_free(&filter->filter);
	return 0;
}

void luanode_filter_open(lua_State *lua, struct luanode *node)
{
	luaL_newmetatable(lua, FILTER_META);
	node->filter_meta = lua_topointer(lua, -1);
	lua_pushcfunction(lua, filter_gc);
	lua_setfield(lua, -2, "__gc");
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
	lua_pop(lua, 1);
}

// Those that are garbage hold memory that Lua does not see, so their number is bounded too.
static void filters_make_room(lua_State *lua, const struct luanode *node)
{
	if (node->n_filters >= FILTERS_MAX)
		lua_gc(lua, LUA_GCCOLLECT);
	if (node->n_filters >= FILTERS_MAX)
		luaL_error(lua, "more than %d filters at a time", FILTERS_MAX);
}

// The table of texts keeps the last ones: their texts are in its places 1 to FILTERS_CACHED, and 0
// has the place of the newest one.
static void filter_remember(lua_State *lua, int text)
{
	lua_Integer at;

	lua_rawgeti(lua, lua_upvalueindex(LUANODE_UP_FILTERS), 0);
	at = lua_tointeger(lua, -1) % FILTERS_CACHED + 1;
	lua_pop(lua, 1);
	if (lua_rawgeti(lua, lua_upvalueindex(LUANODE_UP_FILTERS), at) == LUA_TSTRING) {
		lua_pushnil(lua);
		lua_rawset(lua, lua_upvalueindex(LUANODE_UP_FILTERS));
	} else {
		lua_pop(lua, 1);
	}
	lua_pushvalue(lua, text);
	lua_rawseti(lua, lua_upvalueindex(LUANODE_UP_FILTERS), at);
	lua_pushinteger(lua, at);
	lua_rawseti(lua, lua_upvalueindex(LUANODE_UP_FILTERS), 0);
	lua_pushvalue(lua, text);
	lua_pushvalue(lua, -2);
	lua_rawset(lua, lua_upvalueindex(LUANODE_UP_FILTERS));
}

// Pushes the filter of the text at `text`.
static struct filter *filter_of_text(lua_State *lua, int text)
{
	const char *expression = luaL_checkstring(lua, text);
	struct luanode *node = luanode_of(lua);
	struct script_filter *filter;
	char why[FILTER_WHY];

	lua_pushvalue(lua, text);
	if (lua_rawget(lua, lua_upvalueindex(LUANODE_UP_FILTERS)) == LUA_TUSERDATA)
		return &((struct script_filter *)lua_touserdata(lua, -1))->filter;
	lua_pop(lua, 1);
	filters_make_room(lua, node);
	filter = lua_newuserdatauv(lua, sizeof(*filter), 0);
	memset(filter, 0, sizeof(*filter));
	luaL_setmetatable(lua, FILTER_META);
	if (filter_compile(expression, &filter->filter, why) != FILTER_COMPILED)
		luaL_error(lua, "%s", why);
	filter->node = node;
	node->n_filters++;
	filter_translate(&filter->filter);
	filter_remember(lua, text);
	return &filter->filter;
}

// filter(expression): a value that batch:select() takes.
int luanode_filter(lua_State *lua)
{
	luaL_checktype(lua, 1, LUA_TSTRING);
	filter_of_text(lua, 1);
	return 1;
}

// The answers are gathered in an array first, as Filter does it.
static uint64_t batch_match(struct batch *in, uint64_t (*run)(void *))
{
	uint8_t matches[BATCH_MAX], *match = matches;
	uint64_t found = 0;

	batch_foreach (in, pkt)
		*match++ = run(pkt) != 0;
	for (unsigned i = 0; i < in->n; i++)
		found |= (uint64_t)matches[i] << i;
	return found;
}

// batch:select(filter or expression [, mask]): the packets that match
int luanode_select(lua_State *lua)
{
	const struct luanode *node = luanode_batch_arg(lua);
	uint64_t mask = luanode_mask_arg(lua, 3), found = 0;
	const struct script_filter *made = luanode_udata(lua, 2, node->filter_meta);
	const struct filter *filter;

	if (likely(made))
		filter = &made->filter;
	else if (lua_type(lua, 2) == LUA_TSTRING)
		filter = filter_of_text(lua, 2);
	else
		return luaL_typeerror(lua, 2, "filter or text");
	if (likely(filter->run && mask == luanode_all(node))) {
		lua_pushinteger(lua, (lua_Integer)batch_match(node->in, filter->run));
		return 1;
	}
	for (; mask; mask &= mask - 1) {
		struct rte_mbuf *pkt = node->in->pkts[__builtin_ctzll(mask)];

		if (filter_matches(filter, pkt))
			found |= mask & -mask;
	}
	lua_pushinteger(lua, (lua_Integer)found);
	return 1;
}
