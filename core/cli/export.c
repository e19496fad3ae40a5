// SPDX-License-Identifier: BSD-3-Clause
// sluice export: the graph of an instance, and what its nodes were told since, as a file that
// loads.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/text.h"

struct export_args {
	struct cli_live live;
	const char *file; // NULL: standard output
	bool learned;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "writes the file, whole or not at all", 0},
    {"learned", 'l', NULL, 0,
     "what packets have taught the nodes is in it, too: stations of L2Fwd become static", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct export_args *args = into;

	(void)state;
	switch (key) {
	case 'o':
		args->file = arg;
		return 0;
	case 'l':
		args->learned = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .options = options,
    .take = take,
    .doc = "Prints the graph that runs as a file that loads: every node by name, vars filled in, "
	   "one link a line. What commands have changed since is in its parameters. --json prints "
	   "JSON, which loads as well."
	   "\vWhat packets have taught the nodes is left out without --learned.\n\n"
	   "Exit codes: 0 done, 2 bad input, 3 no such instance runs, or the file cannot be "
	   "written.",
};

static int fail_errno(const char *file, const char *what)
{
	struct errors *errors = errors_new();

	error_machine_at(errors, (struct place){.file = file}, "%s: %s", what, strerror(errno));
	return cli_fail(errors);
}

static void text_put(const char *text, const struct value *json, FILE *to)
{
	if (!json) {
		fputs(text, to);
		return;
	}
	text_write_json(json, to);
}

// Beside the file first, then in its place; a link stays one, and the file's mode what it is.
static int file_replace(const char *file, const char *text, const struct value *json)
{
	char *path = realpath(file, NULL), *beside = NULL;
	mode_t mask = umask(0);
	struct stat status = {.st_mode = 0666 & ~mask};
	int fd = -1, code = EXIT_DONE;
	FILE *to = NULL;

	umask(mask);
	if (path && !stat(path, &status) && !S_ISREG(status.st_mode)) {
		free(path);
		errno = EINVAL;
		return fail_errno(file, "is no file that could be replaced");
	}
	if (asprintf(&beside, "%s.XXXXXX", path ? path : file) >= 0)
		fd = mkstemp(beside);
	if (fd >= 0)
		to = fdopen(fd, "w");
	if (to)
		text_put(text, json, to);
	if (!to || ferror(to) || fflush(to) || fchmod(fd, status.st_mode & 07777) || fsync(fd) ||
	    rename(beside, path ? path : file)) {
		code = fail_errno(file, "cannot be written");
		if (fd >= 0)
			unlink(beside);
	}
	if (to)
		fclose(to);
	free(beside);
	free(path);
	return code;
}

// What a table holds may be more than a graph file can: it is read as one would be. NULL: it does
// not load.
static const struct value *text_read(struct arena *arena, const char *text, int *code)
{
	struct errors *errors = errors_new();
	const struct value *root = yaml_read_text(arena, "export", text, strlen(text), errors);

	if (root)
		errors_free(errors);
	else
		*code = cli_fail(errors);
	return root;
}

static int text_write(const struct export_args *args, const char *text)
{
	struct arena *arena = arena_new();
	int code = EXIT_DONE;
	const struct value *root = text_read(arena, text, &code);
	const struct value *json = args->live.json ? root : NULL;

	if (root && args->file)
		code = file_replace(args->file, text, json);
	else if (root)
		text_put(text, json, stdout);
	arena_free(arena);
	return code;
}

static int export(const void *of, struct client *client)
{
	const struct export_args *args = of;
	struct client_reply reply;
	int code = EXIT_DONE;

	if (live_get(client, "GET", args->learned ? "/graph?learned=1" : "/graph", &reply, &code)) {
		code = text_write(args, reply.text);
		client_reply_free(&reply);
	}
	return code;
}

static int export_run(int argc, char **argv)
{
	struct export_args args = {0};

	cli_parse(&syntax, argc, argv, &args);
	return live_run(&args, export);
}

const struct subcommand cli_export = {
    .name = "export",
    .args = "[-o FILE] [--learned] [--json] [--name NAME]",
    .help = "prints the graph that runs, with its tables, as a file that loads",
    .run = export_run,
};
