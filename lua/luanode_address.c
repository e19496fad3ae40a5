// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: addresses in words, and as the numbers that a script compares.

#include <stdio.h>

#include <arpa/inet.h>

#include <rte_byteorder.h>
#include <rte_ether.h>

#include "lua/luanode.h"

bool luanode_ip4_parse(const char *text, uint64_t *value)
{
	struct in_addr address;

	if (inet_pton(AF_INET, text, &address) != 1)
		return false;
	*value = rte_be_to_cpu_32(address.s_addr);
	return true;
}

bool luanode_mac_parse(const char *text, uint64_t *value)
{
	struct rte_ether_addr mac;

	if (rte_ether_unformat_addr(text, &mac))
		return false;
	*value = 0;
	for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		*value = *value << 8 | mac.addr_bytes[i];
	return true;
}

// ip4("10.0.0.1")
int luanode_ip4(lua_State *lua)
{
	const char *text = luaL_checkstring(lua, 1);
	uint64_t value;

	if (!luanode_ip4_parse(text, &value))
		return luaL_error(lua, "\"%s\" is no IPv4 address", text);
	lua_pushinteger(lua, (lua_Integer)value);
	return 1;
}

// mac("02:00:00:00:00:01")
int luanode_mac(lua_State *lua)
{
	const char *text = luaL_checkstring(lua, 1);
	uint64_t value;

	if (!luanode_mac_parse(text, &value))
		return luaL_error(lua, "\"%s\" is no MAC address", text);
	lua_pushinteger(lua, (lua_Integer)value);
	return 1;
}

static uint64_t number_arg(lua_State *lua, uint64_t most)
{
	lua_Integer value = luaL_checkinteger(lua, 1);

	if (value < 0 || (uint64_t)value > most)
		luaL_error(lua, "%I is no such address", value);
	return (uint64_t)value;
}

// ip4_text(number)
int luanode_ip4_text(lua_State *lua)
{
	uint64_t value = number_arg(lua, UINT32_MAX);

	lua_pushfstring(lua, "%d.%d.%d.%d", (int)(value >> 24), (int)(value >> 16 & 255),
			(int)(value >> 8 & 255), (int)(value & 255));
	return 1;
}

// mac_text(number)
int luanode_mac_text(lua_State *lua)
{
	uint64_t value = number_arg(lua, (1ULL << 48) - 1);
	char text[32];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", (unsigned)(value >> 40),
		 (unsigned)(value >> 32 & 255), (unsigned)(value >> 24 & 255),
		 (unsigned)(value >> 16 & 255), (unsigned)(value >> 8 & 255),
		 (unsigned)(value & 255));
	lua_pushstring(lua, text);
	return 1;
}
