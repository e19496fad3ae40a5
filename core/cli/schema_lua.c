// SPDX-License-Identifier: BSD-3-Clause
// sluice schema --lua: annotations for the Lua language server, so that editors complete scripts
// and check them: modules, drivers and commands from their tables, the rest from the comments of
// the library.

#include <ctype.h>
#include <string.h>

#include "cli/schema.h"
#include "lua/library.h"
#include "value/table.h"

static bool is_name(const char *text)
{
	static const char *const keywords[] = {
	    "and",	"break",  "do",	  "else", "elseif", "end",   "false", "for",
	    "function", "goto",	  "if",	  "in",	  "local",  "nil",   "not",   "or",
	    "repeat",	"return", "then", "true", "until",  "while",
	};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (!strcmp(text, keywords[i]))
			return false;
	for (const char *c = text; *c; c++)
		if (*c != '_' && !isalpha((unsigned char)*c) &&
		    (c == text || !isdigit((unsigned char)*c)))
			return false;
	return *text;
}

// On one line.
static void put_text(const char *text)
{
	for (; text && *text; text++)
		putchar(*text == '\n' ? ' ' : *text);
}

static void put_choices(const struct param *row)
{
	for (const char *const *choice = row->choices; *choice; choice++)
		printf("%s\"%s\"", choice == row->choices ? "" : "|", *choice);
}

static void put_type(const struct param *row, const char *class)
{
	switch (row->type) {
	case PARAM_BOOL:
		fputs("boolean", stdout);
		break;
	case PARAM_DOUBLE:
		fputs("number", stdout);
		break;
	case PARAM_GATE:
	case PARAM_BYTES:
		fputs("integer|string", stdout);
		break;
	case PARAM_PORT:
		fputs("sluice.Port|string", stdout);
		break;
	case PARAM_CHOICE:
		put_choices(row);
		break;
	case PARAM_LIST:
		printf("(%s.%s|string|integer)[]", class, row->name);
		break;
	default:
		fputs(row->type < PARAM_DOUBLE ? "integer" : "string", stdout);
		break;
	}
}

// A class with a field for each row; those of the items of its lists come before it. False: no
// rows.
static bool put_class(struct arena *arena, const char *class, const struct param *rows)
{
	if (!rows || !rows->name)
		return false;
	for (const struct param *row = rows; row->name; row++)
		if (row->type == PARAM_LIST)
			put_class(arena, arena_printf(arena, "%s.%s", class, row->name),
				  row->fields);
	printf("---@class %s\n", class);
	for (const struct param *row = rows; row->name; row++) {
		const char *range = table_range_text(arena, row);

		printf(is_name(row->name) ? "---@field %s%s " : "---@field [\"%s\"]%s ", row->name,
		       row->def ? "?" : "");
		put_type(row, class);
		putchar(' ');
		put_text(row->help);
		if (*range)
			printf(" (%s)", range);
		putchar('\n');
	}
	putchar('\n');
	return true;
}

// What a module or driver makes: `function OWNER.NAME(params)`, with or without a name first.
static void put_constructor(const char *owner, const char *name, const char *help,
			    const char *params, const char *result)
{
	printf("---%s\n", help);
	if (params) {
		printf("---@overload fun(name: string, params?: %s): %s\n", params, result);
		printf("---@param params? %s\n", params);
	} else {
		puts("---@param name? string");
	}
	printf("---@return %s\n", result);
	if (is_name(name))
		printf("function %s%s(%s) end\n\n", owner, name, params ? "params" : "name");
	else
		printf("%.*s[\"%s\"] = function(params) end\n\n", (int)strlen(owner) - 1, owner,
		       name);
}

static void put_commands(struct arena *arena, const char *class, const struct command *command)
{
	printf("---@class %s: sluice.Node\nlocal node = {}\n\n", class);
	for (; command && command->name; command++) {
		const char *args = arena_printf(arena, "%s.%s", class, command->name);
		bool any = put_class(arena, args, command->args);

		printf("---%s\n", command->help);
		if (any)
			printf("---@param args%s %s\n", command->args->def ? "?" : "", args);
		printf("---@return table\nfunction node:%s(%s) end\n\n", command->name,
		       any ? "args" : "");
	}
}

static void put_modules(struct arena *arena)
{
	const struct module_type **list;
	unsigned n = module_list(&list);

	for (unsigned i = 0; i < n; i++) {
		const struct module_type *type = list[i];
		const char *class = arena_printf(arena, "sluice.%s", type->name);
		const char *params = arena_printf(arena, "%s.params", class);

		puts("do");
		put_commands(arena, class, type->commands);
		puts("end\n");
		put_constructor("", type->name, type->help,
				put_class(arena, params, type->params) ? params : NULL, class);
	}
}

static void put_drivers(struct arena *arena)
{
	const struct driver_type **list;
	unsigned n = driver_list(&list);

	for (unsigned i = 0; i < n; i++) {
		const struct driver_type *type = list[i];
		const char *params = arena_printf(arena, "sluice.port.%s", type->name);

		put_constructor("port.", type->name, type->help,
				put_class(arena, params, type->params) ? params : NULL,
				"sluice.Port");
	}
}

static void put_settings(struct arena *arena)
{
	put_class(arena, "sluice.settings", graph_settings_params);
}

// The end of the line that begins at `text`.
static const char *line_end(const char *text, const char *end)
{
	const char *at = memchr(text, '\n', (size_t)(end - text));

	return at ? at : end;
}

// Comments with three dashes: of a block with a line `---> CODE`, that is what it describes, and
// comes behind it; one of a class or alias is printed by itself. What is described otherwise is no
// function of every script.
static void put_block(const char *block, const char *block_end, const char *code)
{
	const char *end;

	if (!code && strncmp(block, "---@class", 9) != 0 && strncmp(block, "---@alias", 9) != 0)
		return;
	for (const char *line = block; line < block_end; line = end + 1) {
		end = line_end(line, block_end);
		if (line + 5 != code)
			printf("%.*s\n", (int)(end - line), line);
	}
	if (code)
		printf("%.*s\n", (int)(line_end(code, block_end) - code), code);
	putchar('\n');
}

static void put_library(const struct library_file *file)
{
	const char *block = NULL, *code = NULL;

	for (const char *line = file->text; line < file->end; line++) {
		if (!strncmp(line, "---", 3)) {
			block = block ? block : line;
			code = strncmp(line, "---> ", 5) ? code : line + 5;
		} else if (block) {
			put_block(block, line, code);
			block = code = NULL;
		}
		line = line_end(line, file->end);
	}
}

void schema_lua(void)
{
	struct arena *arena = arena_new();

	puts("---@meta sluice\n\n-- Made by `sluice schema --lua`.\n");
	put_settings(arena);
	for (const struct library_file *file = library_files; file->name; file++)
		put_library(file);
	put_modules(arena);
	put_drivers(arena);
	arena_free(arena);
}
