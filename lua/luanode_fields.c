// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: fields of packets by name, how they are found, read and compared.

#include <string.h>

#include <arpa/inet.h>

#include "lua/luanode_fields.h"
#include "packet.h"

static const struct field fields[] = {
    {"ether.dst", LAYER_ETHER, 0, 6, 0, 48, KIND_MAC},
    {"ether.src", LAYER_ETHER, 6, 6, 0, 48, KIND_MAC},
    {"ether.type", LAYER_ETHER, 12, 2, 0, 16},
    {"vlan.pcp", LAYER_VLAN, 0, 2, 13, 3},
    {"vlan.dei", LAYER_VLAN, 0, 2, 12, 1},
    {"vlan.id", LAYER_VLAN, 0, 2, 0, 12},
    {"vlan.type", LAYER_VLAN, 2, 2, 0, 16},
    {"ip.dscp", LAYER_IPV4, 1, 1, 2, 6},
    {"ip.dscp", LAYER_IPV6, 0, 2, 6, 6},
    {"ip.ecn", LAYER_IPV4, 1, 1, 0, 2},
    {"ip.ecn", LAYER_IPV6, 0, 2, 4, 2},
    {"ip.ttl", LAYER_IPV4, 8, 1, 0, 8},
    {"ip.ttl", LAYER_IPV6, 7, 1, 0, 8},
    {"ip.proto", LAYER_IPV4, 9, 1, 0, 8, .fixed = true},
    {"ip.proto", LAYER_IPV6, 6, 1, 0, 8, .fixed = true},
    {"ip.src", LAYER_IPV4, 12, 4, 0, 32, KIND_IP4},
    {"ip.src", LAYER_IPV6, 8, 16, 0, 128, KIND_IP6},
    {"ip.dst", LAYER_IPV4, 16, 4, 0, 32, KIND_IP4},
    {"ip.dst", LAYER_IPV6, 24, 16, 0, 128, KIND_IP6},
    {"ipv4.dscp", LAYER_IPV4, 1, 1, 2, 6},
    {"ipv4.ecn", LAYER_IPV4, 1, 1, 0, 2},
    {"ipv4.len", LAYER_IPV4, 2, 2, 0, 16, .fixed = true},
    {"ipv4.id", LAYER_IPV4, 4, 2, 0, 16},
    {"ipv4.flags", LAYER_IPV4, 6, 2, 13, 3, .fixed = true},
    {"ipv4.frag", LAYER_IPV4, 6, 2, 0, 13, .fixed = true},
    {"ipv4.ttl", LAYER_IPV4, 8, 1, 0, 8},
    {"ipv4.proto", LAYER_IPV4, 9, 1, 0, 8, .fixed = true},
    {"ipv4.src", LAYER_IPV4, 12, 4, 0, 32, KIND_IP4},
    {"ipv4.dst", LAYER_IPV4, 16, 4, 0, 32, KIND_IP4},
    {"ipv6.tc", LAYER_IPV6, 0, 2, 4, 8},
    {"ipv6.flow", LAYER_IPV6, 0, 4, 0, 20},
    {"ipv6.len", LAYER_IPV6, 4, 2, 0, 16, .fixed = true},
    {"ipv6.next", LAYER_IPV6, 6, 1, 0, 8, .fixed = true},
    {"ipv6.hop", LAYER_IPV6, 7, 1, 0, 8},
    {"ipv6.src", LAYER_IPV6, 8, 16, 0, 128, KIND_IP6},
    {"ipv6.dst", LAYER_IPV6, 24, 16, 0, 128, KIND_IP6},
    {"sport", LAYER_PORTS, 0, 2, 0, 16},
    {"dport", LAYER_PORTS, 2, 2, 0, 16},
    {"tcp.seq", LAYER_TCP, 4, 4, 0, 32},
    {"tcp.ack", LAYER_TCP, 8, 4, 0, 32},
    {"tcp.flags", LAYER_TCP, 12, 2, 0, 9},
    {"tcp.window", LAYER_TCP, 14, 2, 0, 16},
    {"udp.length", LAYER_UDP, 4, 2, 0, 16, .fixed = true},
    {"icmp.type", LAYER_ICMP, 0, 1, 0, 8},
    {"icmp.code", LAYER_ICMP, 1, 1, 0, 8},
    {"icmp.id", LAYER_ICMP, 4, 2, 0, 16},
    {"icmp.seq", LAYER_ICMP, 6, 2, 0, 16},
};

#define N_FIELDS ((int)RTE_DIM(fields))

void luanode_fields_open(lua_State *lua)
{
	lua_createtable(lua, 0, N_FIELDS);
	for (int i = N_FIELDS - 1; i >= 0; i--) {
		lua_pushinteger(lua, i + 1);
		lua_setfield(lua, -2, fields[i].name);
	}
}

// The first of the rows that the name at `arg` stands for.
const struct field *luanode_field_arg(lua_State *lua, int arg)
{
	const struct field *field;

	luaL_checktype(lua, arg, LUA_TSTRING);
	lua_pushvalue(lua, arg);
	if (lua_rawget(lua, lua_upvalueindex(LUANODE_UP_FIELDS)) != LUA_TNUMBER)
		luaL_error(lua, "there is no field \"%s\"", lua_tostring(lua, arg));
	field = &fields[lua_tointeger(lua, -1) - 1];
	lua_pop(lua, 1);
	return field;
}

// The row that stands for the same name as the first one and comes after `row`, or NULL.
const struct field *luanode_field_next(const struct field *row)
{
	const struct field *next = row + 1;

	return next < fields + N_FIELDS && !strcmp(next->name, row->name) ? next : NULL;
}

// Where in the packet a layer begins; 0 for the Ethernet header alone. false: there is none.
bool luanode_layer_find(enum layer layer, struct view view, const struct rte_mbuf *pkt,
			uint32_t *at)
{
	const void *header = NULL;
	uint8_t proto = 0;

	switch (layer) {
	case LAYER_ETHER:
		*at = 0;
		return true;
	case LAYER_VLAN:
		*at = sizeof(struct rte_ether_hdr);
		return vlan_type(ether(pkt)->ether_type) && view.here >= *at + 4;
	case LAYER_IPV4:
		header = view_ipv4(view);
		break;
	case LAYER_IPV6:
		header = view_ipv6(view);
		break;
	default:
		header = view_l4(view, &proto);
		if ((layer == LAYER_TCP && proto != IPPROTO_TCP) ||
		    (layer == LAYER_UDP && proto != IPPROTO_UDP) ||
		    (layer == LAYER_PORTS && proto != IPPROTO_TCP && proto != IPPROTO_UDP) ||
		    (layer == LAYER_ICMP && proto != IPPROTO_ICMP && proto != IPPROTO_ICMPV6))
			return false;
	}
	if (!header)
		return false;
	*at = (uint32_t)((const uint8_t *)header - view.bytes);
	return true;
}

// Pushes the field's value, or false.
static void field_push(lua_State *lua, const struct field *field, struct rte_mbuf *pkt)
{
	uint8_t copy[LUANODE_PEEK];
	struct view view = packet_peek(pkt, copy, sizeof(copy));
	char text[INET6_ADDRSTRLEN];
	uint32_t at;

	for (; field; field = luanode_field_next(field)) {
		if (!luanode_layer_find(field->layer, view, pkt, &at))
			continue;
		if (field->kind == KIND_IP6)
			lua_pushstring(lua, inet_ntop(AF_INET6, view.bytes + at + field->offset,
						      text, sizeof(text)));
		else
			lua_pushinteger(lua, (lua_Integer)field_load(field, view.bytes + at));
		return;
	}
	lua_pushboolean(lua, false);
}

// Pushes the array that belongs to a key, with nothing behind its first n places.
static void array_push(lua_State *lua, lua_Integer key, unsigned n)
{
	if (lua_rawgeti(lua, lua_upvalueindex(LUANODE_UP_ARRAYS), key) != LUA_TTABLE) {
		lua_pop(lua, 1);
		lua_createtable(lua, BATCH_MAX, 0);
		lua_pushvalue(lua, -1);
		lua_rawseti(lua, lua_upvalueindex(LUANODE_UP_ARRAYS), key);
	}
	for (unsigned i = n + 1; i <= BATCH_MAX; i++) {
		int type = lua_rawgeti(lua, -1, i);

		lua_pop(lua, 1);
		if (type == LUA_TNIL)
			break;
		lua_pushnil(lua);
		lua_rawseti(lua, -2, i);
	}
}

// batch:get(field): an array of its values
int luanode_get(lua_State *lua)
{
	const struct luanode *node = luanode_batch_arg(lua);
	const struct field *field = luanode_field_arg(lua, 2);

	array_push(lua, field - fields + 1, node->in->n);
	for (unsigned i = 0; i < node->in->n; i++) {
		field_push(lua, field, node->in->pkts[i]);
		lua_rawseti(lua, -2, i + 1);
	}
	return 1;
}

// batch:size(): an array of the packets' lengths
int luanode_size(lua_State *lua)
{
	const struct luanode *node = luanode_batch_arg(lua);

	array_push(lua, 0, node->in->n);
	for (unsigned i = 0; i < node->in->n; i++) {
		lua_pushinteger(lua, rte_pktmbuf_pkt_len(node->in->pkts[i]));
		lua_rawseti(lua, -2, i + 1);
	}
	return 1;
}

int luanode_packet_get(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);

	field_push(lua, luanode_field_arg(lua, 2), pkt);
	return 1;
}

// Whether the value at `arg` is one of the row's.
bool luanode_value_read(lua_State *lua, const struct field *field, int arg, struct value *value)
{
	const char *text = lua_type(lua, arg) == LUA_TSTRING ? lua_tostring(lua, arg) : NULL;
	int is_number = 0;

	if (field->kind == KIND_IP6)
		return text && inet_pton(AF_INET6, text, value->bytes) == 1;
	if (text && field->kind == KIND_IP4)
		return luanode_ip4_parse(text, &value->number);
	if (text && field->kind == KIND_MAC)
		return luanode_mac_parse(text, &value->number);
	value->number = (uint64_t)lua_tointegerx(lua, arg, &is_number);
	return is_number && value->number <= field_mask(field);
}

int luanode_value_fail(lua_State *lua, const struct field *field, int arg)
{
	static const char *const wanted[] = {
	    [KIND_MAC] = "a MAC address",
	    [KIND_IP4] = "an IPv4 address",
	    [KIND_IP6] = "an IPv6 address",
	};
	const char *given = luaL_tolstring(lua, arg, NULL);

	if (luanode_field_next(field) && field->kind != KIND_NUMBER)
		return luaL_error(lua, "%s: %s is given, it should be an address", field->name,
				  given);
	if (field->kind != KIND_NUMBER)
		return luaL_error(lua, "%s: %s is given, it should be %s", field->name, given,
				  wanted[field->kind]);
	return luaL_error(lua, "%s: %s is given, it should be 0 to %I", field->name, given,
			  (lua_Integer)field_mask(field));
}

static bool field_within(const struct field *field, struct rte_mbuf *pkt, const struct value *low,
			 const struct value *high)
{
	uint8_t copy[LUANODE_PEEK];
	struct view view = packet_peek(pkt, copy, sizeof(copy));
	uint64_t number;
	uint32_t at;

	if (!luanode_layer_find(field->layer, view, pkt, &at))
		return false;
	if (field->kind == KIND_IP6)
		return memcmp(view.bytes + at + field->offset, low->bytes, 16) >= 0 &&
		       memcmp(view.bytes + at + field->offset, high->bytes, 16) <= 0;
	number = field_load(field, view.bytes + at);
	return number >= low->number && number <= high->number;
}

// batch:where(field, low [, high [, mask]]): the packets whose field is from low to high
int luanode_where(lua_State *lua)
{
	const struct luanode *node = luanode_batch_arg(lua);
	const struct field *first = luanode_field_arg(lua, 2);
	int upper = lua_isnoneornil(lua, 4) ? 3 : 4;
	uint64_t mask = luanode_mask_arg(lua, 5), found = 0;
	struct value low = {0}, high = {0};
	bool fits = false;

	for (const struct field *field = first; field; field = luanode_field_next(field)) {
		if (!luanode_value_read(lua, field, 3, &low) ||
		    !luanode_value_read(lua, field, upper, &high))
			continue;
		fits = true;
		for (uint64_t left = mask; left; left &= left - 1)
			if (field_within(field, node->in->pkts[__builtin_ctzll(left)], &low, &high))
				found |= left & -left;
	}
	if (!fits)
		return luanode_value_fail(lua, first,
					  luanode_value_read(lua, first, 3, &low) ? upper : 3);
	lua_pushinteger(lua, (lua_Integer)found);
	return 1;
}
