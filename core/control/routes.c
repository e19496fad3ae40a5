// SPDX-License-Identifier: BSD-3-Clause
// What can be asked of an instance, and how each is answered from the counters and tables.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/capture.h"
#include "control/trace.h"
#include "value/table.h"

static void name_missing(const char *name, const char *kind, const char **names, unsigned n,
			 struct answer *answer)
{
	const char *near = suggest(name, names, n);

	answer_error(answer, 404, "there is no %s \"%s\"%s%s%s", kind, name,
		     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

const struct graph_node *node_find(const struct run *run, const char *name, struct answer *answer)
{
	const struct graph *graph = run_graph(run);
	int index = graph_find_node(graph, name);
	const char **names;

	if (index >= 0)
		return &graph->nodes[index];
	names = memory_new(graph->n_nodes + 1, sizeof(*names));
	for (unsigned i = 0; i < graph->n_nodes; i++)
		names[i] = graph->nodes[i].name;
	name_missing(name, "node", names, graph->n_nodes, answer);
	free(names);
	return NULL;
}

const struct graph_node *node_part(const struct request *request, struct answer *answer)
{
	return node_find(request->run, request->parts[0], answer);
}

const struct graph_port *port_part(const struct request *request, struct answer *answer)
{
	const struct graph *graph = run_graph(request->run);
	int index = graph_find_port(graph, request->parts[0]);
	const char **names;

	if (index >= 0)
		return &graph->ports[index];
	names = memory_new(graph->n_ports + 1, sizeof(*names));
	for (unsigned i = 0; i < graph->n_ports; i++)
		names[i] = graph->ports[i].name;
	name_missing(request->parts[0], "port", names, graph->n_ports, answer);
	free(names);
	return NULL;
}

void *body_fill(struct arena *arena, const struct request *request, const struct param *table,
		const char *what, struct errors *errors)
{
	struct value *body = NULL;

	if (request->n_body)
		body = yaml_read_text(arena, what, request->body, request->n_body, errors);
	if (errors_count(errors))
		return NULL;
	return table_fill(arena, table, what, (struct place){.file = what}, body, NULL, errors);
}

static void serve_instance(const struct request *request, struct answer *answer)
{
	const struct graph *graph = run_graph(request->run);

	if (page_wanted(request)) {
		serve_page(request, answer);
		return;
	}
	answer->json = json_pack(
	    "{s:s, s:i, s:s?, s:s, s:f, s:i, s:i, s:i}", "name", request->control->name, "pid",
	    (int)getpid(), "address", request->control->tcp ? request->control->access.url : NULL,
	    "file", graph->file, "seconds", (double)run_time_ns(request->run) / 1e9, "nodes",
	    (int)graph->n_nodes, "ports", (int)graph->n_ports, "workers", (int)graph->n_workers);
}

static void serve_stats(const struct request *request, struct answer *answer)
{
	answer->json = run_json(request->run);
}

static void serve_nodes(const struct request *request, struct answer *answer)
{
	const struct graph *graph = run_graph(request->run);

	answer->json = json_object();
	for (unsigned i = 0; i < graph->n_nodes; i++)
		json_object_set_new(answer->json, graph->nodes[i].name,
				    run_node_json(request->run, i));
}

static json_t *params_json(const struct param *table)
{
	struct arena *arena = arena_new();
	json_t *list = json_array();

	for (; table && table->name; table++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s, s:s*, s:b}", "name",
						table->name, "type", table_type_name(arena, table),
						"range", table_range_text(arena, table), "help",
						table->help ? table->help : "", "default",
						table->def, "required", !table->def));
	arena_free(arena);
	return list;
}

static json_t *commands_json(const struct module_type *type)
{
	json_t *list = json_array();

	for (const struct command *command = type->commands; command && command->name; command++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", command->name,
						      "help", command->help, "arguments",
						      params_json(command->args)));
	return list;
}

static void serve_node(const struct request *request, struct answer *answer)
{
	const struct graph_node *node = node_part(request, answer);
	json_t *object;

	if (!node)
		return;
	object = run_node_json(request->run, (unsigned)(node - run_graph(request->run)->nodes));
	json_object_set_new(object, "name", json_string(node->name));
	json_object_set_new(object, "help", json_string(node->type->help));
	json_object_set_new(object, "parameters", params_json(node->type->params));
	json_object_set_new(object, "commands", commands_json(node->type));
	describe_node(request, (unsigned)(node - run_graph(request->run)->nodes), object);
	answer->json = object;
}

static void serve_commands(const struct request *request, struct answer *answer)
{
	const struct graph *graph = run_graph(request->run);

	answer->json = json_object();
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].type->commands)
			json_object_set_new(answer->json, graph->nodes[i].name,
					    commands_json(graph->nodes[i].type));
}

// The arguments are a JSON object, which is YAML too: one reader and one checker for all.
static void serve_command(const struct request *request, struct answer *answer)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *args = NULL;
	json_t *reply = NULL;

	if (!node_part(request, answer)) {
		arena_free(arena);
		errors_free(errors);
		return;
	}
	if (request->n_body)
		args = yaml_read_text(arena, "arguments", request->body, request->n_body, errors);
	if (!errors_count(errors))
		reply =
		    run_command(request->run, request->parts[0], request->parts[1], args, errors);
	arena_free(arena);
	if (reply) {
		answer->json = reply;
		errors_free(errors);
	} else {
		answer_errors(answer, errors_exit_code(errors) == ERROR_MACHINE ? 503 : 400,
			      errors);
	}
}

static void serve_links(const struct request *request, struct answer *answer)
{
	answer->json = run_links_json(request->run);
}

static void serve_ports(const struct request *request, struct answer *answer)
{
	const struct graph *graph = run_graph(request->run);

	answer->json = json_object();
	for (unsigned i = 0; i < graph->n_ports; i++)
		json_object_set_new(answer->json, graph->ports[i].name,
				    run_port_json(request->run, i));
}

static void serve_port(const struct request *request, struct answer *answer)
{
	const struct graph_port *port = port_part(request, answer);

	if (port)
		answer->json =
		    run_port_json(request->run, (unsigned)(port - run_graph(request->run)->ports));
}

static void serve_workers(const struct request *request, struct answer *answer)
{
	answer->json = json_array();
	for (unsigned i = 0; i < run_workers(request->run); i++)
		json_array_append_new(answer->json, run_worker_json(request->run, i));
}

static void serve_stop(const struct request *request, struct answer *answer)
{
	request->control->stopping = true;
	answer->json = json_pack("{s:b}", "stopping", true);
}

static void serve_openapi(const struct request *request, struct answer *answer)
{
	(void)request;
	answer->json = openapi();
}

static const char *const export_queries[] = {"learned", NULL};
static const char *const change_queries[] = {"file", "dry_run", "allow_loss", NULL};

const struct route routes[] = {
    {"GET", "/",
     "the instance: its name, process, file, and how long it has run; the page, where the client "
     "would rather have text/html",
     serve_instance, NULL, NULL},
    {"GET", "/page", "the page for a browser that shows all this", serve_page, NULL, NULL},
    {"GET", "/page/{file}", "a part of the page", serve_page, NULL, NULL},
    {"GET", "/page/{folder}/{file}", "a library of the page", serve_page, NULL, NULL},
    {"GET", "/openapi.json", "this description", serve_openapi, NULL, NULL},
    {"GET", "/graph",
     "the running graph with its tables as a YAML file that loads; learned: with what packets have "
     "taught the nodes",
     serve_graph, NULL, export_queries},
    {"PUT", "/graph",
     "changes to another graph, all or nothing; with dry_run says what it would do", serve_change,
     "a graph file", change_queries},
    {"GET", "/stats", "all counters, as `sluice run --json` prints them", serve_stats, NULL, NULL},
    {"GET", "/events",
     "what happens, as server-sent events: stats at once and each interval (1s), graph, command, "
     "fault, note, capture, stop; and lost, where the client was too slow",
     serve_events, NULL, events_queries},
    {"GET", "/metrics", "all counters in the text format of Prometheus", serve_metrics, NULL, NULL},
    {"GET", "/nodes", "the counters of all nodes", serve_nodes, NULL, NULL},
    {"GET", "/nodes/{node}", "a node: counters, parameters, commands", serve_node, NULL, NULL},
    {"POST", "/nodes/{node}/{command}", "runs a command of the node's module", serve_command,
     "the arguments as an object", NULL},
    {"GET", "/nodes/{node}/capture",
     "streams what passes links of a node as pcapng, until `count` packets or for ever",
     serve_node_capture, NULL, capture_queries},
    {"GET", "/commands", "the commands of all nodes that have any", serve_commands, NULL, NULL},
    {"GET", "/links", "the links of the graph, and how many packets and batches passed each",
     serve_links, NULL, NULL},
    {"GET", "/ports", "the counters of all ports", serve_ports, NULL, NULL},
    {"GET", "/ports/{port}", "the counters of a port", serve_port, NULL, NULL},
    {"GET", "/ports/{port}/capture",
     "streams what nodes receive from a port and send to it as pcapng", serve_port_capture, NULL,
     capture_queries},
    {"GET", "/captures", "the captures that run, with what each has captured and dropped",
     serve_captures, NULL, NULL},
    {"DELETE", "/captures/{id}", "ends a capture: its stream ends with its statistics",
     serve_capture_end, NULL, NULL},
    {"GET", "/workers", "the counters of the workers", serve_workers, NULL, NULL},
    {"POST", "/trace",
     "the ways of packets through the graph, one a line, as they are known; docs/trace.md",
     serve_trace, "an object with n, filter, node, timeout, sample and summary, all optional",
     NULL},
    {"POST", "/explain", "the way that a packet would go; nothing else is touched", serve_explain,
     "an object with node, gate (0 if left out) and packet, in words or hexadecimal", NULL},
    {"POST", "/stop", "stops the run cleanly", serve_stop, NULL, NULL},
    {0},
};

// Compares a path with a row's, part by part; what stands for {name} goes to `parts`.
static bool path_matches(const char *pattern, char *path, const char *parts[])
{
	unsigned n = 0;

	while (*pattern && *path) {
		if (*pattern != '{') {
			if (*pattern++ != *path++)
				return false;
			continue;
		}
		if (*path == '/' || n == ROUTE_PARTS)
			return false;
		pattern = strchr(pattern, '}') + 1;
		parts[n++] = path;
		path += strcspn(path, "/");
		if (*path && *pattern != '/')
			return false;
		if (*path) {
			*path++ = '\0';
			pattern++;
		}
	}
	return !*pattern && !*path;
}

// "GET, HEAD, PUT": what GET answers, HEAD does.
static void allow_add(char allow[ALLOW_BYTES], const char *method)
{
	size_t n = strlen(allow);

	snprintf(allow + n, ALLOW_BYTES - n, "%s%s%s", n ? ", " : "", method,
		 !strcmp(method, "GET") ? ", HEAD" : "");
}

const struct route *route_find(const char *method, char *path, const char *parts[],
			       char allow[ALLOW_BYTES])
{
	char *copy = strdup(path);
	const struct route *found = NULL;

	for (const struct route *row = routes; copy && row->method && !found; row++) {
		strcpy(path, copy);
		if (!path_matches(row->path, path, parts))
			continue;
		if (!strcmp(row->method, method))
			found = row;
		else
			allow_add(allow, row->method);
	}
	free(copy);
	return found;
}
