// SPDX-License-Identifier: BSD-3-Clause
// The OpenAPI document, made from the table of routes.

#include <ctype.h>
#include <string.h>

#include "control/route.h"

static void parameter_add(json_t *list, const char *name, size_t n, const char *in)
{
	json_array_append_new(list, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", name, n, "in",
					      in, "required", !strcmp(in, "path"), "schema", "type",
					      "string"));
}

static json_t *parameters(const struct route *route)
{
	json_t *list = json_array();

	for (const char *at = strchr(route->path, '{'); at; at = strchr(at + 1, '{'))
		parameter_add(list, at + 1, strcspn(at + 1, "}"), "path");
	for (unsigned i = 0; route->queries && route->queries[i]; i++)
		parameter_add(list, route->queries[i], strlen(route->queries[i]), "query");
	return list;
}

// "get_nodes_node": a name for programs that are made from the document.
static json_t *operation_id(const struct route *route)
{
	char text[80];
	size_t n = 0;

	for (const char *at = route->method; *at; at++)
		text[n++] = (char)tolower((unsigned char)*at);
	for (const char *at = route->path; *at && n + 2 < sizeof(text); at++) {
		if (isalnum((unsigned char)*at))
			text[n++] = *at;
		else if (n && text[n - 1] != '_' && at[1])
			text[n++] = '_';
	}
	return json_stringn(text, n);
}

static json_t *operation(const struct route *route)
{
	json_t *object = json_pack(
	    "{s:o, s:s, s:o, s:{s:{s:s}, s:{s:s}}}", "operationId", operation_id(route), "summary",
	    route->help, "parameters", parameters(route), "responses", "200", "description", "done",
	    "default", "description",
	    "a list `errors` of objects with `message` and, where it is known, file, line and "
	    "column");

	if (route->body)
		json_object_set_new(object, "requestBody",
				    json_pack("{s:s, s:{s:{s:{}}}}", "description", route->body,
					      "content", "*/*", "schema"));
	return object;
}

json_t *openapi(void)
{
	json_t *paths = json_object();

	for (const struct route *route = routes; route->method; route++) {
		json_t *path = json_object_get(paths, route->path);
		char method[8] = "";

		for (size_t i = 0; route->method[i] && i + 1 < sizeof(method); i++)
			method[i] = (char)tolower((unsigned char)route->method[i]);
		if (!path) {
			path = json_object();
			json_object_set_new(paths, route->path, path);
		}
		json_object_set_new(path, method, operation(route));
	}
	return json_pack(
	    "{s:s, s:{s:s, s:s, s:s}, s:o}", "openapi", "3.0.3", "info", "title", "Sluice",
	    "version", "1", "description",
	    "A running graph: what it counts, what it can be asked, and how it is changed", "paths",
	    paths);
}
