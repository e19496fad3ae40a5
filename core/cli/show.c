// SPDX-License-Identifier: BSD-3-Clause
// sluice show: a graph as a picture or as a normalised file.

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "cli/text.h"
#include "value/table.h"

enum format { FORMAT_TEXT, FORMAT_DOT, FORMAT_SVG, FORMAT_YAML, FORMAT_JSON };

static const char *const formats[] = {"text", "dot", "svg", "yaml", "json"};

#define N_FORMATS (sizeof(formats) / sizeof(*formats))

struct show_args {
	struct cli_graph graph;
	enum format format;
};

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT", 0,
     "text (a picture in the terminal, the default), dot (for Graphviz), svg (drawn by it), yaml "
     "or json (a normalised file that loads to the same graph)",
     0},
    {"json", 'j', NULL, 0, "the same as --format json", 0},
    {0},
};

static void format_option(struct show_args *args, const char *text, struct argp_state *state)
{
	const char *near;

	for (unsigned i = 0; i < N_FORMATS; i++) {
		if (!strcmp(text, formats[i])) {
			args->format = i;
			return;
		}
	}
	near = suggest(text, formats, N_FORMATS);
	argp_error(state, "--format: \"%s\" is none of text, dot, svg, yaml, json%s%s%s", text,
		   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct show_args *args = into;

	switch (key) {
	case 'f':
		format_option(args, arg, state);
		return 0;
	case 'j':
		args->format = FORMAT_JSON;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_graph_argp,
    .options = options,
    .take = take,
    .args_doc = "FILE",
    .doc = "Shows a graph: as a picture, or as a normalised file that loads to the same graph.",
};

const char *show_params(struct arena *arena, const struct param *table, const void *params,
			unsigned width)
{
	if (!table || !params)
		return "";
	return text_brief(arena, table_value(arena, table, params, true), width);
}

const char *show_gate(struct arena *arena, const struct graph_node *node, bool output, gate_t gate)
{
	const char *const *names = output ? node->type->ogate_names : node->type->igate_names;
	gate_t n = output ? node->type->ogates : node->type->igates;

	if (names && n != GATES_ANY && gate < n)
		return names[gate];
	return arena_printf(arena, "%u", gate);
}

static bool terminal_is_ascii(void)
{
	setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static int no_dot(int error)
{
	fprintf(stderr,
		"sluice: error: --format svg needs the program `dot` (%s); it is in Debian's "
		"package graphviz: apt install graphviz\n",
		strerror(error));
	return EXIT_MACHINE;
}

// Graphviz reads the graph from a file without a name and writes to our standard output.
static int show_svg(const struct graph *graph)
{
	static char *const command[] = {(char *)"dot", (char *)"-Tsvg", NULL};
	posix_spawn_file_actions_t actions;
	FILE *dot = tmpfile();
	int status, error;
	pid_t child;

	if (!dot) {
		fprintf(stderr, "sluice: error: no temporary file can be made: %s\n",
			strerror(errno));
		return EXIT_MACHINE;
	}
	show_dot(graph, dot);
	rewind(dot);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(dot), STDIN_FILENO);
	error = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	fclose(dot);
	if (error)
		return no_dot(error);
	if (waitpid(child, &status, 0) < 0 || status) {
		fputs("sluice: error: `dot` failed\n", stderr);
		return EXIT_MACHINE;
	}
	return EXIT_DONE;
}

static int show_graph(const struct graph *graph, enum format format)
{
	struct arena *arena = arena_new();
	int code = EXIT_DONE;

	switch (format) {
	case FORMAT_TEXT:
		show_text(graph, terminal_is_ascii(), stdout);
		break;
	case FORMAT_DOT:
		show_dot(graph, stdout);
		break;
	case FORMAT_SVG:
		code = show_svg(graph);
		break;
	case FORMAT_YAML:
		value_write_yaml(graph_value(graph, arena), stdout);
		break;
	case FORMAT_JSON:
		text_write_json(graph_value(graph, arena), stdout);
		break;
	}
	arena_free(arena);
	return code;
}

static int show_run(int argc, char **argv)
{
	struct show_args args = {0};
	struct graph *graph;
	int code;

	cli_parse(&syntax, argc, argv, &args);
	graph = cli_load(&args.graph, &code);
	if (graph) {
		code = show_graph(graph, args.format);
		graph_free(graph);
	}
	cli_graph_free(&args.graph);
	return code;
}

const struct subcommand cli_show = {
    .name = "show",
    .args = "FILE [--set NAME=VALUE]... [--module PATH]... [--format text|dot|svg|yaml|json]",
    .help = "shows a graph as a picture or a normalised file",
    .run = show_run,
};
