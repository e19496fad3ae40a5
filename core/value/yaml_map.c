// SPDX-License-Identifier: BSD-3-Clause
// A map of YAML at its end: what `<<` merges comes to it, and each key is there once.

#include "value/yaml_map.h"

#include <stdlib.h>
#include <string.h>

struct key_order {
	const char *key;
	size_t i;
};

static int key_order(const void *a, const void *b)
{
	const struct key_order *x = a, *y = b;

	return strcmp(x->key, y->key) ?: (x->i > y->i) - (x->i < y->i);
}

// Keeps the first member of each key; what is written is before what is merged.
static void members_make_unique(struct arena *arena, struct value *map, size_t written,
				struct errors *errors)
{
	struct key_order *order;
	size_t first = 0, n = 0;

	if (map->n < 2)
		return;
	order = memory_new(map->n, sizeof(*order));
	for (size_t i = 0; i < map->n; i++)
		order[i] = (struct key_order){.key = map->members[i].key, .i = i};
	qsort(order, map->n, sizeof(*order), key_order);
	for (size_t i = 1; i < map->n; i++) {
		struct member *member = &map->members[order[i].i];

		if (strcmp(order[i].key, order[first].key)) {
			first = i;
			continue;
		}
		if (order[i].i < written)
			error_at(errors, member->place,
				 "the key \"%s\" is doubled, it should be given once (it is at "
				 "line %u, too)",
				 member->key, map->members[order[first].i].place.line);
		member->value = NULL;
	}
	for (size_t i = 0; i < map->n; i++)
		if (map->members[i].value)
			map->members[n++] = map->members[i];
	// The room for more is told by the number: it may only shrink with the arena's help.
	if (n != map->n) {
		struct value *fresh = value_new(arena, VALUE_MAP, map->place);

		for (size_t i = 0; i < n; i++)
			value_add(arena, fresh, map->members[i].key, map->members[i].place,
				  map->members[i].value);
		map->members = fresh->members;
		map->n = n;
	}
	free(order);
}

void yaml_map_finish(struct arena *arena, struct value *map, const struct value *merges,
		     struct errors *errors)
{
	size_t written = map->n;

	for (size_t i = 0; merges && i < merges->n; i++)
		for (size_t j = 0; j < merges->items[i]->n; j++) {
			const struct member *member = &merges->items[i]->members[j];

			value_add(arena, map, member->key, member->place, member->value);
		}
	members_make_unique(arena, map, written, errors);
}
