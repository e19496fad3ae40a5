// SPDX-License-Identifier: BSD-3-Clause
// Fills a struct from a value after its table: the walk over rows and lists. What one scalar must
// be is in table_scalar.c.

#include <stdarg.h>
#include <string.h>

#include "value/table_fill.h"

void fill_fault(struct filler *f, struct place place, const char *path, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	f->faults++;
	error_at(f->errors, place, "%s: %s%s%s%s", f->what, path, *path ? ": " : "",
		 f->in_default ? "the default in its table is wrong: " : "",
		 text ? text : "out of memory");
	free(text);
}

static void table_walk(struct filler *, const struct param *table, struct place,
		       const struct value *map, const char *path, void *strct);

static void list_fill(struct filler *f, const struct param *row, const struct value *value,
		      const char *path, void *field)
{
	struct param_list *list = field;
	const struct param *fields = row->fields;
	struct bounds bounds = bounds_of(row);

	if (value->kind != VALUE_LIST) {
		fill_fault(f, value->place, path, "%s is given, it should be %s",
			   value_describe(f->arena, value), row_wanted(f->arena, row));
		return;
	}
	if ((value->n < bounds.min || value->n > bounds.max) &&
	    !(value->n == 0 && empty_allowed(row))) {
		fill_fault(f, value->place, path, "has %zu item%s, it should have %s", value->n,
			   value->n == 1 ? "" : "s", bounds_text(f->arena, row, RATE_PPS));
		return;
	}
	if (value->n && !table_length(fields)) {
		fill_fault(f, value->place, path, "its table does not say what an item is");
		return;
	}
	list->n = (unsigned)value->n;
	if (!list->n)
		return;
	list->items = arena_alloc(f->arena, value->n * fields->struct_size);
	for (unsigned i = 0; i < list->n; i++) {
		struct value *item = value->items[i];
		struct member member = {fields->name, item->place, item};
		struct value as_map = {
		    .kind = VALUE_MAP, .place = item->place, .n = 1, .members = &member};

		table_walk(f, fields, item->place, item->kind == VALUE_MAP ? item : &as_map,
			   arena_printf(f->arena, "%s[%u]", path, i),
			   (char *)list->items + i * fields->struct_size);
	}
}

static void field_fill(struct filler *f, const struct param *row, const struct value *value,
		       const char *path, void *field)
{
	if (value->faulty) {
		f->faults++;
	} else if (row->type == PARAM_LIST) {
		list_fill(f, row, value, path, field);
	} else if (value->kind != VALUE_SCALAR) {
		fill_fault(f, value->place, path, "%s is given, it should be %s",
			   value_describe(f->arena, value), row_wanted(f->arena, row));
	} else {
		scalar_fill(f, row, value, path, field);
	}
}

// A default is read as if the user had written it; an empty one leaves the zeroed field.
static void default_fill(struct filler *f, const struct param *row, struct place place,
			 const char *path, void *field)
{
	struct value *value;

	if (row->type == PARAM_STRING)
		*(const char **)field = row->def;
	if (!*row->def && empty_allowed(row))
		return;
	if (row->type == PARAM_LIST)
		value = yaml_read_text(f->arena, place.file, row->def, strlen(row->def), f->errors);
	else
		value = value_scalar(f->arena, place, row->def);
	f->in_default = true;
	if (value)
		field_fill(f, row, value, path, field);
	else
		fill_fault(f, place, path, "%s is not YAML", quoted_text(f->arena, row->def));
	f->in_default = false;
}

static void unknown_report(struct filler *f, const struct param *table, const struct member *member,
			   const char *path)
{
	unsigned n;
	const char *const *names = row_names(f->arena, table, &n);
	const char *near = suggest(member->key, names, n);
	const char *key = quoted_text(f->arena, member->key);

	if (near)
		fill_fault(f, member->place, path, "%s is not a parameter; did you mean \"%s\"?",
			   key, near);
	else if (n)
		fill_fault(f, member->place, path, "%s is not a parameter; there %s %s", key,
			   n == 1 ? "is" : "are", names_text(f->arena, names, n));
	else
		fill_fault(f, member->place, path, "%s is not a parameter; it takes none", key);
}

static bool row_exists(const struct param *table, const char *name)
{
	for (; table && table->name; table++)
		if (!strcmp(table->name, name))
			return true;
	return false;
}

// `map` is a map or nothing.
static void table_walk(struct filler *f, const struct param *table, struct place place,
		       const struct value *map, const char *path, void *strct)
{
	size_t members = map && map->kind == VALUE_MAP ? map->n : 0;

	for (size_t i = 0; i < members; i++)
		if (!row_exists(table, map->members[i].key))
			unknown_report(f, table, &map->members[i], path);
	for (const struct param *row = table; row && row->name; row++) {
		const struct member *member = members ? value_member(map, row->name) : NULL;
		void *field = (char *)strct + row->offset;
		const char *at =
		    arena_printf(f->arena, "%s%s%s", path, *path ? "." : "", row->name);

		if (member)
			field_fill(f, row, member->value, at, field);
		else if (row->def)
			default_fill(f, row, place, at, field);
		else
			fill_fault(f, place, "", "%s is missing, it should be %s", at,
				   row_wanted(f->arena, row));
	}
}

void *table_fill(struct arena *arena, const struct param *table, const char *what,
		 struct place place, const struct value *value, const struct table_scope *scope,
		 struct errors *errors)
{
	static const struct table_scope nothing;
	struct filler f = {arena, what, scope ? scope : &nothing, errors, .place = place};
	bool empty = !table || !table->name;
	void *strct = arena_alloc(arena, empty ? 1 : table->struct_size);
	const char *const *names;
	unsigned n;

	if (value && value->faulty)
		return NULL;
	if (value && value->kind != VALUE_MAP && value->kind != VALUE_NULL) {
		names = row_names(arena, table, &n);
		if (n)
			fill_fault(&f, value->place, "",
				   "%s is given, it should be a map of parameters (%s)",
				   value_describe(arena, value), names_text(arena, names, n));
		else
			fill_fault(&f, value->place, "", "%s is given, it takes no parameters",
				   value_describe(arena, value));
		return NULL;
	}
	table_walk(&f, table, place, value, "", strct);
	return f.faults ? NULL : strct;
}
