// SPDX-License-Identifier: BSD-3-Clause
// One scalar into one field: what it must be by type, range and the names it may refer to. All
// sentences about a scalar are here; words for types and ranges are in table_words.c.

#include <ctype.h>
#include <string.h>

#include "module.h"
#include "value/table_fill.h"

// One scalar on its way.
struct scalar {
	struct filler *f;
	const struct param *row;
	const struct value *value;
	const char *path;
	void *field;
};

// `"12x" PHRASE`.
static void text_fault(const struct scalar *s, const char *phrase)
{
	fill_fault(s->f, s->value->place, s->path, "%s %s",
		   quoted_text(s->f->arena, s->value->text), phrase);
}

static void type_fault(const struct scalar *s)
{
	struct arena *arena = s->f->arena;

	text_fault(s, arena_printf(arena, "is not %s", row_wanted(arena, s->row)));
}

static void range_fault(const struct scalar *s, const char *range)
{
	text_fault(s, arena_printf(s->f->arena, "is out of range, it should be %s", range));
}

static bool within(const struct scalar *s, __int128 n)
{
	struct bounds bounds = bounds_of(s->row);

	return n >= bounds.min && n <= bounds.max;
}

// A quoted scalar is never a number: where it would be one, the quotes are the fault.
static bool quotes_fault(const struct scalar *s, const char *noun)
{
	if (!s->value->quoted)
		return false;
	text_fault(s,
		   arena_printf(s->f->arena, "is in quotes, it should be %s without them", noun));
	return true;
}

static void bool_fill(const struct scalar *s)
{
	bool yes;

	if (!bool_scan(s->value->text, &yes))
		type_fault(s);
	else if (!quotes_fault(s, "true or false"))
		*(bool *)s->field = yes;
}

static void number_store(const struct scalar *s, __int128 n)
{
	switch (s->row->type) {
	case PARAM_U8:
		*(uint8_t *)s->field = (uint8_t)n;
		break;
	case PARAM_U16:
		*(uint16_t *)s->field = (uint16_t)n;
		break;
	case PARAM_U32:
		*(uint32_t *)s->field = (uint32_t)n;
		break;
	case PARAM_I32:
		*(int32_t *)s->field = (int32_t)n;
		break;
	case PARAM_I64:
		*(int64_t *)s->field = (int64_t)n;
		break;
	default:
		*(uint64_t *)s->field = (uint64_t)n;
	}
}

static void number_fill(const struct scalar *s)
{
	const char *range = bounds_text(s->f->arena, s->row, RATE_PPS);
	uint64_t magnitude;
	bool negative;
	enum scan scan = number_scan(s->value->text, &magnitude, &negative);
	__int128 n = negative ? -(__int128)magnitude : (__int128)magnitude;

	if (scan == SCAN_NOT || scan == SCAN_FRACTION)
		text_fault(
		    s, arena_printf(s->f->arena, "%s, it should be %s", number_why[scan], range));
	else if (quotes_fault(s, "a number"))
		return;
	else if (scan == SCAN_LARGE || !within(s, n))
		range_fault(s, range);
	else
		number_store(s, n);
}

static void double_fill(const struct scalar *s)
{
	struct bounds bounds = bounds_of(s->row);
	double n;
	enum scan scan = double_scan(s->value->text, &n);

	if (scan == SCAN_NOT)
		type_fault(s);
	else if (quotes_fault(s, "a number"))
		return;
	else if (scan == SCAN_LARGE && !bounds.low && !bounds.high)
		range_fault(s, "a number that a double can hold");
	else if (scan == SCAN_LARGE || (bounds.low && n < (double)bounds.min) ||
		 (bounds.high && n > (double)bounds.max))
		range_fault(s, bounds_text(s->f->arena, s->row, RATE_PPS));
	else
		*(double *)s->field = n;
}

// Whether a quantity is good; reports it if not. `why` are the sentences of its unit.
static bool quantity_good(const struct scalar *s, enum scan scan, uint64_t n, enum rate_unit rate,
			  const char *const *why)
{
	struct bounds bounds = bounds_of(s->row);

	if (scan == SCAN_OK && within(s, n))
		return true;
	if (scan == SCAN_NOT)
		type_fault(s);
	else if (scan == SCAN_OK || (scan == SCAN_NEGATIVE && bounds.low) ||
		 (scan == SCAN_LARGE && bounds.high))
		range_fault(s, bounds_text(s->f->arena, s->row, rate));
	else
		text_fault(s, why[scan]);
	return false;
}

static void duration_fill(const struct scalar *s)
{
	struct duration duration = {0};
	enum scan scan = duration_scan(s->value->text, &duration);

	if (quantity_good(s, scan, duration.ns, RATE_PPS, duration_why))
		*(struct duration *)s->field = duration;
}

static void bytes_fill(const struct scalar *s)
{
	struct bytes bytes = {0};
	enum scan scan = bytes_scan(s->value->text, &bytes);

	if (quantity_good(s, scan, bytes.bytes, RATE_PPS, bytes_why))
		*(struct bytes *)s->field = bytes;
}

static void rate_fill(const struct scalar *s)
{
	struct rate rate = {0};
	enum scan scan = rate_scan(s->value->text, &rate);

	if (quantity_good(s, scan, rate.per_s, rate.unit, rate_why))
		*(struct rate *)s->field = rate;
}

// Whether a length is within the row's bounds; reports it if not.
static bool length_good(const struct scalar *s, size_t n)
{
	struct arena *arena = s->f->arena;

	if (within(s, n))
		return true;
	text_fault(s, arena_printf(arena, "has %zu byte%s, it should have %s", n, n == 1 ? "" : "s",
				   bounds_text(arena, s->row, RATE_PPS)));
	return false;
}

static void string_fill(const struct scalar *s)
{
	if (length_good(s, strlen(s->value->text)))
		*(const char **)s->field = arena_strdup(s->f->arena, s->value->text);
}

static void mac_fill(const struct scalar *s)
{
	struct rte_ether_addr mac;

	if (mac_scan(s->value->text, &mac))
		*(struct rte_ether_addr *)s->field = mac;
	else
		type_fault(s);
}

static void beyond_fault(const struct scalar *s, unsigned len, const char *net)
{
	text_fault(s, arena_printf(s->f->arena, "has bits set beyond the first %u, it should be %s",
				   len, net));
}

static void ip4_fill(const struct scalar *s)
{
	struct ip4_net net;

	if (!ip4_scan(s->value->text, &net))
		type_fault(s);
	else if (ip4_mask(&net))
		beyond_fault(s, net.len, ip4_text(s->f->arena, &net));
	else
		*(struct ip4_net *)s->field = net;
}

static void ip6_fill(const struct scalar *s)
{
	struct ip6_net net;

	if (!ip6_scan(s->value->text, &net))
		type_fault(s);
	else if (ip6_mask(&net))
		beyond_fault(s, net.len, ip6_text(s->f->arena, &net));
	else
		*(struct ip6_net *)s->field = net;
}

// A name that is none of those it could be: the nearest, or all of them.
static void name_fault(const struct scalar *s, const char *noun, const char *const *names, size_t n,
		       const char *none)
{
	struct arena *arena = s->f->arena;
	const char *near = suggest(s->value->text, names, n);
	const char *hint = none;

	if (near)
		hint = arena_printf(arena, "did you mean \"%s\"?", near);
	else if (n)
		hint = arena_printf(arena, "there %s %s", n == 1 ? "is" : "are",
				    names_text(arena, names, n));
	text_fault(s, arena_printf(arena, "is not %s; %s", noun, hint));
}

// The node's gates that have a name.
static const char *const *gate_names(const struct scalar *s, size_t *n)
{
	const struct table_scope *scope = s->f->scope;
	const char **names = arena_alloc(s->f->arena, (scope->n_gates + 1) * sizeof(*names));

	*n = 0;
	for (unsigned i = 0; scope->gates && i < scope->n_gates; i++)
		if (scope->gates[i] && *scope->gates[i])
			names[(*n)++] = scope->gates[i];
	return names;
}

static void gate_fill(const struct scalar *s)
{
	struct arena *arena = s->f->arena;
	const struct table_scope *scope = s->f->scope;
	const char *text = s->value->text;
	unsigned gates = scope->n_gates ? scope->n_gates : GATES_MAX;
	const char *range = gates == 1 ? "0" : arena_printf(arena, "0 to %u", gates - 1);
	const char *const *names;
	size_t n_names;
	uint64_t n;
	bool negative;
	enum scan scan = number_scan(text, &n, &negative);

	for (unsigned i = 0; *text && scope->gates && i < scope->n_gates; i++)
		if (scope->gates[i] && !strcmp(scope->gates[i], text)) {
			((struct gate *)s->field)->n = (gate_t)i;
			return;
		}
	if (scan == SCAN_NOT || scan == SCAN_FRACTION) {
		names = gate_names(s, &n_names);
		name_fault(s, "an output gate", names, n_names,
			   arena_printf(arena, "it should be %s", range));
	} else if (quotes_fault(s, "a number")) {
		return;
	} else if (scan != SCAN_OK || n >= gates || !within(s, n)) {
		range_fault(s, n < gates && scan == SCAN_OK ? bounds_text(arena, s->row, RATE_PPS)
							    : range);
	} else {
		((struct gate *)s->field)->n = (gate_t)n;
	}
}

static void choice_fill(const struct scalar *s)
{
	struct arena *arena = s->f->arena;
	unsigned n = choices_count(s->row);
	const char *near;

	for (unsigned i = 0; i < n; i++)
		if (!strcmp(s->row->choices[i], s->value->text)) {
			((struct choice *)s->field)->n = i;
			return;
		}
	near = suggest(s->value->text, s->row->choices, n);
	if (near)
		text_fault(s, arena_printf(arena, "is not %s; did you mean \"%s\"?",
					   row_wanted(arena, s->row), near));
	else
		type_fault(s);
}

static void hex_fill(const struct scalar *s)
{
	struct hex hex;

	if (!hex_scan(s->f->arena, s->value->text, &hex.bytes, &hex.n))
		type_fault(s);
	else if (length_good(s, hex.n))
		*(struct hex *)s->field = hex;
}

static void frame_fill(const struct scalar *s)
{
	struct frame frame;
	const char *why;

	if (!frame_parse(s->f->arena, s->value->text, &frame, &why))
		fill_fault(s->f, s->value->place, s->path, "%s", why);
	else if (length_good(s, frame.n))
		*(struct frame *)s->field = frame;
}

static void port_fill(const struct scalar *s)
{
	const struct table_scope *scope = s->f->scope;
	const char *text = s->value->text;
	bool known = !scope->ports && *text;

	for (unsigned i = 0; scope->ports && i < scope->n_ports; i++)
		known = known || !strcmp(scope->ports[i], text);
	if (known)
		((struct port_ref *)s->field)->name = arena_strdup(s->f->arena, text);
	else
		name_fault(s, "a port", scope->ports, scope->ports ? scope->n_ports : 0,
			   "it should be the name of a port");
}

static void (*const fills[])(const struct scalar *) = {
    [PARAM_BOOL] = bool_fill,	      [PARAM_U8] = number_fill,	    [PARAM_U16] = number_fill,
    [PARAM_U32] = number_fill,	      [PARAM_U64] = number_fill,    [PARAM_I32] = number_fill,
    [PARAM_I64] = number_fill,	      [PARAM_DOUBLE] = double_fill, [PARAM_STRING] = string_fill,
    [PARAM_DURATION] = duration_fill, [PARAM_BYTES] = bytes_fill,   [PARAM_RATE] = rate_fill,
    [PARAM_MAC] = mac_fill,	      [PARAM_IP4_NET] = ip4_fill,   [PARAM_IP6_NET] = ip6_fill,
    [PARAM_GATE] = gate_fill,	      [PARAM_CHOICE] = choice_fill, [PARAM_HEX] = hex_fill,
    [PARAM_FRAME] = frame_fill,	      [PARAM_PORT] = port_fill,
};

void scalar_fill(struct filler *f, const struct param *row, const struct value *value,
		 const char *path, void *field)
{
	struct scalar scalar = {f, row, value, path, field};

	// What is empty by default can be said to be empty.
	if (!*value->text && empty_allowed(row)) {
		if (row->type == PARAM_STRING)
			*(const char **)field = row->def;
		return;
	}
	fills[row->type](&scalar);
}
