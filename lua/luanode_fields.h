// SPDX-License-Identifier: BSD-3-Clause
// Inside LuaNode: fields of packets, for what reads them and what writes them.

#ifndef SLUICE_LUA_LUANODE_FIELDS_H
#define SLUICE_LUA_LUANODE_FIELDS_H

#include "lua/luanode.h"
#include "packet.h"

enum layer {
	LAYER_ETHER,
	LAYER_VLAN,
	LAYER_IPV4,
	LAYER_IPV6,
	LAYER_PORTS, // of TCP and UDP
	LAYER_TCP,
	LAYER_UDP,
	LAYER_ICMP, // and ICMPv6
};

enum kind { KIND_NUMBER, KIND_MAC, KIND_IP4, KIND_IP6 };

// A number in `bytes` bytes, shifted and masked. Rows of the same name follow each other: a packet
// has the one or the other.
struct field {
	const char *name;
	enum layer layer;
	uint8_t offset;
	uint8_t bytes;
	uint8_t shift;
	uint8_t bits;
	enum kind kind;
	bool fixed; // cannot be set: other things in the packet depend on it
};

// A value to be written or compared, as each row wants it.
struct value {
	uint64_t number;
	uint8_t bytes[16];
};

// The first of the rows that the name at `arg` stands for; an error in the script if there is none.
const struct field *luanode_field_arg(lua_State *, int arg);
// The row of the same name that comes after this one, or NULL.
const struct field *luanode_field_next(const struct field *);

// Where in the packet a layer begins. false: there is none.
bool luanode_layer_find(enum layer, struct view, const struct rte_mbuf *, uint32_t *at);

// Whether the value at `arg` is one of the row's; if it is none of any row's, the error to raise.
bool luanode_value_read(lua_State *, const struct field *, int arg, struct value *);
int luanode_value_fail(lua_State *, const struct field *, int arg);

static inline uint64_t number_load(const uint8_t *bytes, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	return value;
}

static inline void number_store(uint8_t *bytes, unsigned n, uint64_t value)
{
	for (unsigned i = n; i-- > 0; value >>= 8)
		bytes[i] = (uint8_t)value;
}

static inline uint64_t field_mask(const struct field *field)
{
	return (1ULL << field->bits) - 1;
}

static inline uint64_t field_load(const struct field *field, const uint8_t *header)
{
	uint64_t raw = number_load(header + field->offset, field->bytes);

	return raw >> field->shift & field_mask(field);
}

#endif
