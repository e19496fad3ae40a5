// SPDX-License-Identifier: BSD-3-Clause
// sluice check: everything that can be known of a graph without opening a device.

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/cli.h"
#include "value/errors_json.h"

struct check_args {
	struct cli_graph graph;
	bool json;
};

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "prints the result as one JSON object on standard output", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct check_args *args = into;

	(void)arg;
	(void)state;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	args->json = true;
	return 0;
}

static const struct cli_syntax syntax = {
    .shared = &cli_graph_argp,
    .options = options,
    .take = take,
    .args_doc = "FILE",
    .doc = "Checks a graph: all that can be known without opening a device. Every fault is "
	   "reported."
	   "\vExit codes: 0 the graph is good, 2 bad input, 3 a module cannot be loaded here.",
};

static void print_json(const struct check_args *args, const struct graph *graph,
		       const struct errors *errors)
{
	json_t *result = json_pack("{s:s, s:b, s:o}", "file", args->graph.file, "good",
				   graph != NULL, "errors", errors_json(errors));

	if (graph) {
		json_object_set_new(result, "nodes", json_integer(graph->n_nodes));
		json_object_set_new(result, "links", json_integer(graph->n_links));
		json_object_set_new(result, "ports", json_integer(graph->n_ports));
		json_object_set_new(result, "workers", json_integer(graph->n_workers));
	}
	json_dumpf(result, stdout, JSON_COMPACT);
	fputc('\n', stdout);
	json_decref(result);
}

static void print_text(const struct graph *graph)
{
	printf("%s: good: %u node%s, %u link%s, %u port%s, %u worker%s\n", graph->file,
	       graph->n_nodes, graph->n_nodes == 1 ? "" : "s", graph->n_links,
	       graph->n_links == 1 ? "" : "s", graph->n_ports, graph->n_ports == 1 ? "" : "s",
	       graph->n_workers, graph->n_workers == 1 ? "" : "s");
}

static int check_run(int argc, char **argv)
{
	struct errors *errors = errors_new();
	struct check_args args = {0};
	struct graph *graph;
	int code = EXIT_DONE;

	cli_parse(&syntax, argc, argv, &args);
	graph = cli_graph_read(&args.graph, errors);
	if (args.json)
		print_json(&args, graph, errors);
	else if (graph)
		print_text(graph);
	if (graph) {
		graph_free(graph);
		errors_free(errors);
	} else if (args.json) {
		code = errors_exit_code(errors);
		errors_free(errors);
	} else {
		code = cli_fail(errors);
	}
	cli_graph_free(&args.graph);
	return code;
}

const struct subcommand cli_check = {
    .name = "check",
    .args = "FILE [--set NAME=VALUE]... [--module PATH]... [--json]",
    .help = "checks a graph without opening a device",
    .run = check_run,
};
