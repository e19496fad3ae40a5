// SPDX-License-Identifier: BSD-3-Clause
// The part of Source that knows headers: where a field lies in a template, how it changes from
// packet to packet, and what follows from it in lengths and checksums.

#ifndef SLUICE_SOURCE_VARY_H
#define SLUICE_SOURCE_VARY_H

#include <string.h>

#include <rte_byteorder.h>

#include "module.h"
#include "packet.h"

#define SOURCE_FIELDS 16u

struct source_field {
	struct choice field;
	uint16_t offset;
	uint8_t bytes;
	struct choice mode;
	uint64_t values;
	uint64_t step;
	uint64_t every;
	uint64_t seed;
};

enum { SOURCE_COUNT, SOURCE_RANDOM };
static const char *const source_mode[] = {"count", "random", NULL};

enum {
	SOURCE_ETHER_DST,
	SOURCE_ETHER_SRC,
	SOURCE_VLAN_ID,
	SOURCE_IPV4_SRC,
	SOURCE_IPV4_DST,
	SOURCE_IPV6_SRC,
	SOURCE_IPV6_DST,
	SOURCE_SPORT,
	SOURCE_DPORT,
	SOURCE_BYTES,
};
static const char *const source_field_names[] = {"ether.dst", "ether.src", "vlan.id",  "ipv4.src",
						 "ipv4.dst",  "ipv6.src",  "ipv6.dst", "sport",
						 "dport",     "bytes",	   NULL};

static const struct param source_fields[] = {
    PARAM(source_field, field, .choices = source_field_names,
	  .help = "what varies; `bytes`: the bytes at `offset`"),
    PARAM(source_field, offset, .def = "0", .max = 1024,
	  .help = "of `bytes`: where they begin in the frame"),
    PARAM(source_field, bytes, .def = "1", .min = 1, .max = 6,
	  .help = "of `bytes`: how many they are; the first is the most significant one"),
    PARAM(source_field, mode, .def = "count", .choices = source_mode,
	  .help = "whether the values come in turn, or at random from the seed"),
    PARAM(source_field, values, .def = "256", .min = 1,
	  .help = "how many different values it takes: what the template has is the first one"),
    PARAM(source_field, step, .def = "1", .help = "from one value to the next"),
    PARAM(source_field, every, .def = "1", .min = 1, .help = "it changes once in so many packets"),
    PARAM(source_field, seed, .def = "1", .help = "of `random`: the same seed, the same packets"),
    PARAM_END,
};

// Where a template has what; 0: it has no such thing.
struct source_layout {
	uint16_t vlan; // the tag's id
	uint16_t ipv4;
	uint16_t ipv6;
	uint16_t l4;
	uint16_t ports;
	uint16_t l4_sum;
	bool udp;
	bool pseudo;  // the checksum covers addresses and length too
	uint32_t end; // of what IP's length says
};

// How one field is written in one template: in the eight bytes at `window`, big-endian, the bits of
// `mask` take their sum with the value shifted by `shift`. Windows are even, so that checksums
// follow from them.
struct source_edit {
	uint64_t mask;
	uint16_t window;
	uint16_t shift;
	uint16_t ip_sum; // checksums that cover it, or 0
	uint16_t l4_sum;
	bool udp;
};

// What one field is at.
struct source_vary {
	uint64_t value; // to be added to the template's
	uint64_t index;
	uint64_t values;
	uint64_t step;
	uint64_t every;
	uint64_t left; // packets that still get this value
	uint64_t random;
	bool is_random;
};

static inline uint16_t source_read16(const uint8_t *bytes, unsigned at)
{
	return (uint16_t)(bytes[at] << 8 | bytes[at + 1]);
}

// The checksum at `at` follows a change of n bytes that it covers. UDP has another way to say 0.
static inline void source_sum(uint8_t *bytes, unsigned at, const void *old, const void *new,
			      unsigned n, bool udp)
{
	rte_be16_t sum;

	memcpy(&sum, bytes + at, sizeof(sum));
	sum = checksum_update(sum, old, new, n);
	if (udp && !sum)
		sum = 0xffff;
	memcpy(bytes + at, &sum, sizeof(sum));
}

static void source_vary_next(struct source_vary *vary)
{
	vary->left = vary->every;
	if (vary->is_random) { // splitmix64
		uint64_t z = vary->random += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		z ^= z >> 31;
		vary->value = (uint64_t)((unsigned __int128)z * vary->values >> 64) * vary->step;
		return;
	}
	vary->value += vary->step;
	if (++vary->index == vary->values) {
		vary->index = 0;
		vary->value = 0;
	}
}

static void source_edit(uint8_t *bytes, const struct source_edit *edit, uint64_t value)
{
	rte_be64_t raw, new_raw;
	uint64_t old;

	memcpy(&raw, bytes + edit->window, sizeof(raw));
	old = rte_be_to_cpu_64(raw);
	new_raw =
	    rte_cpu_to_be_64((old & ~edit->mask) | ((old + (value << edit->shift)) & edit->mask));
	memcpy(bytes + edit->window, &new_raw, sizeof(new_raw));
	if (edit->ip_sum)
		source_sum(bytes, edit->ip_sum, &raw, &new_raw, 8, false);
	if (edit->l4_sum)
		source_sum(bytes, edit->l4_sum, &raw, &new_raw, 8, edit->udp);
}

// Finds the headers of a frame that is 14 bytes or longer.
static struct source_layout source_layout(const uint8_t *bytes, uint32_t length)
{
	struct source_layout at = {0};
	uint16_t l3 = 14, type = source_read16(bytes, 12);
	uint8_t protocol = 0;

	while ((type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ) && l3 < 30 &&
	       l3 + 4u <= length) {
		at.vlan = at.vlan ? at.vlan : l3;
		type = source_read16(bytes, l3 + 2);
		l3 += 4;
	}
	if (type == RTE_ETHER_TYPE_IPV4 && l3 + 20u <= length && (bytes[l3] & 15) >= 5) {
		at.ipv4 = l3;
		at.l4 = l3 + (bytes[l3] & 15) * 4;
		at.end = l3 + source_read16(bytes, l3 + 2);
		protocol = bytes[l3 + 9];
		if (source_read16(bytes, l3 + 6) & 0x1fff) // a fragment, but the first
			at.l4 = 0;
	} else if (type == RTE_ETHER_TYPE_IPV6 && l3 + 40u <= length) {
		at.ipv6 = l3;
		at.l4 = l3 + 40;
		at.end = at.l4 + source_read16(bytes, l3 + 4);
		protocol = bytes[l3 + 6];
	}
	if (!at.l4)
		return at;
	at.pseudo = protocol != 1;
	if (protocol == 6 && at.l4 + 20u <= length) {
		at.ports = at.l4;
		at.l4_sum = at.l4 + 16;
	} else if (protocol == 17 && at.l4 + 8u <= length) {
		at.ports = at.l4;
		at.udp = true;
		// 0: none was computed.
		at.l4_sum = source_read16(bytes, at.l4 + 6) ? at.l4 + 6 : 0;
	} else if ((protocol == 1 || protocol == 58) && at.l4 + 8u <= length) {
		at.l4_sum = at.l4 + 2;
	}
	return at;
}

// Where a field lies in a frame. false: the frame has no such field.
static bool source_place(const struct source_field *field, const struct source_layout *at,
			 uint32_t length, unsigned *offset, unsigned *bytes)
{
	const struct {
		unsigned header;
		unsigned offset;
		unsigned bytes;
	} places[] = {
	    [SOURCE_ETHER_DST] = {1, 0, 6},
	    [SOURCE_ETHER_SRC] = {1, 6, 6},
	    [SOURCE_VLAN_ID] = {at->vlan, at->vlan, 2},
	    [SOURCE_IPV4_SRC] = {at->ipv4, at->ipv4 + 12u, 4},
	    [SOURCE_IPV4_DST] = {at->ipv4, at->ipv4 + 16u, 4},
	    [SOURCE_IPV6_SRC] = {at->ipv6, at->ipv6 + 16u, 8}, // the lower half
	    [SOURCE_IPV6_DST] = {at->ipv6, at->ipv6 + 32u, 8},
	    [SOURCE_SPORT] = {at->ports, at->ports, 2},
	    [SOURCE_DPORT] = {at->ports, at->ports + 2u, 2},
	    [SOURCE_BYTES] = {1, field->offset, field->bytes},
	};

	*offset = places[field->field.n].offset;
	*bytes = places[field->field.n].bytes;
	return places[field->field.n].header && *offset + *bytes <= length;
}

// Works out how a field is written, and which checksums have to follow it.
static struct source_edit source_edit_of(const struct source_field *field,
					 const struct source_layout *at, uint32_t length)
{
	struct source_edit edit = {.udp = at->udp};
	unsigned offset, bytes, end;
	uint64_t mask;

	source_place(field, at, length, &offset, &bytes);
	end = offset + bytes;
	mask = bytes == 8 ? UINT64_MAX : (1ull << bytes * 8) - 1;
	if (field->field.n == SOURCE_VLAN_ID)
		mask = 0xfff;
	edit.window = offset & ~1u;
	edit.shift = (uint16_t)((edit.window + 8u - end) * 8);
	edit.mask = mask << edit.shift;
	if (at->ipv4 && offset >= at->ipv4 && offset < at->ipv4 + 20u)
		edit.ip_sum = at->ipv4 + 10;
	if ((at->l4 && offset >= at->l4 && offset < at->end) ||
	    (at->pseudo && at->ipv4 && offset < at->ipv4 + 20u && end > at->ipv4 + 12u) ||
	    (at->pseudo && at->ipv6 && offset < at->ipv6 + 40u && end > at->ipv6 + 8u))
		edit.l4_sum = at->l4_sum;
	// Whoever varies a checksum itself wants just that.
	if (edit.ip_sum && offset < edit.ip_sum + 2u && end > edit.ip_sum)
		edit.ip_sum = 0;
	if (edit.l4_sum && offset < edit.l4_sum + 2u && end > edit.l4_sum)
		edit.l4_sum = 0;
	return edit;
}

// The lengths of IP and UDP grow with the frame where they reached to its end.
static void source_grow(uint8_t *bytes, const struct source_layout *at, uint32_t old, uint32_t new)
{
	rte_be16_t ip_old = rte_cpu_to_be_16((uint16_t)(old - at->ipv4));
	rte_be16_t ip_new = rte_cpu_to_be_16((uint16_t)(new - at->ipv4));
	rte_be16_t l4_old = rte_cpu_to_be_16((uint16_t)(old - at->l4));
	rte_be16_t l4_new = rte_cpu_to_be_16((uint16_t)(new - at->l4));

	if (at->end != old || new == old)
		return;
	if (at->ipv4) {
		memcpy(bytes + at->ipv4 + 2, &ip_new, 2);
		source_sum(bytes, at->ipv4 + 10u, &ip_old, &ip_new, 2, false);
	} else {
		memcpy(bytes + at->ipv6 + 4, &l4_new, 2);
	}
	if (at->udp) {
		memcpy(bytes + at->l4 + 4, &l4_new, 2);
		if (at->l4_sum)
			source_sum(bytes, at->l4_sum, &l4_old, &l4_new, 2, true);
	}
	if (at->pseudo && at->l4_sum)
		source_sum(bytes, at->l4_sum, &l4_old, &l4_new, 2, at->udp);
}

#endif
