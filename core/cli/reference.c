// SPDX-License-Identifier: BSD-3-Clause
// From the tables of modules and drivers to one JSON object each.

#include "cli/reference.h"
#include "run/run.h"
#include "value/table.h"

static void put_text(json_t *object, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(object, key, json_string(text));
}

const char *reference_units(const struct param *row)
{
	switch (row->type) {
	case PARAM_DURATION:
		return "ns, us, ms, s, min, h";
	case PARAM_BYTES:
		return "B, kB, MB, GB, KiB, MiB, GiB";
	case PARAM_RATE:
		return "pps, kpps, Mpps, Gpps, bps, kbps, Mbps, Gbps";
	default:
		return NULL;
	}
}

static json_t *params_json(struct arena *arena, const struct param *table)
{
	json_t *list = json_array();

	for (const struct param *row = table; row && row->name; row++) {
		json_t *object = json_object();

		put_text(object, "name", row->name);
		put_text(object, "type", table_type_name(arena, row));
		put_text(object, "unit", reference_units(row));
		put_text(object, "range", table_range_text(arena, row));
		json_object_set_new(object, "required", json_boolean(!row->def));
		if (row->def)
			json_object_set_new(object, "default", json_string(row->def));
		json_object_set_new(object, "live", json_boolean(row->live));
		put_text(object, "help", row->help);
		put_text(object, "example", row->example);
		if (row->type == PARAM_CHOICE && row->choices) {
			json_t *choices = json_array();

			for (const char *const *choice = row->choices; *choice; choice++)
				json_array_append_new(choices, json_string(*choice));
			json_object_set_new(object, "choices", choices);
		}
		if (row->type == PARAM_LIST)
			json_object_set_new(object, "fields", params_json(arena, row->fields));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *gates_json(gate_t n, const char *const *names)
{
	json_t *gates = json_object();

	if (n == GATES_ANY) {
		json_object_set_new(gates, "count", json_string("any"));
		return gates;
	}
	json_object_set_new(gates, "count", json_integer(n));
	if (names) {
		json_t *list = json_array();

		for (gate_t i = 0; i < n; i++)
			json_array_append_new(list, json_string(names[i]));
		json_object_set_new(gates, "names", list);
	}
	return gates;
}

static json_t *commands_json(struct arena *arena, const struct command *command)
{
	json_t *list = json_array();

	for (; command && command->name; command++) {
		json_t *object = json_object();

		put_text(object, "name", command->name);
		put_text(object, "help", command->help);
		json_object_set_new(object, "live", json_boolean(command->live));
		json_object_set_new(object, "arguments", params_json(arena, command->args));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *counters_json(const struct counter *counter)
{
	json_t *list = json_array();

	for (; counter && counter->name; counter++) {
		json_t *object = json_object();

		put_text(object, "name", counter->name);
		put_text(object, "help", counter->help);
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *drops_json(const struct module_type *type)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < reason_count(type); i++) {
		json_t *object = json_object();

		put_text(object, "name", reason_name(type, (reason_t)i));
		put_text(object, "help", reason_help(type, (reason_t)i));
		json_object_set_new(object, "own", json_boolean(i >= REASON_OWN));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *meta_json(const struct meta *meta)
{
	static const char *const types[] = {"u8", "u16", "u32", "u64"};
	json_t *list = json_array();

	for (; meta && meta->name; meta++)
		json_array_append_new(
		    list, json_pack("{s:s, s:s}", "name", meta->name, "type", types[meta->type]));
	return list;
}

json_t *reference_module(const struct module_type *type)
{
	struct arena *arena = arena_new();
	json_t *entry = json_object();

	put_text(entry, "name", type->name);
	put_text(entry, "help", type->help);
	put_text(entry, "details", type->details);
	json_object_set_new(entry, "source", json_boolean(type->poll && !type->igates));
	json_object_set_new(entry, "shared", json_boolean(type->shared));
	json_object_set_new(entry, "inputs", gates_json(type->igates, type->igate_names));
	json_object_set_new(entry, "outputs", gates_json(type->ogates, type->ogate_names));
	json_object_set_new(entry, "parameters", params_json(arena, type->params));
	json_object_set_new(entry, "commands", commands_json(arena, type->commands));
	json_object_set_new(entry, "counters", counters_json(type->counters));
	json_object_set_new(entry, "drops", drops_json(type));
	json_object_set_new(entry, "reads", meta_json(type->reads));
	json_object_set_new(entry, "writes", meta_json(type->writes));
	put_text(entry, "example", type->example);
	arena_free(arena);
	return entry;
}

json_t *reference_driver(const struct driver_type *type)
{
	struct arena *arena = arena_new();
	json_t *entry = json_object();

	put_text(entry, "name", type->name);
	put_text(entry, "help", type->help);
	put_text(entry, "details", type->details);
	json_object_set_new(entry, "pci", json_boolean(type->needs_pci));
	json_object_set_new(entry, "parameters", params_json(arena, type->params));
	put_text(entry, "example", type->example);
	arena_free(arena);
	return entry;
}
