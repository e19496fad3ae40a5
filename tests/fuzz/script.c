// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: any bytes as a script, which runs within small limits. What it builds is checked,
// and written as a graph file. Nothing of the system is within its reach.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// On the first line of the script: no files, programs or libraries, no bytecode, no way to the
// functions behind; and no functions that take long in C, where no instructions are counted.
static const char prelude[] =
    "os, io, dofile, loadfile, load_module, spawn = nil "
    "package.path, package.cpath, package.loadlib, package.searchers[3], package.searchers[4] "
    "= '', '' "
    "debug = {getinfo = debug.getinfo} print = function() end "
    "for _, name in ipairs{'os', 'io', 'debug', 'sluice.native', 'sluice.program'} do "
    "package.loaded[name] = nil package.preload[name] = nil end "
    "do local compile = load load = function(text, name, _, ...) "
    "return compile(text, name, 't', ...) end end "
    "string.rep, string.find, string.match, string.gmatch, string.gsub = nil "
    "table.move, table.concat, table.unpack, table.sort = nil ";

static void write(const struct graph *graph)
{
	struct arena *arena = arena_new();
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	if (!file)
		abort();
	value_write_yaml(graph_value(graph, arena), file);
	fclose(file);
	arena_free(arena);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct errors *errors = errors_new();
	char *text = malloc(sizeof(prelude) + size);
	struct script_options options = {
	    .file = "fuzz.lua",
	    .text = text,
	    .length = sizeof(prelude) - 1 + size,
	    .limits = {.memory_bytes = 16 << 20, .instructions = 200000},
	};
	struct script *script;
	struct graph *graph = NULL;

	if (!text)
		abort();
	memcpy(text, prelude, sizeof(prelude));
	if (size)
		memcpy(text + sizeof(prelude) - 1, data, size);
	script = script_open(&options, errors);
	if (script)
		graph = script_graph(script, errors);
	if (graph)
		write(graph);
	else if (!errors_count(errors)) // refused without a reason
		abort();
	free(errors_text(errors));
	graph_free(graph);
	script_close(script);
	errors_free(errors);
	free(text);
	return 0;
}
