// SPDX-License-Identifier: BSD-3-Clause
// Addresses, networks and plain bytes: from text and back.

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "value/scalar.h"

// The byte that two digits at `text` write; false: they are no digits.
static bool byte_scan(const char *text, uint8_t *byte)
{
	unsigned high = digit_value(text[0]);
	unsigned low = high < 16 ? digit_value(text[1]) : 16;

	*byte = (uint8_t)(high << 4 | low);
	return low < 16;
}

bool mac_scan(const char *text, struct rte_ether_addr *mac)
{
	char joint = text[0] && text[1] ? text[2] : '\0';

	if (joint != ':' && joint != '-')
		return false;
	for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++, text += 3)
		if (!byte_scan(text, &mac->addr_bytes[i]) || text[2] != (i < 5 ? joint : '\0'))
			return false;
	return true;
}

const char *mac_text(struct arena *arena, const uint8_t mac[RTE_ETHER_ADDR_LEN])
{
	static const char digits[] = "0123456789abcdef";
	char *text = arena_alloc(arena, 3 * (size_t)RTE_ETHER_ADDR_LEN);

	for (unsigned i = 0; i < RTE_ETHER_ADDR_LEN; i++) {
		text[3 * i] = digits[mac[i] >> 4];
		text[3 * i + 1] = digits[mac[i] & 15];
		text[3 * i + 2] = i < RTE_ETHER_ADDR_LEN - 1 ? ':' : '\0';
	}
	return text;
}

// ADDRESS[/LENGTH]; a bare address has the full length.
static bool net_scan(const char *text, int family, unsigned full, void *addr, uint8_t *len)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchrnul(text, '/');
	unsigned n = full;

	if ((size_t)(slash - text) >= sizeof(address))
		return false;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	if (*slash) {
		size_t digits = strspn(slash + 1, "0123456789");

		if (!digits || digits > 3 || slash[1 + digits])
			return false;
		n = (unsigned)atoi(slash + 1);
	}
	*len = (uint8_t)n;
	return n <= full && inet_pton(family, address, addr) == 1;
}

bool ip4_scan(const char *text, struct ip4_net *net)
{
	struct in_addr addr;

	if (!net_scan(text, AF_INET, 32, &addr, &net->len))
		return false;
	net->addr = ntohl(addr.s_addr);
	return true;
}

bool ip6_scan(const char *text, struct ip6_net *net)
{
	return net_scan(text, AF_INET6, 128, net->addr, &net->len);
}

bool ip4_mask(struct ip4_net *net)
{
	uint32_t beyond = net->len >= 32 ? 0 : UINT32_MAX >> net->len;
	bool any = net->addr & beyond;

	net->addr &= ~beyond;
	return any;
}

bool ip6_mask(struct ip6_net *net)
{
	bool any = false;

	for (unsigned bit = net->len; bit < 128; bit++) {
		uint8_t one = (uint8_t)(0x80 >> (bit % 8));

		any = any || (net->addr[bit / 8] & one);
		net->addr[bit / 8] &= (uint8_t)~one;
	}
	return any;
}

const char *ip4_text(struct arena *arena, const struct ip4_net *net)
{
	struct in_addr addr = {htonl(net->addr)};
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &addr, text, sizeof(text));
	return net->len == 32 ? arena_strdup(arena, text)
			      : arena_printf(arena, "%s/%u", text, net->len);
}

const char *ip6_text(struct arena *arena, const struct ip6_net *net)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, net->addr, text, sizeof(text));
	return net->len == 128 ? arena_strdup(arena, text)
			       : arena_printf(arena, "%s/%u", text, net->len);
}

bool hex_scan(struct arena *arena, const char *text, uint8_t **bytes, unsigned *n)
{
	uint8_t *out = arena_alloc(arena, strlen(text) / 2 + 1);

	*bytes = out;
	*n = 0;
	for (text += strspn(text, " \t\r\n"); *text; text += strspn(text, " \t\r\n:.")) {
		if (!byte_scan(text, &out[(*n)++]))
			return false;
		text += 2;
	}
	return true;
}

const char *hex_text(struct arena *arena, const uint8_t *bytes, unsigned n)
{
	static const char digits[] = "0123456789abcdef";
	char *text = arena_alloc(arena, 2 * (size_t)n + 1);

	for (unsigned i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	return text;
}
