// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: where a packet's payload is, and lengths and checksums once a script has written it.

#include <string.h>

#include "lua/luanode.h"
#include "packet.h"

#define HEADERS 256 // bytes in which all headers should be

// Computes the checksum of what IP carries, at `at` with `n` bytes, over a sum of the pseudo
// header.
static void l4_finish(struct rte_mbuf *pkt, uint8_t proto, uint32_t at, uint32_t n, uint16_t pseudo)
{
	uint8_t *header = rte_pktmbuf_mtod_offset(pkt, uint8_t *, at);
	uint32_t place, least, sum;
	rte_be16_t checksum = 0;
	uint16_t raw;

	switch (proto) {
	case IPPROTO_TCP:
		place = 16, least = 20;
		break;
	case IPPROTO_UDP:
		place = 6, least = 8;
		break;
	case IPPROTO_ICMP:
		pseudo = 0;
		// fall through
	case IPPROTO_ICMPV6:
		place = 2, least = 8;
		break;
	default:
		return;
	}
	if (n < least || at + least > rte_pktmbuf_data_len(pkt))
		return;
	if (proto == IPPROTO_UDP) {
		rte_be16_t length = rte_cpu_to_be_16((uint16_t)n);

		memcpy(header + 4, &length, sizeof(length));
	}
	memcpy(header + place, &checksum, sizeof(checksum));
	if (rte_raw_cksum_mbuf(pkt, at, n, &raw))
		return;
	sum = (uint32_t)raw + pseudo;
	sum = (sum & 0xffff) + (sum >> 16);
	checksum = (rte_be16_t)~sum;
	if (proto == IPPROTO_UDP && !checksum)
		checksum = 0xffff;
	memcpy(header + place, &checksum, sizeof(checksum));
}

static bool ipv4_finish(struct rte_mbuf *pkt, uint32_t at, uint32_t here)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(pkt, struct rte_ipv4_hdr *, at);
	uint32_t n = rte_pktmbuf_pkt_len(pkt) - at, header;

	if (at + sizeof(*ip) > here || ip->version != 4 || n > UINT16_MAX)
		return false;
	header = rte_ipv4_hdr_len(ip);
	if (header < sizeof(*ip) || at + header > here)
		return false;
	ip->total_length = rte_cpu_to_be_16((uint16_t)n);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (!ipv4_fragment(ip))
		l4_finish(pkt, ip->next_proto_id, at + header, n - header,
			  rte_ipv4_phdr_cksum(ip, 0));
	return true;
}

static bool ipv6_finish(struct rte_mbuf *pkt, uint32_t at, uint32_t here)
{
	struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(pkt, struct rte_ipv6_hdr *, at), pseudo;
	uint32_t n = rte_pktmbuf_pkt_len(pkt) - at, l4_at;
	bool fragment;
	uint8_t proto;

	if (at + sizeof(*ip) > here || n - sizeof(*ip) > UINT16_MAX)
		return false;
	if ((rte_be_to_cpu_32(ip->vtc_flow) >> 28) != 6)
		return false;
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(n - sizeof(*ip)));
	l4_at = view_ipv6_end(packet_view(pkt), ip, &proto, &fragment);
	if (!l4_at)
		return true;
	n = rte_pktmbuf_pkt_len(pkt) - l4_at;
	pseudo = *ip;
	pseudo.proto = proto;
	pseudo.payload_len = rte_cpu_to_be_16((uint16_t)n);
	l4_finish(pkt, proto, l4_at, n, rte_ipv6_phdr_cksum(&pseudo, 0));
	return true;
}

// packet:finish(): all that is behind the headers is payload; lengths and checksums say so then.
// Whether it is IP.
int luanode_packet_finish(lua_State *lua)
{
	struct rte_mbuf *pkt = luanode_packet_arg(lua);
	uint32_t here = RTE_MIN(rte_pktmbuf_pkt_len(pkt), (uint32_t)HEADERS), at;
	bool done = false;
	rte_be16_t type;

	if (!packet_join(pkt, here))
		return luaL_error(lua, "the first segment has no room for the headers");
	here = rte_pktmbuf_data_len(pkt);
	at = view_l3(packet_view(pkt), &type);
	if (at && type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		done = ipv4_finish(pkt, at, here);
	else if (at && type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		done = ipv6_finish(pkt, at, here);
	lua_pushboolean(lua, done);
	return 1;
}

// packet:payload(): where what TCP or UDP carries begins, and how many bytes it has; or nothing.
int luanode_packet_payload(lua_State *lua)
{
	uint8_t copy[LUANODE_PEEK], proto = 0;
	struct view view = packet_peek(luanode_packet_arg(lua), copy, sizeof(copy));
	const uint8_t *l4 = view_l4(view, &proto);
	const struct rte_ipv4_hdr *ip4 = view_ipv4(view);
	const struct rte_ipv6_hdr *ip6 = ip4 ? NULL : view_ipv6(view);
	lua_Integer at, end;

	if (!l4 || (proto != IPPROTO_TCP && proto != IPPROTO_UDP))
		return 0;
	at = l4 - view.bytes;
	if (proto == IPPROTO_UDP)
		end = at + (l4[4] << 8 | l4[5]);
	else if (ip4)
		end = (const uint8_t *)ip4 - view.bytes + rte_be_to_cpu_16(ip4->total_length);
	else
		end = (const uint8_t *)(ip6 + 1) - view.bytes + rte_be_to_cpu_16(ip6->payload_len);
	at += proto == IPPROTO_UDP ? 8 : l4[12] >> 4 << 2;
	lua_pushinteger(lua, at);
	lua_pushinteger(lua, end - at);
	return 2;
}
