// SPDX-License-Identifier: BSD-3-Clause
// Commands of nodes: arguments checked after the table, run live or while the workers are parked.

#include <string.h>

#include "run/inside.h"
#include "value/table.h"

struct reply {
	json_t *root; // an object, or a list of them after reply_item()
	json_t *item;
};

void reply_item(struct reply *reply)
{
	if (!json_is_array(reply->root)) {
		json_decref(reply->root);
		reply->root = json_array();
	}
	reply->item = json_object();
	json_array_append_new(reply->root, reply->item);
}

void reply_u64(struct reply *reply, const char *key, uint64_t value)
{
	json_object_set_new(reply->item, key, json_integer((json_int_t)value));
}

void reply_text(struct reply *reply, const char *key, const char *text)
{
	json_object_set_new(reply->item, key, json_string(text));
}

void reply_bool(struct reply *reply, const char *key, bool value)
{
	json_object_set_new(reply->item, key, json_boolean(value));
}

void reply_mac(struct reply *reply, const char *key, const struct rte_ether_addr *mac)
{
	char text[RTE_ETHER_ADDR_FMT_SIZE];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac->addr_bytes[0],
		 mac->addr_bytes[1], mac->addr_bytes[2], mac->addr_bytes[3], mac->addr_bytes[4],
		 mac->addr_bytes[5]);
	reply_text(reply, key, text);
}

static void node_missing(const struct run *run, const char *name, struct place place,
			 struct errors *errors)
{
	const struct graph *graph = run->graph;
	const char **names = memory_new(graph->n_nodes + 1, sizeof(*names));
	const char *near;

	for (unsigned i = 0; i < graph->n_nodes; i++)
		names[i] = graph->nodes[i].name;
	near = suggest(name, names, graph->n_nodes);
	error_at(errors, place, "no node \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
		 near ? near : "", near ? "\"?" : "");
	free(names);
}

static const struct command *command_find(const struct module_type *type, const char *name,
					  struct place place, struct errors *errors)
{
	const char *names[32];
	const char *near;
	size_t n = 0;

	for (const struct command *row = type->commands; row && row->name; row++) {
		if (!strcmp(row->name, name))
			return row;
		if (n < 32)
			names[n++] = row->name;
	}
	near = suggest(name, names, n);
	if (!n)
		error_at(errors, place, "%s has no commands", type->name);
	else
		error_at(errors, place, "%s has no command \"%s\"%s%s%s", type->name, name,
			 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	return NULL;
}

static int command_run(struct run *run, struct run_node *node, const struct command *command,
		       const void *args, const struct subject *subject, struct reply *reply,
		       struct errors *errors)
{
	int status;

	if (!command->live && run_park(run, errors))
		return -1;
	node->pub.now_ns = clock_now(&run->clock);
	errors_about(errors, subject);
	status = command->run(&node->pub, args, reply, errors);
	errors_about(errors, NULL);
	if (!command->live)
		run_unpark(run);
	return status;
}

json_t *run_command(struct run *run, const char *name, const char *command_name,
		    const struct value *args, struct errors *errors)
{
	struct place place = {.file = "command"};
	int index = graph_find_node(run->graph, name);
	struct arena *arena;
	const struct command *command;
	struct reply reply;
	const void *filled;

	if (args)
		place = args->place;
	if (run->stopped) {
		error_at(errors, place, "the graph has stopped, so no command can run");
		return NULL;
	}
	if (index < 0) {
		node_missing(run, name, place, errors);
		return NULL;
	}
	struct run_node *node = run->nodes[index];
	const struct module_type *type = node->pub.type;
	struct table_scope scope = {.gates = type->ogate_names, .n_gates = node->pub.ogates};

	command = command_find(type, command_name, place, errors);
	if (!command)
		return NULL;
	arena = arena_new();
	struct subject subject = {.type = arena_printf(arena, "%s %s", name, command_name),
				  .place = place,
				  .written = args};

	filled = table_fill(arena, command->args, subject.type, place, args, &scope, errors);
	reply.root = json_object();
	reply.item = reply.root;
	if (!filled || command_run(run, node, command, filled, &subject, &reply, errors)) {
		json_decref(reply.root);
		reply.root = NULL;
	} else if (run->hear) {
		run->hear(run->hear_to, "command",
			  json_pack("{s:s, s:s}", "node", name, "command", command->name));
	}
	arena_free(arena);
	return reply.root;
}
