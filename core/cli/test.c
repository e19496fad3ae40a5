// SPDX-License-Identifier: BSD-3-Clause
// sluice test: runs the test files of a folder, or one, and says what passed.

#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/test.h"
#include "port/eal.h"

// Pools and tables of the graphs under test; what is not touched costs nothing.
#define MEMORY_BYTES (1024u << 20)

struct test_args {
	struct cli_graph modules;
	const char *path;
	bool update;
	bool json;
};

struct tally {
	unsigned passed;
	unsigned failed;
	unsigned skipped;
	int code;
};

static const struct argp_option options[] = {
    {"update", 'u', NULL, 0,
     "writes what came into the test files, where it is not what they expect; such cases "
     "count as passed",
     0},
    {"json", 'j', NULL, 0, "prints one JSON object a line, for each case and at the end", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct test_args *args = into;

	switch (key) {
	case 'u':
		args->update = true;
		return 0;
	case 'j':
		args->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->path)
			argp_error(state, "one file or folder at a time: \"%s\" is one too many",
				   arg);
		args->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!args->path)
			argp_error(state, "the test file or folder is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_module_argp,
    .options = options,
    .take = take,
    .args_doc = "FILE|FOLDER",
    .doc =
	"Tests graphs: packets in, packets out, counters, with a clock that the test sets. Of a "
	"folder, all files named *.test.yaml are run."
	"\vExit codes: 0 all passed, 1 some failed, 2 bad input, 3 this machine lacks something.",
};

static const char *const words[] = {"passed", "failed", "skipped", "updated"};

static void report_json(const struct test_file *file, const struct test_case *test,
			const char *outcome, const struct test_result *result)
{
	json_t *line = json_pack("{s:s, s:s, s:i, s:s}", "file", file->path, "case", test->name,
				 "line", (int)test->place.line, "outcome", outcome);
	json_t *faults = json_array();

	for (unsigned i = 0; i < result->n_faults; i++)
		json_array_append_new(faults, json_string(result->faults[i]));
	json_object_set_new(line, "faults", faults);
	if (test->skip)
		json_object_set_new(line, "why", json_string(test->skip));
	json_dumpf(line, stdout, JSON_COMPACT);
	fputc('\n', stdout);
	json_decref(line);
}

static void report_text(const struct test_file *file, const struct test_case *test,
			const char *outcome, const struct test_result *result)
{
	printf("%-7s %s:%u: %s%s%s%s\n", outcome, file->path, test->place.line, test->name,
	       test->skip ? " (" : "", test->skip ? test->skip : "", test->skip ? ")" : "");
	for (unsigned i = 0; i < result->n_faults; i++)
		printf("  %s\n", result->faults[i]);
}

// Errors of what could not be run at all go to stderr, as everywhere; the worst decides the code.
static void fail(struct tally *tally, struct errors *errors)
{
	int code = errors_exit_code(errors);

	errors_print(errors, stderr);
	tally->failed++;
	if (tally->code != EXIT_INPUT && code)
		tally->code = code;
}

static void case_run(const struct test_args *args, struct test_file *file,
		     const struct test_case *test, struct tally *tally)
{
	struct errors *errors = errors_new();
	struct test_result result = {0};
	unsigned outcome = 0;

	if (test->skip) {
		outcome = 2;
		tally->skipped++;
	} else if (test_case_run(file, test, args->update, &result, errors)) {
		outcome = 1;
		fail(tally, errors);
	} else if (result.n_faults > result.n_updated) {
		outcome = 1;
		tally->failed++;
	} else if (result.n_faults) {
		outcome = 3;
		tally->passed++;
	} else {
		tally->passed++;
	}
	if (args->json)
		report_json(file, test, words[outcome], &result);
	else
		report_text(file, test, words[outcome], &result);
	fflush(stdout);
	free(result.faults);
	errors_free(errors);
}

static void file_run(const struct test_args *args, const char *path, struct tally *tally)
{
	struct errors *errors = errors_new();
	struct test_file *file = test_read(path, errors);

	if (!file) {
		fail(tally, errors);
	} else {
		for (unsigned i = 0; i < file->n_cases; i++)
			case_run(args, file, &file->cases[i], tally);
		if (file->edits && test_update(file, errors))
			fail(tally, errors);
		else if (file->edits && !args->json)
			printf("updated %s\n", path);
	}
	test_free(file);
	errors_free(errors);
}

static bool is_test_file(const char *name)
{
	static const char end[] = ".test.yaml";
	size_t n = strlen(name);

	return n > strlen(end) && !strcmp(name + n - strlen(end), end);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

// The file itself, whatever its name, or the test files below a folder in the order of their names.
static unsigned paths_run(const struct test_args *args, struct tally *tally)
{
	char *const roots[] = {(char *)args->path, NULL};
	FTS *tree = fts_open(roots, FTS_NOCHDIR | FTS_LOGICAL, by_name);
	unsigned files = 0;
	FTSENT *at;

	while (tree && (at = fts_read(tree))) {
		bool wanted = at->fts_level == FTS_ROOTLEVEL || is_test_file(at->fts_name);

		if (at->fts_info == FTS_D || at->fts_info == FTS_DP || !wanted)
			continue;
		files++;
		file_run(args, at->fts_path, tally);
	}
	if (tree)
		fts_close(tree);
	return files;
}

static void summary(const struct test_args *args, const struct tally *tally)
{
	if (args->json)
		printf("{\"passed\":%u,\"failed\":%u,\"skipped\":%u}\n", tally->passed,
		       tally->failed, tally->skipped);
	else
		printf("%u passed, %u failed, %u skipped\n", tally->passed, tally->failed,
		       tally->skipped);
}

static int run_all(const struct test_args *args)
{
	struct eal_wishes wishes = {.memory_bytes = MEMORY_BYTES, .more = "--no-huge"};
	struct errors *errors = errors_new();
	struct tally tally = {0};

	if (cli_modules_load(args->modules.modules, args->modules.n_modules, errors) ||
	    eal_start(&wishes, errors))
		return cli_fail(errors);
	errors_free(errors);
	if (!paths_run(args, &tally)) {
		fprintf(stderr, "%s: error: no file named *.test.yaml is in this folder\n",
			args->path);
		return EXIT_INPUT;
	}
	summary(args, &tally);
	eal_stop();
	return tally.code ? tally.code : tally.failed ? EXIT_FAILED : EXIT_DONE;
}

static int test_run(int argc, char **argv)
{
	struct test_args args = {0};
	int code;

	cli_parse(&syntax, argc, argv, &args);
	code = run_all(&args);
	cli_graph_free(&args.modules);
	return code;
}

const struct subcommand cli_test = {
    .name = "test",
    .args = "FILE|FOLDER [--module PATH]... [--update] [--json]",
    .help = "tests graphs: packets in, packets out, counters",
    .run = test_run,
};
