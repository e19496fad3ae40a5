// SPDX-License-Identifier: BSD-3-Clause
// The way back: filled structs as values that a user would write, and whether two are equal.

#include <string.h>

#include "value/table_parts.h"

static const struct place nowhere = {.file = ""};

// A pointer to the row's field, of the field's own type.
#define FIELD(TYPE, row, strct) ((const TYPE *)((const char *)(strct) + (row)->offset))

static bool all_zero(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const uint8_t *)bytes)[i])
			return false;
	return true;
}

// "" for a field that was left empty.
static const char *address_text(struct arena *arena, const struct param *row, const void *strct)
{
	switch (row->type) {
	case PARAM_MAC: {
		const struct rte_ether_addr *mac = FIELD(struct rte_ether_addr, row, strct);

		return empty_allowed(row) && all_zero(mac, sizeof(*mac))
			   ? ""
			   : mac_text(arena, mac->addr_bytes);
	}
	case PARAM_IP4_NET: {
		const struct ip4_net *net = FIELD(struct ip4_net, row, strct);

		return empty_allowed(row) && !net->addr && !net->len ? "" : ip4_text(arena, net);
	}
	default: {
		const struct ip6_net *net = FIELD(struct ip6_net, row, strct);

		return empty_allowed(row) && !net->len && all_zero(net->addr, sizeof(net->addr))
			   ? ""
			   : ip6_text(arena, net);
	}
	}
}

static const char *number_text(struct arena *arena, const struct param *row, const void *strct)
{
	switch (row->type) {
	case PARAM_U8:
		return arena_printf(arena, "%u", *FIELD(uint8_t, row, strct));
	case PARAM_U16:
		return arena_printf(arena, "%u", *FIELD(uint16_t, row, strct));
	case PARAM_U32:
		return arena_printf(arena, "%u", *FIELD(uint32_t, row, strct));
	case PARAM_I32:
		return arena_printf(arena, "%d", *FIELD(int32_t, row, strct));
	case PARAM_I64:
		return arena_printf(arena, "%lld", (long long)*FIELD(int64_t, row, strct));
	case PARAM_DOUBLE:
		return double_text(arena, *FIELD(double, row, strct));
	case PARAM_GATE:
		return arena_printf(arena, "%u", FIELD(struct gate, row, strct)->n);
	default:
		return arena_printf(arena, "%llu",
				    (unsigned long long)*FIELD(uint64_t, row, strct));
	}
}

// A packet in words, where those say all of it.
static const char *frame_text(struct arena *arena, const struct frame *frame)
{
	const char *text = frame_describe(arena, frame->bytes, frame->n);
	const char *why;
	struct frame again;

	if (frame->n && frame_parse(arena, text, &again, &why) && again.n == frame->n &&
	    !memcmp(again.bytes, frame->bytes, frame->n))
		return text;
	return hex_text(arena, frame->bytes, frame->n);
}

static const char *field_text(struct arena *arena, const struct param *row, const void *strct)
{
	const char *text;
	unsigned n;

	switch (row->type) {
	case PARAM_BOOL:
		return *FIELD(bool, row, strct) ? "true" : "false";
	case PARAM_STRING:
		text = *FIELD(char *, row, strct);
		return text ? arena_strdup(arena, text) : "";
	case PARAM_DURATION:
		return duration_text(arena, *FIELD(struct duration, row, strct));
	case PARAM_BYTES:
		return bytes_text(arena, *FIELD(struct bytes, row, strct));
	case PARAM_RATE:
		return rate_text(arena, *FIELD(struct rate, row, strct));
	case PARAM_MAC:
	case PARAM_IP4_NET:
	case PARAM_IP6_NET:
		return address_text(arena, row, strct);
	case PARAM_CHOICE:
		n = FIELD(struct choice, row, strct)->n;
		return n < choices_count(row) ? row->choices[n] : "";
	case PARAM_HEX:
		return hex_text(arena, FIELD(struct hex, row, strct)->bytes,
				FIELD(struct hex, row, strct)->n);
	case PARAM_FRAME:
		return frame_text(arena, FIELD(struct frame, row, strct));
	case PARAM_PORT:
		text = FIELD(struct port_ref, row, strct)->name;
		return text ? arena_strdup(arena, text) : "";
	default:
		return number_text(arena, row, strct);
	}
}

// Whether a text would be read as something else if it were not quoted.
static bool quotes_needed(const char *text)
{
	bool yes;
	double n;
	uint64_t u;
	bool negative;

	return !*text || bool_scan(text, &yes) || double_scan(text, &n) == SCAN_OK ||
	       number_scan(text, &u, &negative) != SCAN_NOT || !strcmp(text, "~") ||
	       !strcasecmp(text, "null");
}

static struct value *map_value(struct arena *, const struct param *table, const void *strct,
			       const void *const *defaults);
static const void **table_defaults(struct arena *, const struct param *table);

static struct value *field_value(struct arena *arena, const struct param *row, const void *strct,
				 bool brief)
{
	const struct param_list *list = FIELD(struct param_list, row, strct);
	bool bare = row->type == PARAM_LIST && table_length(row->fields) == 1;
	struct value *value;

	if (row->type != PARAM_LIST) {
		value = value_new(arena, VALUE_SCALAR, nowhere);
		value->text = field_text(arena, row, strct);
		value->quoted =
		    !*value->text || ((row->type == PARAM_STRING || row->type == PARAM_HEX ||
				       row->type == PARAM_FRAME) &&
				      quotes_needed(value->text));
		return value;
	}
	value = value_new(arena, VALUE_LIST, nowhere);
	// Once for all items, of which there may be many.
	const void **defaults = brief && !bare ? table_defaults(arena, row->fields) : NULL;

	for (unsigned i = 0; i < list->n; i++) {
		const void *item = (const char *)list->items + i * row->fields->struct_size;

		value_append(arena, value,
			     bare ? field_value(arena, row->fields, item, brief)
				  : map_value(arena, row->fields, item, defaults));
	}
	return value;
}

struct value *table_field_value(struct arena *arena, const struct param *row, const void *strct)
{
	return field_value(arena, row, strct, false);
}

static bool field_equal(const struct param *, const void *a, const void *b);

// A struct for each row of the table in which that row has its default; NULL: it has none, or one
// that needs names to be read (a gate's).
static const void **table_defaults(struct arena *arena, const struct param *table)
{
	const void **defaults = arena_alloc(arena, (table_length(table) + 1) * sizeof(*defaults));
	struct errors *errors = errors_new();

	for (unsigned i = 0; table && table[i].name; i++) {
		const struct param alone[] = {table[i], PARAM_END};

		if (table[i].def)
			defaults[i] = table_fill(arena, alone, "", nowhere, NULL, NULL, errors);
	}
	errors_free(errors);
	return defaults;
}

// Rows that are at one of the defaults are left out; NULL: none is.
static struct value *map_value(struct arena *arena, const struct param *table, const void *strct,
			       const void *const *defaults)
{
	struct value *map = value_new(arena, VALUE_MAP, nowhere);

	for (unsigned i = 0; table && table[i].name; i++)
		if (!defaults || !defaults[i] || !field_equal(&table[i], defaults[i], strct))
			value_put(arena, map, table[i].name, nowhere,
				  field_value(arena, &table[i], strct, defaults));
	return map;
}

struct value *table_value(struct arena *arena, const struct param *table, const void *strct,
			  bool brief)
{
	return map_value(arena, table, strct, brief ? table_defaults(arena, table) : NULL);
}

static bool texts_equal(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool bytes_equal(const uint8_t *a, unsigned n, const uint8_t *b, unsigned m)
{
	return n == m && (!n || !memcmp(a, b, n));
}

static bool lists_equal(const struct param *fields, const struct param_list *a,
			const struct param_list *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!table_equal(fields, (const char *)a->items + i * fields->struct_size,
				 (const char *)b->items + i * fields->struct_size))
			return false;
	return true;
}

// Both structs' fields, for one comparison.
#define SAME(TYPE, MEMBER) (FIELD(TYPE, row, a)->MEMBER == FIELD(TYPE, row, b)->MEMBER)
#define SAME_PLAIN(TYPE) (*FIELD(TYPE, row, a) == *FIELD(TYPE, row, b))
#define SAME_BYTES(TYPE)                                                                           \
	bytes_equal(FIELD(TYPE, row, a)->bytes, FIELD(TYPE, row, a)->n,                            \
		    FIELD(TYPE, row, b)->bytes, FIELD(TYPE, row, b)->n)

static bool field_equal(const struct param *row, const void *a, const void *b)
{
	switch (row->type) {
	case PARAM_BOOL:
		return SAME_PLAIN(bool);
	case PARAM_U8:
		return SAME_PLAIN(uint8_t);
	case PARAM_U16:
		return SAME_PLAIN(uint16_t);
	case PARAM_U32:
	case PARAM_I32:
		return SAME_PLAIN(uint32_t);
	case PARAM_U64:
	case PARAM_I64:
		return SAME_PLAIN(uint64_t);
	case PARAM_DOUBLE:
		return SAME_PLAIN(double);
	case PARAM_STRING:
		return texts_equal(*FIELD(char *, row, a), *FIELD(char *, row, b));
	case PARAM_DURATION:
		return SAME(struct duration, ns);
	case PARAM_BYTES:
		return SAME(struct bytes, bytes);
	case PARAM_RATE:
		return SAME(struct rate, per_s) && SAME(struct rate, unit);
	case PARAM_MAC:
		return !memcmp(FIELD(void, row, a), FIELD(void, row, b), RTE_ETHER_ADDR_LEN);
	case PARAM_IP4_NET:
		return SAME(struct ip4_net, addr) && SAME(struct ip4_net, len);
	case PARAM_IP6_NET:
		return !memcmp(FIELD(void, row, a), FIELD(void, row, b), 16) &&
		       SAME(struct ip6_net, len);
	case PARAM_GATE:
		return SAME(struct gate, n);
	case PARAM_CHOICE:
		return SAME(struct choice, n);
	case PARAM_HEX:
		return SAME_BYTES(struct hex);
	case PARAM_FRAME:
		return SAME_BYTES(struct frame);
	case PARAM_PORT:
		return texts_equal(FIELD(struct port_ref, row, a)->name,
				   FIELD(struct port_ref, row, b)->name);
	case PARAM_LIST:
		return lists_equal(row->fields, FIELD(struct param_list, row, a),
				   FIELD(struct param_list, row, b));
	}
	return false;
}

bool table_equal(const struct param *table, const void *a, const void *b)
{
	for (const struct param *row = table; row && row->name; row++)
		if (!field_equal(row, a, b))
			return false;
	return true;
}
