// SPDX-License-Identifier: BSD-3-Clause
// The value: the tree that YAML, Lua and JSON become before anything looks at it. Each part knows
// its place. A tree and its texts live in one arena.

#ifndef SLUICE_VALUE_VALUE_H
#define SLUICE_VALUE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "value/arena.h"
#include "value/errors.h"

enum value_kind {
	VALUE_NULL, // nothing was written: `key:` or `key: ~`
	VALUE_SCALAR,
	VALUE_LIST,
	VALUE_MAP,
};

struct value {
	enum value_kind kind;
	struct place place;
	const char *text; // of a scalar, as written; never NULL there
	bool faulty;	  // a fault of it was reported: no more need be said
	bool quoted;	  // a quoted scalar is never a number, a boolean or null
	size_t n;	  // items or members
	struct value **items;
	struct member *members; // in file order; keys are unique
};

struct member {
	const char *key;
	struct place place; // of the key
	struct value *value;
};

// Reads a YAML file (JSON is a subset). Refuses, each with its place and reason: tabs as
// indentation, two documents, NUL, depth above 64, files above 16 MiB, more than a million values,
// doubled keys, keys that are no scalars, bytes that are not UTF-8. Accepts a BOM, CRLF, anchors
// and merges of aliases. Returns NULL when the text cannot be read at all; doubled keys alone leave
// a tree.
struct value *yaml_read_file(struct arena *, const char *file, struct errors *);
struct value *yaml_read_text(struct arena *, const char *file, const char *text, size_t length,
			     struct errors *);

// The member of a map, or NULL.
struct value *value_get(const struct value *map, const char *key);
struct member *value_member(const struct value *map, const char *key);

// Follows a path as in "entries[3].mac" as far as it goes; returns the deepest part found.
const struct value *value_at(const struct value *, const char *path);

// Builders, for Lua, tests and the writer of graphs.
struct value *value_new(struct arena *, enum value_kind, struct place);
struct value *value_scalar(struct arena *, struct place, const char *text);
void value_append(struct arena *, struct value *list, struct value *item);
void value_put(struct arena *, struct value *map, const char *key, struct place, struct value *);

// As value_put(), which replaces what is there, but without the search: the caller sees to it that
// keys are unique.
void value_add(struct arena *, struct value *map, const char *key, struct place, struct value *);

// A copy down to the leaves, places and all; texts are shared. *budget counts down the values made:
// NULL when it is used up.
struct value *value_copy(struct arena *, const struct value *, size_t *budget);

#define VALUE_DEPTH_MAX 64	    // lists and maps inside each other
#define VALUE_COUNT_MAX 1000000	    // values of a tree, after aliases and vars
#define VALUE_BYTES_MAX (16u << 20) // of a file, and of the texts that vars make

// "a list", "a map", "the text \"12x\"", "nothing": for messages.
const char *value_describe(struct arena *, const struct value *);

// Writes the tree as YAML that reads back to the same tree (quoting only where needed; small maps
// and lists in flow style, as a person would write a graph).
void value_write_yaml(const struct value *, FILE *);

// The same text in parts, where writing all of it would take too long: up to `max` bytes more, 0 at
// the end. The tree must stay.
struct yaml_writer;
struct yaml_writer *yaml_writer_new(const struct value *);
size_t yaml_writer_take(struct yaml_writer *, char *to, size_t max);
void yaml_writer_free(struct yaml_writer *);

// Replaces $name and ${name} in all scalars of the tree by the values of `vars` (a map; may be
// NULL); `$$` is a dollar sign. Unknown names (with "did you mean"), cycles among the vars and a
// list or map inside a longer text are errors. A scalar that is just `$name` becomes the var's
// value whole, whatever kind it is, and keeps its own place. Returns -1 after an error.
int value_expand(struct arena *, struct value *tree, struct value *vars, struct errors *);

// The candidate nearest to `word` by edit distance, or NULL when none is near enough to be meant.
const char *suggest(const char *word, const char *const *candidates, size_t n);

#endif
