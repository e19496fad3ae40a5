// SPDX-License-Identifier: BSD-3-Clause
// From a file to a checked graph: the order of the steps, vars, settings, outside modules.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph/load.h"
#include "value/table.h"

static const char *const idle_choices[] = {"sleep", "spin", NULL};

const struct param graph_settings_params[] = {
    PARAM(graph_settings, memory, .def = "0", .max = 1ULL << 42,
	  .help = "DPDK's memory; 0: worked out from ports, queues and nodes"),
    PARAM(graph_settings, eal, .def = "", .example = "--no-huge",
	  .help = "more arguments for DPDK's EAL, separated by blanks"),
    PARAM(graph_settings, idle, .def = "sleep", .choices = idle_choices,
	  .help = "what a worker does when nothing comes: sleep after 1,000 empty polls, 1 us "
		  "doubling to 100 us, or spin (benchmarks)"),
    PARAM(graph_settings, burst, .def = "32", .min = 1, .max = BATCH_MAX,
	  .help = "packets that a source takes at once"),
    PARAM(graph_settings, watch, .def = "64", .min = 1, .max = 1 << 20,
	  .help = "one walk in so many reads the time at each node"),
    PARAM(graph_settings, name, .def = "", .max = GRAPH_NAME_MAX,
	  .help = "the name of the instance"),
    PARAM_END,
};

static const char *const sections[] = {"vars", "modules", "ports", "nodes", "graph", "workers"};

#define N_SECTIONS (sizeof(sections) / sizeof(*sections))

static bool section_known(const char *key)
{
	for (size_t i = 0; i < N_SECTIONS; i++)
		if (!strcmp(key, sections[i]))
			return true;
	return false;
}

static bool setting_known(const char *key)
{
	for (const struct param *row = graph_settings_params; row->name; row++)
		if (!strcmp(key, row->name))
			return true;
	return false;
}

static void keys_check(const struct value *root, struct errors *errors)
{
	const char *known[N_SECTIONS + 16];
	size_t n = 0;

	for (size_t i = 0; i < N_SECTIONS; i++)
		known[n++] = sections[i];
	for (const struct param *row = graph_settings_params; row->name; row++)
		known[n++] = row->name;
	for (size_t i = 0; i < root->n; i++) {
		const struct member *member = &root->members[i];
		const char *near = suggest(member->key, known, n);

		if (section_known(member->key) || setting_known(member->key))
			continue;
		if (near)
			error_at(errors, member->place,
				 "\"%s\" is not a key of a graph file; did you mean \"%s\"?",
				 member->key, near);
		else
			error_at(errors, member->place,
				 "\"%s\" is not a key of a graph file, it should be one of vars, "
				 "modules, ports, nodes, graph, workers, memory, eal, idle, burst, "
				 "watch, name",
				 member->key);
	}
}

bool graph_name_valid(const char *name)
{
	size_t n = strlen(name);

	if (!n || n > GRAPH_NAME_MAX || name[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

static void name_check(const struct draft *draft, const struct value *settings)
{
	const char *name = draft->graph->settings.name;
	const struct member *member = value_member(settings, "name");

	if (member && *name && !graph_name_valid(name))
		error_at(draft->errors, member->value->place,
			 "\"%s\" cannot be the name of an instance, it should be letters, digits, "
			 "`.`, `_` and `-`, with no `.` at its start",
			 name);
}

static void settings_read(struct draft *draft, const struct value *root)
{
	struct graph *graph = draft->graph;
	struct value *map = value_new(graph->arena, VALUE_MAP, root->place);
	const struct graph_settings *settings;

	for (size_t i = 0; i < root->n; i++)
		if (setting_known(root->members[i].key))
			value_put(graph->arena, map, root->members[i].key, root->members[i].place,
				  root->members[i].value);
	settings = table_fill(graph->arena, graph_settings_params, "graph", root->place, map, NULL,
			      draft->errors);
	if (!settings)
		return;
	graph->settings = *settings;
	name_check(draft, map);
}

// What --set gives replaces the value of a var of the file. A text that begins as a list or map is
// read as one.
static void vars_set(struct draft *draft, struct value *vars, const struct graph_set *set)
{
	struct arena *arena = draft->graph->arena;
	struct place place = {.file = "--set"};
	struct member *member = vars ? value_member(vars, set->name) : NULL;
	const char *names[64];
	const char *near;
	size_t n = 0;

	if (member) {
		if (set->value[0] == '[' || set->value[0] == '{') {
			struct value *value = yaml_read_text(arena, "--set", set->value,
							     strlen(set->value), draft->errors);
			if (value)
				member->value = value;
			return;
		}
		member->value = value_scalar(arena, place, arena_strdup(arena, set->value));
		return;
	}
	for (size_t i = 0; vars && i < vars->n && n < 64; i++)
		names[n++] = vars->members[i].key;
	near = suggest(set->name, names, n);
	if (near)
		error_at(draft->errors, place, "%s has no var \"%s\"; did you mean \"%s\"?",
			 draft->graph->file, set->name, near);
	else if (n)
		error_at(draft->errors, place, "%s has no var \"%s\", it has %s%s",
			 draft->graph->file, set->name, names[0], n > 1 ? " and others" : "");
	else
		error_at(draft->errors, place, "%s has no vars, so \"%s\" cannot be set",
			 draft->graph->file, set->name);
}

static void vars_apply(struct draft *draft, struct value *root, const struct graph_set *sets,
		       unsigned n_sets)
{
	struct value *vars = value_get(root, "vars");

	if (vars && vars->kind == VALUE_NULL)
		vars = NULL;
	if (vars && vars->kind != VALUE_MAP) {
		error_at(draft->errors, vars->place,
			 "vars is %s, it should be a map of names and values",
			 value_describe(draft->graph->arena, vars));
		vars = NULL;
	}
	for (unsigned i = 0; i < n_sets; i++)
		vars_set(draft, vars, &sets[i]);
	for (size_t i = 0; i < root->n; i++)
		if (strcmp(root->members[i].key, "vars") != 0)
			value_expand(draft->graph->arena, root->members[i].value, vars,
				     draft->errors);
}

static void modules_read(struct draft *draft, const struct value *list)
{
	if (!list || list->kind == VALUE_NULL)
		return;
	if (list->kind != VALUE_LIST) {
		error_at(draft->errors, list->place,
			 "modules is %s, it should be a list of shared objects (./mine.so)",
			 value_describe(draft->graph->arena, list));
		return;
	}
	for (size_t i = 0; i < list->n; i++) {
		const struct value *item = list->items[i];

		if (item->kind == VALUE_SCALAR)
			module_load(item->text, item->place, draft->errors);
		else
			error_at(draft->errors, item->place,
				 "%s is no module, it should be the path of a shared object",
				 value_describe(draft->graph->arena, item));
	}
}

static void sections_read(struct draft *draft, struct value *root)
{
	struct graph *graph = draft->graph;
	bool clean;

	keys_check(root, draft->errors);
	settings_read(draft, root);
	modules_read(draft, value_get(root, "modules"));
	ports_read(draft, value_get(root, "ports"));
	nodes_read(draft, value_get(root, "nodes"));
	links_read(draft, value_get(root, "graph"));
	nodes_fill(draft);
	// What follows would only repeat earlier faults in other words where names did not resolve.
	clean = draft_clean(draft) && !root->faulty;
	if (clean) {
		order_find(draft);
		reach_check(draft);
	}
	workers_read(draft, value_get(root, "workers"));
	if (clean)
		meta_check(draft);
	graph->root = root;
}

struct graph *graph_from_value(struct arena *arena, const char *file, struct value *root,
			       const struct graph_set *sets, unsigned n_sets, struct errors *errors)
{
	struct graph *graph = arena_alloc(arena, sizeof(*graph));
	static const char *no_ports[1]; // a port's name is then always unknown
	struct draft draft = {.graph = graph,
			      .errors = errors,
			      .errors_before = errors_count(errors),
			      .port_names = no_ports};

	graph->arena = arena;
	graph->file = arena_strdup(arena, file);
	if (root->kind == VALUE_NULL)
		error_at(errors, root->place,
			 "the file is empty, it should hold ports, nodes and a graph");
	else if (root->kind != VALUE_MAP)
		error_at(errors, root->place,
			 "the file is %s, it should be a map with ports, nodes and graph",
			 value_describe(arena, root));
	else {
		vars_apply(&draft, root, sets, n_sets);
		sections_read(&draft, root);
	}
	if (draft_clean(&draft) && !root->faulty)
		return graph;
	graph_free(graph);
	return NULL;
}

struct graph *graph_load(const char *file, const struct graph_set *sets, unsigned n_sets,
			 struct errors *errors)
{
	unsigned before = errors_count(errors);
	struct arena *arena = arena_new();
	struct value *root = yaml_read_file(arena, file, errors);
	struct graph *graph;

	if (!root) {
		arena_free(arena);
		return NULL;
	}
	graph = graph_from_value(arena, file, root, sets, n_sets, errors);
	// Doubled keys leave a tree, but no good one.
	if (errors_count(errors) == before)
		return graph;
	graph_free(graph);
	return NULL;
}

void graph_free(struct graph *graph)
{
	if (graph)
		arena_free(graph->arena);
}

int graph_find_node(const struct graph *graph, const char *name)
{
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (!strcmp(graph->nodes[i].name, name))
			return (int)i;
	return -1;
}

int graph_find_port(const struct graph *graph, const char *name)
{
	for (unsigned i = 0; i < graph->n_ports; i++)
		if (!strcmp(graph->ports[i].name, name))
			return (int)i;
	return -1;
}
