// SPDX-License-Identifier: BSD-3-Clause
// What `sluice modules` and `sluice drivers` have in common: options, finding the entry, formats.

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/reference.h"

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON };

struct reference_args {
	struct cli_graph modules;
	const char *name; // NULL: all
	enum format format;
};

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT", 0, "text (the default), markdown or json", 0},
    {"json", 'j', NULL, 0, "the same as --format json", 0},
    {0},
};

static void format_option(struct reference_args *args, const char *text, struct argp_state *state)
{
	if (!strcmp(text, "text"))
		args->format = FORMAT_TEXT;
	else if (!strcmp(text, "markdown"))
		args->format = FORMAT_MARKDOWN;
	else if (!strcmp(text, "json"))
		args->format = FORMAT_JSON;
	else
		argp_error(state, "--format: \"%s\" is none of text, markdown, json", text);
}

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct reference_args *args = into;

	switch (key) {
	case 'f':
		format_option(args, arg, state);
		return 0;
	case 'j':
		args->format = FORMAT_JSON;
		return 0;
	case ARGP_KEY_ARG:
		if (args->name)
			argp_error(state, "one name at a time: \"%s\" is one too many", arg);
		args->name = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *name_of(const json_t *entry)
{
	return json_string_value(json_object_get(entry, "name"));
}

static void print_json(const json_t *json)
{
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
}

static void print_list(const json_t *all, const struct reference *reference)
{
	struct arena *arena = arena_new();
	struct grid *grid = grid_new(arena);
	const json_t *entry;
	size_t i;

	grid_column(grid, reference->what, false);
	grid_column(grid, "", false);
	json_array_foreach (all, i, entry) {
		grid_cell(grid, "%s", name_of(entry));
		grid_cell(grid, "%s", json_string_value(json_object_get(entry, "help")));
	}
	grid_print(grid, stdout);
	printf("\n`sluice %ss NAME` tells more.\n", reference->what);
	arena_free(arena);
}

static void print_all(const json_t *all, const struct reference *reference, enum format format)
{
	const json_t *entry;
	size_t i;

	if (format == FORMAT_JSON) {
		print_json(all);
	} else if (format == FORMAT_TEXT) {
		print_list(all, reference);
	} else {
		json_array_foreach (all, i, entry) {
			reference_markdown(entry);
		}
	}
}

static int unknown(const json_t *all, const struct reference *reference, const char *name)
{
	size_t n = json_array_size(all);
	const char **names = memory_new(n + 1, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < n; i++)
		names[i] = name_of(json_array_get(all, i));
	near = suggest(name, names, n);
	fprintf(stderr, "sluice: error: no %s \"%s\"", reference->what, name);
	if (near)
		fprintf(stderr, "; did you mean \"%s\"?\n", near);
	else
		fprintf(stderr, " (`sluice %ss` lists them)\n", reference->what);
	free(names);
	return EXIT_INPUT;
}

static int print_one(const json_t *all, const struct reference *reference,
		     const struct reference_args *args)
{
	const json_t *entry;
	size_t i;

	json_array_foreach (all, i, entry) {
		if (strcmp(name_of(entry), args->name) != 0)
			continue;
		if (args->format == FORMAT_JSON)
			print_json(entry);
		else if (args->format == FORMAT_MARKDOWN)
			reference_markdown(entry);
		else
			reference_text(entry);
		return EXIT_DONE;
	}
	return unknown(all, reference, args->name);
}

int reference_run(const struct reference *reference, int argc, char **argv)
{
	const struct cli_syntax syntax = {.shared = &cli_module_argp,
					  .options = options,
					  .take = take,
					  .args_doc = "[NAME]",
					  .doc = reference->doc};
	struct errors *errors = errors_new();
	struct reference_args args = {0};
	int code = EXIT_DONE;
	json_t *all;

	cli_parse(&syntax, argc, argv, &args);
	if (cli_modules_load(args.modules.modules, args.modules.n_modules, errors)) {
		cli_graph_free(&args.modules);
		return cli_fail(errors);
	}
	all = reference->all();
	if (args.name)
		code = print_one(all, reference, &args);
	else
		print_all(all, reference, args.format);
	json_decref(all);
	cli_graph_free(&args.modules);
	errors_free(errors);
	return code;
}
