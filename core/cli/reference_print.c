// SPDX-License-Identifier: BSD-3-Clause
// An entry of the reference as text for the terminal and as Markdown for the docs.

#include <stdio.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/reference.h"

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

// "2: match, miss", "any number", "none".
static const char *gates_text(struct arena *arena, const json_t *gates)
{
	const json_t *count = json_object_get(gates, "count");
	const json_t *names = json_object_get(gates, "names"), *name;
	const char *text;
	size_t i;

	if (!json_is_integer(count))
		return "any number";
	if (!json_integer_value(count))
		return "none";
	text = arena_printf(arena, "%d", (int)json_integer_value(count));
	json_array_foreach (names, i, name) {
		text =
		    arena_printf(arena, "%s%s%s", text, i ? ", " : ": ", json_string_value(name));
	}
	return text;
}

// "8 to 1048576, default 4096", "required", "1ms to 1h (ns, us, ...), default 1s".
static const char *params_range(struct arena *arena, const json_t *param)
{
	const char *range = text_of(param, "range");
	bool required = json_is_true(json_object_get(param, "required"));

	return arena_printf(arena, "%s%s%s", range, *range && required ? ", " : "",
			    required ? "required" : "");
}

// Rows of a table of parameters; those of list items follow their list, named `list.item`.
static void params_rows(struct arena *arena, struct grid *grid, const json_t *params,
			const char *prefix)
{
	const json_t *param;
	size_t i;

	json_array_foreach (params, i, param) {
		const char *name = arena_printf(arena, "%s%s", prefix, text_of(param, "name"));
		bool live = json_is_true(json_object_get(param, "live"));

		grid_cell(grid, "  %s", name);
		grid_cell(grid, "%s", text_of(param, "type"));
		grid_cell(grid, "%s", params_range(arena, param));
		grid_cell(grid, "%s%s", text_of(param, "help"),
			  live ? " (may change while it runs)" : "");
		params_rows(arena, grid, json_object_get(param, "fields"),
			    arena_printf(arena, "%s.", name));
	}
}

static void params_text(struct arena *arena, const char *title, const json_t *params)
{
	struct grid *grid = grid_new(arena);

	if (!json_array_size(params))
		return;
	grid_column(grid, title, false);
	grid_column(grid, "type", false);
	grid_column(grid, "range and default", false);
	grid_column(grid, "", false);
	params_rows(arena, grid, params, "");
	putchar('\n');
	grid_print(grid, stdout);
}

static void names_text(struct arena *arena, const char *title, const json_t *list)
{
	struct grid *grid = grid_new(arena);
	const json_t *item;
	size_t i;

	if (!json_array_size(list))
		return;
	grid_column(grid, title, false);
	grid_column(grid, "", false);
	json_array_foreach (list, i, item) {
		grid_cell(grid, "  %s", text_of(item, "name"));
		grid_cell(grid, "%s%s", text_of(item, "help"), text_of(item, "type"));
	}
	putchar('\n');
	grid_print(grid, stdout);
}

static void commands_text(struct arena *arena, const json_t *commands)
{
	const json_t *command;
	size_t i;

	json_array_foreach (commands, i, command) {
		printf("\nCommand %s: %s%s\n", text_of(command, "name"), text_of(command, "help"),
		       json_is_true(json_object_get(command, "live"))
			   ? ""
			   : " (workers pause while it runs)");
		params_text(arena, "Arguments", json_object_get(command, "arguments"));
	}
}

// Lines of an example, each indented.
static void example_text(const char *example, const char *indent)
{
	while (*example) {
		size_t n = strcspn(example, "\n");

		printf("%s%.*s\n", n ? indent : "", (int)n, example);
		example += n + (example[n] == '\n');
	}
}

void reference_text(const json_t *entry)
{
	struct arena *arena = arena_new();
	const json_t *inputs = json_object_get(entry, "inputs");

	printf("%s: %s\n", text_of(entry, "name"), text_of(entry, "help"));
	if (*text_of(entry, "details")) {
		putchar('\n');
		text_wrap(text_of(entry, "details"), 90, stdout);
	}
	if (inputs)
		printf(
		    "\nInput gates:  %s\nOutput gates: %s\nWorkers:      %s\n",
		    gates_text(arena, inputs), gates_text(arena, json_object_get(entry, "outputs")),
		    json_is_true(json_object_get(entry, "shared")) ? "several may run a node of it"
								   : "one runs a node of it");
	params_text(arena, "Parameters", json_object_get(entry, "parameters"));
	commands_text(arena, json_object_get(entry, "commands"));
	names_text(arena, "Counters", json_object_get(entry, "counters"));
	names_text(arena, "Drop reasons", json_object_get(entry, "drops"));
	names_text(arena, "Metadata read", json_object_get(entry, "reads"));
	names_text(arena, "Metadata written", json_object_get(entry, "writes"));
	if (*text_of(entry, "example")) {
		puts("\nExample");
		example_text(text_of(entry, "example"), "  ");
	}
	arena_free(arena);
}

// A cell of a Markdown table: a bar would end it.
static void cell(const char *before, const char *text, const char *after)
{
	fputs(before, stdout);
	for (; *text; text++) {
		if (*text == '|')
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
	fputs(after, stdout);
}

static void params_markdown_rows(struct arena *arena, const json_t *params, const char *prefix)
{
	const json_t *param;
	size_t i;

	json_array_foreach (params, i, param) {
		const char *name = arena_printf(arena, "%s%s", prefix, text_of(param, "name"));

		cell("| `", name, "` | ");
		cell("", text_of(param, "type"), " | ");
		cell("", params_range(arena, param), " | ");
		cell("", text_of(param, "help"),
		     json_is_true(json_object_get(param, "live"))
			 ? " (may change while it runs) |\n"
			 : " |\n");
		params_markdown_rows(arena, json_object_get(param, "fields"),
				     arena_printf(arena, "%s.", name));
	}
}

static void params_markdown(struct arena *arena, const char *title, const json_t *params)
{
	if (!json_array_size(params))
		return;
	printf("\n| %s | type | range and default | |\n| --- | --- | --- | --- |\n", title);
	params_markdown_rows(arena, params, "");
}

static void names_markdown(const char *title, const json_t *list)
{
	const json_t *item;
	size_t i;

	if (!json_array_size(list))
		return;
	printf("\n| %s | |\n| --- | --- |\n", title);
	json_array_foreach (list, i, item) {
		cell("| `", text_of(item, "name"), "` | ");
		cell("", text_of(item, "help"), "");
		cell("", text_of(item, "type"), " |\n");
	}
}

static void commands_markdown(struct arena *arena, const json_t *commands)
{
	const json_t *command;
	size_t i;

	json_array_foreach (commands, i, command) {
		printf("\nCommand `%s`: %s%s\n", text_of(command, "name"), text_of(command, "help"),
		       json_is_true(json_object_get(command, "live"))
			   ? "."
			   : " (workers pause while it runs).");
		params_markdown(arena, "argument", json_object_get(command, "arguments"));
	}
}

void reference_markdown(const json_t *entry)
{
	struct arena *arena = arena_new();
	const json_t *inputs = json_object_get(entry, "inputs");

	printf("## %s\n\n%s %s.\n", text_of(entry, "name"), text_of(entry, "name"),
	       text_of(entry, "help"));
	if (*text_of(entry, "details"))
		printf("\n%s\n", text_of(entry, "details"));
	if (inputs)
		printf("\nInput gates: %s. Output gates: %s. %s run a node of it.\n",
		       gates_text(arena, inputs),
		       gates_text(arena, json_object_get(entry, "outputs")),
		       json_is_true(json_object_get(entry, "shared")) ? "Several workers may"
								      : "One worker can");
	params_markdown(arena, "parameter", json_object_get(entry, "parameters"));
	commands_markdown(arena, json_object_get(entry, "commands"));
	names_markdown("counter", json_object_get(entry, "counters"));
	names_markdown("drop reason", json_object_get(entry, "drops"));
	names_markdown("metadata read", json_object_get(entry, "reads"));
	names_markdown("metadata written", json_object_get(entry, "writes"));
	if (*text_of(entry, "example")) {
		puts("\n```yaml");
		example_text(text_of(entry, "example"), "");
		puts("```");
	}
	putchar('\n');
	arena_free(arena);
}
