// SPDX-License-Identifier: BSD-3-Clause
// Parameter rows in words: types, ranges, examples and defaults, for messages and the reference.

#include <string.h>

#include "value/table_parts.h"

struct type_words {
	const char *name;    // in the reference
	const char *noun;    // in a sentence, behind "it should be"
	const char *example; // where the row has neither an example nor a default
	const char *lengths; // what a row's bounds count, if it is a length
	bool is_signed;
	uint64_t max; // of numbers and quantities
	bool bounded; // bounds of the type are worth naming
};

static const struct type_words words[] = {
    [PARAM_BOOL] = {"true|false", "true or false"},
    [PARAM_U8] = {"number", "a number", .max = UINT8_MAX, .bounded = true},
    [PARAM_U16] = {"number", "a number", .max = UINT16_MAX, .bounded = true},
    [PARAM_U32] = {"number", "a number", .max = UINT32_MAX, .bounded = true},
    [PARAM_U64] = {"number", "a number", .max = UINT64_MAX, .bounded = true},
    [PARAM_I32] = {"number", "a number", .is_signed = true, .max = INT32_MAX, .bounded = true},
    [PARAM_I64] = {"number", "a number", .is_signed = true, .max = INT64_MAX, .bounded = true},
    [PARAM_DOUBLE] = {"decimal number", "a decimal number", .is_signed = true},
    [PARAM_STRING] = {"text", "a text", .lengths = "byte"},
    [PARAM_DURATION] = {"duration", "a duration", "300s", .max = UINT64_MAX},
    [PARAM_BYTES] = {"size", "a size", "2KiB", .max = UINT64_MAX},
    [PARAM_RATE] = {"rate", "a rate", "10Mpps", .max = UINT64_MAX},
    [PARAM_MAC] = {"MAC address", "a MAC address", "02:00:00:00:00:01"},
    [PARAM_IP4_NET] = {"IPv4 network", "an IPv4 network", "10.0.0.0/8"},
    [PARAM_IP6_NET] = {"IPv6 network", "an IPv6 network", "2001:db8::/32"},
    [PARAM_GATE] = {"output gate", "an output gate", .max = UINT16_MAX},
    [PARAM_CHOICE] = {NULL},
    [PARAM_HEX] = {"hex", "bytes in hexadecimal", "08 00", .lengths = "byte"},
    [PARAM_FRAME] = {"packet", "a packet in words or hexadecimal", "ether / ipv4 / udp dport=53",
		     .lengths = "byte"},
    [PARAM_PORT] = {"port", "the name of a port"},
    [PARAM_LIST] = {NULL, .lengths = "item"},
};

struct bounds bounds_of(const struct param *row)
{
	const struct type_words *type = &words[row->type];
	struct bounds bounds = {.max = type->max, .low = type->bounded, .high = type->bounded};
	bool written = row->min || row->max;

	if (type->is_signed)
		bounds.min = -(__int128)type->max - 1;
	if (type->lengths)
		bounds.max = UINT32_MAX;
	if (written && (row->min || type->is_signed)) {
		bounds.min = row->min;
		bounds.low = true;
	}
	if (row->max) {
		bounds.max = type->is_signed ? (__int128)(int64_t)row->max : (__int128)row->max;
		bounds.high = true;
		bounds.low = bounds.low || !type->lengths;
	}
	return bounds;
}

static const char *bound_text(struct arena *arena, const struct param *row, __int128 bound,
			      enum rate_unit rate)
{
	uint64_t n = (uint64_t)bound;

	switch (row->type) {
	case PARAM_DURATION:
		return duration_text(arena, (struct duration){n});
	case PARAM_BYTES:
		return bytes_text(arena, (struct bytes){n});
	case PARAM_RATE:
		return rate_text(arena, (struct rate){n, rate});
	default:
		return bound < 0 ? arena_printf(arena, "%lld", (long long)bound)
				 : arena_printf(arena, "%llu", (unsigned long long)n);
	}
}

const char *bounds_text(struct arena *arena, const struct param *row, enum rate_unit rate)
{
	struct bounds bounds = bounds_of(row);
	const char *counted = words[row->type].lengths;
	const char *min = bound_text(arena, row, bounds.min, rate);
	const char *max = bound_text(arena, row, bounds.max, rate);
	const char *text;
	bool one;

	if (!bounds.low && !bounds.high)
		return "";
	if (bounds.low && bounds.high && bounds.min == bounds.max)
		text = min;
	else if (bounds.low && bounds.high)
		text = arena_printf(arena, "%s to %s", min, max);
	else if (bounds.low)
		text = arena_printf(arena, "at least %s", min);
	else
		text = arena_printf(arena, "at most %s", max);
	one = bounds.high ? bounds.max == 1 : bounds.min == 1;
	return counted ? arena_printf(arena, "%s %s%s", text, counted, one ? "" : "s") : text;
}

const char *names_text(struct arena *arena, const char *const *names, size_t n)
{
	const size_t most = 12;
	const char *text = "";

	for (size_t i = 0; i < n && i < most; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", names[i]);
	return n > most ? arena_printf(arena, "%s and %zu more", text, n - most) : text;
}

const char *const *row_names(struct arena *arena, const struct param *table, unsigned *n)
{
	const char **names;

	*n = table_length(table);
	names = arena_alloc(arena, (*n + 1) * sizeof(*names));
	for (unsigned i = 0; i < *n; i++)
		names[i] = table[i].name;
	return names;
}

const char *quoted_text(struct arena *arena, const char *text)
{
	const size_t most = 60;
	size_t n = strlen(text);
	bool cut = n > most;
	char *out = arena_alloc(arena, 4 * most + 6);
	char *at = out;

	if (cut)
		n = most;
	while (cut && n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	*at++ = '"';
	for (size_t i = 0; i < n; i++) {
		static const char digits[] = "0123456789abcdef";
		unsigned char c = (unsigned char)text[i];

		if (c >= ' ' && c != 0x7f) {
			*at++ = (char)c;
			continue;
		}
		*at++ = '\\';
		*at++ = c == '\n' ? 'n' : c == '\t' ? 't' : 'x';
		if (c != '\n' && c != '\t') {
			*at++ = digits[c >> 4];
			*at++ = digits[c & 15];
		}
	}
	memcpy(at, cut ? "...\"" : "\"", cut ? 4 : 1);
	return out;
}

bool empty_allowed(const struct param *row)
{
	switch (row->type) {
	case PARAM_STRING:
	case PARAM_MAC:
	case PARAM_IP4_NET:
	case PARAM_IP6_NET:
	case PARAM_HEX:
	case PARAM_FRAME:
	case PARAM_PORT:
	case PARAM_LIST:
		return row->def && !*row->def;
	default:
		return false;
	}
}

unsigned table_length(const struct param *table)
{
	unsigned n = 0;

	while (table && table[n].name)
		n++;
	return n;
}

const char *table_type_name(struct arena *arena, const struct param *row)
{
	const char *text = "";
	const char *const *names;
	unsigned n;

	if (row->type == PARAM_CHOICE) {
		for (unsigned i = 0; i < choices_count(row); i++)
			text = arena_printf(arena, "%s%s%s", text, i ? "|" : "", row->choices[i]);
		return text;
	}
	if (row->type != PARAM_LIST)
		return words[row->type].name;
	names = row_names(arena, row->fields, &n);
	if (n == 1)
		return arena_printf(arena, "list of %s", table_type_name(arena, row->fields));
	return arena_printf(arena, "list of {%s}", names_text(arena, names, n));
}

const char *row_wanted(struct arena *arena, const struct param *row)
{
	const char *noun = words[row->type].noun;
	const char *example = row->example;
	const char *bounds;

	if (row->type == PARAM_CHOICE)
		return arena_printf(arena, "one of %s",
				    names_text(arena, row->choices, choices_count(row)));
	if (row->type == PARAM_LIST)
		noun = arena_printf(arena, "a %s", table_type_name(arena, row));
	if (!example && words[row->type].example)
		example = row->def && *row->def ? row->def : words[row->type].example;
	if (example)
		return arena_printf(arena, "%s (for example %s)", noun, example);
	bounds = bounds_text(arena, row, RATE_PPS);
	if (*bounds && words[row->type].lengths && row->type != PARAM_LIST)
		return arena_printf(arena, "%s of %s", noun, bounds);
	if (*bounds && words[row->type].bounded)
		return arena_printf(arena, "%s from %s", noun, bounds);
	return noun;
}

const char *table_range_text(struct arena *arena, const struct param *row)
{
	bool written = row->min || row->max || row->type == PARAM_U8 || row->type == PARAM_U16;
	enum rate_unit unit = RATE_PPS;
	const char *bounds;
	const char *def = "";
	struct rate rate;

	if (row->type == PARAM_RATE && row->def && rate_scan(row->def, &rate) == SCAN_OK)
		unit = rate.unit;
	bounds = written ? bounds_text(arena, row, unit) : "";
	if (empty_allowed(row))
		def = "default empty";
	else if (row->def)
		def = arena_printf(arena, "default %s", row->def);
	return arena_printf(arena, "%s%s%s", bounds, *bounds && *def ? ", " : "", def);
}
