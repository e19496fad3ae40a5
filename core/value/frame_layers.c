// SPDX-License-Identifier: BSD-3-Clause
// The table of layers, and single fields from and to text.

#include <arpa/inet.h>
#include <string.h>

#include "value/frame.h"
#include "value/scalar.h"

#define MAC_1 "02:00:00:00:00:01"
#define MAC_2 "02:00:00:00:00:02"

static const struct frame_field ether_fields[] = {
    {"src", FIELD_MAC, 48, 48, MAC_1, .shown = true},
    {"dst", FIELD_MAC, 0, 48, MAC_2, .shown = true},
    {"type", FIELD_HEX, 96, 16, .fill = FILL_ETHERTYPE},
    {NULL},
};

static const struct frame_field vlan_fields[] = {
    {"id", FIELD_NUMBER, 4, 12, "1", .shown = true},
    {"pcp", FIELD_NUMBER, 0, 3, "0"},
    {"dei", FIELD_NUMBER, 3, 1, "0"},
    {"tpid", FIELD_TPID, 0, 16, "0x8100"},
    {"type", FIELD_HEX, 16, 16, .fill = FILL_ETHERTYPE},
    {NULL},
};

static const struct frame_field arp_fields[] = {
    {"op", FIELD_NUMBER, 48, 16, "1", .shown = true},
    {"sha", FIELD_MAC, 64, 48, MAC_1, .shown = true},
    {"spa", FIELD_IP4, 112, 32, "10.0.0.1", .shown = true},
    {"tha", FIELD_MAC, 144, 48, "00:00:00:00:00:00", .shown = true},
    {"tpa", FIELD_IP4, 192, 32, "10.0.0.2", .shown = true},
    {"htype", FIELD_NUMBER, 0, 16, "1"},
    {"ptype", FIELD_HEX, 16, 16, "0x0800"},
    {"hlen", FIELD_NUMBER, 32, 8, "6"},
    {"plen", FIELD_NUMBER, 40, 8, "4"},
    {NULL},
};

static const struct frame_field ipv4_fields[] = {
    {"src", FIELD_IP4, 96, 32, "10.0.0.1", .shown = true},
    {"dst", FIELD_IP4, 128, 32, "10.0.0.2", .shown = true},
    {"ttl", FIELD_NUMBER, 64, 8, "64"},
    {"dscp", FIELD_NUMBER, 8, 6, "0"},
    {"ecn", FIELD_NUMBER, 14, 2, "0"},
    {"id", FIELD_NUMBER, 32, 16, "0"},
    {"flags", FIELD_NUMBER, 48, 3, "0"},
    {"frag", FIELD_NUMBER, 51, 13, "0"},
    {"proto", FIELD_NUMBER, 72, 8, .fill = FILL_PROTOCOL},
    {"len", FIELD_NUMBER, 16, 16, .fill = FILL_LENGTH},
    {"checksum", FIELD_HEX, 80, 16, .fill = FILL_HEADER_SUM},
    {"version", FIELD_NUMBER, 0, 4, "4"},
    {"ihl", FIELD_NUMBER, 4, 4, .fill = FILL_WORDS},
    {"options", FIELD_OPTIONS, 160, 320, ""},
    {NULL},
};

static const struct frame_field ipv6_fields[] = {
    {"src", FIELD_IP6, 64, 128, "fd00::1", .shown = true},
    {"dst", FIELD_IP6, 192, 128, "fd00::2", .shown = true},
    {"hop", FIELD_NUMBER, 56, 8, "64"},
    {"tc", FIELD_NUMBER, 4, 8, "0"},
    {"flow", FIELD_NUMBER, 12, 20, "0"},
    {"next", FIELD_NUMBER, 48, 8, .fill = FILL_PROTOCOL},
    {"len", FIELD_NUMBER, 32, 16, .fill = FILL_PAYLOAD},
    {"version", FIELD_NUMBER, 0, 4, "6"},
    {NULL},
};

#define ICMP_FIELDS(TYPE, FILL)                                                                    \
	{"type", FIELD_NUMBER, 0, 8, TYPE, .shown = true}, {"code", FIELD_NUMBER, 8, 8, "0"},      \
	    {"id", FIELD_NUMBER, 32, 16, "1", .shown = true},                                      \
	    {"seq", FIELD_NUMBER, 48, 16, "1", .shown = true},                                     \
	    {"checksum", FIELD_HEX, 16, 16, .fill = FILL},                                         \
	{                                                                                          \
		NULL                                                                               \
	}

static const struct frame_field icmp_fields[] = {ICMP_FIELDS("8", FILL_SUM)};
static const struct frame_field icmp6_fields[] = {ICMP_FIELDS("128", FILL_PSEUDO_SUM)};

static const struct frame_field udp_fields[] = {
    {"sport", FIELD_NUMBER, 0, 16, "1000", .shown = true},
    {"dport", FIELD_NUMBER, 16, 16, "2000", .shown = true},
    {"len", FIELD_NUMBER, 32, 16, .fill = FILL_LENGTH},
    {"checksum", FIELD_HEX, 48, 16, .fill = FILL_PSEUDO_SUM},
    {NULL},
};

static const struct frame_field tcp_fields[] = {
    {"sport", FIELD_NUMBER, 0, 16, "1000", .shown = true},
    {"dport", FIELD_NUMBER, 16, 16, "2000", .shown = true},
    {"seq", FIELD_NUMBER, 32, 32, "0"},
    {"ack", FIELD_NUMBER, 64, 32, "0"},
    {"flags", FIELD_FLAGS, 104, 8, "S", .shown = true},
    {"window", FIELD_NUMBER, 112, 16, "65535"},
    {"urgent", FIELD_NUMBER, 144, 16, "0"},
    {"checksum", FIELD_HEX, 128, 16, .fill = FILL_PSEUDO_SUM},
    {"reserved", FIELD_NUMBER, 100, 4, "0"},
    {"off", FIELD_NUMBER, 96, 4, .fill = FILL_WORDS},
    {"options", FIELD_OPTIONS, 160, 320, ""},
    {NULL},
};

// An unknown payload is of a number set aside for experiments: EtherType 0x88b5, IP protocol 253.
const struct frame_layer frame_layers[] = {
    {"ether", 14, 0, -1, 0x88b5, -1, ether_fields},
    {"vlan", 4, 0x8100, -1, 0x88b5, -1, vlan_fields},
    {"arp", 28, 0x0806, -1, -1, -1, arp_fields},
    {"ipv4", 20, 0x0800, 4, -1, 253, ipv4_fields},
    {"ipv6", 40, 0x86dd, 41, -1, 253, ipv6_fields},
    {"icmp", 8, 0, 1, -1, -1, icmp_fields},
    {"icmp6", 8, 0, 58, -1, -1, icmp6_fields},
    {"udp", 8, 0, 17, -1, -1, udp_fields},
    {"tcp", 20, 0, 6, -1, -1, tcp_fields},
    {NULL},
};

const struct frame_layer *frame_layer_find(const char *name)
{
	for (const struct frame_layer *layer = frame_layers; layer->name; layer++)
		if (!strcmp(layer->name, name))
			return layer;
	return NULL;
}

const struct frame_field *frame_field_find(const struct frame_layer *layer, const char *name)
{
	for (const struct frame_field *field = layer->fields; field->name; field++)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

uint64_t bits_get(const uint8_t *header, unsigned bit, unsigned bits)
{
	uint64_t n = 0;

	for (unsigned i = bit; i < bit + bits; i++)
		n = n << 1 | (header[i / 8] >> (7 - i % 8) & 1);
	return n;
}

void bits_put(uint8_t *header, unsigned bit, unsigned bits, uint64_t n)
{
	for (unsigned i = bit + bits; i-- > bit; n >>= 1) {
		uint8_t one = (uint8_t)(0x80 >> (i % 8));

		header[i / 8] = (uint8_t)((header[i / 8] & ~one) | (n & 1 ? one : 0));
	}
}

static const char flag_letters[] = "CEUAPRSF"; // from the highest bit

static bool flags_read(const char *text, uint64_t *flags)
{
	*flags = 0;
	for (; *text; text++) {
		const char *at = strchr(flag_letters, *text);

		if (!at)
			return false;
		*flags |= 0x80u >> (at - flag_letters);
	}
	return true;
}

static bool number_read(struct arena *arena, const struct frame_field *field, const char *text,
			uint8_t *header, const char **why)
{
	uint64_t max = (1ull << field->bits) - 1;
	uint64_t n;
	bool negative;
	enum scan scan = number_scan(text, &n, &negative);

	if (field->kind == FIELD_FLAGS && scan == SCAN_NOT && flags_read(text, &n)) {
		scan = SCAN_OK;
	} else if (field->kind == FIELD_FLAGS && scan == SCAN_NOT) {
		*why = arena_printf(arena, "is neither letters of %s nor a number", flag_letters);
		return false;
	}
	if (scan == SCAN_OK && n <= max) {
		bits_put(header, field->bit, field->bits, n);
		return true;
	}
	*why = arena_printf(arena, "%s, it should be 0 to %llu",
			    scan == SCAN_NOT || scan == SCAN_FRACTION ? number_why[scan]
								      : "is out of range",
			    (unsigned long long)max);
	return false;
}

bool frame_field_read(struct arena *arena, const struct frame_field *field, const char *text,
		      uint8_t *header, const char **why)
{
	uint8_t *at = header + field->bit / 8;
	struct rte_ether_addr mac;

	switch (field->kind) {
	case FIELD_MAC:
		*why = "is not a MAC address (for example " MAC_1 ")";
		if (!mac_scan(text, &mac))
			return false;
		memcpy(at, &mac, sizeof(mac));
		return true;
	case FIELD_IP4:
		*why = "is not an IPv4 address (for example 10.0.0.1)";
		return inet_pton(AF_INET, text, at) == 1;
	case FIELD_IP6:
		*why = "is not an IPv6 address (for example fd00::1)";
		return inet_pton(AF_INET6, text, at) == 1;
	default:
		return number_read(arena, field, text, header, why);
	}
}

const char *frame_field_text(struct arena *arena, const struct frame_field *field,
			     const uint8_t *header)
{
	const uint8_t *at = header + field->bit / 8;
	char text[INET6_ADDRSTRLEN];
	char *out = text;
	uint64_t n;

	switch (field->kind) {
	case FIELD_MAC:
		return mac_text(arena, at);
	case FIELD_IP4:
		return arena_strdup(arena, inet_ntop(AF_INET, at, text, sizeof(text)));
	case FIELD_IP6:
		return arena_strdup(arena, inet_ntop(AF_INET6, at, text, sizeof(text)));
	default:
		break;
	}
	n = bits_get(header, field->bit, field->bits);
	if (field->kind != FIELD_FLAGS || !n)
		return arena_printf(arena, field->kind == FIELD_HEX ? "0x%04llx" : "%llu",
				    (unsigned long long)n);
	for (unsigned i = 0; i < 8; i++)
		if (n & (0x80u >> i))
			*out++ = flag_letters[i];
	return arena_strndup(arena, text, (size_t)(out - text));
}
