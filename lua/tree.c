// SPDX-License-Identifier: BSD-3-Clause
// From what a script has built (lua/lib/build.lua) to a value tree, and to a graph.

#include <string.h>

#include "lua/convert.h"
#include "lua/inside.h"

struct tree {
	struct script *script;
	lua_State *lua;
	struct arena *arena;
	struct errors *errors;
	struct value *root;
	const char *file; // the last one, so that it need not be copied for each place
};

// A text field of the table on top, in the arena.
static const char *field_text(struct tree *at, const char *key)
{
	const char *text;

	lua_getfield(at->lua, -1, key);
	text = arena_strdup(at->arena, luaL_checkstring(at->lua, -1));
	lua_pop(at->lua, 1);
	return text;
}

static struct place field_place(struct tree *at)
{
	struct place place = {0};
	const char *file;

	lua_getfield(at->lua, -1, "file");
	file = luaL_checkstring(at->lua, -1);
	if (!at->file || strcmp(at->file, file) != 0)
		at->file = arena_strdup(at->arena, file);
	place.file = at->file;
	lua_getfield(at->lua, -2, "line");
	place.line = (unsigned)luaL_checkinteger(at->lua, -1);
	lua_pop(at->lua, 2);
	return place;
}

// What a field of the table on top holds; nil: null. `what` it is about is for messages.
static struct value *field_value(struct tree *at, const char *key, struct place place,
				 const char *what)
{
	struct value *value;

	lua_getfield(at->lua, -1, key);
	value = convert_written(at->lua, -1, at->arena, place, what, at->errors);
	lua_pop(at->lua, 1);
	return value;
}

// Calls `add` with each item of a list of the root on top.
static void each(struct tree *at, int index, const char *list,
		 void (*add)(struct tree *, struct value *), struct value *to)
{
	lua_Unsigned n;

	lua_getfield(at->lua, index, list);
	n = lua_rawlen(at->lua, -1);
	for (lua_Unsigned i = 1; i <= n; i++) {
		lua_rawgeti(at->lua, -1, (lua_Integer)i);
		add(at, to);
		lua_pop(at->lua, 1);
	}
	lua_pop(at->lua, 1);
}

// `name: Type` or `name: {Type: parameters}`.
static void spec_add(struct tree *at, struct value *to)
{
	struct place place = field_place(at);
	const char *type = field_text(at, "type");
	struct value *params = field_value(at, "params", place, type);
	struct value *spec;

	// A table without anything in it gives nothing.
	if (!params->faulty &&
	    (params->kind == VALUE_NULL || (params->kind == VALUE_LIST && !params->n))) {
		spec = value_scalar(at->arena, place, type);
	} else {
		spec = value_new(at->arena, VALUE_MAP, place);
		value_put(at->arena, spec, type, place, params);
	}
	value_add(at->arena, to, field_text(at, "name"), place, spec);
}

static void link_add(struct tree *at, struct value *to)
{
	struct place place = field_place(at);

	value_append(at->arena, to, value_scalar(at->arena, place, field_text(at, "text")));
}

static void setting_add(struct tree *at, struct value *to)
{
	struct place place = field_place(at);

	const char *name = field_text(at, "name");

	value_put(at->arena, to, name, place, field_value(at, "value", place, name));
}

static void item_add(struct tree *at, struct value *to)
{
	value_append(at->arena, to, field_value(at, "value", field_place(at), "worker"));
}

static void section_put(struct tree *at, const char *key, struct value *section)
{
	if (section->n)
		value_put(at->arena, at->root, key, section->place, section);
}

static void tree_read(struct tree *at, int index)
{
	struct place place = {.file = at->script->options.file};
	struct value *ports = value_new(at->arena, VALUE_MAP, place);
	struct value *nodes = value_new(at->arena, VALUE_MAP, place);
	struct value *links = value_new(at->arena, VALUE_LIST, place);
	struct value *workers = value_new(at->arena, VALUE_LIST, place);

	each(at, index, "settings", setting_add, at->root);
	each(at, index, "ports", spec_add, ports);
	each(at, index, "nodes", spec_add, nodes);
	each(at, index, "links", link_add, links);
	each(at, index, "workers", item_add, workers);
	section_put(at, "ports", ports);
	section_put(at, "nodes", nodes);
	section_put(at, "graph", links);
	section_put(at, "workers", workers);
}

struct value *tree_value(struct script *script, lua_State *lua, int index, unsigned faults,
			 struct arena *arena, struct errors *errors)
{
	struct tree at = {.script = script, .lua = lua, .arena = arena, .errors = errors};
	unsigned before = errors_count(errors);

	at.root = value_new(arena, VALUE_MAP, (struct place){.file = script->options.file});
	tree_read(&at, lua_absindex(lua, index));
	at.root->faulty = script->faults != faults || errors_count(errors) != before;
	return at.root;
}
