// SPDX-License-Identifier: BSD-3-Clause
// sluice new-module: writes a module of one's own outside this tree, which builds and passes its
// test at once.

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "cli/cli.h"
#include "cli/new_module.h"

enum { NAME_MAX_LENGTH = 24 };

struct new_module {
	const char *name; // "TtlGuard"
	const char *dir;  // NULL: a new folder with the name in lower case
	char lower[NAME_MAX_LENGTH + 1];
	char upper[NAME_MAX_LENGTH + 1];
	char build[3 * PATH_MAX]; // lines of its Makefile
};

// A module's name: CamelCase, as it will stand in graph files.
static bool name_valid(const char *name)
{
	size_t length = strlen(name);

	if (length < 2 || length > NAME_MAX_LENGTH || !isupper((unsigned char)name[0]))
		return false;
	for (size_t i = 1; i < length; i++)
		if (!isalnum((unsigned char)name[i]))
			return false;
	return true;
}

static bool name_taken(const char *name)
{
	const struct module_type **types;
	unsigned n = module_list(&types);

	// Case does not tell names apart: files and symbols are in lower case.
	for (unsigned i = 0; i < n; i++)
		if (!strcasecmp(types[i]->name, name))
			return true;
	return false;
}

// How the Makefile finds headers and program: those that this program belongs to. In a build tree
// core/module.h is a few folders up; an installed one has its sluice.pc beside it.
static void build_find(struct new_module *new)
{
	char program[PATH_MAX];
	char root[PATH_MAX];
	char probe[PATH_MAX + 32];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length <= 0)
		snprintf(program, sizeof(program), "/usr/local/bin/sluice");
	else
		program[length] = '\0';
	rte_strscpy(root, program, sizeof(root));
	for (int up = 0; up < 5 && strrchr(root, '/'); up++) {
		*strrchr(root, '/') = '\0';
		snprintf(probe, sizeof(probe), "%s/core/module.h", root);
		if (!access(probe, R_OK)) {
			snprintf(new->build, sizeof(new->build),
				 "SLUICE ?= %s\nSLUICE_INCLUDE ?= %s/core\n", program, root);
			return;
		}
		snprintf(probe, sizeof(probe), "%s/lib/pkgconfig/sluice.pc", root);
		if (!access(probe, R_OK)) {
			snprintf(new->build, sizeof(new->build),
				 "SLUICE ?= %s\nSLUICE_INCLUDE ?=\n"
				 "export PKG_CONFIG_PATH := $(PKG_CONFIG_PATH):%s/lib/pkgconfig\n",
				 program, root);
			return;
		}
	}
	snprintf(new->build, sizeof(new->build), "SLUICE ?= %s\nSLUICE_INCLUDE ?=\n", program);
}

// The value of a placeholder at `at`, and its length there; NULL: it is none.
static const char *placeholder(const struct new_module *new, const char *at, size_t *length)
{
	const struct {
		const char *word;
		const char *value;
	} words[] = {
	    {"@Name@", new->name},
	    {"@name@", new->lower},
	    {"@NAME@", new->upper},
	    {"@build@", new->build},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		*length = strlen(words[i].word);
		if (!strncmp(at, words[i].word, *length))
			return words[i].value;
	}
	return NULL;
}

static void text_write(const struct new_module *new, const char *text, FILE *file)
{
	while (*text) {
		size_t length;
		const char *value = placeholder(new, text, &length);

		if (value) {
			fputs(value, file);
			text += length;
		} else {
			putc(*text++, file);
		}
	}
}

static void file_path(const struct new_module *new, const char *name, char *path, size_t size)
{
	FILE *text = fmemopen(path, size, "w");

	if (!text)
		abort();
	fprintf(text, "%s/", new->dir);
	text_write(new, name, text);
	putc('\0', text);
	fclose(text);
}

// Nothing is written unless all can be: a file that is there already is left alone. Returns the
// number of faults.
static int files_check(const struct new_module *new)
{
	char path[PATH_MAX];
	int faults = 0;

	for (const struct new_module_file *at = new_module_files; at->name; at++) {
		file_path(new, at->name, path, sizeof(path));
		if (access(path, F_OK))
			continue;
		fprintf(stderr, "sluice: error: %s is there already, and is left as it is\n", path);
		faults++;
	}
	return faults;
}

static int files_write(const struct new_module *new)
{
	char path[PATH_MAX];

	for (const struct new_module_file *at = new_module_files; at->name; at++) {
		FILE *file;
		bool failed;

		file_path(new, at->name, path, sizeof(path));
		file = fopen(path, "wxe");
		if (file)
			text_write(new, at->text, file);
		failed = !file || ferror(file);
		if ((file && fclose(file)) || failed) {
			fprintf(stderr, "sluice: error: %s cannot be written: %m\n", path);
			return EXIT_MACHINE;
		}
		printf("wrote %s\n", path);
	}
	printf("\nNext: cd %s && make test\n", new->dir);
	return EXIT_DONE;
}

static const struct argp_option options[] = {
    {.name = "dir",
     .key = 'd',
     .arg = "DIR",
     .doc = "Write into this folder (made if need be) instead of one named after the module"},
    {},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct new_module *new = into;

	switch (key) {
	case 'd':
		new->dir = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (new->name)
			argp_error(state, "one NAME is enough, \"%s\" is a second", arg);
		new->name = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "the NAME of the module is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .options = options,
    .take = take,
    .args_doc = "NAME",
    .doc = "Writes a module of your own, outside the source tree: its source, a test, a "
	   "graph and a Makefile. It builds and passes at once.",
};

static int new_module_run(int argc, char **argv)
{
	struct new_module new = {};

	cli_parse(&syntax, argc, argv, &new);
	if (!name_valid(new.name)) {
		fprintf(stderr,
			"sluice: error: \"%s\" is no name for a module; it should be 2 to %d "
			"letters and digits, the first one upper case (for example TtlGuard)\n",
			new.name, NAME_MAX_LENGTH);
		return EXIT_INPUT;
	}
	if (name_taken(new.name)) {
		fprintf(stderr, "sluice: error: there is a module %s already (`sluice modules`)\n",
			new.name);
		return EXIT_INPUT;
	}
	for (size_t i = 0; new.name[i]; i++) {
		new.lower[i] = (char)tolower((unsigned char)new.name[i]);
		new.upper[i] = (char)toupper((unsigned char)new.name[i]);
	}
	if (!new.dir)
		new.dir = new.lower;
	if (strlen(new.dir) > PATH_MAX - 64) {
		fprintf(stderr, "sluice: error: the name of the folder is too long\n");
		return EXIT_INPUT;
	}
	if (files_check(&new))
		return EXIT_INPUT;
	if (mkdir(new.dir, 0777) && errno != EEXIST) {
		fprintf(stderr, "sluice: error: the folder %s cannot be made: %m\n", new.dir);
		return EXIT_MACHINE;
	}
	build_find(&new);
	return files_write(&new);
}

const struct subcommand cli_new_module = {
    .name = "new-module",
    .args = "NAME [--dir DIR]",
    .help = "writes a module of your own, ready to build and test",
    .run = new_module_run,
};
