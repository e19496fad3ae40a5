// SPDX-License-Identifier: BSD-3-Clause
// What a node is beside its counters: its gates, who runs it, and its parameters as they are now.

#include <stdlib.h>

#include "control/route.h"
#include "value/table.h"

// A list with a name for each gate, or null.
static json_t *gates_json(gate_t n, const char *const *names, gate_t n_named)
{
	json_t *list = json_array();

	for (gate_t i = 0; i < n; i++)
		json_array_append_new(list, names && n_named != GATES_ANY && i < n_named && names[i]
						? json_string(names[i])
						: json_null());
	return list;
}

static json_t *workers_json(uint64_t mask)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			json_array_append_new(list, json_integer(i));
	return list;
}

// As a user would write it: a text, or for what is none a line of YAML.
static json_t *value_text_json(const struct value *value)
{
	size_t n = 0;
	char *text = NULL;
	json_t *json;
	FILE *to;

	if (value->kind == VALUE_SCALAR)
		return json_string(value->text);
	to = open_memstream(&text, &n);
	if (!to)
		return json_null();
	value_write_yaml(value, to);
	fclose(to);
	while (n && text[n - 1] == '\n')
		n--;
	json = json_stringn(text, n);
	free(text);
	return json;
}

static json_t *values_json(const struct param *table, const void *params)
{
	struct arena *arena = arena_new();
	json_t *object = json_object();

	for (const struct param *row = table; row && row->name; row++)
		json_object_set_new(object, row->name,
				    value_text_json(table_field_value(arena, row, params)));
	arena_free(arena);
	return object;
}

void describe_node(const struct request *request, unsigned index, json_t *object)
{
	const struct graph_node *node = &run_graph(request->run)->nodes[index];
	const struct module_type *type = node->type;

	json_object_set_new(object, "igates",
			    gates_json(node->igates, type->igate_names, type->igates));
	json_object_set_new(object, "ogates",
			    gates_json(node->ogates, type->ogate_names, type->ogates));
	json_object_set_new(object, "workers", workers_json(node->workers));
	json_object_set_new(object, "values", values_json(type->params, node->params));
}
