// SPDX-License-Identifier: BSD-3-Clause
// Ports and nodes: `name: Type` or `name: {Type: {parameter: value}}`.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph/load.h"
#include "value/table.h"

#define NAME_MAX_LENGTH 63

// What was written for a port or node, taken apart.
struct spec {
	const char *type;
	struct place place;
	const struct value *params; // or NULL
};

// Letters, digits, `_` and `-`, a letter first; a node may bear the `#` of an unnamed one.
static bool name_valid(const char *name, bool node)
{
	size_t n = strlen(name);

	if (n > NAME_MAX_LENGTH || (!isalpha((unsigned char)name[0]) && name[0] != '_'))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-", name[i]) &&
		    !(node && name[i] == '#'))
			return false;
	return true;
}

static void name_check(struct draft *draft, const struct member *member, const char *what)
{
	if (!name_valid(member->key, !strcmp(what, "node")))
		error_at(
		    draft->errors, member->place,
		    "\"%s\" cannot be the name of a %s, it should be letters, digits, _ and -, "
		    "a letter first, at most %u",
		    member->key, what, NAME_MAX_LENGTH);
}

// Takes `Type` or `{Type: parameters}` apart; false after an error.
static bool spec_read(struct draft *draft, const struct member *member, const char *what,
		      struct spec *spec)
{
	const struct value *value = member->value;

	*spec = (struct spec){.place = value->place};
	if (value->faulty)
		return false;
	if (value->kind == VALUE_SCALAR) {
		spec->type = value->text;
		return true;
	}
	if (value->kind == VALUE_MAP && value->n == 1) {
		spec->type = value->members[0].key;
		spec->place = value->members[0].place;
		spec->params = value->members[0].value;
		return true;
	}
	if (value->kind == VALUE_NULL)
		error_at(draft->errors, member->place, "%s \"%s\" has no type, it should be %s",
			 what, member->key,
			 strcmp(what, "port") != 0 ? "name: Module" : "name: driver");
	else if (value->kind == VALUE_MAP && value->n > 1)
		error_at(draft->errors, value->members[1].place,
			 "%s \"%s\" has more than one type, it should be {%s: {parameter: value}}",
			 what, member->key, value->members[0].key);
	else
		error_at(draft->errors, value->place,
			 "%s \"%s\" is %s, it should be a type or {type: {parameter: value}}", what,
			 member->key, value_describe(draft->graph->arena, value));
	return false;
}

static bool section_check(struct draft *draft, const struct value *value, const char *section)
{
	if (!value || value->faulty || value->kind == VALUE_NULL)
		return false;
	if (value->kind == VALUE_MAP)
		return true;
	error_at(draft->errors, value->place, "%s is %s, it should be a map of names and types",
		 section, value_describe(draft->graph->arena, value));
	return false;
}

// `names` are those that `what` can be.
static void type_unknown(struct draft *draft, const struct spec *spec, const char *what,
			 const char *const *names, unsigned n)
{
	const char *near = suggest(spec->type, names, n);

	if (near)
		error_at(draft->errors, spec->place, "no %s \"%s\"; did you mean \"%s\"?", what,
			 spec->type, near);
	else
		error_at(draft->errors, spec->place, "no %s \"%s\" (`sluice %ss` lists them)", what,
			 spec->type, what);
}

static void driver_unknown(struct draft *draft, const struct spec *spec)
{
	const struct driver_type **list;
	unsigned n = driver_list(&list);
	const char **names = memory_new(n + 1, sizeof(*names));

	for (unsigned i = 0; i < n; i++)
		names[i] = list[i]->name;
	type_unknown(draft, spec, "driver", names, n);
	free(names);
}

static void module_unknown(struct draft *draft, const struct spec *spec)
{
	const struct module_type **list;
	unsigned n = module_list(&list);
	const char **names = memory_new(n + 1, sizeof(*names));

	for (unsigned i = 0; i < n; i++)
		names[i] = list[i]->name;
	type_unknown(draft, spec, "module", names, n);
	free(names);
}

// A driver's or module's own check, with its parameters as the subject of what it reports.
static void check_run(struct draft *draft, const char *type, struct place place,
		      const struct value *written, const void *params,
		      void (*check)(const void *, struct errors *))
{
	struct subject subject = {.type = type, .place = place, .written = written};

	if (!check || !params)
		return;
	errors_about(draft->errors, &subject);
	check(params, draft->errors);
	errors_about(draft->errors, NULL);
}

void ports_read(struct draft *draft, const struct value *ports)
{
	struct graph *graph = draft->graph;

	if (!section_check(draft, ports, "ports"))
		return;
	graph->ports = arena_alloc(graph->arena, ports->n * sizeof(*graph->ports));
	draft->port_names = arena_alloc(graph->arena, ports->n * sizeof(*draft->port_names));
	for (size_t i = 0; i < ports->n; i++) {
		const struct member *member = &ports->members[i];
		struct graph_port *port = &graph->ports[graph->n_ports];
		struct spec spec;

		name_check(draft, member, "port");
		port->name = member->key;
		port->place = member->place;
		draft->port_names[graph->n_ports++] = member->key;
		if (!spec_read(draft, member, "port", &spec))
			continue;
		port->driver = driver_find(spec.type);
		if (!port->driver) {
			driver_unknown(draft, &spec);
			continue;
		}
		port->written = spec.params;
		port->params = table_fill(graph->arena, port->driver->params, port->driver->name,
					  spec.place, spec.params, NULL, draft->errors);
		check_run(draft, port->driver->name, spec.place, spec.params, port->params,
			  port->driver->check);
	}
}

struct graph_node *node_add(struct draft *draft, const char *name, struct place place,
			    const struct module_type *type, const struct value *written)
{
	struct graph *graph = draft->graph;
	struct graph_node *node;

	if (graph->n_nodes == draft->nodes_room) {
		struct graph_node *old = graph->nodes;

		draft->nodes_room = draft->nodes_room ? 2 * draft->nodes_room : 64;
		graph->nodes = arena_alloc(graph->arena, draft->nodes_room * sizeof(*node));
		if (old)
			memcpy(graph->nodes, old, graph->n_nodes * sizeof(*node));
	}
	node = &graph->nodes[graph->n_nodes++];
	*node = (struct graph_node){
	    .name = name, .place = place, .type = type, .written = written, .port = -1};
	if (type) {
		node->source = type->poll && !type->igates;
		node->igates = type->igates == GATES_ANY ? 0 : type->igates;
		node->ogates = type->ogates == GATES_ANY ? 0 : type->ogates;
	}
	return node;
}

static int by_name_compare(const void *a, const void *b, void *graph)
{
	const struct graph_node *nodes = ((struct graph *)graph)->nodes;

	return strcmp(nodes[*(const unsigned *)a].name, nodes[*(const unsigned *)b].name);
}

void nodes_read(struct draft *draft, const struct value *nodes)
{
	struct graph *graph = draft->graph;

	if (!section_check(draft, nodes, "nodes"))
		return;
	for (size_t i = 0; i < nodes->n; i++) {
		const struct member *member = &nodes->members[i];
		const struct module_type *type = NULL;
		struct graph_node *node;
		struct spec spec;

		name_check(draft, member, "node");
		if (module_find(member->key))
			error_at(draft->errors, member->place,
				 "\"%s\" is the name of a module, a node needs one of its own",
				 member->key);
		if (spec_read(draft, member, "node", &spec)) {
			type = module_find(spec.type);
			if (!type)
				module_unknown(draft, &spec);
		}
		node = node_add(draft, member->key, member->place, type, spec.params);
		node->unnamed = strchr(member->key, '#') != NULL;
	}
	draft->by_name = arena_alloc(graph->arena, graph->n_nodes * sizeof(*draft->by_name));
	for (unsigned i = 0; i < graph->n_nodes; i++)
		draft->by_name[i] = i;
	draft->n_by_name = graph->n_nodes;
	qsort_r(draft->by_name, graph->n_nodes, sizeof(*draft->by_name), by_name_compare, graph);
}

// The highest gate that parameters name, plus 1: such a gate exists though nothing is linked to it.
static unsigned gates_named(const struct param *table, const void *params)
{
	unsigned n = 0;

	for (const struct param *row = table; row && row->name; row++) {
		const void *field = (const char *)params + row->offset;
		const struct param_list *list = field;
		unsigned inner = 0;

		if (row->type == PARAM_GATE)
			inner = ((const struct gate *)field)->n + 1u;
		for (unsigned i = 0; row->type == PARAM_LIST && i < list->n; i++) {
			const char *items = list->items;
			unsigned one =
			    gates_named(row->fields, items + i * row->fields[0].struct_size);

			inner = one > inner ? one : inner;
		}
		n = inner > n ? inner : n;
	}
	return n;
}

static void gates_settle(struct graph_node *node)
{
	unsigned named = node->params ? gates_named(node->type->params, node->params) : 0;

	if (node->type->ogates == GATES_ANY && named > node->ogates)
		node->ogates = (gate_t)named;
	// Where both sides are as many as linked, gate i of one side belongs to gate i of the
	// other.
	if (node->type->igates == GATES_ANY && node->type->ogates == GATES_ANY) {
		gate_t most = node->igates > node->ogates ? node->igates : node->ogates;

		node->igates = most;
		node->ogates = most;
	}
}

// Finds the port that the parameters name, and whether the node receives or sends there.
static void port_find(struct graph *graph, struct graph_node *node)
{
	for (const struct param *row = node->type->params; row && row->name; row++) {
		const struct port_ref *ref =
		    (const void *)((const char *)node->params + row->offset);

		if (row->type != PARAM_PORT || !ref->name)
			continue;
		node->port = graph_find_port(graph, ref->name);
		node->receives = !node->type->igates;
		return;
	}
}

// Whether the port is one that what it refuses may wait for; of an unknown driver it is not known.
static bool port_patient(const struct graph *graph, int port)
{
	return port >= 0 && graph->ports[port].driver && graph->ports[port].driver->patient;
}

static void node_fill(struct draft *draft, struct graph_node *node)
{
	struct graph *graph = draft->graph;
	struct place place = node->place;
	struct table_scope scope = {
	    .ports = draft->port_names,
	    .n_ports = graph->n_ports,
	    .gates = node->type->ogate_names,
	    .n_gates = node->type->ogates == GATES_ANY ? 0 : node->type->ogates,
	};

	node->params = table_fill(graph->arena, node->type->params, node->type->name, place,
				  node->written, &scope, draft->errors);
	if (!node->params)
		return;
	check_run(draft, node->type->name, place, node->written, node->params, node->type->check);
	gates_settle(node);
	port_find(graph, node);
	if (node->type->poll && node->type->igates)
		node->source = !node->type->polls || node->type->polls(node->params) ||
			       port_patient(graph, node->port);
}

void nodes_fill(struct draft *draft)
{
	for (unsigned i = 0; i < draft->graph->n_nodes; i++)
		if (draft->graph->nodes[i].type)
			node_fill(draft, &draft->graph->nodes[i]);
}
