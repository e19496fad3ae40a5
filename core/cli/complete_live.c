// SPDX-License-Identifier: BSD-3-Clause
// Completion from the instance that runs: its nodes, their commands, and what those take.

#include <stdlib.h>
#include <string.h>

#include "cli/complete.h"
#include "cli/live.h"

// What it answers; NULL: nothing does. Nobody wants to read an error while a key is pressed.
static json_t *instance_ask(const struct line *line, const char *path, const char *node)
{
	struct errors *errors = errors_new();
	struct client *client = client_open(line->instance, errors);
	char *escaped = client ? client_escape(client, node) : NULL, *all = NULL;
	struct client_request request = {.method = "GET"};
	struct client_reply reply = {0};
	json_t *json = NULL;

	if (client && asprintf(&all, "%s%s", path, escaped) >= 0) {
		request.path = all;
		if (client_ask(client, &request, &reply, errors))
			json = json_incref(reply.json);
		client_reply_free(&reply);
	}
	free(all);
	free(escaped);
	client_close(client);
	errors_free(errors);
	return json;
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

void complete_instances(const struct line *line, const char *prefix)
{
	struct instance *list;
	unsigned n = instance_list(&list);

	for (unsigned i = 0; i < n; i++)
		complete_offer(line, prefix, list[i].name, "");
	free(list);
}

void complete_nodes(const struct line *line, bool with_commands)
{
	json_t *nodes = instance_ask(line, "/nodes", ""), *node;
	json_t *commands = with_commands ? instance_ask(line, "/commands", "") : NULL;
	const char *name;

	json_object_foreach (nodes, name, node)
		if (!with_commands || json_object_get(commands, name))
			complete_offer(line, "", name, text(node, "module"));
	json_decref(nodes);
	json_decref(commands);
}

void complete_gates(const struct line *line)
{
	json_t *nodes, *node;
	struct arena *arena;
	const char *name;

	if (!strchr(line->word, '[')) {
		complete_nodes(line, false);
		return;
	}
	arena = arena_new();
	nodes = instance_ask(line, "/nodes", "");
	json_object_foreach (nodes, name, node)
		for (size_t i = 0; i < json_array_size(json_object_get(node, "out")); i++)
			complete_offer(line, "", arena_printf(arena, "%s[%zu]", name, i),
				       text(node, "module"));
	json_decref(nodes);
	arena_free(arena);
}

void complete_commands(const struct line *line)
{
	json_t *node = instance_ask(line, "/nodes/", line->arguments[0]);
	const json_t *command;
	size_t i;

	json_array_foreach (json_object_get(node, "commands"), i, command)
		complete_offer(line, "", text(command, "name"), text(command, "help"));
	json_decref(node);
}

// The values of an argument, where they can be counted up: "a|b|c", or gates.
static void values_offer(const struct line *line, const json_t *node, const json_t *argument,
			 struct arena *arena)
{
	const char *prefix = arena_printf(arena, "%s=", text(argument, "name"));
	char *types = arena_strdup(arena, text(argument, "type")), *one;
	const json_t *gates = json_object_get(node, "out");

	if (!strcmp(types, "output gate"))
		for (size_t i = 0; i < json_array_size(gates); i++)
			complete_offer(line, prefix, arena_printf(arena, "%zu", i), "");
	else if (strchr(types, '|') && !strchr(types, ' '))
		while ((one = strsep(&types, "|")))
			complete_offer(line, prefix, one, "");
}

static bool argument_given(const struct line *line, const char *name)
{
	size_t n = strlen(name);

	for (unsigned i = 2; i < line->n_arguments; i++)
		if (!strncmp(line->arguments[i], name, n) && line->arguments[i][n] == '=')
			return true;
	return false;
}

static void arguments_offer(const struct line *line, const json_t *node, const json_t *arguments)
{
	const char *equals = strchr(line->word, '=');
	struct arena *arena = arena_new();
	const json_t *one;
	size_t i;

	json_array_foreach (arguments, i, one) {
		const char *name = text(one, "name");

		if (equals && strlen(name) == (size_t)(equals - line->word) &&
		    !strncmp(name, line->word, strlen(name)))
			values_offer(line, node, one, arena);
		else if (!equals && !argument_given(line, name))
			complete_offer(line, "", arena_printf(arena, "%s=", name),
				       text(one, "help"));
	}
	arena_free(arena);
}

void complete_values(const struct line *line)
{
	json_t *node = instance_ask(line, "/nodes/", line->arguments[0]);
	const json_t *command;
	size_t i;

	json_array_foreach (json_object_get(node, "commands"), i, command)
		if (!strcmp(text(command, "name"), line->arguments[1]))
			arguments_offer(line, node, json_object_get(command, "arguments"));
	json_decref(node);
}
