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

static void value_emit(yaml_emitter_t *emitter, const struct value *value, unsigned level,
		       bool flow)
{
	yaml_event_t event;

	if (value->kind == VALUE_NULL) {
		text_emit(emitter, "~", false);
		return;
	}
	if (value->kind == VALUE_SCALAR) {
		text_emit(emitter, value->text, needs_quotes(value));
		return;
	}
	flow = flow || (level >= FLOW_LEVEL && flow_width(value) <= FLOW_WIDTH);
	if (value->kind == VALUE_LIST)
		yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
						     flow ? YAML_FLOW_SEQUENCE_STYLE
							  : YAML_BLOCK_SEQUENCE_STYLE);
	else
		yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
						    flow ? YAML_FLOW_MAPPING_STYLE
							 : YAML_BLOCK_MAPPING_STYLE);
	emit(emitter, &event);
	for (size_t i = 0; i < value->n; i++) {
		if (value->kind == VALUE_LIST) {
			value_emit(emitter, value->items[i], level + 1, flow);
			continue;
		}
		// Quotes keep a key `<<` from being a merge.
		text_emit(emitter, value->members[i].key,
			  !*value->members[i].key || !strcmp(value->members[i].key, "~") ||
			      !strcmp(value->members[i].key, "<<"));
		value_emit(emitter, value->members[i].value, level + 1, flow);
	}
	if (value->kind == VALUE_LIST)
		yaml_sequence_end_event_initialize(&event);
	else
		yaml_mapping_end_event_initialize(&event);
	emit(emitter, &event);
}

void value_write_yaml(const struct value *value, FILE *to)
{
	yaml_emitter_t emitter;
	yaml_event_t event;

	if (!yaml_emitter_initialize(&emitter))
		return;
	yaml_emitter_set_output_file(&emitter, to);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	yaml_emitter_set_indent(&emitter, 2);
	yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
	emit(&emitter, &event);
	yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
	emit(&emitter, &event);
	value_emit(&emitter, value, 0, false);
	yaml_document_end_event_initialize(&event, 1);
	emit(&emitter, &event);
	yaml_stream_end_event_initialize(&event);
	emit(&emitter, &event);
	yaml_emitter_delete(&emitter);
}
