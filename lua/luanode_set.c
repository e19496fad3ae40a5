// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: fields that a script sets. The checksums that cover a field follow it.

#include <string.h>

#include "lua/luanode_fields.h"
#include "packet.h"

// As packet_write(), for what as a rule lies in the first segment.
static inline void bytes_write(struct rte_mbuf *pkt, uint32_t at, const uint8_t *bytes, unsigned n)
{
	if (likely(n == 2 && at + 2 <= rte_pktmbuf_data_len(pkt)))
		memcpy(rte_pktmbuf_mtod_offset(pkt, uint8_t *, at), bytes, 2);
	else
		packet_write(pkt, at, bytes, NULL, n);
}

// A checksum follows what changed. 0 as UDP has it stays: none was computed.
static void sum_follow(struct rte_mbuf *pkt, struct view view, uint32_t at, bool udp,
		       const uint8_t *old, const uint8_t *new, unsigned n)
{
	rte_be16_t sum;

	if (at + sizeof(sum) > view.here)
		return;
	memcpy(&sum, view.bytes + at, sizeof(sum));
	if (udp && !sum)
		return;
	sum = checksum_update(sum, old, new, n);
	if (udp && !sum)
		sum = 0xffff;
	bytes_write(pkt, at, (const uint8_t *)&sum, sizeof(sum));
}

static uint32_t sum_offset(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return 16;
	case IPPROTO_UDP:
		return 6;
	default:
		return 2;
	}
}

// Where the checksum is that covers the addresses; 0: there is none. false: there is one, but it
// cannot be found.
static bool pseudo_find(struct view view, uint32_t *at, uint8_t *proto)
{
	const struct rte_ipv4_hdr *ip4 = view_ipv4(view);
	const struct rte_ipv6_hdr *ip6 = ip4 ? NULL : view_ipv6(view);
	bool fragment = false;

	*at = 0;
	if (ip4) {
		*proto = ip4->next_proto_id;
		if (!(ip4->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)))
			*at = (uint32_t)((const uint8_t *)ip4 - view.bytes) + rte_ipv4_hdr_len(ip4);
	} else if (ip6) {
		*at = view_ipv6_end(view, ip6, proto, &fragment);
	}
	if (*at && *proto != IPPROTO_TCP && *proto != IPPROTO_UDP &&
	    (ip4 || *proto != IPPROTO_ICMPV6))
		*at = 0;
	if (*at)
		*at += sum_offset(*proto);
	return !fragment;
}

static bool is_address(const struct field *field)
{
	return field->kind == KIND_IP4 || field->kind == KIND_IP6;
}

// Writes the field of one packet, and what follows from it. false: the packet has none.
static bool field_write(const struct field *field, const struct value *value, struct rte_mbuf *pkt)
{
	uint8_t copy[LUANODE_PEEK], old[18], new[18], proto = 0;
	struct view view = packet_peek(pkt, copy, sizeof(copy));
	unsigned from = field->offset & ~1u, n = ((field->offset + field->bytes + 1u) & ~1u) - from;
	uint32_t at, sum = 0;

	if (!luanode_layer_find(field->layer, view, pkt, &at))
		return false;
	if (is_address(field) && !pseudo_find(view, &sum, &proto))
		return false;
	for (unsigned i = 0; i < n; i += 2) {
		memcpy(old + i, view.bytes + at + from + i, 2);
		memcpy(new + i, old + i, 2);
	}
	if (field->kind == KIND_IP6) {
		memcpy(new, value->bytes, sizeof(value->bytes));
	} else {
		uint8_t *in = new + (field->offset - from);
		uint64_t raw = number_load(in, field->bytes) & ~(field_mask(field) << field->shift);

		number_store(in, field->bytes, raw | value->number << field->shift);
	}
	bytes_write(pkt, at + from, new, n);
	if (field->layer == LAYER_IPV4)
		sum_follow(pkt, view, at + 10, false, old, new, n);
	if (field->layer >= LAYER_PORTS) {
		view_l4(view, &proto);
		sum = at + sum_offset(proto);
	}
	if (sum)
		sum_follow(pkt, view, sum, proto == IPPROTO_UDP, old, new, n);
	return true;
}

// A value as the rows of a field take it: those that it is a value for.
struct setting {
	unsigned n;
	struct {
		const struct field *field;
		struct value value;
	} rows[2];
};

// Reads the value at `arg`; an error in the script if no row takes it.
static void setting_read(lua_State *lua, const struct field *first, int arg,
			 struct setting *setting)
{
	setting->n = 0;
	for (const struct field *field = first; field; field = luanode_field_next(field)) {
		if (!luanode_value_read(lua, field, arg, &setting->rows[setting->n].value))
			continue;
		setting->rows[setting->n++].field = field;
	}
	if (!setting->n)
		luanode_value_fail(lua, first, arg);
}

// Into the first of the rows that the packet has.
static bool setting_write(const struct setting *setting, struct rte_mbuf *pkt)
{
	for (unsigned i = 0; i < setting->n; i++)
		if (field_write(setting->rows[i].field, &setting->rows[i].value, pkt))
			return true;
	return false;
}

static const struct field *settable_arg(lua_State *lua, int arg)
{
	const struct field *field = luanode_field_arg(lua, arg);

	if (field->fixed)
		luaL_error(lua, "%s can be read only", field->name);
	return field;
}

// Each packet of the mask gets its own value from the array in argument 3.
static uint64_t array_set(lua_State *lua, const struct field *field, uint64_t mask)
{
	const struct luanode *node = luanode_of(lua);
	struct setting setting;
	uint64_t done = 0;

	for (; mask; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);

		lua_rawgeti(lua, 3, i + 1);
		if (lua_toboolean(lua, -1)) {
			setting_read(lua, field, lua_gettop(lua), &setting);
			if (setting_write(&setting, node->in->pkts[i]))
				done |= mask & -mask;
		}
		lua_pop(lua, 1);
	}
	return done;
}

// batch:set(field, value or array of values [, mask]): the packets that have it and were changed
int luanode_set(lua_State *lua)
{
	const struct luanode *node = luanode_batch_arg(lua);
	const struct field *field = settable_arg(lua, 2);
	uint64_t mask = luanode_mask_arg(lua, 4), done = 0;
	struct setting setting;

	if (lua_istable(lua, 3)) {
		lua_pushinteger(lua, (lua_Integer)array_set(lua, field, mask));
		return 1;
	}
	luaL_checkany(lua, 3);
	setting_read(lua, field, 3, &setting);
	for (; mask; mask &= mask - 1)
		if (setting_write(&setting, node->in->pkts[__builtin_ctzll(mask)]))
			done |= mask & -mask;
	lua_pushinteger(lua, (lua_Integer)done);
	return 1;
}

// packet:set(field, value): whether the packet has it
int luanode_packet_set(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);
	const struct field *field = settable_arg(lua, 2);
	struct setting setting;

	luaL_checkany(lua, 3);
	setting_read(lua, field, 3, &setting);
	lua_pushboolean(lua, setting_write(&setting, pkt));
	return 1;
}
