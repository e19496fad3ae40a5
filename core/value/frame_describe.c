// SPDX-License-Identifier: BSD-3-Clause
// Bytes to packet words. What would be filled in anyway is left out: the words without it are read
// back, and only fields that then differ are added.

#include <ctype.h>
#include <string.h>

#include "value/frame.h"
#include "value/scalar.h"
#include "value/table.h"

struct dissection {
	struct arena *arena;
	const uint8_t *bytes;
	unsigned n;
	struct frame_part parts[FRAME_LAYERS];
	unsigned n_parts;
	unsigned payload; // offset of what follows the last layer
	unsigned end;	  // offset of the padding
};

static const struct frame_field *field_filled(const struct frame_layer *layer, enum field_fill fill)
{
	for (const struct frame_field *field = layer->fields; field->name; field++)
		if (field->fill == fill)
			return field;
	return NULL;
}

static unsigned field_number(const uint8_t *header, const struct frame_field *field)
{
	return (unsigned)bits_get(header, field->bit, field->bits);
}

// The layer that this one says it carries, or NULL. *tpid is what it called it.
static const struct frame_layer *layer_above(const struct frame_layer *layer, const uint8_t *header,
					     uint16_t *tpid)
{
	const struct frame_field *type = field_filled(layer, FILL_ETHERTYPE);
	const struct frame_field *protocol = field_filled(layer, FILL_PROTOCOL);
	const struct frame_field *frag = frame_field_find(layer, "frag");

	if (type) {
		*tpid = (uint16_t)field_number(header, type);
		if (*tpid == 0x88a8 || *tpid == 0x9100)
			return frame_layer_find("vlan");
	}
	if (frag && field_number(header, frag))
		return NULL;
	for (const struct frame_layer *above = frame_layers; above->name; above++)
		if ((type && above->ethertype && above->ethertype == *tpid) ||
		    (protocol && above->protocol >= 0 &&
		     (unsigned)above->protocol == field_number(header, protocol)))
			return above;
	return NULL;
}

// Length of the header with options; 0: it is cut or says nonsense.
static unsigned header_length(const struct frame_layer *layer, const uint8_t *header, unsigned room)
{
	const struct frame_field *words = field_filled(layer, FILL_WORDS);
	const struct frame_field *version = frame_field_find(layer, "version");
	unsigned length = layer->length;

	if (room < length)
		return 0;
	if (version && field_number(header, version) != (unsigned)(version->def[0] - '0'))
		return 0;
	if (words)
		length = 4 * field_number(header, words);
	return length >= layer->length && length <= room ? length : 0;
}

// Where the outermost length says that the packet ends; without any length, behind the layers.
static unsigned end_stated(const struct dissection *d)
{
	for (unsigned i = 0; i < d->n_parts; i++) {
		const struct frame_part *part = &d->parts[i];
		const uint8_t *header = d->bytes + part->at;
		const struct frame_field *length = field_filled(part->layer, FILL_LENGTH);
		const struct frame_field *payload = field_filled(part->layer, FILL_PAYLOAD);

		if (length)
			return part->at + field_number(header, length);
		if (payload)
			return part->at + part->length + field_number(header, payload);
	}
	return d->payload;
}

// What lies behind the stated end is padding, if it is zero.
static void padding_find(struct dissection *d)
{
	unsigned end = end_stated(d);

	d->end = d->n;
	if (end < d->payload || end > d->n)
		return;
	for (unsigned i = end; i < d->n; i++)
		if (d->bytes[i])
			return;
	d->end = end;
}

static void dissect(struct dissection *d)
{
	const struct frame_layer *layer = frame_layer_find("ether");
	uint16_t tpid = 0;

	while (layer && d->n_parts < FRAME_LAYERS) {
		const uint8_t *header = d->bytes + d->payload;
		unsigned length = header_length(layer, header, d->n - d->payload);

		if (!length)
			break;
		d->parts[d->n_parts++] = (struct frame_part){layer, d->payload, length, 0, tpid};
		d->payload += length;
		layer = layer_above(layer, header, &tpid);
	}
	padding_find(d);
}

// Whether a field is to be printed: `given` says so for those that can be filled in.
static bool field_wanted(struct arena *arena, const struct frame_part *part, unsigned field,
			 const uint8_t *header)
{
	const struct frame_field *row = &part->layer->fields[field];
	uint8_t def[64] = {0};
	const char *why;

	switch (row->kind) {
	case FIELD_OPTIONS:
		return part->length > part->layer->length;
	case FIELD_TPID:
		return part->ethertype != part->layer->ethertype;
	default:
		break;
	}
	if (row->fill)
		return part->given & 1u << field;
	return row->shown || !frame_field_read(arena, row, row->def, def, &why) ||
	       bits_get(def, row->bit, row->bits) != bits_get(header, row->bit, row->bits);
}

const char *frame_part_text(struct arena *arena, const uint8_t *bytes,
			    const struct frame_part *part)
{
	const struct frame_layer *layer = part->layer;
	const uint8_t *header = bytes + part->at;
	const char *text = layer->name;

	for (unsigned i = 0; layer->fields[i].name; i++) {
		const struct frame_field *field = &layer->fields[i];
		const char *value;

		if (!field_wanted(arena, part, i, header))
			continue;
		if (field->kind == FIELD_OPTIONS)
			value =
			    hex_text(arena, header + layer->length, part->length - layer->length);
		else if (field->kind == FIELD_TPID)
			value = arena_printf(arena, "0x%04x", part->ethertype);
		else
			value = frame_field_text(arena, field, header);
		text = arena_printf(arena, "%s %s=%s", text, field->name, value);
	}
	return text;
}

static const char *payload_text(const struct dissection *d)
{
	const uint8_t *bytes = d->bytes + d->payload;
	unsigned n = d->end - d->payload;
	bool plain = n >= 4;

	for (unsigned i = 0; plain && i < n; i++)
		plain = bytes[i] >= ' ' && bytes[i] < 0x7f && bytes[i] != '"';
	if (plain)
		return arena_printf(d->arena, " / text \"%.*s\"", (int)n, (const char *)bytes);
	return n ? arena_printf(d->arena, " / raw %s", hex_text(d->arena, bytes, n)) : "";
}

static const char *words_text(const struct dissection *d)
{
	const char *text = "";

	for (unsigned i = 0; i < d->n_parts; i++)
		text = arena_printf(d->arena, "%s%s%s", text, i ? " / " : "",
				    frame_part_text(d->arena, d->bytes, &d->parts[i]));
	text = arena_printf(d->arena, "%s%s", text, payload_text(d));
	return d->end < d->n ? arena_printf(d->arena, "%s / pad %u", text, d->n) : text;
}

// Marks the fields that were filled in otherwise than the bytes have them: checksums or all others.
static bool differences_mark(struct dissection *d, const uint8_t *filled, bool sums)
{
	bool any = false;

	for (unsigned i = 0; i < d->n_parts; i++) {
		struct frame_part *part = &d->parts[i];
		const struct frame_field *fields = part->layer->fields;

		for (unsigned j = 0; fields[j].name; j++) {
			const struct frame_field *field = &fields[j];

			if (!field->fill || (field->fill >= FILL_HEADER_SUM) != sums ||
			    bits_get(d->bytes + part->at, field->bit, field->bits) ==
				bits_get(filled + part->at, field->bit, field->bits))
				continue;
			part->given |= 1u << j;
			any = true;
		}
	}
	return any;
}

static bool parses_to(struct dissection *d, const char *text, struct frame *frame)
{
	const char *why;

	return frame_parse(d->arena, text, frame, &why) && frame->n == d->n;
}

const char *frame_describe(struct arena *arena, const uint8_t *bytes, unsigned n)
{
	struct dissection d = {.arena = arena, .bytes = bytes, .n = n};
	const char *text;
	struct frame frame;

	dissect(&d);
	for (unsigned attempt = 0; d.n_parts && attempt < 3; attempt++) {
		text = words_text(&d);
		if (!parses_to(&d, text, &frame))
			break;
		if (!memcmp(frame.bytes, bytes, n))
			return text;
		// Checksums may be right once all else is.
		if (!differences_mark(&d, frame.bytes, false))
			differences_mark(&d, frame.bytes, true);
	}
	return hex_text(arena, bytes, n);
}

unsigned frame_dissect(const uint8_t *bytes, unsigned n, struct frame_part parts[FRAME_LAYERS],
		       unsigned *payload)
{
	struct dissection d = {.bytes = bytes, .n = n};

	dissect(&d);
	memcpy(parts, d.parts, d.n_parts * sizeof(*parts));
	*payload = d.payload;
	return d.n_parts;
}

// Which field says what follows a layer; 0: none does.
static uint32_t next_field(const struct frame_layer *layer)
{
	uint32_t fields = 0;

	for (unsigned i = 0; layer->fields[i].name; i++)
		if (layer->fields[i].fill == FILL_ETHERTYPE ||
		    layer->fields[i].fill == FILL_PROTOCOL)
			fields |= 1u << i;
	return fields;
}

const char *frame_headers(struct arena *arena, const uint8_t *bytes, unsigned n)
{
	struct dissection d = {.arena = arena, .bytes = bytes, .n = n};
	const char *text = "";

	dissect(&d);
	for (unsigned i = 0; i < d.n_parts; i++) {
		// Where no words follow that say it.
		if (i + 1 == d.n_parts)
			d.parts[i].given = next_field(d.parts[i].layer);
		text = arena_printf(arena, "%s%s%s", text, i ? " / " : "",
				    frame_part_text(arena, bytes, &d.parts[i]));
	}
	return d.n_parts ? text : hex_text(arena, bytes, n < 32 ? n : 32);
}
