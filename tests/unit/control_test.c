// SPDX-License-Identifier: BSD-3-Clause
// The control socket's parts that need no socket: routes, names and folders of instances, the
// OpenAPI document.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/instance.h"
#include "control/route.h"
#include "suite.h"

// What is found: "GET /nodes/{node}", with the parts in it; "" for nothing, "-" for another method.
static const char *found(const char *method, const char *text)
{
	static char line[200];
	const char *parts[ROUTE_PARTS] = {"", ""};
	char path[100];
	char allow[ALLOW_BYTES] = "";
	const struct route *route;

	snprintf(path, sizeof(path), "%s", text);
	route = route_find(method, path, parts, allow);
	snprintf(line, sizeof(line), "%s%s%s%s%s",
		 route	  ? route->path
		 : *allow ? "-"
			  : "",
		 route && *parts[0] ? " " : "", route ? parts[0] : "",
		 route && *parts[1] ? " " : "", route ? parts[1] : "");
	return line;
}

#define FINDS(METHOD, PATH, WANTED) CU_ASSERT_STRING_EQUAL(found(METHOD, PATH), WANTED)

static void routes_are_found(void)
{
	FINDS("GET", "/", "/");
	FINDS("GET", "/stats", "/stats");
	FINDS("GET", "/nodes", "/nodes");
	FINDS("GET", "/nodes/fwd", "/nodes/{node} fwd");
	FINDS("GET", "/nodes/MACSwap#1", "/nodes/{node} MACSwap#1");
	FINDS("POST", "/nodes/fwd/add", "/nodes/{node}/{command} fwd add");
	FINDS("PUT", "/graph", "/graph");
}

static void others_are_not(void)
{
	static const char *const paths[] = {
	    "",	       "//",	    "/statsx",	"/stat",	"/stats/",     "x",
	    "/nodes/", "/nodes/a/", "/nodes//", "/nodes/a/b/c", "/nodes/a/b/", "stats"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const char *parts[ROUTE_PARTS];
		char path[100];
		char allow[ALLOW_BYTES] = "";

		snprintf(path, sizeof(path), "%s", paths[i]);
		CU_ASSERT_PTR_NULL(route_find("GET", path, parts, allow));
	}
	FINDS("POST", "/stats", "-");
	FINDS("get", "/stats", "-");
	FINDS("GET", "/nodes/fwd/add", "-");
	FINDS("GET", "/none", "");
}

static void every_row_is_found_by_itself(void)
{
	for (const struct route *row = routes; row->method; row++) {
		const char *parts[ROUTE_PARTS];
		char path[100];
		char allow[ALLOW_BYTES] = "";

		snprintf(path, sizeof(path), "%s", row->path);
		CU_ASSERT_PTR_EQUAL(route_find(row->method, path, parts, allow), row);
		CU_ASSERT_TRUE(strlen(row->help) > 5);
	}
}

static void names_of_instances(void)
{
	char longest[INSTANCE_NAME_MAX + 2];

	memset(longest, 'a', sizeof(longest));
	longest[INSTANCE_NAME_MAX + 1] = '\0';
	CU_ASSERT_FALSE(instance_name_valid(longest));
	longest[INSTANCE_NAME_MAX] = '\0';
	CU_ASSERT_TRUE(instance_name_valid(longest));
	CU_ASSERT_TRUE(instance_name_valid("a-b_c.9"));
	CU_ASSERT_FALSE(instance_name_valid(""));
	CU_ASSERT_FALSE(instance_name_valid("."));
	CU_ASSERT_FALSE(instance_name_valid(".."));
	CU_ASSERT_FALSE(instance_name_valid(".hidden"));
	CU_ASSERT_FALSE(instance_name_valid("a/b"));
	CU_ASSERT_FALSE(instance_name_valid("a b"));
	CU_ASSERT_FALSE(instance_name_valid("a\n"));
	CU_ASSERT_FALSE(instance_name_valid("caf\xc3\xa9"));
}

static void paths_of_instances(void)
{
	char path[108];

	setenv("SLUICE_SOCKETS", "/somewhere", 1);
	CU_ASSERT_STRING_EQUAL(instance_folder(), "/somewhere");
	CU_ASSERT_TRUE(instance_path("web", path, sizeof(path)));
	CU_ASSERT_STRING_EQUAL(path, "/somewhere/web.sock");
	setenv("SLUICE_SOCKETS",
	       "/a-folder-whose-name-is-so-long-that-no-socket-can-be-in-it-whatever-it-is-called-"
	       "and-however-short-it-is",
	       1);
	CU_ASSERT_FALSE(instance_path("web", path, sizeof(path)));
	unsetenv("SLUICE_SOCKETS");
}

static void folders_of_others(void)
{
	char folder[] = "/tmp/sluice-folder.XXXXXX", link[64];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(link, sizeof(link), "%s/link", folder);
	CU_ASSERT_TRUE(instance_folder_safe(folder));
	CU_ASSERT_FALSE(symlink(folder, link));
	CU_ASSERT_FALSE(instance_folder_safe(link));
	CU_ASSERT_FALSE(chmod(folder, 0777));
	CU_ASSERT_FALSE(instance_folder_safe(folder));
	CU_ASSERT_FALSE(chmod(folder, 0770));
	CU_ASSERT_FALSE(instance_folder_safe(folder));
	CU_ASSERT_FALSE(instance_folder_safe("/tmp/no-such-folder-of-sluice"));
	CU_ASSERT_FALSE(instance_folder_safe("/dev/null"));
	unlink(link);
	rmdir(folder);
}

// Each row is an operation, and there are no others.
static void the_document_has_the_rows(void)
{
	json_t *document = openapi(), *paths = json_object_get(document, "paths"), *path;
	size_t rows = 0, operations = 0;
	const char *name;

	CU_ASSERT_PTR_NOT_NULL_FATAL(paths);
	json_object_foreach (paths, name, path)
		operations += json_object_size(path);
	for (const struct route *row = routes; row->method; row++) {
		CU_ASSERT_PTR_NOT_NULL(json_object_get(paths, row->path));
		rows++;
	}
	CU_ASSERT_EQUAL(operations, rows);
	json_decref(document);
}

static const CU_TestInfo cases[] = {
    {"routes are found", routes_are_found},
    {"other paths and methods are not", others_are_not},
    {"every row is found by its own path", every_row_is_found_by_itself},
    {"names of instances", names_of_instances},
    {"paths of instances", paths_of_instances},
    {"folders that others can write to", folders_of_others},
    {"the OpenAPI document has the rows", the_document_has_the_rows},
    CU_TEST_INFO_NULL,
};
SUITE(control, cases)
