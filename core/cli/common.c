// SPDX-License-Identifier: BSD-3-Clause
// What the subcommands share: parsing their options, loading a graph, reporting its faults.

#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "value/log.h"
#include "value/table.h"

enum { KEY_SET = 's', KEY_MODULE = 'm', KEY_MEMORY = 256, KEY_INSTRUCTIONS };

static const struct argp_option graph_options[] = {
    {"set", KEY_SET, "NAME=VALUE", 0, "gives the variable NAME of the graph's `vars:` a value", 0},
    {"module", KEY_MODULE, "PATH", 0, "loads a module or driver built outside this tree first", 0},
    {"script-memory", KEY_MEMORY, "BYTES", 0, "what a script may have (256MiB)", 0},
    {"script-instructions", KEY_INSTRUCTIONS, "NUMBER", 0,
     "what a script may take before it must wait or end (500000000)", 0},
    {0},
};

static const struct argp_option module_options[] = {
    {"module", KEY_MODULE, "PATH", 0, "loads a module or driver built outside this tree first", 0},
    {0},
};

static void set_add(struct cli_graph *at, char *text, struct argp_state *state)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text) {
		argp_error(state, "--set \"%s\" is not of the form NAME=VALUE", text);
		return;
	}
	*equals = '\0';
	for (unsigned i = 0; i < at->n_sets; i++)
		if (!strcmp(at->sets[i].name, text))
			argp_error(state, "--set %s is given twice", text);
	at->sets = memory_grow(at->sets, at->n_sets + 1, sizeof(*at->sets));
	at->sets[at->n_sets++] = (struct graph_set){.name = text, .value = equals + 1};
}

static void module_add(struct cli_graph *at, const char *path)
{
	at->modules = memory_grow(at->modules, at->n_modules + 1, sizeof(*at->modules));
	at->modules[at->n_modules++] = path;
}

static error_t module_parse(int key, char *arg, struct argp_state *state)
{
	if (key != KEY_MODULE)
		return ARGP_ERR_UNKNOWN;
	module_add(state->input, arg);
	return 0;
}

static void limit_set(struct cli_graph *at, int key, const char *text, struct argp_state *state)
{
	struct bytes bytes = {0};
	uint64_t number = 0;
	const char *why;

	if (key == KEY_MEMORY ? !parse_bytes(text, &bytes, &why) : !parse_u64(text, &number, &why))
		argp_error(state, "--script-%s: \"%s\" %s",
			   key == KEY_MEMORY ? "memory" : "instructions", text, why);
	if (key == KEY_MEMORY)
		at->limits.memory_bytes = bytes.bytes;
	else
		at->limits.instructions = number;
}

static error_t graph_parse(int key, char *arg, struct argp_state *state)
{
	struct cli_graph *at = state->input;

	switch (key) {
	case KEY_SET:
		set_add(at, arg, state);
		return 0;
	case KEY_MODULE:
		module_add(at, arg);
		return 0;
	case KEY_MEMORY:
	case KEY_INSTRUCTIONS:
		limit_set(at, key, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (at->file)
			argp_error(state, "one graph file at a time: \"%s\" is one too many", arg);
		at->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!at->file)
			argp_error(state, "the graph file is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cli_graph_argp = {.options = graph_options, .parser = graph_parse};
const struct argp cli_module_argp = {.options = module_options, .parser = module_parse};

struct parse {
	const struct cli_syntax *syntax;
	void *args;
};

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
	const struct parse *at = state->input;

	if (key == ARGP_KEY_INIT) {
		unsigned n = 0;

		if (at->syntax->shared)
			state->child_inputs[n++] = at->args;
		if (at->syntax->live)
			state->child_inputs[n] = (char *)at->args + at->syntax->live;
		return 0;
	}
	return at->syntax->take(at->args, key, arg, state);
}

static struct script_options script_options_of(const struct cli_graph *at)
{
	return (struct script_options){.file = at->file,
				       .sets = at->sets,
				       .n_sets = at->n_sets,
				       .limits = at->limits,
				       .quiet_output = at->json};
}

// `--help` with the file of a script prints its vars and ends the program.
static void script_help(int argc, char **argv)
{
	struct cli_graph at = {0};
	struct script_options options;
	struct errors *errors;
	bool help = false;
	int code;

	for (int i = 1; i < argc; i++) {
		help |= !strcmp(argv[i], "--help") || !strcmp(argv[i], "-?");
		if (script_named(argv[i]) && argv[i][0] != '-')
			at.file = argv[i];
	}
	if (!help || !at.file)
		return;
	options = script_options_of(&at);
	errors = errors_new();
	printf("Usage: %s %s [--set NAME=VALUE]...\n\n", argv[0], at.file);
	code = script_describe(&options, stdout, errors);
	if (code)
		exit(cli_fail(errors));
	errors_free(errors);
	printf("\n`%s --help` without a script has all options.\n", argv[0]);
	exit(EXIT_DONE);
}

static void options_list(const struct argp *argp)
{
	for (const struct argp_option *option = argp->options; option && option->name; option++)
		printf("--%s\t%c\t%s%s%s\t%s\n", option->name,
		       option->key > ' ' && option->key < 0x7f ? option->key : ' ',
		       option->arg && option->flags & OPTION_ARG_OPTIONAL ? "[" : "",
		       option->arg ? option->arg : "",
		       option->arg && option->flags & OPTION_ARG_OPTIONAL ? "]" : "", option->doc);
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		options_list(child->argp);
}

void cli_parse(const struct cli_syntax *syntax, int argc, char **argv, void *args)
{
	struct argp_child children[3] = {{0}};
	const struct argp argp = {.options = syntax->options,
				  .parser = parse_key,
				  .args_doc = syntax->args_doc,
				  .doc = syntax->doc,
				  .children = children};
	struct parse at = {.syntax = syntax, .args = args};
	unsigned n = 0;

	if (syntax->shared)
		children[n++].argp = syntax->shared;
	if (syntax->live)
		children[n].argp = &cli_live_argp;
	if (argc == 2 && !strcmp(argv[1], CLI_LIST_OPTIONS)) {
		options_list(&argp);
		exit(EXIT_DONE);
	}
	if (syntax->shared == &cli_graph_argp)
		script_help(argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, &at);
}

int cli_modules_load(const char *const *paths, unsigned n, struct errors *errors)
{
	int result = 0;

	for (unsigned i = 0; i < n; i++) {
		struct place place = {.file = paths[i]};

		if (module_load(paths[i], place, errors))
			result = -1;
	}
	return result;
}

struct graph *cli_graph_read(struct cli_graph *at, struct errors *errors)
{
	struct script_options options;

	// Without its modules the graph would only be reported as using unknown ones.
	if (cli_modules_load(at->modules, at->n_modules, errors))
		return NULL;
	if (!script_named(at->file))
		return graph_load(at->file, at->sets, at->n_sets, errors);
	options = script_options_of(at);
	at->script = script_open(&options, errors);
	return at->script ? script_graph(at->script, errors) : NULL;
}

int cli_fail(struct errors *errors)
{
	int code = errors_exit_code(errors);

	log_errors(errors);
	errors_free(errors);
	return code ? code : EXIT_FAILED;
}

struct graph *cli_load(struct cli_graph *at, int *code)
{
	struct errors *errors = errors_new();
	struct graph *graph = cli_graph_read(at, errors);

	if (!graph) {
		*code = cli_fail(errors);
		return NULL;
	}
	errors_free(errors);
	return graph;
}

void cli_graph_free(struct cli_graph *at)
{
	script_close(at->script);
	free(at->sets);
	free(at->modules);
}
