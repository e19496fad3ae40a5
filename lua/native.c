// SPDX-License-Identifier: BSD-3-Clause
// What lua/lib asks of the program while a graph is built: names, vars, faults. Each function has
// its script as upvalue.

#include <string.h>

#include "lua/convert.h"
#include "lua/inside.h"
#include "lua/plain.h"
#include "value/table.h"

static struct place place_arg(lua_State *lua, int index)
{
	return (struct place){.file = luaL_checkstring(lua, index),
			      .line = (unsigned)luaL_checkinteger(lua, index + 1)};
}

// modules(): name -> {command -> true} of all modules
static int native_modules(lua_State *lua)
{
	const struct module_type **list;
	unsigned n = module_list(&list);

	lua_createtable(lua, 0, (int)n);
	for (unsigned i = 0; i < n; i++) {
		const struct command *command = list[i]->commands;

		lua_newtable(lua);
		for (; command && command->name; command++) {
			lua_pushboolean(lua, true);
			lua_setfield(lua, -2, command->name);
		}
		lua_setfield(lua, -2, list[i]->name);
	}
	return 1;
}

// drivers(): name -> true of all drivers
static int native_drivers(lua_State *lua)
{
	const struct driver_type **list;
	unsigned n = driver_list(&list);

	lua_createtable(lua, 0, (int)n);
	for (unsigned i = 0; i < n; i++) {
		lua_pushboolean(lua, true);
		lua_setfield(lua, -2, list[i]->name);
	}
	return 1;
}

// is_end(module): whether it has no output gates
static int native_is_end(lua_State *lua)
{
	const struct module_type *type = module_find(luaL_checkstring(lua, 1));

	lua_pushboolean(lua, type && !type->ogates);
	return 1;
}

// fault(file, line, text): a fault of the graph; the script goes on, so that all are found
static int native_fault(lua_State *lua)
{
	struct script *script = script_of(lua);

	error_at(script->errors, place_arg(lua, 1), "%s", luaL_checkstring(lua, 3));
	script->faults++;
	return 0;
}

// faults(): how many there were so far
static int native_faults(lua_State *lua)
{
	lua_pushinteger(lua, script_of(lua)->faults);
	return 1;
}

// module_load(path, file, line): a module or driver built outside this tree
static int native_module_load(lua_State *lua)
{
	struct script *script = script_of(lua);

	if (module_load(luaL_checkstring(lua, 1), place_arg(lua, 2), script->errors))
		script->faults++;
	return 0;
}

// sets(): name -> text of each --set
static int native_sets(lua_State *lua)
{
	const struct script_options *options = &script_of(lua)->options;

	lua_newtable(lua);
	for (unsigned i = 0; i < options->n_sets; i++) {
		lua_pushstring(lua, options->sets[i].value);
		lua_setfield(lua, -2, options->sets[i].name);
	}
	return 1;
}

// file(): the script's name as it was given
static int native_file(lua_State *lua)
{
	lua_pushstring(lua, script_of(lua)->options.file);
	return 1;
}

// describe(text): for --help; false when nobody asked
static int native_describe(lua_State *lua)
{
	struct script *script = script_of(lua);

	if (script->describe) {
		fputs(luaL_checkstring(lua, 1), script->describe);
		script->described = true;
	}
	lua_pushboolean(lua, script->describe != NULL);
	return 1;
}

// What a var may be, beside what Lua knows by itself.
union var_field {
	bool boolean;
	int64_t integer;
	double number;
	struct duration duration;
	struct bytes bytes;
	struct rate rate;
	struct rte_ether_addr mac;
	struct ip4_net ip4;
	struct ip6_net ip6;
};

static const struct {
	const char *name;
	enum param_type type;
} var_types[] = {
    {"boolean", PARAM_BOOL},	  {"integer", PARAM_I64},  {"number", PARAM_DOUBLE},
    {"duration", PARAM_DURATION}, {"bytes", PARAM_BYTES},  {"rate", PARAM_RATE},
    {"mac", PARAM_MAC},		  {"ipv4", PARAM_IP4_NET}, {"ipv6", PARAM_IP6_NET},
};

// var(name, type, value, file, line): whether it is one, else a fault; and the value as it is, a
// text where Lua has nothing better
static int native_var(lua_State *lua)
{
	const char *type = luaL_checkstring(lua, 2);
	struct script *script = script_of(lua);
	struct place place = place_arg(lua, 4);
	struct param rows[] = {
	    {.name = luaL_checkstring(lua, 1), .struct_size = sizeof(union var_field)}, PARAM_END};
	const char *text = luaL_tolstring(lua, 3, NULL);
	size_t n = sizeof(var_types) / sizeof(*var_types), i = 0;
	struct arena *arena = arena_new();
	struct value *map = value_new(arena, VALUE_MAP, place);
	const union var_field *field;

	while (i < n && strcmp(type, var_types[i].name) != 0)
		i++;
	rows[0].type = i < n ? var_types[i].type : PARAM_STRING;
	value_put(arena, map, rows[0].name, place, value_scalar(arena, place, text));
	field = table_fill(arena, rows, "vars", place, map, NULL, script->errors);
	lua_pushboolean(lua, field != NULL);
	if (!field)
		script->faults++;
	if (field && rows[0].type == PARAM_BOOL)
		lua_pushboolean(lua, field->boolean);
	else if (field && rows[0].type == PARAM_I64)
		lua_pushinteger(lua, field->integer);
	else if (field && rows[0].type == PARAM_DOUBLE)
		lua_pushnumber(lua, field->number);
	else
		lua_pushvalue(lua, -2);
	arena_free(arena);
	return 2;
}

// print(...), which must not come between the objects of --json
static int native_print(lua_State *lua)
{
	FILE *to = script_of(lua)->options.quiet_output ? stderr : stdout;
	int n = lua_gettop(lua);

	for (int i = 1; i <= n; i++) {
		size_t length;
		const char *text = luaL_tolstring(lua, i, &length);

		if (i > 1)
			fputc('\t', to);
		fwrite(text, 1, length, to);
		lua_pop(lua, 1);
	}
	fputc('\n', to);
	return 0;
}

static const luaL_Reg functions[] = {
    {"modules", native_modules},
    {"drivers", native_drivers},
    {"is_end", native_is_end},
    {"suggest", plain_suggest},
    {"fault", native_fault},
    {"faults", native_faults},
    {"module_load", native_module_load},
    {"sets", native_sets},
    {"file", native_file},
    {"describe", native_describe},
    {"var", native_var},
    {"print", native_print},
    {NULL, NULL},
};

void native_push(struct script *script)
{
	luaL_newlibtable(script->lua, functions);
	lua_pushlightuserdata(script->lua, script);
	luaL_setfuncs(script->lua, functions, 1);
}
