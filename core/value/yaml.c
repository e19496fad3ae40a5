// SPDX-License-Identifier: BSD-3-Clause
// YAML to values: libyaml's events, with a stack of our own, so that whatever is nested too deep or
// grows too large is refused before it exists.

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "value/value.h"
#include "value/yaml_map.h"
#include "value/yaml_text.h"

// A list or map that is not at its end yet.
struct level {
	struct value *value;
	bool is_key;	 // it stands where a key should; reported already
	const char *key; // of the member whose value comes next; NULL: a key comes next
	struct place key_at;
	bool key_merges;      // `<<`
	bool key_bad;	      // the value is read and left out
	struct value *merges; // list of the maps to merge
};

struct anchor {
	const char *name;
	struct value *value;
};

struct reader {
	struct yaml_text text;
	struct arena *arena;
	yaml_parser_t parser;
	struct level levels[VALUE_DEPTH_MAX];
	unsigned depth;
	struct value *root;
	void *anchors; // a tree of tsearch()
	size_t budget; // values that may still be made
	bool bad;      // the tree is not worth to be returned
	bool stop;
};

#define fault(reader, place, ...)                                                                  \
	do {                                                                                       \
		error_at((reader)->text.errors, place, __VA_ARGS__);                               \
		(reader)->bad = true;                                                              \
	} while (0)

static int anchor_order(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void anchor_set(struct reader *reader, const yaml_char_t *name, struct value *value)
{
	struct anchor *anchor, **found;

	if (!name)
		return;
	anchor = arena_alloc(reader->arena, sizeof(*anchor));
	anchor->name = arena_strdup(reader->arena, (const char *)name);
	found = tsearch(anchor, &reader->anchors, anchor_order);
	if (!found) {
		fault(reader, value->place, "not enough memory for an anchor");
		return;
	}
	(*found)->value = value;
}

static struct value *budget_value(struct reader *reader, enum value_kind kind, struct place place)
{
	if (!reader->budget) {
		fault(reader, place,
		      "more than %u values, a file should hold fewer (an alias counts as what it "
		      "stands for)",
		      VALUE_COUNT_MAX);
		reader->stop = true;
		return NULL;
	}
	reader->budget--;
	return value_new(reader->arena, kind, place);
}

static struct level *top(struct reader *reader)
{
	return reader->depth ? &reader->levels[reader->depth - 1] : NULL;
}

static bool key_comes(struct reader *reader)
{
	struct level *level = top(reader);

	return level && level->value->kind == VALUE_MAP && !level->key;
}

static void key_set(struct reader *reader, struct place place, const char *key, bool merges)
{
	struct level *level = top(reader);

	level->key = key;
	level->key_at = place;
	level->key_merges = merges;
	level->key_bad = false;
}

static void key_refuse(struct reader *reader, struct place place, const char *what)
{
	fault(reader, place, "the key is %s, it should be a name", what);
	key_set(reader, place, "", false);
	top(reader)->key_bad = true;
}

static bool merge_take(struct reader *reader, struct level *level, struct value *value)
{
	if (value->kind == VALUE_LIST) {
		for (size_t i = 0; i < value->n; i++)
			if (value->items[i]->kind != VALUE_MAP)
				return false;
		for (size_t i = 0; i < value->n; i++)
			value_append(reader->arena, level->merges, value->items[i]);
		return true;
	}
	if (value->kind == VALUE_MAP)
		value_append(reader->arena, level->merges, value);
	return value->kind == VALUE_MAP;
}

// A value is whole: it goes where the reader stands.
static void value_give(struct reader *reader, struct value *value)
{
	struct level *level = top(reader);

	if (!level) {
		reader->root = value;
		return;
	}
	if (level->value->kind == VALUE_LIST) {
		value_append(reader->arena, level->value, value);
		return;
	}
	if (level->key_merges && level->merges) {
		fault(reader, level->key_at, "the key \"<<\" is doubled, it should be given once");
	} else if (level->key_merges) {
		level->merges = value_new(reader->arena, VALUE_LIST, level->key_at);
		if (!merge_take(reader, level, value))
			fault(reader, value->place,
			      "\"<<\" merges %s, it should be a map or a list of maps",
			      value->kind == VALUE_LIST ? "a list of other things"
							: value_describe(reader->arena, value));
	} else if (!level->key_bad) {
		value_add(reader->arena, level->value, level->key, level->key_at, value);
	}
	level->key = NULL;
}

static void level_open(struct reader *reader, enum value_kind kind, struct place place,
		       const yaml_char_t *anchor)
{
	bool is_key = key_comes(reader);
	struct value *value;

	if (reader->depth == VALUE_DEPTH_MAX) {
		fault(reader, place, "nested deeper than %u lists and maps, it should be less deep",
		      VALUE_DEPTH_MAX);
		reader->stop = true;
		return;
	}
	value = budget_value(reader, kind, place);
	if (!value)
		return;
	if (is_key)
		key_refuse(reader, place, kind == VALUE_LIST ? "a list" : "a map");
	anchor_set(reader, anchor, value);
	reader->levels[reader->depth++] = (struct level){.value = value, .is_key = is_key};
}

static void level_close(struct reader *reader)
{
	struct level level = *top(reader);

	reader->depth--;
	if (level.value->kind == VALUE_MAP)
		yaml_map_finish(reader->arena, level.value, level.merges, reader->text.errors);
	if (!level.is_key)
		value_give(reader, level.value);
}

#define STANDARD_TAG "tag:yaml.org,2002:"

// Whether a tag makes a text of what it stands at; all but those of a text, list and map are
// refused.
static bool tag_is_text(struct reader *reader, struct place place, const yaml_char_t *tag)
{
	const char *name = (const char *)tag;
	bool standard;

	if (!name || !strcmp(name, "!"))
		return name;
	standard = !strncmp(name, STANDARD_TAG, strlen(STANDARD_TAG));
	if (standard)
		name += strlen(STANDARD_TAG);
	if (standard && !strcmp(name, "str"))
		return true;
	if (!standard || (strcmp(name, "map") && strcmp(name, "seq")))
		fault(reader, place,
		      "the tag \"%s%.64s\" means nothing here, it should be left out",
		      standard ? "!!" : "", name);
	return false;
}

static void scalar_read(struct reader *reader, const yaml_event_t *event, struct place place)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	bool tagged = tag_is_text(reader, place, event->data.scalar.tag);
	bool nothing = plain && !tagged && (!length || !strcmp(text, "~"));
	struct value *value;

	if (memchr(text, 0, length))
		fault(reader, place, "a NUL in the text, it should be left out");
	value = budget_value(reader, nothing ? VALUE_NULL : VALUE_SCALAR, place);
	if (!value)
		return;
	anchor_set(reader, event->data.scalar.anchor, value);
	if (!nothing) {
		value->text = arena_strndup(reader->arena, text, length);
		value->quoted = !plain || tagged;
	}
	if (!key_comes(reader))
		value_give(reader, value);
	else if (nothing || !length)
		key_refuse(reader, place, nothing ? "nothing" : "empty");
	else
		key_set(reader, place, value->text, plain && !strcmp(text, "<<"));
}

static void alias_read(struct reader *reader, const yaml_char_t *name, struct place place)
{
	struct anchor wanted = {.name = (const char *)name};
	struct anchor **found = tfind(&wanted, &reader->anchors, anchor_order);
	struct value *copy;

	if (!found) {
		fault(reader, place,
		      "the alias \"*%.64s\" has no anchor, \"&%.64s\" should come before it",
		      wanted.name, wanted.name);
		copy = value_new(reader->arena, VALUE_NULL, place);
		goto give;
	}
	for (unsigned i = 0; i < reader->depth; i++)
		if (reader->levels[i].value == (*found)->value) {
			fault(reader, place,
			      "the alias \"*%.64s\" stands inside what it stands for, it should be "
			      "outside",
			      wanted.name);
			reader->stop = true;
			return;
		}
	// Each use has a copy, so that vars may be filled in at each by itself.
	copy = value_copy(reader->arena, (*found)->value, &reader->budget);
	if (!copy) {
		reader->budget = 0;
		budget_value(reader, VALUE_NULL, place);
		return;
	}
	copy->place = place;
give:
	if (!key_comes(reader))
		value_give(reader, copy);
	else if (copy->kind != VALUE_SCALAR)
		key_refuse(reader, place, value_describe(reader->arena, copy));
	else
		key_set(reader, place, copy->text, false);
}

// Takes in one event. Returns false at the end of the document.
static bool event_read(struct reader *reader, const yaml_event_t *event)
{
	struct place place = yaml_place(&reader->text, event->start_mark);

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		scalar_read(reader, event, place);
		break;
	case YAML_ALIAS_EVENT:
		alias_read(reader, event->data.alias.anchor, place);
		break;
	case YAML_SEQUENCE_START_EVENT:
		tag_is_text(reader, place, event->data.sequence_start.tag);
		level_open(reader, VALUE_LIST, place, event->data.sequence_start.anchor);
		break;
	case YAML_MAPPING_START_EVENT:
		tag_is_text(reader, place, event->data.mapping_start.tag);
		level_open(reader, VALUE_MAP, place, event->data.mapping_start.anchor);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		level_close(reader);
		break;
	case YAML_DOCUMENT_START_EVENT:
		if (reader->root) {
			fault(reader, place,
			      "a second document starts here, a file should hold one");
			reader->stop = true;
		}
		break;
	case YAML_STREAM_END_EVENT:
		return false;
	default:
		break;
	}
	return !reader->stop;
}

static void nothing_free(void *anchor)
{
	(void)anchor; // it is the arena's
}

struct value *yaml_read_text(struct arena *arena, const char *file, const char *text, size_t length,
			     struct errors *errors)
{
	struct reader reader = {
	    .text = {.file = arena_strdup(arena, file),
		     .text = (const unsigned char *)text,
		     .length = length,
		     .errors = errors},
	    .arena = arena,
	    .budget = VALUE_COUNT_MAX,
	};
	bool more = true;

	if (yaml_text_refused(&reader.text))
		return NULL;
	if (!yaml_parser_initialize(&reader.parser)) {
		error_machine_at(errors, (struct place){.file = reader.text.file},
				 "not enough memory to read the file");
		return NULL;
	}
	yaml_parser_set_input_string(&reader.parser, reader.text.text, length);
	while (more) {
		yaml_event_t event;

		if (!yaml_parser_parse(&reader.parser, &event)) {
			yaml_fault_report(&reader.text, &reader.parser);
			reader.bad = true;
			break;
		}
		more = event_read(&reader, &event);
		yaml_event_delete(&event);
	}
	if (!reader.bad && !reader.root)
		fault(&reader, ((struct place){.file = reader.text.file}),
		      "is empty, it should be a graph file");
	yaml_parser_delete(&reader.parser);
	tdestroy(reader.anchors, nothing_free);
	return reader.bad ? NULL : reader.root;
}
