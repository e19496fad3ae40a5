// SPDX-License-Identifier: BSD-3-Clause
// The value tree: building it, looking things up in it, telling what it is.

#include "value/value.h"

#include <stdlib.h>
#include <string.h>

struct member *value_member(const struct value *map, const char *key)
{
	if (!map || map->kind != VALUE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (!strcmp(map->members[i].key, key))
			return &map->members[i];
	return NULL;
}

struct value *value_get(const struct value *map, const char *key)
{
	struct member *member = value_member(map, key);

	return member ? member->value : NULL;
}

// The item or member that the next step of a path names, or NULL; *path moves behind the step.
static const struct value *path_step(const struct value *value, const char **path)
{
	const char *at = *path;
	size_t length;

	if (*at == '[') {
		char *end;
		unsigned long i = strtoul(at + 1, &end, 10);

		if (end == at + 1 || *end != ']' || value->kind != VALUE_LIST || i >= value->n)
			return NULL;
		*path = end + 1;
		return value->items[i];
	}
	if (*at == '.')
		at++;
	length = strcspn(at, ".[");
	*path = at + length;
	if (value->kind != VALUE_MAP)
		return NULL;
	for (size_t i = 0; i < value->n; i++)
		if (!strncmp(value->members[i].key, at, length) && !value->members[i].key[length])
			return value->members[i].value;
	return NULL;
}

const struct value *value_at(const struct value *value, const char *path)
{
	while (value && *path) {
		const struct value *part = path_step(value, &path);

		if (!part)
			break;
		value = part;
	}
	return value;
}

struct value *value_new(struct arena *arena, enum value_kind kind, struct place place)
{
	struct value *value = arena_alloc(arena, sizeof(*value));

	value->kind = kind;
	value->place = place;
	if (kind == VALUE_SCALAR)
		value->text = "";
	return value;
}

struct value *value_scalar(struct arena *arena, struct place place, const char *text)
{
	struct value *value = value_new(arena, VALUE_SCALAR, place);

	value->text = arena_strdup(arena, text);
	return value;
}

// Room for one more behind `n`. The room is always the next power of two, so that no struct need
// keep it.
static void *room_for_one(struct arena *arena, void *old, size_t n, size_t size)
{
	void *room;

	if (n & (n - 1))
		return old;
	room = arena_alloc(arena, (n ? 2 * n : 1) * size);
	if (n)
		memcpy(room, old, n * size);
	return room;
}

void value_append(struct arena *arena, struct value *list, struct value *item)
{
	list->items = room_for_one(arena, list->items, list->n, sizeof(struct value *));
	list->items[list->n++] = item;
}

void value_add(struct arena *arena, struct value *map, const char *key, struct place place,
	       struct value *value)
{
	map->members = room_for_one(arena, map->members, map->n, sizeof(struct member));
	map->members[map->n++] =
	    (struct member){.key = arena_strdup(arena, key), .place = place, .value = value};
}

void value_put(struct arena *arena, struct value *map, const char *key, struct place place,
	       struct value *value)
{
	struct member *member = value_member(map, key);

	if (!member) {
		value_add(arena, map, key, place, value);
		return;
	}
	member->place = place;
	member->value = value;
}

struct value *value_copy(struct arena *arena, const struct value *value, size_t *budget)
{
	struct value *copy;

	if (!*budget)
		return NULL;
	--*budget;
	copy = value_new(arena, value->kind, value->place);
	copy->text = value->text;
	copy->quoted = value->quoted;
	for (size_t i = 0; i < value->n; i++) {
		bool list = value->kind == VALUE_LIST;
		struct value *part =
		    value_copy(arena, list ? value->items[i] : value->members[i].value, budget);

		if (!part)
			return NULL;
		if (list) {
			value_append(arena, copy, part);
			continue;
		}
		copy->members = room_for_one(arena, copy->members, copy->n, sizeof(struct member));
		copy->members[copy->n] = value->members[i];
		copy->members[copy->n++].value = part;
	}
	return copy;
}

#define DESCRIBE_MAX 40

const char *value_describe(struct arena *arena, const struct value *value)
{
	size_t length;

	switch (value ? value->kind : VALUE_NULL) {
	case VALUE_NULL:
		return "nothing";
	case VALUE_LIST:
		return "a list";
	case VALUE_MAP:
		return "a map";
	case VALUE_SCALAR:
		break;
	}
	length = strlen(value->text);
	if (length <= DESCRIBE_MAX)
		return arena_printf(arena, "the text \"%s\"", value->text);
	length = DESCRIBE_MAX;
	// Never in the middle of a character.
	while (length && ((unsigned char)value->text[length] & 0xc0) == 0x80)
		length--;
	return arena_printf(arena, "the text \"%.*s...\"", (int)length, value->text);
}
