// SPDX-License-Identifier: BSD-3-Clause
// Packets in words or hexadecimal to bytes: reads layer by layer, then fills in what was left out.

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "value/frame.h"
#include "value/scalar.h"
#include "value/table_parts.h"

struct reader {
	struct arena *arena;
	const char *at;
	const char **why;
	uint8_t *bytes; // FRAME_MAX of them
	unsigned n;
	struct frame_part parts[FRAME_LAYERS];
	unsigned n_parts;
	unsigned pad; // 0: none
};

static bool fault(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Returns false, for the caller to return.
static bool fault(struct reader *r, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	*r->why = arena_strdup(r->arena, text ? text : "out of memory");
	free(text);
	return false;
}

static void blanks_skip(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
}

// The next word of a layer, or NULL at the layer's end.
static char *word_next(struct reader *r)
{
	size_t n;
	char *word;

	blanks_skip(r);
	n = strcspn(r->at, " \t\r\n/");
	word = n ? arena_strndup(r->arena, r->at, n) : NULL;
	r->at += n;
	return word;
}

static bool room_for(struct reader *r, size_t n)
{
	if (n <= FRAME_MAX - r->n)
		return true;
	return fault(r, "the packet has more than %u bytes", FRAME_MAX);
}

static bool bytes_append(struct reader *r, const uint8_t *bytes, size_t n)
{
	if (!room_for(r, n))
		return false;
	memcpy(r->bytes + r->n, bytes, n);
	r->n += (unsigned)n;
	return true;
}

// `raw 0102 03`: up to the end of the layer.
static bool raw_read(struct reader *r)
{
	size_t length = strcspn(r->at, "/");
	char *text = arena_strndup(r->arena, r->at, length);
	uint8_t *bytes;
	unsigned n;

	r->at += length;
	if (!hex_scan(r->arena, text, &bytes, &n) || !n)
		return fault(r, "raw: %s is not bytes in hexadecimal (for example 08 00)",
			     quoted_text(r->arena, text + strspn(text, " ")));
	return bytes_append(r, bytes, n);
}

// `text "GET / HTTP/1.0"`: what is in the quotes, as it is.
static bool text_read(struct reader *r)
{
	const char *first;
	size_t length;

	blanks_skip(r);
	first = r->at + 1;
	if (*r->at != '"' || !strchr(first, '"'))
		return fault(r, "text: its text should be in double quotes");
	length = strcspn(first, "\"");
	r->at = first + length + 1;
	return bytes_append(r, (const uint8_t *)first, length);
}

static bool pad_read(struct reader *r)
{
	char *word = word_next(r);
	uint64_t n;
	bool negative;

	if (!word)
		return fault(r, "pad: the length of the whole packet is missing");
	if (number_scan(word, &n, &negative) != SCAN_OK || !n || n > FRAME_MAX)
		return fault(r, "pad: \"%s\" is not a length from 1 to %u", word, FRAME_MAX);
	if (n < r->n)
		return fault(r, "pad: the packet has %u bytes already, more than %s", r->n, word);
	r->pad = (unsigned)n;
	return true;
}

// Options lengthen the header of their layer, which is the last so far.
static bool options_read(struct reader *r, struct frame_part *part, const char *text)
{
	uint8_t *bytes;
	unsigned n;

	if (!hex_scan(r->arena, text, &bytes, &n))
		return fault(r, "%s: options: %s is not bytes in hexadecimal", part->layer->name,
			     quoted_text(r->arena, text));
	if (n % 4 || n > 40)
		return fault(r,
			     "%s: options: %s has %u bytes, it should have a multiple of 4 up "
			     "to 40",
			     part->layer->name, quoted_text(r->arena, text), n);
	part->length += n;
	return bytes_append(r, bytes, n);
}

static bool value_read(struct reader *r, struct frame_part *part, const struct frame_field *field,
		       const char *text)
{
	uint8_t own[2] = {0};
	uint8_t *header = r->bytes + part->at;
	const char *why;

	if (field->kind == FIELD_OPTIONS)
		return options_read(r, part, text);
	if (!frame_field_read(r->arena, field, text, field->kind == FIELD_TPID ? own : header,
			      &why))
		return fault(r, "%s: %s: %s %s", part->layer->name, field->name,
			     quoted_text(r->arena, text), why);
	if (field->kind == FIELD_TPID)
		part->ethertype = (uint16_t)bits_get(own, 0, 16);
	return true;
}

static bool unknown_field(struct reader *r, const struct frame_layer *layer, const char *word)
{
	const char *names[FRAME_FIELDS];
	unsigned n = 0;
	const char *near;
	const char *text = quoted_text(r->arena, word);

	for (; layer->fields[n].name; n++)
		names[n] = layer->fields[n].name;
	near = suggest(word, names, n);
	if (near)
		return fault(r, "%s: %s is not a field; did you mean \"%s\"?", layer->name, text,
			     near);
	return fault(r, "%s: %s is not a field; there are %s", layer->name, text,
		     names_text(r->arena, names, n));
}

static bool fields_read(struct reader *r, struct frame_part *part)
{
	const struct frame_layer *layer = part->layer;
	char *word;

	while ((word = word_next(r))) {
		char *equals = strchr(word, '=');
		const struct frame_field *field;
		uint32_t bit;

		if (!equals)
			return fault(r, "%s: %s should be a field and its value, as in %s=%s",
				     layer->name, quoted_text(r->arena, word), layer->fields->name,
				     layer->fields->def);
		*equals = '\0';
		field = frame_field_find(layer, word);
		if (!field)
			return unknown_field(r, layer, word);
		bit = 1u << (field - layer->fields);
		if (part->given & bit)
			return fault(r, "%s: %s is given twice", layer->name, word);
		part->given |= bit;
		if (!value_read(r, part, field, equals + 1))
			return false;
	}
	return true;
}

static bool layer_read(struct reader *r, const struct frame_layer *layer)
{
	struct frame_part *part = &r->parts[r->n_parts];

	if (r->n_parts == FRAME_LAYERS)
		return fault(r, "the packet has more than %u layers", FRAME_LAYERS);
	if (r->n_parts && r->n != part[-1].at + part[-1].length)
		return fault(r, "%s cannot follow raw bytes or a text", layer->name);
	if (!room_for(r, layer->length))
		return false;
	*part = (struct frame_part){layer, r->n, layer->length, 0, layer->ethertype};
	r->n_parts++;
	r->n += layer->length;
	for (const struct frame_field *field = layer->fields; field->name; field++)
		if (field->def && field->kind != FIELD_OPTIONS &&
		    !value_read(r, part, field, field->def))
			return false;
	return fields_read(r, part);
}

static bool unknown_layer(struct reader *r, const char *word)
{
	const char *names[FRAME_LAYERS] = {"raw", "text", "pad"};
	unsigned n = 3;
	const char *near;
	const char *text = quoted_text(r->arena, word);

	for (const struct frame_layer *layer = frame_layers; layer->name; layer++)
		names[n++] = layer->name;
	near = suggest(word, names, n);
	if (near)
		return fault(r, "%s is not a layer of a packet; did you mean \"%s\"?", text, near);
	return fault(r, "%s is not a layer of a packet; there are %s", text,
		     names_text(r->arena, names, n));
}

static bool part_read(struct reader *r)
{
	const char *word = word_next(r);
	const struct frame_layer *layer;
	bool good;

	if (!word)
		return fault(r, "a layer is missing %s \"/\"", *r->at ? "before" : "after");
	if (r->pad)
		return fault(r, "pad should be the last layer");
	layer = frame_layer_find(word);
	if (layer)
		return layer_read(r, layer);
	if (!strcmp(word, "raw"))
		good = raw_read(r);
	else if (!strcmp(word, "text"))
		good = text_read(r);
	else if (!strcmp(word, "pad"))
		good = pad_read(r);
	else
		return unknown_layer(r, word);
	blanks_skip(r);
	if (good && *r->at && *r->at != '/')
		return fault(r, "%s: %s is too much", word, quoted_text(r->arena, r->at));
	return good;
}

static bool words_read(struct reader *r)
{
	const char *why;

	do {
		if (!part_read(r))
			return false;
		blanks_skip(r);
	} while (*r->at++ == '/');
	why = frame_fill(r->arena, r->bytes, r->n, r->parts, r->n_parts);
	if (why)
		*r->why = why;
	if (r->pad > r->n)
		r->n = r->pad;
	return !why;
}

// Only hexadecimal digits and what may stand between bytes; no layer's name is that.
static bool is_hex(const char *text)
{
	return text[strspn(text, "0123456789abcdefABCDEF:. \t\r\n")] == '\0';
}

bool frame_parse(struct arena *arena, const char *text, struct frame *frame, const char **why)
{
	struct reader r = {.arena = arena, .at = text, .why = why};
	bool good;

	if (!text[strspn(text, " \t\r\n")])
		return fault(&r, "the packet is empty");
	if (is_hex(text)) {
		if (!hex_scan(arena, text, &frame->bytes, &frame->n) || !frame->n)
			return fault(&r, "%s is not a packet in hexadecimal: pairs of digits",
				     quoted_text(arena, text));
		return frame->n <= FRAME_MAX ||
		       fault(&r, "the packet has more than %u bytes", FRAME_MAX);
	}
	r.bytes = memory_new(FRAME_MAX, 1);
	good = words_read(&r);
	if (good) {
		frame->bytes = arena_alloc(arena, r.n);
		frame->n = r.n;
		memcpy(frame->bytes, r.bytes, r.n);
	}
	free(r.bytes);
	return good;
}
