// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: what a script can ask of one packet. Offsets count from 0, the first byte of the
// destination address; bytes are found in whichever segment they are.

#include <string.h>

#include "lua/luanode.h"
#include "packet.h"

void luanode_packet_push(lua_State *lua, struct luanode *node, unsigned index)
{
	struct luanode_packet *packet;

	lua_rawgeti(lua, lua_upvalueindex(LUANODE_UP_PACKETS), (lua_Integer)index + 1);
	packet = lua_touserdata(lua, -1);
	packet->call = node->call;
}

static unsigned packet_index(lua_State *lua)
{
	const struct luanode *node = luanode_of(lua);
	const struct luanode_packet *packet = luanode_udata(lua, 1, node->packet_meta);

	if (unlikely(!packet))
		return (unsigned)luaL_typeerror(lua, 1,
						"packet (is it packet:name(), with a colon?)");
	if (unlikely(!node->ctx || packet->call != node->call))
		luaL_error(lua, "the packet is no longer there: process() has returned");
	return packet->index;
}

struct rte_mbuf *luanode_packet_arg(lua_State *lua)
{
	return luanode_mbuf(luanode_of(lua), packet_index(lua));
}

// The offset in argument 2, behind which there are n bytes more.
static uint32_t offset_arg(lua_State *lua, const struct rte_mbuf *pkt, lua_Integer n)
{
	lua_Integer at = luaL_checkinteger(lua, 2), length = rte_pktmbuf_pkt_len(pkt);

	if (unlikely(at < 0 || n < 0 || at > length || n > length - at))
		luaL_error(lua, "%I byte%s at %I: the packet has %I", n, n == 1 ? "" : "s", at,
			   length);
	return (uint32_t)at;
}

static int number_read(lua_State *lua, unsigned n)
{
	const struct rte_mbuf *pkt = luanode_packet_arg(lua);
	uint32_t at = offset_arg(lua, pkt, n);
	uint8_t copy[8];
	const uint8_t *bytes = rte_pktmbuf_read(pkt, at, n, copy);
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	lua_pushinteger(lua, (lua_Integer)value);
	return 1;
}

static int packet_u8(lua_State *lua)
{
	return number_read(lua, 1);
}

static int packet_u16(lua_State *lua)
{
	return number_read(lua, 2);
}

static int packet_u32(lua_State *lua)
{
	return number_read(lua, 4);
}

static int packet_u48(lua_State *lua)
{
	return number_read(lua, 6);
}

static int number_write(lua_State *lua, unsigned n)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);
	uint32_t at = offset_arg(lua, pkt, n);
	lua_Integer value = luaL_checkinteger(lua, 3);
	uint8_t bytes[8];

	if (value < 0 || value >> (n * 8))
		return luaL_error(lua, "%I does not fit into %d byte%s", value, (int)n,
				  n == 1 ? "" : "s");
	for (unsigned i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> (n - 1 - i) * 8);
	packet_write(pkt, at, bytes, NULL, n);
	return 0;
}

static int packet_set_u8(lua_State *lua)
{
	return number_write(lua, 1);
}

static int packet_set_u16(lua_State *lua)
{
	return number_write(lua, 2);
}

static int packet_set_u32(lua_State *lua)
{
	return number_write(lua, 4);
}

static int packet_set_u48(lua_State *lua)
{
	return number_write(lua, 6);
}

// packet:bytes([offset [, n]]): n nil: up to the end
static int packet_bytes(lua_State *lua)
{
	const struct rte_mbuf *pkt = luanode_packet_arg(lua);
	lua_Integer n;
	uint32_t at;
	const void *bytes;
	luaL_Buffer out;
	char *copy;

	if (lua_isnoneornil(lua, 2)) {
		lua_settop(lua, 3);
		lua_pushinteger(lua, 0);
		lua_replace(lua, 2);
	}
	at = offset_arg(lua, pkt, 0);
	n = luaL_optinteger(lua, 3, (lua_Integer)rte_pktmbuf_pkt_len(pkt) - at);
	offset_arg(lua, pkt, n);
	copy = luaL_buffinitsize(lua, &out, (size_t)n);
	bytes = n ? rte_pktmbuf_read(pkt, at, (uint32_t)n, copy) : copy;
	if (bytes != copy)
		memcpy(copy, bytes, (size_t)n);
	luaL_pushresultsize(&out, (size_t)n);
	return 1;
}

// packet:set_bytes(offset, bytes)
static int packet_set_bytes(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);
	size_t n;
	const char *bytes = luaL_checklstring(lua, 3, &n);
	uint32_t at = offset_arg(lua, pkt, (lua_Integer)n);

	packet_write(pkt, at, (const uint8_t *)bytes, NULL, (uint32_t)n);
	return 0;
}

static int packet_length(lua_State *lua)
{
	lua_pushinteger(lua, rte_pktmbuf_pkt_len(luanode_packet_arg(lua)));
	return 1;
}

// packet:append(bytes): whether there was room
static int packet_append(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);
	size_t n;
	const char *bytes = luaL_checklstring(lua, 2, &n);
	void *to = n + rte_pktmbuf_pkt_len(pkt) <= UINT16_MAX ? rte_pktmbuf_append(pkt, (uint16_t)n)
							      : NULL;

	if (to)
		memcpy(to, bytes, n);
	lua_pushboolean(lua, to != NULL);
	return 1;
}

// packet:prepend(bytes): whether there was room
static int packet_prepend_bytes(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);
	size_t n;
	const char *bytes = luaL_checklstring(lua, 2, &n);
	void *to =
	    n + rte_pktmbuf_pkt_len(pkt) <= UINT16_MAX ? packet_prepend(pkt, (uint16_t)n) : NULL;

	if (to)
		memcpy(to, bytes, n);
	lua_pushboolean(lua, to != NULL);
	return 1;
}

static lua_Integer length_arg(lua_State *lua, const struct rte_mbuf *pkt, lua_Integer less)
{
	lua_Integer n = luaL_checkinteger(lua, 2), length = rte_pktmbuf_pkt_len(pkt);

	if (n < less || n > length - (14 - less))
		luaL_error(lua, "%I bytes: the packet has %I, of which 14 must stay", n, length);
	return n;
}

// packet:cut(n): the first n bytes go
static int packet_cut_front(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);
	lua_Integer n = length_arg(lua, pkt, 0);

	lua_pushboolean(lua, n <= UINT16_MAX && packet_cut(pkt, (uint16_t)n));
	return 1;
}

// packet:trim(n): n bytes stay
static int packet_trim(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua), *seg = pkt;
	uint32_t n = (uint32_t)length_arg(lua, pkt, 14), left = n;

	while (left > seg->data_len) {
		left -= seg->data_len;
		seg = seg->next;
	}
	seg->data_len = (uint16_t)left;
	rte_pktmbuf_free(seg->next);
	seg->next = NULL;
	pkt->pkt_len = n;
	pkt->nb_segs = 1;
	for (seg = pkt; seg->next; seg = seg->next)
		pkt->nb_segs++;
	return 0;
}

// What leads nowhere was not dropped by the script.
static bool new_dropped(const struct luanode *node, unsigned index)
{
	return node->gates[index] & 0x8000 && node->gates[index] != DROP(REASON_UNCONNECTED);
}

// packet:gate(gate) and packet:drop([reason]) are batch:gate() and batch:drop() of one packet.
static int packet_gate(lua_State *lua)
{
	struct luanode *node = luanode_of(lua);
	unsigned index = packet_index(lua);

	if (index >= BATCH_MAX) {
		gate_t gate = luanode_gate_arg(lua, 2);

		if (!new_dropped(node, index))
			node->gates[index] = gate;
		return 0;
	}
	lua_settop(lua, 2);
	lua_pushinteger(lua, (lua_Integer)(1ULL << index));
	return luanode_gate_masked(lua);
}

static int packet_drop_one(lua_State *lua)
{
	struct luanode *node = luanode_of(lua);
	unsigned index = packet_index(lua);

	lua_settop(lua, 2);
	if (index >= BATCH_MAX) {
		reason_t reason = luanode_reason_arg(lua, 2);

		if (!new_dropped(node, index))
			node->gates[index] = DROP(reason);
		return 0;
	}
	lua_pushinteger(lua, (lua_Integer)(1ULL << index));
	lua_insert(lua, 2);
	return luanode_drop_masked(lua);
}

const luaL_Reg luanode_packet_functions[] = {
    {"append", packet_append},
    {"bytes", packet_bytes},
    {"cut", packet_cut_front},
    {"drop", packet_drop_one},
    {"finish", luanode_packet_finish},
    {"gate", packet_gate},
    {"get", luanode_packet_get},
    {"length", packet_length},
    {"payload", luanode_packet_payload},
    {"prepend", packet_prepend_bytes},
    {"set", luanode_packet_set},
    {"set_bytes", packet_set_bytes},
    {"set_u8", packet_set_u8},
    {"set_u16", packet_set_u16},
    {"set_u32", packet_set_u32},
    {"set_u48", packet_set_u48},
    {"trim", packet_trim},
    {"u8", packet_u8},
    {"u16", packet_u16},
    {"u32", packet_u32},
    {"u48", packet_u48},
    {NULL, NULL},
};

const luaL_Reg luanode_packet_metamethods[] = {
    {"__len", packet_length},
    {NULL, NULL},
};
