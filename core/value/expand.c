// SPDX-License-Identifier: BSD-3-Clause
// Vars: $name and ${name} in the texts of a tree. Every var is worked out once, in the order of the
// file, and copied to where it is used.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "value/value.h"

// How deep vars may refer to vars, and trees go into trees, while one is worked out: bounds the
// stack.
#define EXPAND_DEPTH_MAX 64

// Among more vars than a person writes, none is looked for that may have been meant.
#define SUGGEST_MAX 256

enum var_state { VAR_NEW, VAR_ACTIVE, VAR_DONE, VAR_FAILED };

struct var {
	const struct member *member;
	struct value *value; // worked out
	unsigned height;     // of lists and maps in it
	enum var_state state;
};

struct expander {
	struct arena *arena;
	struct errors *errors;
	struct value *vars;
	struct var *list;     // in file order
	struct var **by_name; // sorted
	struct var **active;  // those being worked out, each for the sake of the one before
	unsigned n_active;
	unsigned depth;
	size_t n;
	size_t values; // that may still be made
	size_t bytes;
	bool failed;
	bool full; // reported once
};

#define fault(ex, place, ...)                                                                      \
	do {                                                                                       \
		error_at((ex)->errors, place, __VA_ARGS__);                                        \
		(ex)->failed = true;                                                               \
	} while (0)

static bool value_expand_part(struct expander *, struct value *, unsigned level);

static int var_order(const void *a, const void *b)
{
	const struct var *const *x = a, *const *y = b;

	return strcmp((*x)->member->key, (*y)->member->key);
}

static struct var *var_find(struct expander *ex, const char *name)
{
	struct member member = {.key = name};
	struct var wanted = {.member = &member}, *key = &wanted, **found;

	if (!ex->n)
		return NULL;
	found = bsearch(&key, ex->by_name, ex->n, sizeof(*ex->by_name), var_order);
	return found ? *found : NULL;
}

static void var_unknown(struct expander *ex, struct place place, const char *name)
{
	const char **names = memory_new(ex->n, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < ex->n; i++)
		names[i] = ex->list[i].member->key;
	near = ex->n <= SUGGEST_MAX ? suggest(name, names, ex->n) : NULL;
	if (near)
		fault(ex, place, "there is no var \"%.64s\", did you mean \"%s\"?", name, near);
	else
		fault(ex, place,
		      "there is no var \"%.64s\", it should have a value under \"vars\" (and $$ is "
		      "a dollar sign)",
		      name);
	free(names);
}

static void full_report(struct expander *ex, struct place place)
{
	if (!ex->full)
		fault(ex, place,
		      "the vars grow to more than %u values or %u MiB of text, they should be "
		      "used less often",
		      VALUE_COUNT_MAX, VALUE_BYTES_MAX >> 20);
	ex->full = true;
	ex->failed = true;
}

static void cycle_report(struct expander *ex, const struct var *var)
{
	const char *path = "";
	unsigned first = 0;

	while (ex->active[first] != var)
		first++;
	for (unsigned i = first; i < ex->n_active; i++)
		path = arena_printf(ex->arena, "%s%s -> ", path, ex->active[i]->member->key);
	fault(ex, var->member->value->place,
	      "the var \"%s\" refers to itself (%s%s), it should have a value of its own",
	      var->member->key, path, var->member->key);
}

static unsigned value_height(const struct value *value)
{
	unsigned height = 0;

	for (size_t i = 0; i < value->n; i++) {
		unsigned part = value_height(value->kind == VALUE_LIST ? value->items[i]
								       : value->members[i].value);

		height = part > height ? part : height;
	}
	return height + (value->kind == VALUE_LIST || value->kind == VALUE_MAP);
}

static bool var_work_out(struct expander *ex, struct var *var)
{
	const struct value *written = var->member->value;
	bool good;

	if (ex->n_active == EXPAND_DEPTH_MAX) {
		fault(ex, written->place,
		      "more than %u vars refer to each other in a row, they should be fewer",
		      EXPAND_DEPTH_MAX);
		var->state = VAR_FAILED;
		return false;
	}
	var->state = VAR_ACTIVE;
	ex->active[ex->n_active++] = var;
	var->value = value_copy(ex->arena, written, &ex->values);
	if (!var->value)
		full_report(ex, written->place);
	good = var->value && value_expand_part(ex, var->value, 0);
	ex->n_active--;
	var->state = good ? VAR_DONE : VAR_FAILED;
	if (good)
		var->height = value_height(var->value);
	return good;
}

// The var of that name, worked out; NULL after an error, which is reported once.
static struct var *var_get(struct expander *ex, struct place place, const char *name)
{
	struct var *var = var_find(ex, name);

	if (!var) {
		var_unknown(ex, place, name);
		return NULL;
	}
	switch (var->state) {
	case VAR_NEW:
		return var_work_out(ex, var) ? var : NULL;
	case VAR_ACTIVE:
		cycle_report(ex, var);
		return NULL;
	case VAR_FAILED:
		return NULL;
	case VAR_DONE:
		break;
	}
	return var;
}

// The name behind the dollar sign at `at`; *end is set behind it. "$" for `$$`; NULL if there is
// none.
static const char *name_read(struct arena *arena, const char *at, const char **end)
{
	const char *start = at + 1;

	if (*start == '$') {
		*end = start + 1;
		return "$";
	}
	if (*start == '{') {
		*end = strchr(start, '}');
		if (!*end || *end == start + 1)
			return NULL;
		return arena_strndup(arena, start + 1, (*end)++ - start - 1);
	}
	if (!isalpha((unsigned char)*start) && *start != '_')
		return NULL;
	*end = start;
	while (isalnum((unsigned char)**end) || **end == '_')
		++*end;
	return arena_strndup(arena, start, *end - start);
}

// What a var adds to a longer text, or NULL.
static const char *text_part(struct expander *ex, const struct value *value, const char *name)
{
	struct var *var;

	if (!strcmp(name, "$"))
		return name;
	var = var_get(ex, value->place, name);
	if (!var)
		return NULL;
	if (var->value->kind == VALUE_SCALAR)
		return var->value->text;
	if (var->value->kind == VALUE_NULL)
		fault(ex, value->place,
		      "the var \"%s\" has no value, it should be a text inside a longer one", name);
	else
		fault(ex, value->place,
		      "the var \"%s\" is %s, it should be a text inside a longer one", name,
		      value_describe(ex->arena, var->value));
	return NULL;
}

static bool text_append(struct expander *ex, FILE *to, struct place place, const char *text,
			size_t n)
{
	if (n > ex->bytes) {
		full_report(ex, place);
		return false;
	}
	ex->bytes -= n;
	fwrite(text, 1, n, to);
	return true;
}

// A text with vars in it: stays a text.
static bool text_write(struct expander *ex, const struct value *value, FILE *to)
{
	const char *at = value->text;
	bool good = true;

	while (*at) {
		size_t plain = strcspn(at, "$");
		const char *name, *part;

		if (!text_append(ex, to, value->place, at, plain))
			return false;
		at += plain;
		if (!*at)
			break;
		name = name_read(ex->arena, at, &at);
		if (!name) {
			fault(ex, value->place,
			      "a \"$\" without a name, it should be $name, ${name}, or $$ for a "
			      "dollar sign");
			return false;
		}
		part = text_part(ex, value, name);
		if (part && !text_append(ex, to, value->place, part, strlen(part)))
			return false;
		good = good && part;
	}
	return good;
}

static bool text_expand(struct expander *ex, struct value *value)
{
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);
	bool good;

	if (!to) {
		error_machine_at(ex->errors, value->place, "not enough memory for the vars");
		ex->failed = true;
		return false;
	}
	good = text_write(ex, value, to);
	fclose(to);
	if (good)
		value->text = arena_strndup(ex->arena, text, length);
	free(text);
	return good;
}

// A scalar that is a var and nothing else becomes what the var is.
static bool whole_expand(struct expander *ex, struct value *value, const char *name, unsigned level)
{
	struct place place = value->place;
	struct var *var = var_get(ex, place, name);
	struct value *copy;

	if (!var)
		return false;
	if (level + var->height > VALUE_DEPTH_MAX) {
		fault(ex, place, "nested deeper than %u lists and maps, it should be less deep",
		      VALUE_DEPTH_MAX);
		return false;
	}
	copy = value_copy(ex->arena, var->value, &ex->values);
	if (!copy) {
		full_report(ex, place);
		return false;
	}
	*value = *copy;
	value->place = place;
	return true;
}

static bool scalar_expand(struct expander *ex, struct value *value, unsigned level)
{
	const char *end = NULL, *name;

	if (!strchr(value->text, '$'))
		return true;
	name = *value->text == '$' ? name_read(ex->arena, value->text, &end) : NULL;
	if (name && !*end && strcmp(name, "$"))
		return whole_expand(ex, value, name, level);
	return text_expand(ex, value);
}

// `level` counts the lists and maps around the value.
static bool value_expand_part(struct expander *ex, struct value *value, unsigned level)
{
	bool good = true;

	if (value == ex->vars || value->kind == VALUE_NULL)
		return true;
	if (value->kind == VALUE_SCALAR) {
		good = scalar_expand(ex, value, level);
		value->faulty = !good;
		return good;
	}
	if (level == VALUE_DEPTH_MAX) {
		fault(ex, value->place,
		      "nested deeper than %u lists and maps, it should be less deep",
		      VALUE_DEPTH_MAX);
		return false;
	}
	for (size_t i = 0; i < value->n && !ex->full; i++)
		good &= value_expand_part(
		    ex, value->kind == VALUE_LIST ? value->items[i] : value->members[i].value,
		    level + 1);
	return good;
}

int value_expand(struct arena *arena, struct value *tree, struct value *vars, struct errors *errors)
{
	struct expander ex = {
	    .arena = arena,
	    .errors = errors,
	    .vars = vars,
	    .n = vars && vars->kind == VALUE_MAP ? vars->n : 0,
	    .values = VALUE_COUNT_MAX,
	    .bytes = VALUE_BYTES_MAX,
	};

	ex.list = memory_new(ex.n, sizeof(*ex.list));
	ex.by_name = memory_new(ex.n, sizeof(*ex.by_name));
	ex.active = memory_new(EXPAND_DEPTH_MAX, sizeof(*ex.active));
	for (size_t i = 0; i < ex.n; i++) {
		ex.list[i].member = &vars->members[i];
		ex.by_name[i] = &ex.list[i];
	}
	qsort(ex.by_name, ex.n, sizeof(*ex.by_name), var_order);
	// All of them, also those that nobody uses: every fault of the file shows in one run.
	for (size_t i = 0; i < ex.n; i++)
		if (ex.list[i].state == VAR_NEW)
			var_work_out(&ex, &ex.list[i]);
	if (tree)
		value_expand_part(&ex, tree, 0);
	free(ex.active);
	free(ex.by_name);
	free(ex.list);
	return ex.failed ? -1 : 0;
}
