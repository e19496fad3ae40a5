// SPDX-License-Identifier: BSD-3-Clause
// Completion for shells: commands, options, files, modules; what runs is asked in complete_live.c.
// The shells' own parts only call `sluice complete`.

#include "cli/complete.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_GRAPH ":files yaml yml lua json"

// What a command takes beside options, in order; the last one may come again.
enum what {
	TAKES_NOTHING,
	TAKES_GRAPH,
	TAKES_TEST,
	TAKES_MODULE,
	TAKES_DRIVER,
	TAKES_NODE,
	TAKES_GATE,
	TAKES_CALLED, // a node that has commands
	TAKES_COMMAND,
	TAKES_VALUE,
};

static const struct takes {
	const char *command;
	enum what what[4];
} takes[] = {
    {"run", {TAKES_GRAPH}},	 {"check", {TAKES_GRAPH}},
    {"show", {TAKES_GRAPH}},	 {"test", {TAKES_TEST, TAKES_TEST, TAKES_TEST, TAKES_TEST}},
    {"diff", {TAKES_GRAPH}},	 {"reload", {TAKES_GRAPH}},
    {"modules", {TAKES_MODULE}}, {"drivers", {TAKES_DRIVER}},
    {"stats", {TAKES_NODE}},	 {"call", {TAKES_CALLED, TAKES_COMMAND, TAKES_VALUE, TAKES_VALUE}},
    {"capture", {TAKES_GATE}},	 {"explain", {TAKES_NODE}},
};

void complete_offer(const struct line *line, const char *prefix, const char *text, const char *help)
{
	size_t n = strlen(prefix);

	if (strncmp(line->word, prefix, n) != 0 ||
	    strncmp(line->word + n, text, strlen(line->word + n)) != 0)
		return;
	printf("%s%s\t%s\n", prefix, text, help);
}

// The options of a command, as cli_parse() lists them in a process of its own, which it ends. The
// caller frees them.
static char *options_ask(const struct subcommand *command)
{
	char name[] = "sluice", list[] = CLI_LIST_OPTIONS, *text = NULL;
	char *argv[] = {name, list, NULL};
	size_t n = 0, got;
	char part[4096];
	int ends[2];
	pid_t child;
	FILE *to;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	child = fork();
	if (!child) {
		dup2(ends[1], STDOUT_FILENO);
		if (!freopen("/dev/null", "w", stderr))
			_exit(EXIT_MACHINE);
		exit(command->run(2, argv));
	}
	close(ends[1]);
	to = open_memstream(&text, &n);
	while (to && child > 0 && (ssize_t)(got = (size_t)read(ends[0], part, sizeof(part))) > 0)
		fwrite(part, 1, got, to);
	if (to)
		fclose(to);
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return text;
}

struct listed {
	const char *name; // "--name"
	char letter;
	const char *takes; // "NAME", "[DURATION]", or ""
	const char *help;
};

// The next of the lines that options_ask() gave, which are changed; false: that was all.
static bool option_next(char **lines, struct listed *option)
{
	char *line;

	while ((line = strsep(lines, "\n"))) {
		const char *name = strsep(&line, "\t"), *letter = strsep(&line, "\t");

		option->name = name;
		option->letter = letter ? *letter : ' ';
		option->takes = strsep(&line, "\t");
		option->help = line;
		if (letter && option->takes && option->help)
			return true;
	}
	return false;
}

// Whether `word` is an option whose value is the next word; `option` is which.
static bool option_waits(const char *options, const char *word, struct listed *found,
			 struct arena *arena)
{
	char *lines = arena_strdup(arena, options);

	while (option_next(&lines, found)) {
		const char letter[] = {'-', found->letter, '\0'};

		if ((!strcmp(word, found->name) || !strcmp(word, letter)) && *found->takes &&
		    *found->takes != '[')
			return true;
	}
	return false;
}

static void vars_offer(const struct line *line, const char *prefix)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	const char *file = line->n_arguments ? line->arguments[0] : NULL;
	const struct value *root =
	    file && !script_named(file) ? yaml_read_file(arena, file, errors) : NULL;
	const struct value *vars = root ? value_get(root, "vars") : NULL;

	for (size_t i = 0; vars && vars->kind == VALUE_MAP && i < vars->n; i++)
		complete_offer(line, prefix, arena_printf(arena, "%s=", vars->members[i].key),
			       vars->members[i].value->kind == VALUE_SCALAR
				   ? vars->members[i].value->text
				   : "");
	arena_free(arena);
	errors_free(errors);
}

static void formats_offer(const struct line *line, const char *prefix)
{
	static const char *const shown[] = {"text", "dot", "svg", "yaml", "json", NULL};
	static const char *const told[] = {"text", "markdown", "json", NULL};
	const char *const *formats = strcmp(line->command->name, "show") != 0 ? told : shown;

	for (; *formats; formats++)
		complete_offer(line, prefix, *formats, "");
}

static void option_value(const struct line *line, const struct listed *option, const char *prefix)
{
	if (!strcmp(option->name, "--name")) {
		if (strcmp(line->command->name, "run") != 0)
			complete_instances(line, prefix);
	} else if (!strcmp(option->name, "--set")) {
		vars_offer(line, prefix);
	} else if (!strcmp(option->name, "--format")) {
		formats_offer(line, prefix);
	} else if (!strcmp(option->name, "--module")) {
		puts(":files so");
	} else if (strstr(option->takes, "DIR")) {
		puts(":folders");
	} else if (strstr(option->takes, "FILE") || strstr(option->takes, "PATH")) {
		puts(":files");
	}
}

static void options_offer(const struct line *line, const char *options, struct arena *arena)
{
	const char *equals = strchr(line->word, '=');
	char *lines = arena_strdup(arena, options);
	struct listed option;

	while (option_next(&lines, &option)) {
		size_t n = strlen(option.name);

		if (equals && n == (size_t)(equals - line->word) &&
		    !strncmp(line->word, option.name, n) && *option.takes)
			option_value(line, &option, arena_printf(arena, "%s=", option.name));
		else if (!equals)
			complete_offer(line, "", option.name, option.help);
	}
	if (!equals)
		complete_offer(line, "", "--help", "says what the command does");
}

static void types_offer(const struct line *line, bool drivers)
{
	const struct module_type **modules;
	const struct driver_type **list;
	unsigned n = drivers ? driver_list(&list) : module_list(&modules);

	for (unsigned i = 0; i < n; i++)
		complete_offer(line, "", drivers ? list[i]->name : modules[i]->name,
			       drivers ? list[i]->help : modules[i]->help);
}

static void argument_offer(const struct line *line)
{
	enum what what = TAKES_NOTHING;
	unsigned at = line->n_arguments < 3 ? line->n_arguments : 3;

	for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++)
		if (!strcmp(takes[i].command, line->command->name))
			what = takes[i].what[at];
	switch (what) {
	case TAKES_GRAPH:
	case TAKES_TEST:
		puts(FILES_GRAPH);
		break;
	case TAKES_MODULE:
	case TAKES_DRIVER:
		types_offer(line, what == TAKES_DRIVER);
		break;
	case TAKES_NODE:
	case TAKES_CALLED:
		complete_nodes(line, what == TAKES_CALLED);
		break;
	case TAKES_GATE:
		complete_gates(line);
		break;
	case TAKES_COMMAND:
		complete_commands(line);
		break;
	case TAKES_VALUE:
		complete_values(line);
		break;
	case TAKES_NOTHING:
		break;
	}
}

// Sorts the words before the last one into options and arguments; true: the last one is the value
// of `option`.
static bool line_read(struct line *line, int n, char **words, const char *options,
		      struct listed *option, struct arena *arena)
{
	for (int i = 1; i < n - 1; i++) {
		const char *word = words[i];

		if (*word != '-' || !word[1]) {
			line->arguments[line->n_arguments++] = word;
			continue;
		}
		if (!strncmp(word, "--name=", 7))
			line->instance = word + 7;
		if (!option_waits(options, word, option, arena))
			continue;
		if (i + 1 == n - 1)
			return true;
		if (!strcmp(option->name, "--name"))
			line->instance = words[i + 1];
		i++;
	}
	return false;
}

static void command_complete(struct line *line, int n, char **words, struct arena *arena)
{
	char *options = options_ask(line->command);
	struct listed option;

	line->arguments = arena_alloc(arena, (size_t)n * sizeof(*line->arguments));
	if (!options)
		return;
	if (line_read(line, n, words, options, &option, arena))
		option_value(line, &option, "");
	else if (*line->word == '-')
		options_offer(line, options, arena);
	else
		argument_offer(line);
	free(options);
}

int complete(const struct subcommand *const *commands, size_t n_commands, int n, char **words)
{
	struct line line = {.word = n ? words[n - 1] : ""};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < n_commands; i++) {
		if (n <= 1)
			complete_offer(&line, "", commands[i]->name, commands[i]->help);
		else if (!strcmp(words[0], commands[i]->name))
			line.command = commands[i];
	}
	if (n <= 1) {
		complete_offer(&line, "", "--help", "says what commands there are");
		complete_offer(&line, "", "--version", "shows versions");
	}
	if (line.command)
		command_complete(&line, n, words, arena);
	arena_free(arena);
	return EXIT_DONE;
}
