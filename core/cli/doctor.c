// SPDX-License-Identifier: BSD-3-Clause
// sluice doctor: what this machine has for running graphs, and how to get what it lacks. It only
// looks; DPDK is not started.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/doctor.h"

static const char *const states[] = {
    [FINDING_OK] = "ok",
    [FINDING_NOTE] = "note",
    [FINDING_MISSING] = "missing",
};

void finding_add(json_t *findings, enum finding_state state, const char *name, const char *fix,
		 const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s?}", "name", name, "state",
						  states[state], "finding", text, "fix", fix));
}

bool file_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool read;

	if (!file)
		return false;
	read = fgets(line, (int)size, file);
	fclose(file);
	if (!read)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return read;
}

static void findings_print(const json_t *findings)
{
	const json_t *finding;
	size_t i;

	json_array_foreach (findings, i, finding) {
		const char *fix = json_string_value(json_object_get(finding, "fix"));

		printf("%-8s %-11s %s\n", json_string_value(json_object_get(finding, "state")),
		       json_string_value(json_object_get(finding, "name")),
		       json_string_value(json_object_get(finding, "finding")));
		if (fix)
			printf("%21sfix: %s\n", "", fix);
	}
}

static bool finding_stops(const json_t *findings)
{
	const json_t *finding;
	size_t i;

	json_array_foreach (findings, i, finding) {
		if (!strcmp(json_string_value(json_object_get(finding, "state")),
			    states[FINDING_MISSING]))
			return true;
	}
	return false;
}

static const struct argp_option options[] = {
    {.name = "json", .key = 'j', .doc = "Print the findings as a JSON list"},
    {},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	bool *json = into;

	(void)arg;
	(void)state;
	if (key != 'j')
		return ARGP_ERR_UNKNOWN;
	*json = true;
	return 0;
}

static const struct cli_syntax syntax = {
    .options = options,
    .take = take,
    .doc = "Looks at cores, memory, limits, drivers and permissions, and says how to get "
	   "what is lacking.\vThe exit code is 3 when no graph can run here at all.",
};

static int doctor_run(int argc, char **argv)
{
	json_t *findings = json_array();
	bool json = false;
	bool stops;

	cli_parse(&syntax, argc, argv, &json);
	doctor_cores(findings);
	doctor_clock(findings);
	doctor_hugepages(findings);
	doctor_memory(findings);
	doctor_limits(findings);
	doctor_dpdk(findings);
	doctor_rights(findings);
	doctor_cards(findings);
	if (json) {
		json_dumpf(findings, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		findings_print(findings);
	}
	stops = finding_stops(findings);
	json_decref(findings);
	return stops ? EXIT_MACHINE : EXIT_DONE;
}

const struct subcommand cli_doctor = {
    .name = "doctor",
    .args = "[--json]",
    .help = "looks for what this machine lacks, and says how to get it",
    .run = doctor_run,
};
