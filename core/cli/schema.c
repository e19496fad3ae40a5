// SPDX-License-Identifier: BSD-3-Clause
// sluice schema: a JSON Schema of the graph format for editors, from the same tables as the check.

#include <string.h>

#include "cli/cli.h"
#include "cli/schema.h"

// Keys of a graph file that no table describes.
static void put_sections(json_t *properties)
{
	json_object_set_new(
	    properties, "vars",
	    json_pack("{s:[s,s], s:s}", "type", "object", "null", "description",
		      "values for $name and ${name}; --set NAME=VALUE replaces them"));
	json_object_set_new(properties, "modules",
			    json_pack("{s:[s,s], s:{s:s}, s:s}", "type", "array", "null", "items",
				      "type", "string", "description",
				      "modules and drivers built elsewhere (./mine.so)"));
	json_object_set_new(properties, "graph",
			    json_pack("{s:[s,s], s:{s:s}, s:s}", "type", "array", "null", "items",
				      "$ref", "#/definitions/link", "description",
				      "links: rx -> swap[0] -> [1]tx"));
	json_object_set_new(properties, "workers", schema_workers());
}

static json_t *definitions(void)
{
	json_t *all = json_object();

	// What a variable stands for is only known when it is used.
	json_object_set_new(all, "variable",
			    json_pack("{s:s, s:s}", "type", "string", "pattern", "\\$"));
	json_object_set_new(all, "link",
			    json_pack("{s:s, s:s}", "type", "string", "pattern",
				      "\\$|^\\s*" SCHEMA_NAME "\\s*" SCHEMA_GATE
				      "(\\s*->\\s*" SCHEMA_GATE "\\s*" SCHEMA_NAME
				      "\\s*" SCHEMA_GATE ")*\\s*->\\s*" SCHEMA_GATE
				      "\\s*" SCHEMA_NAME "\\s*$"));
	return all;
}

static json_t *schema(void)
{
	json_t *properties = json_object();
	const struct param *row;

	for (row = graph_settings_params; row->name; row++)
		json_object_set_new(properties, row->name, schema_param(row, NULL));
	put_sections(properties);
	json_object_set_new(properties, "ports", schema_ports());
	json_object_set_new(properties, "nodes", schema_nodes());
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o}", "$schema",
			 "http://json-schema.org/draft-07/schema#", "title", "Sluice graph", "type",
			 "object", "additionalProperties", 0, "properties", properties,
			 "definitions", definitions());
}

struct schema_args {
	struct cli_graph modules;
	bool lua;
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct schema_args *args = into;

	switch (key) {
	case 'j':
		return 0;
	case 'l':
		args->lua = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "it takes no arguments: \"%s\" is one too many", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "changes nothing: a schema is JSON", 0},
    {"lua", 'l', NULL, 0,
     "prints annotations of what scripts can use instead, for the Lua language server", 0},
    {0},
};
static const struct cli_syntax syntax = {
    .shared = &cli_module_argp,
    .options = options,
    .take = take,
    .doc = "Prints a JSON Schema of the graph format, for editors that check and complete while "
	   "one writes.",
};

static int schema_run(int argc, char **argv)
{
	struct errors *errors = errors_new();
	struct schema_args args = {0};
	int code = EXIT_DONE;
	json_t *all;

	cli_parse(&syntax, argc, argv, &args);
	if (cli_modules_load(args.modules.modules, args.modules.n_modules, errors)) {
		code = cli_fail(errors);
	} else if (args.lua) {
		schema_lua();
		errors_free(errors);
	} else {
		all = schema();
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
		errors_free(errors);
	}
	cli_graph_free(&args.modules);
	return code;
}

const struct subcommand cli_schema = {
    .name = "schema",
    .args = "[--module PATH]... [--lua]",
    .help = "prints a JSON Schema of the graph format for editors, or annotations for Lua",
    .run = schema_run,
};
