// SPDX-License-Identifier: BSD-3-Clause
// Random graphs of all modules (random_graph.h).

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_graph.h"

#define NODES_MAX 16
#define GATES_MANY 4 // of a node that has as many as are linked
#define TRIES 12

// An output gate that leads nowhere yet.
struct open_gate {
	unsigned node;
	unsigned gate;
};

struct making {
	struct random *random;
	const struct module_type **modules;
	unsigned n_modules;
	const struct module_type *types[2 * NODES_MAX];
	unsigned n; // nodes, n0, n1, ...
	struct open_gate gates[2 * NODES_MAX * GATES_MAX];
	unsigned n_gates;
	struct engine_text nodes;
	struct engine_text links;
};

static bool uses_port(const struct module_type *type)
{
	for (const struct param *row = type->params; row && row->name; row++)
		if (row->type == PARAM_PORT)
			return true;
	return false;
}

bool random_wanted(const struct module_type *type)
{
	return !engine_own_module(type) && type->igates && !uses_port(type);
}

static unsigned gates_of(gate_t gates)
{
	return gates == GATES_ANY ? GATES_MANY : gates;
}

// Whether a node of the type and parameters is accepted, in the smallest graph.
static bool node_loads(const struct module_type *type, const char *params)
{
	struct engine_text text = {0};
	char *faults;
	bool loads;

	engine_put(&text, "nodes: {s: Source, n: {%s: %s}}\n%s", type->name, params,
		   type->igates ? "graph: [s -> n]\n" : "");
	faults = engine_faults(text.text);
	loads = !*faults || (type->reads && strstr(faults, "reads the metadata") &&
			     !strchr(strstr(faults, "reads the metadata"), ':'));
	free(faults);
	free(text.text);
	return loads;
}

bool random_node(struct random *random, const struct module_type *type, struct engine_text *to)
{
	for (unsigned i = 0; i < TRIES; i++) {
		struct engine_text params = {0};
		bool good = random_params(random, type->params, i + 1 == TRIES, NULL,
					  gates_of(type->ogates), &params) &&
			    node_loads(type, params.text);

		if (good)
			engine_put(to, "{%s: %s}", type->name, params.text);
		free(params.text);
		if (good)
			return true;
	}
	return false;
}

const struct module_type **random_modules(unsigned *n)
{
	struct random random = {1};
	const struct module_type **list, **modules;
	unsigned n_list = module_list(&list);

	modules = memory_new(n_list + 1, sizeof(*modules));
	*n = 0;
	for (unsigned i = 0; i < n_list; i++) {
		struct engine_text text = {0};

		if (random_wanted(list[i]) && random_node(&random, list[i], &text))
			modules[(*n)++] = list[i];
		else if (random_wanted(list[i]))
			printf("\n%s: no parameters that it takes\n", list[i]->name);
		free(text.text);
	}
	return modules;
}

static void node_made(struct making *making, const struct module_type *type)
{
	for (unsigned i = 0; i < gates_of(type->ogates); i++)
		making->gates[making->n_gates++] = (struct open_gate){.node = making->n, .gate = i};
	making->types[making->n++] = type;
}

// Links some open gate to an input gate of node `to`.
static void link_put(struct making *making, unsigned open, unsigned to)
{
	struct open_gate from = making->gates[open];

	making->gates[open] = making->gates[--making->n_gates];
	engine_put(&making->links, "  - n%u[%u] -> [%u]n%u\n", from.node, from.gate,
		   random_below(making->random, gates_of(making->types[to]->igates)), to);
}

static void sources_make(struct making *making, unsigned n_ports)
{
	for (unsigned i = 0; i < n_ports; i++) {
		engine_put(&making->nodes, "  n%u: {PortInc: {port: p%u}}\n", making->n, i);
		node_made(making, module_find("PortInc"));
	}
	if (random_chance(making->random, 40)) {
		engine_put(&making->nodes, "  n%u: {Source: {count: %u}}\n", making->n,
			   1 + random_below(making->random, 500));
		node_made(making, module_find("Source"));
	}
	if (random_chance(making->random, 20)) {
		struct engine_text node = {0};

		if (random_node(making->random, module_find("Generator"), &node)) {
			engine_put(&making->nodes, "  n%u: %s\n", making->n, node.text);
			node_made(making, module_find("Generator"));
		}
		free(node.text);
	}
}

static void nodes_make(struct making *making, unsigned n_ports)
{
	unsigned n = 1 + random_below(making->random, NODES_MAX - 1);

	for (unsigned i = 0; i < n && making->n_gates; i++) {
		const struct module_type *type =
		    making->modules[random_below(making->random, making->n_modules)];
		struct engine_text text = {0};

		if (random_chance(making->random, 20)) {
			type = module_find("PortOut");
			engine_put(&text, "{PortOut: {port: p%u}}",
				   random_below(making->random, n_ports));
		} else if (!random_node(making->random, type, &text)) {
			free(text.text);
			continue;
		}
		engine_put(&making->nodes, "  n%u: %s\n", making->n, text.text);
		free(text.text);
		node_made(making, type);
		link_put(making,
			 random_below(making->random, making->n_gates - gates_of(type->ogates)),
			 making->n - 1);
		if (making->n_gates <= gates_of(type->ogates) && !gates_of(type->ogates))
			break;
	}
}

// Most gates that are left lead somewhere: forwards, or back into a loop.
static void rest_link(struct making *making, unsigned n_sources)
{
	unsigned n = making->n_gates;

	for (unsigned i = 0; i < n; i++) {
		unsigned open = random_below(making->random, making->n_gates);
		unsigned from = making->gates[open].node;
		unsigned to = n_sources + random_below(making->random, making->n - n_sources);

		if (to <= from && random_chance(making->random, 80))
			continue;
		if (random_chance(making->random, 80))
			link_put(making, open, to);
		if (!making->n_gates)
			return;
	}
}

static char *graph_make(struct random *random, const struct module_type **modules,
			unsigned n_modules)
{
	struct making *making = memory_new(1, sizeof(*making));
	struct engine_text text = {0};
	unsigned n_ports = 1 + random_below(random, 4), n_sources;

	making->random = random;
	making->modules = modules;
	making->n_modules = n_modules;
	sources_make(making, n_ports);
	n_sources = making->n;
	nodes_make(making, n_ports);
	if (making->n > n_sources && making->n_gates)
		rest_link(making, n_sources);
	engine_put(&text, "burst: %u\nwatch: %u\nports:\n", 1 + random_below(random, 64),
		   1 + random_below(random, 8));
	for (unsigned i = 0; i < n_ports; i++)
		engine_put(&text, "  p%u: {memory: {open: true, segments: %u}}\n", i,
			   random_chance(random, 50) ? 0 : 1 + random_below(random, 100));
	engine_put(&text, "nodes:\n%sgraph:\n%s", making->nodes.text,
		   making->links.text ? making->links.text : "  []\n");
	free(making->nodes.text);
	free(making->links.text);
	free(making);
	return text.text;
}

char *random_graph(struct random *random)
{
	static const struct module_type **modules;
	static unsigned n_modules;

	if (!modules)
		modules = random_modules(&n_modules);
	for (;;) {
		char *text = graph_make(random, modules, n_modules);
		char *faults = engine_faults(text);
		bool loads = !*faults;

		// What one node alone cannot show: metadata that nobody writes.
		if (!loads && !strstr(faults, "reads the metadata"))
			printf("\n%s\n%s\n", text, faults);
		free(faults);
		if (loads)
			return text;
		free(text);
	}
}
