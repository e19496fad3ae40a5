// SPDX-License-Identifier: BSD-3-Clause
// Values to YAML, by libyaml's emitter: it quotes what must be quoted, here is chosen what reads
// well.

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yaml.h>

#include "value/value.h"

// A list or map that fits on a line stays on one, below the sections of the file.
#define FLOW_WIDTH 72
#define FLOW_LEVEL 2

// Columns that it takes on one line, roughly; counts no further than to FLOW_WIDTH and a bit.
static size_t flow_width(const struct value *value)
{
	size_t width = 2;

	if (value->kind == VALUE_NULL)
		return 1;
	if (value->kind == VALUE_SCALAR)
		return strlen(value->text) + 2 * value->quoted;
	for (size_t i = 0; i < value->n && width <= FLOW_WIDTH; i++) {
		bool list = value->kind == VALUE_LIST;

		width += list ? 2 : strlen(value->members[i].key) + 4;
		width += flow_width(list ? value->items[i] : value->members[i].value);
	}
	return width;
}

// A text that would not be a text without its quotes.
static bool needs_quotes(const struct value *value)
{
	static const char *const words[] = {"true", "false", "yes", "no",  "on",
					    "off",  "y",     "n",   "null"};
	const char *text = value->text;

	if (!*text || !strcmp(text, "~"))
		return true;
	if (!value->quoted)
		return false;
	if (strchr("+-.0123456789", *text))
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(text, words[i]))
			return true;
	return false;
}

static bool has_breaks(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

static void emit(yaml_emitter_t *emitter, yaml_event_t *event)
{
	// After a failed write to the file all others fail as well; the caller asks the file.
	yaml_emitter_emit(emitter, event);
}

static void text_emit(yaml_emitter_t *emitter, const char *text, bool quotes)
{
	yaml_scalar_style_t style =
	    has_breaks(text) || quotes ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
	yaml_event_t event;

	if (yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, -1, 1, 1,
					 style)) {
		emit(emitter, &event);
		return;
	}
	// Bytes that are no UTF-8 cannot be in YAML.
	char *copy = memory_new(strlen(text) + 1, 1);

	for (size_t i = 0; text[i]; i++)
		copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	if (yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)copy, -1, 1, 1,
					 style))
		emit(emitter, &event);
	free(copy);
}

// A list or map that has begun, and how far in it the writer is.
struct begun {
	const struct value *value;
	size_t next;
	bool flow;
};

struct yaml_writer {
	yaml_emitter_t emitter;
	const struct value *root; // NULL: it has been written
	struct begun *begun;	  // the innermost last
	unsigned depth;
	unsigned room;
	bool ended;
	char *text; // what has been written and not taken yet: from `at` to `n`
	size_t at;
	size_t n;
	size_t size;
};

static int text_take(void *data, unsigned char *bytes, size_t n)
{
	struct yaml_writer *writer = data;

	if (writer->n + n > writer->size) {
		writer->size = 2 * (writer->n + n);
		writer->text = memory_grow(writer->text, writer->size, 1);
	}
	memcpy(writer->text + writer->n, bytes, n);
	writer->n += n;
	return 1;
}

static void list_begin(struct yaml_writer *writer, const struct value *value, bool flow)
{
	yaml_event_t event;

	if (value->kind == VALUE_LIST)
		yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
						     flow ? YAML_FLOW_SEQUENCE_STYLE
							  : YAML_BLOCK_SEQUENCE_STYLE);
	else
		yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
						    flow ? YAML_FLOW_MAPPING_STYLE
							 : YAML_BLOCK_MAPPING_STYLE);
	emit(&writer->emitter, &event);
	if (writer->depth == writer->room) {
		writer->room += 16;
		writer->begun = memory_grow(writer->begun, writer->room, sizeof(*writer->begun));
	}
	writer->begun[writer->depth++] = (struct begun){.value = value, .flow = flow};
}

static void value_begin(struct yaml_writer *writer, const struct value *value)
{
	unsigned level = writer->depth;
	bool flow = level && writer->begun && writer->begun[level - 1].flow;

	if (value->kind == VALUE_NULL)
		text_emit(&writer->emitter, "~", false);
	else if (value->kind == VALUE_SCALAR)
		text_emit(&writer->emitter, value->text, needs_quotes(value));
	else
		list_begin(writer, value,
			   flow || (level >= FLOW_LEVEL && flow_width(value) <= FLOW_WIDTH));
}

static void document_end(struct yaml_writer *writer)
{
	yaml_event_t event;

	yaml_document_end_event_initialize(&event, 1);
	emit(&writer->emitter, &event);
	yaml_stream_end_event_initialize(&event);
	emit(&writer->emitter, &event);
	writer->ended = true;
}

// One value more, or the end of one.
static void writer_step(struct yaml_writer *writer)
{
	struct begun *at = writer->depth ? &writer->begun[writer->depth - 1] : NULL;
	const struct value *root = writer->root;
	yaml_event_t event;

	if (!at) {
		writer->root = NULL;
		if (root)
			value_begin(writer, root);
		else
			document_end(writer);
		return;
	}
	if (at->next == at->value->n) {
		if (at->value->kind == VALUE_LIST)
			yaml_sequence_end_event_initialize(&event);
		else
			yaml_mapping_end_event_initialize(&event);
		emit(&writer->emitter, &event);
		writer->depth--;
		return;
	}
	if (at->value->kind == VALUE_LIST) {
		value_begin(writer, at->value->items[at->next++]);
		return;
	}
	const struct member *member = &at->value->members[at->next++];

	// Quotes keep a key `<<` from being a merge.
	text_emit(&writer->emitter, member->key,
		  !*member->key || !strcmp(member->key, "~") || !strcmp(member->key, "<<"));
	value_begin(writer, member->value);
}

struct yaml_writer *yaml_writer_new(const struct value *value)
{
	struct yaml_writer *writer = memory_new(1, sizeof(*writer));
	yaml_emitter_t *emitter = &writer->emitter;
	yaml_event_t event;

	writer->root = value;
	if (!yaml_emitter_initialize(emitter)) {
		writer->ended = true;
		return writer;
	}
	yaml_emitter_set_output(emitter, text_take, writer);
	yaml_emitter_set_unicode(emitter, 1);
	yaml_emitter_set_width(emitter, -1);
	yaml_emitter_set_indent(emitter, 2);
	yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
	emit(emitter, &event);
	yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
	emit(emitter, &event);
	return writer;
}

size_t yaml_writer_take(struct yaml_writer *writer, char *to, size_t max)
{
	size_t n = writer->n - writer->at;

	if (n)
		memmove(writer->text, writer->text + writer->at, n);
	writer->at = 0;
	writer->n = n;
	while (!writer->ended && writer->n < max)
		writer_step(writer);
	n = writer->n < max ? writer->n : max;
	if (n)
		memcpy(to, writer->text, n);
	writer->at = n;
	return n;
}

void yaml_writer_free(struct yaml_writer *writer)
{
	yaml_emitter_delete(&writer->emitter);
	free(writer->begun);
	free(writer->text);
	free(writer);
}

void value_write_yaml(const struct value *value, FILE *to)
{
	struct yaml_writer *writer = yaml_writer_new(value);
	char text[4096];
	size_t n;

	while ((n = yaml_writer_take(writer, text, sizeof(text))) > 0)
		fwrite(text, 1, n, to);
	yaml_writer_free(writer);
}
