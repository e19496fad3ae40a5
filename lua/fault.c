// SPDX-License-Identifier: BSD-3-Clause
// What Lua says of an error becomes a fault at its place, as faults of graph files are.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lua/inside.h"

// Whether a word in front of a line's number names a file that people write.
static bool file_named(const struct script *script, const char *file)
{
	const char *dot = strrchr(file, '.');

	if (!strcmp(file, script->options.file) || !strncmp(file, "[string ", 8))
		return true;
	// "expected: mine.lua" is no file.
	return dot && !strstr(file, ": ") &&
	       (!strcmp(dot, ".lua") || !strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

// Lua shortens the names of files that it cannot read to "...end/of/it.lua".
static const char *file_whole(const struct script *script, const char *file)
{
	const char *own = script->options.file;
	size_t n = strlen(own), tail = strlen(file);

	if (strncmp(file, "...", 3) != 0 || tail - 3 > n)
		return file;
	return strcmp(own + n - (tail - 3), file + 3) ? file : own;
}

// `FILE:LINE: `, `FILE:LINE:COLUMN: ` or `FILE: error: ` at the start of a text; where it ends, or
// NULL.
static const char *place_scan(const struct script *script, const char *text, struct arena *arena,
			      struct place *place)
{
	for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		const char *file = arena_strndup(arena, text, (size_t)(colon - text));
		unsigned long line = 0, column = 0;
		char *end = (char *)(uintptr_t)colon;

		if (colon[1] >= '0' && colon[1] <= '9')
			line = strtoul(colon + 1, &end, 10);
		if (line && *end == ':' && end[1] >= '0' && end[1] <= '9')
			column = strtoul(end + 1, &end, 10);
		if (strncmp(end, line ? ": " : ": error: ", line ? 2 : 9) != 0 ||
		    !file_named(script, file))
			continue;
		*place = (struct place){file_whole(script, file), (unsigned)line, (unsigned)column};
		return end + 2;
	}
	return NULL;
}

// What the library says in its own name ("sluice.build:12: ") is for whoever called it.
static const char *library_skip(const char *text)
{
	const char *colon = strncmp(text, "sluice.", 7) ? NULL : strchr(text, ':');
	char *end;

	if (!colon)
		return text;
	strtoul(colon + 1, &end, 10);
	return end == colon + 1 || strncmp(end, ": ", 2) != 0 ? text : end + 2;
}

// What require() says of a file that does not load stands on the next line.
static char *message_start(char *text)
{
	char *line = strchr(text, '\n');

	if (strncmp(text, "error loading module '", 22) != 0 || !line)
		return text;
	return line + 1 + strspn(line + 1, " \t");
}

// The lines below the message: where the script was. A single one that says no more than the place
// is left out, and so is where require() has looked.
static void trace_add(const struct script *script, char *rest, struct place place, bool required,
		      struct arena *arena, struct errors *errors)
{
	struct place first = {0};
	const char *what = place_scan(script, rest, arena, &first);
	char *line;

	if (what && !strcmp(what, "in the script") && first.line == place.line &&
	    !strcmp(first.file, place.file))
		return;
	while (rest && *rest) {
		line = rest + strspn(rest, " \t");
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		if (*line && !(required && !strncmp(line, "no f", 4)))
			error_trace(errors, line);
	}
}

static const char *memory_text(const struct script_options *options, struct arena *arena)
{
	uint64_t bytes = options->limits.memory_bytes;
	bool mib = bytes >= 1 << 20;

	return arena_printf(arena,
			    "the script needs more than %" PRIu64
			    " %s of memory (--script-memory raises the limit)",
			    mib ? bytes >> 20 : bytes >> 10, mib ? "MiB" : "KiB");
}

void script_fault(const struct script *script, const char *text, struct errors *errors)
{
	struct arena *arena = arena_new();
	struct place place = {.file = script->options.file};
	char *first = message_start(arena_strdup(arena, text)), *rest = strchr(first, '\n'), *colon;
	const char *what, *inner;
	bool required;

	if (rest)
		*rest++ = '\0';
	what = place_scan(script, first, arena, &place);
	// What is raised again has the place where that was done in front.
	while (what && (inner = place_scan(script, what, arena, &place)))
		what = inner;
	if (!what) {
		what = library_skip(first);
		// A text without a place stands where the innermost line of the script does.
		if (rest)
			place_scan(script, rest, arena, &place);
	}
	if (!strcmp(what, "not enough memory") && (!script->lua || state_exhausted(script->lua)))
		what = memory_text(&script->options, arena);
	colon = strstr(what, "' not found:");
	required = !strncmp(what, "module '", 8) && colon && !colon[12];
	// What the checker said has its own "error: ".
	error_at(errors, place, "%.*s%s", (int)(strlen(what) - required),
		 strncmp(what, "error: ", 7) ? what : what + 7,
		 required ? ", it should be in the script's folder, or installed for Lua 5.4" : "");
	if (rest)
		trace_add(script, rest, place, required, arena, errors);
	arena_free(arena);
}

void script_fault_take(struct script *script, struct errors *errors)
{
	const char *text = lua_tostring(script->lua, -1);

	script_fault(script, text ? text : "an error that is no text", errors);
	lua_pop(script->lua, 1);
}
