// SPDX-License-Identifier: BSD-3-Clause
// From parameter tables to JSON Schema: what a row accepts, and ports, nodes and workers.

#include <stdlib.h>
#include <string.h>

#include "cli/schema.h"
#include "value/table.h"

#define NAME_PATTERN "^[A-Za-z_][A-Za-z0-9_-]{0,62}$"
#define NODE_PATTERN "^[A-Za-z_][A-Za-z0-9_#-]{0,62}$"

static json_t *text_like(const char *pattern)
{
	return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
}

static json_t *whole(json_int_t min, json_int_t max)
{
	return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", min, "maximum", max);
}

// The least and the most that a row takes; what is beyond 63 bits is left to the check.
static json_t *integer_schema(const struct param *row)
{
	static const uint64_t most[] = {
	    [PARAM_U8] = UINT8_MAX,  [PARAM_U16] = UINT16_MAX, [PARAM_U32] = UINT32_MAX,
	    [PARAM_U64] = INT64_MAX, [PARAM_I32] = INT32_MAX,  [PARAM_I64] = INT64_MAX};
	bool is_signed = row->type == PARAM_I32 || row->type == PARAM_I64;
	uint64_t max = row->max ? row->max : most[row->type];
	json_int_t min = row->min;

	if (is_signed && !row->min && !row->max)
		min = row->type == PARAM_I32 ? INT32_MIN : INT64_MIN;
	if (max > INT64_MAX || (row->type == PARAM_U64 && !row->max))
		return json_pack("{s:s, s:I}", "type", "integer", "minimum", min);
	return whole(min, (json_int_t)max);
}

static json_t *string_schema(const struct param *row)
{
	json_t *schema = json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");

	if (row->min)
		json_object_set_new(schema, "minLength", json_integer(1));
	// Lengths are bytes, and the schema counts characters: only the upper bound holds for both.
	if (row->max && row->max <= INT64_MAX)
		json_object_set_new(schema, "maxLength", json_integer((json_int_t)row->max));
	return schema;
}

// A word, and what other readers of YAML than ours take it for.
static void append_word(json_t *list, const char *word)
{
	json_array_append_new(list, json_string(word));
	if (!strcmp(word, "on") || !strcmp(word, "yes"))
		json_array_append_new(list, json_true());
	else if (!strcmp(word, "off") || !strcmp(word, "no"))
		json_array_append_new(list, json_false());
	else if (!strcmp(word, "null"))
		json_array_append_new(list, json_null());
	else if (!strncmp(word, "0x", 2))
		json_array_append_new(list, json_integer((json_int_t)strtoll(word, NULL, 16)));
}

static json_t *choice_schema(const struct param *row)
{
	json_t *choices = json_array();

	for (const char *const *choice = row->choices; choice && *choice; choice++)
		append_word(choices, *choice);
	return json_pack("{s:o}", "enum", choices);
}

static json_t *gate_schema(const struct module_type *type)
{
	gate_t n = type && type->ogates != GATES_ANY ? type->ogates : GATES_MAX;
	json_t *names, *number = whole(0, n ? n - 1 : 0);

	if (!type || !type->ogate_names || type->ogates == GATES_ANY)
		return number;
	names = json_array();
	for (gate_t i = 0; i < n; i++)
		json_array_append_new(names, json_string(type->ogate_names[i]));
	return json_pack("{s:[o, {s:o}]}", "anyOf", number, "enum", names);
}

static json_t *params_schema(const struct param *, const struct module_type *);

static json_t *list_schema(const struct param *row, const struct module_type *type)
{
	json_t *item = json_pack("{s:[o, o]}", "anyOf", params_schema(row->fields, type),
				 schema_param(row->fields, type));
	json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", item);

	if (row->min > 0)
		json_object_set_new(schema, "minItems", json_integer(row->min));
	if (row->max && row->max <= INT64_MAX)
		json_object_set_new(schema, "maxItems", json_integer((json_int_t)row->max));
	return schema;
}

static json_t *type_schema(const struct param *row, const struct module_type *type)
{
	switch (row->type) {
	case PARAM_BOOL:
		return json_pack("{s:s}", "type", "boolean");
	case PARAM_U8:
	case PARAM_U16:
	case PARAM_U32:
	case PARAM_U64:
	case PARAM_I32:
	case PARAM_I64:
		return integer_schema(row);
	case PARAM_DOUBLE:
		return json_pack("{s:s}", "type", "number");
	case PARAM_STRING:
		return string_schema(row);
	case PARAM_DURATION:
		return text_like("^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|min|h)$");
	case PARAM_BYTES:
		return json_pack("{s:[{s:s, s:i}, o]}", "anyOf", "type", "integer", "minimum", 0,
				 text_like("^[0-9]+(\\.[0-9]+)?(B|[KMG]iB|[kMG]B)?$"));
	case PARAM_RATE:
		return text_like("^[0-9]+(\\.[0-9]+)?[kMG]?(pps|bps)$");
	case PARAM_MAC:
		return text_like("^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$");
	case PARAM_IP4_NET:
		return text_like("^[0-9]{1,3}(\\.[0-9]{1,3}){3}(/[0-9]{1,2})?$");
	case PARAM_IP6_NET:
		return text_like("^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?$");
	case PARAM_GATE:
		return gate_schema(type);
	case PARAM_CHOICE:
		return choice_schema(row);
	case PARAM_HEX:
		return json_pack("{s:[o, {s:s}]}", "anyOf", text_like("^[0-9A-Fa-f\\s:.]*$"),
				 "type", "number");
	case PARAM_FRAME:
		return json_pack("{s:[s,s]}", "type", "string", "number");
	case PARAM_PORT:
		return text_like(NAME_PATTERN);
	case PARAM_LIST:
		return list_schema(row, type);
	}
	return json_object();
}

// Types whose empty text means that there is none.
static bool empty_is_good(const struct param *row)
{
	return row->def && !*row->def &&
	       (row->type == PARAM_MAC || row->type == PARAM_IP4_NET ||
		row->type == PARAM_IP6_NET || row->type == PARAM_PORT);
}

json_t *schema_param(const struct param *row, const struct module_type *type)
{
	json_t *any =
	    json_pack("[o, {s:s}]", type_schema(row, type), "$ref", "#/definitions/variable");
	json_t *schema;

	if (empty_is_good(row))
		json_array_append_new(any, json_pack("{s:s}", "const", ""));
	schema = json_pack("{s:o}", "anyOf", any);
	if (row->help)
		json_object_set_new(schema, "description", json_string(row->help));
	if (row->def && *row->def)
		json_object_set_new(schema, "default", json_string(row->def));
	return schema;
}

static bool any_required(const struct param *table)
{
	for (; table && table->name; table++)
		if (!table->def)
			return true;
	return false;
}

// A map after a table.
static json_t *params_schema(const struct param *table, const struct module_type *type)
{
	json_t *properties = json_object(), *required = json_array(), *schema;

	for (const struct param *row = table; row && row->name; row++) {
		json_object_set_new(properties, row->name, schema_param(row, type));
		if (!row->def)
			json_array_append_new(required, json_string(row->name));
	}
	schema = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
			   "properties", properties);
	if (json_array_size(required))
		json_object_set_new(schema, "required", required);
	else
		json_decref(required);
	return schema;
}

// What stands behind the name of a type: its parameters, or nothing if none need be given.
static json_t *spec_schema(const struct param *table, const char *help,
			   const struct module_type *type)
{
	json_t *any =
	    json_pack("[o, {s:s}]", params_schema(table, type), "$ref", "#/definitions/variable");

	if (!any_required(table))
		json_array_append_new(any, json_pack("{s:s}", "type", "null"));
	return json_pack("{s:o, s:s}", "anyOf", any, "description", help ? help : "");
}

// `name: Type` or `name: {Type: {parameter: value}}`.
static json_t *section_schema(json_t *plain, json_t *types, json_t *names)
{
	json_t *spec = json_pack("{s:[{s:o}, {s:s, s:i, s:i, s:b, s:o}, {s:s}]}", "anyOf", "enum",
				 plain, "type", "object", "minProperties", 1, "maxProperties", 1,
				 "additionalProperties", 0, "properties", types, "$ref",
				 "#/definitions/variable");

	return json_pack("{s:[s,s], s:o, s:o}", "type", "object", "null", "propertyNames", names,
			 "additionalProperties", spec);
}

json_t *schema_ports(void)
{
	json_t *plain = json_array(), *types = json_object();
	const struct driver_type **list;
	unsigned n = driver_list(&list);

	for (unsigned i = 0; i < n; i++) {
		if (!any_required(list[i]->params))
			append_word(plain, list[i]->name);
		json_object_set_new(types, list[i]->name,
				    spec_schema(list[i]->params, list[i]->help, NULL));
	}
	return section_schema(plain, types, json_pack("{s:s}", "pattern", NAME_PATTERN));
}

json_t *schema_nodes(void)
{
	json_t *plain = json_array(), *types = json_object(), *taken = json_array();
	const struct module_type **list;
	unsigned n = module_list(&list);

	for (unsigned i = 0; i < n; i++) {
		if (!any_required(list[i]->params))
			append_word(plain, list[i]->name);
		json_object_set_new(types, list[i]->name,
				    spec_schema(list[i]->params, list[i]->help, list[i]));
		json_array_append_new(taken, json_string(list[i]->name));
	}
	// A node may not bear a module's name.
	return section_schema(
	    plain, types,
	    json_pack("{s:s, s:{s:o}}", "pattern", NODE_PATTERN, "not", "enum", taken));
}

json_t *schema_workers(void)
{
	json_t *worker = params_schema(graph_worker_params, NULL);
	json_t *weights =
	    json_pack("{s:s, s:{s:[o, {s:s}]}}", "type", "object", "additionalProperties", "anyOf",
		      whole(1, 1000), "$ref", "#/definitions/variable");
	json_t *policy = json_pack("{s:[{s:[s]}, {s:s, s:b, s:[s], s:{s:o}}, {s:s}]}", "anyOf",
				   "enum", "round_robin", "type", "object", "additionalProperties",
				   0, "required", "weighted", "properties", "weighted", weights,
				   "$ref", "#/definitions/variable");

	json_object_set_new(json_object_get(worker, "properties"), "policy", policy);
	return json_pack("{s:[o, {s:s, s:i, s:i, s:o}, {s:s}, {s:s}], s:s}", "anyOf",
			 whole(1, WORKERS_MAX), "type", "array", "minItems", 1, "maxItems",
			 WORKERS_MAX, "items", worker, "type", "null", "$ref",
			 "#/definitions/variable", "description",
			 "how many workers, or which sources each polls on which core");
}
