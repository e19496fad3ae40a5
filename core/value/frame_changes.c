// SPDX-License-Identifier: BSD-3-Clause
// What differs between a packet before and after, in words: fields, layers put on or taken off, the
// length, and bytes behind the headers.

#include <string.h>

#include "value/frame.h"
#include "value/scalar.h"

#define BYTES_SHOWN 16

struct side {
	struct frame_known known;
	struct frame_part parts[FRAME_LAYERS];
	unsigned n;
	unsigned payload;
};

struct texts {
	struct arena *arena;
	const char **texts;
	unsigned n;
};

static void text_add(struct texts *texts, const char *text)
{
	if (texts->n < FRAME_CHANGES)
		texts->texts[texts->n++] = text;
}

static unsigned layers_left(const struct side *side, unsigned from, const struct frame_layer *layer)
{
	unsigned n = 0;

	for (; from < side->n; from++)
		n += side->parts[from].layer == layer;
	return n;
}

static bool field_is_sum(const struct frame_field *field)
{
	return field->fill >= FILL_HEADER_SUM;
}

static bool field_says_next(const struct frame_field *field)
{
	return field->fill == FILL_ETHERTYPE || field->fill == FILL_PROTOCOL;
}

static void field_compare(struct texts *texts, const struct frame_layer *layer,
			  const struct frame_field *field, const uint8_t *before,
			  const uint8_t *after)
{
	const char *was = frame_field_text(texts->arena, field, before);
	const char *is = frame_field_text(texts->arena, field, after);

	if (strcmp(was, is) != 0)
		text_add(texts, arena_printf(texts->arena, "%s %s %s -> %s", layer->name,
					     field->name, was, is));
}

// A field that is not at a fixed place of the header.
static void other_compare(struct texts *texts, const struct frame_part *a, const uint8_t *before,
			  const struct frame_part *b, const uint8_t *after,
			  const struct frame_field *field)
{
	unsigned length = a->layer->length;
	const char *was, *is;

	if (field->kind == FIELD_TPID) {
		was = arena_printf(texts->arena, "0x%04x", a->ethertype);
		is = arena_printf(texts->arena, "0x%04x", b->ethertype);
	} else {
		was = hex_text(texts->arena, before + length, a->length - length);
		is = hex_text(texts->arena, after + length, b->length - length);
	}
	if (strcmp(was, is) != 0)
		text_add(texts, arena_printf(texts->arena, "%s %s %s -> %s", a->layer->name,
					     field->name, *was ? was : "none", *is ? is : "none"));
}

// Fields of one layer. Checksums are said only where nothing else is: they follow the rest.
static void layer_compare(struct texts *texts, const struct side *before, unsigned i,
			  const struct side *after, unsigned j)
{
	const struct frame_part *a = &before->parts[i], *b = &after->parts[j];
	const uint8_t *was = before->known.bytes + a->at, *is = after->known.bytes + b->at;
	const struct frame_layer *above_a = i + 1 < before->n ? before->parts[i + 1].layer : NULL;
	const struct frame_layer *above_b = j + 1 < after->n ? after->parts[j + 1].layer : NULL;

	for (const struct frame_field *field = a->layer->fields; field->name; field++) {
		if (field->kind == FIELD_OPTIONS || field->kind == FIELD_TPID)
			other_compare(texts, a, was, b, is, field);
		else if (!field_is_sum(field) && (!field_says_next(field) || above_a == above_b))
			field_compare(texts, a->layer, field, was, is);
	}
}

static void sums_compare(struct texts *texts, const struct side *before, const struct side *after)
{
	for (unsigned i = 0; i < before->n && i < after->n; i++) {
		const struct frame_part *a = &before->parts[i], *b = &after->parts[i];

		for (const struct frame_field *field = a->layer->fields;
		     a->layer == b->layer && field->name; field++)
			if (field_is_sum(field))
				field_compare(texts, a->layer, field, before->known.bytes + a->at,
					      after->known.bytes + b->at);
	}
}

static void layers_compare(struct texts *texts, const struct side *before, const struct side *after)
{
	unsigned i = 0, j = 0;

	while (i < before->n || j < after->n) {
		const struct frame_layer *a = i < before->n ? before->parts[i].layer : NULL;
		const struct frame_layer *b = j < after->n ? after->parts[j].layer : NULL;

		if (b && layers_left(after, j, b) > layers_left(before, i, b)) {
			text_add(texts,
				 arena_printf(texts->arena, "+ %s",
					      frame_part_text(texts->arena, after->known.bytes,
							      &after->parts[j])));
			j++;
		} else if (a && layers_left(before, i, a) > layers_left(after, j, a)) {
			text_add(texts,
				 arena_printf(texts->arena, "- %s",
					      frame_part_text(texts->arena, before->known.bytes,
							      &before->parts[i])));
			i++;
		} else {
			// As many of each on both sides: where they are in another order, they are
			// compared as they come.
			if (a && a == b)
				layer_compare(texts, before, i, after, j);
			i++;
			j++;
		}
	}
}

static void payload_compare(struct texts *texts, const struct side *before,
			    const struct side *after)
{
	const uint8_t *was = before->known.bytes + before->payload;
	const uint8_t *is = after->known.bytes + after->payload;
	unsigned n = before->known.n - before->payload, first = 0, last;

	if (after->known.n - after->payload < n)
		n = after->known.n - after->payload;
	while (first < n && was[first] == is[first])
		first++;
	if (first == n)
		return;
	last = n - 1;
	while (was[last] == is[last])
		last--;
	n = last + 1 - first;
	n = n < BYTES_SHOWN ? n : BYTES_SHOWN;
	text_add(texts, arena_printf(texts->arena, "bytes from %u %s -> %s%s",
				     after->payload + first, hex_text(texts->arena, was + first, n),
				     hex_text(texts->arena, is + first, n),
				     first + n <= last ? " ..." : ""));
}

unsigned frame_changes(struct arena *arena, struct frame_known before, struct frame_known after,
		       const char *texts[FRAME_CHANGES])
{
	struct texts to = {.arena = arena, .texts = texts};
	struct side a = {.known = before}, b = {.known = after};

	a.n = frame_dissect(before.bytes, before.n, a.parts, &a.payload);
	b.n = frame_dissect(after.bytes, after.n, b.parts, &b.payload);
	layers_compare(&to, &a, &b);
	payload_compare(&to, &a, &b);
	if (before.length != after.length)
		text_add(&to, arena_printf(arena, "length %u -> %u", before.length, after.length));
	if (!to.n)
		sums_compare(&to, &a, &b);
	return to.n;
}
