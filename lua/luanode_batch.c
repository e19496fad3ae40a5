// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: what a script can ask of a batch as a whole. A set of packets is a number, a mask: bit
// i - 1 stands for packet i.

#include <string.h>

#include "lua/luanode.h"

struct luanode *luanode_batch_arg(lua_State *lua)
{
	struct luanode *node = luanode_of(lua);

	if (unlikely(lua_touserdata(lua, 1) != node->batch))
		luaL_typeerror(lua, 1, "batch (is it batch:name(), with a colon?)");
	if (unlikely(!node->ctx))
		luaL_error(lua, "the batch is no longer there: process() has returned");
	return node;
}

uint64_t luanode_mask_arg(lua_State *lua, int arg)
{
	struct luanode *node = luanode_of(lua);

	if (lua_isnoneornil(lua, arg))
		return luanode_all(node);
	return (uint64_t)luaL_checkinteger(lua, arg) & luanode_all(node);
}

gate_t luanode_gate_arg(lua_State *lua, int arg)
{
	struct luanode *node = luanode_of(lua);
	lua_Integer gate = luaL_checkinteger(lua, arg);

	if (gate < 0 || gate >= GATES_MAX)
		luaL_argerror(lua, arg, "a gate should be 0 to 63");
	// What is linked to nothing is no mistake of the script's.
	return gate < node->ctx->ogates ? (gate_t)gate : DROP(REASON_UNCONNECTED);
}

// Where packets go is noted from the first word on.
static void gates_fill(struct luanode *node)
{
	gate_t first = node->ctx->ogates ? 0 : DROP(REASON_UNCONNECTED);

	if (node->decided)
		return;
	node->decided = true;
	for (unsigned i = 0; i < node->in->n; i++)
		node->gates[i] = first;
}

static void gates_set(struct luanode *node, uint64_t mask, gate_t gate)
{
	gates_fill(node);
	for (; mask; mask &= mask - 1)
		node->gates[__builtin_ctzll(mask)] = gate;
}

int luanode_gate_masked(lua_State *lua)
{
	struct luanode *node = luanode_of(lua);
	gate_t gate = luanode_gate_arg(lua, 2);
	uint64_t mask = luanode_mask_arg(lua, 3);

	gates_set(node, mask & ~node->dropped, gate);
	return 0;
}

// batch:gate(gate [, mask])
static int batch_gate(lua_State *lua)
{
	luanode_batch_arg(lua);
	return luanode_gate_masked(lua);
}

// Of the reasons that every node has, those that a script may name.
reason_t luanode_reason_arg(lua_State *lua, int arg)
{
	static const char *const names[] = {"script", "runt", "refused", "full", NULL};
	static const reason_t reasons[] = {LUANODE_SCRIPT, REASON_RUNT, REASON_REFUSED,
					   REASON_FULL};

	return reasons[luaL_checkoption(lua, arg, "script", names)];
}

int luanode_drop_masked(lua_State *lua)
{
	struct luanode *node = luanode_of(lua);
	uint64_t mask = luanode_mask_arg(lua, 2);
	reason_t reason = luanode_reason_arg(lua, 3);

	gates_set(node, mask & ~node->dropped, DROP(reason));
	node->dropped |= mask;
	return 0;
}

// batch:drop([mask [, reason]])
static int batch_drop(lua_State *lua)
{
	luanode_batch_arg(lua);
	return luanode_drop_masked(lua);
}

// batch:count([mask])
static int batch_count(lua_State *lua)
{
	luanode_batch_arg(lua);
	lua_pushinteger(lua, __builtin_popcountll(luanode_mask_arg(lua, 2)));
	return 1;
}

static unsigned index_arg(lua_State *lua, int arg)
{
	const struct luanode *node = luanode_of(lua);
	lua_Integer i = luaL_checkinteger(lua, arg);

	if (i < 1 || i > node->in->n)
		luaL_error(lua, "there is no packet %I in a batch of %d", i, (int)node->in->n);
	return (unsigned)i - 1;
}

// batch:mask(i, ...)
static int batch_mask(lua_State *lua)
{
	uint64_t mask = 0;

	luanode_batch_arg(lua);
	for (int arg = 2; arg <= lua_gettop(lua); arg++)
		mask |= 1ULL << index_arg(lua, arg);
	lua_pushinteger(lua, (lua_Integer)mask);
	return 1;
}

// batch:packet(i)
static int batch_packet(lua_State *lua)
{
	struct luanode *node = luanode_batch_arg(lua);

	luanode_packet_push(lua, node, index_arg(lua, 2));
	return 1;
}

// batch:packets([mask]), for the loop `for i, packet in batch:packets() do`
static int batch_packets(lua_State *lua)
{
	uint64_t mask;

	luanode_batch_arg(lua);
	mask = luanode_mask_arg(lua, 2);
	lua_rawgeti(lua, lua_upvalueindex(LUANODE_UP_PACKETS), 0);
	lua_pushinteger(lua, (lua_Integer)mask);
	lua_pushinteger(lua, 0);
	return 3;
}

int luanode_packets_next(lua_State *lua)
{
	struct luanode *node = luanode_of(lua);
	lua_Integer last = luaL_checkinteger(lua, 2);
	uint64_t mask;

	if (!node->ctx)
		return luaL_error(lua, "the batch is no longer there: process() has returned");
	mask = luanode_mask_arg(lua, 1);
	if (last < 0 || last >= 64 || !(mask >> last)) {
		lua_pushnil(lua);
		return 1;
	}
	last += __builtin_ctzll(mask >> last);
	lua_pushinteger(lua, last + 1);
	luanode_packet_push(lua, node, (unsigned)last);
	return 2;
}

// batch:new(bytes [, gate])
static int batch_new_packet(lua_State *lua)
{
	struct luanode *node = luanode_batch_arg(lua);
	size_t n;
	const char *bytes = luaL_checklstring(lua, 2, &n);
	gate_t gate = lua_isnoneornil(lua, 3) && !node->ctx->ogates ? DROP(REASON_UNCONNECTED)
		      : lua_isnoneornil(lua, 3)			    ? 0
								    : luanode_gate_arg(lua, 3);
	struct rte_mbuf *pkt;
	uint32_t room;

	if (n < sizeof(struct rte_ether_hdr) || n > UINT16_MAX)
		return luaL_error(lua, "a new packet of %I bytes; it should have 14 or more",
				  (lua_Integer)n);
	if (node->n_new == BATCH_MAX)
		return luaL_error(lua, "more than %d new packets in one call", BATCH_MAX);
	if (!packets_new(node->ctx, &pkt, 1, (uint16_t)n)) {
		lua_pushnil(lua);
		return 1;
	}
	room = pkt->buf_len - pkt->data_off;
	if (n > room) {
		packet_drop(node->ctx, pkt, LUANODE_ERROR);
		return luaL_error(lua, "a new packet of %I bytes; a buffer has room for %I",
				  (lua_Integer)n, (lua_Integer)room);
	}
	memcpy(rte_pktmbuf_mtod(pkt, void *), bytes, n);
	node->new[node->n_new] = pkt;
	node->gates[BATCH_MAX + node->n_new] = gate;
	luanode_packet_push(lua, node, BATCH_MAX + node->n_new++);
	return 1;
}

// What is no function: batch.n and the like. The key is argument 2.
static int batch_index(lua_State *lua)
{
	const struct luanode *node = luanode_of(lua);
	const char *key = luaL_checkstring(lua, 2);

	if (!node->ctx)
		return luaL_error(lua, "the batch is no longer there: process() has returned");
	if (!strcmp(key, "n"))
		lua_pushinteger(lua, node->in->n);
	else if (!strcmp(key, "all"))
		lua_pushinteger(lua, (lua_Integer)luanode_all(node));
	else if (!strcmp(key, "input"))
		lua_pushinteger(lua, node->ctx->igates > 1 ? node->ctx->igate : 0);
	else if (!strcmp(key, "now"))
		lua_pushinteger(lua, (lua_Integer)node->ctx->now_ns);
	else
		return luaL_error(lua, "a batch has no \"%s\"", key);
	return 1;
}

static int batch_length(lua_State *lua)
{
	lua_pushinteger(lua, luanode_batch_arg(lua)->in->n);
	return 1;
}

const luaL_Reg luanode_batch_functions[] = {
    {"count", batch_count},   {"drop", batch_drop},	  {"gate", batch_gate},
    {"get", luanode_get},     {"mask", batch_mask},	  {"new", batch_new_packet},
    {"packet", batch_packet}, {"packets", batch_packets}, {"select", luanode_select},
    {"set", luanode_set},     {"size", luanode_size},	  {"where", luanode_where},
    {"__index", batch_index}, {"__len", batch_length},	  {NULL, NULL},
};
