// SPDX-License-Identifier: BSD-3-Clause
// sluice version: what this program is, what it was built with, and what it runs with now.

#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <pcap/pcap.h>
#include <rte_version.h>
#include <yaml.h>

#include "abi.h"
#include "build.h"
#include "cli/cli.h"
#include "module.h"

#ifdef __clang__
#define VERSION_COMPILER "clang " __clang_version__
#else
#define VERSION_COMPILER "gcc " __VERSION__
#endif

// What the compiler was really allowed to use: flags can undo each other without a word.
static const char *const instructions[] = {
#ifdef __SSE4_2__
    "sse4.2",
#endif
#ifdef __AVX__
    "avx",
#endif
#ifdef __AVX2__
    "avx2",
#endif
#ifdef __BMI2__
    "bmi2",
#endif
#ifdef __FMA__
    "fma",
#endif
#ifdef __AVX512F__
    "avx512f",
#endif
#ifdef __AVX512BW__
    "avx512bw",
#endif
#ifdef __AVX512VL__
    "avx512vl",
#endif
#ifdef __AVX512VBMI__
    "avx512vbmi",
#endif
#ifdef __ARM_NEON
    "neon",
#endif
    NULL,
};

static const char *sanitizer(void)
{
	switch (ABI_SANITIZER) {
	case 1:
		return "address";
	case 2:
		return "thread";
	default:
		return "none";
	}
}

// "DPDK 22.11.11" without its first word.
static const char *dpdk_version(void)
{
	const char *blank = strchr(rte_version(), ' ');

	return blank ? blank + 1 : rte_version();
}

static const char *pcap_version(void)
{
	static const char before[] = "libpcap version ";
	const char *text = pcap_lib_version();

	return strncmp(text, before, strlen(before)) ? text : text + strlen(before);
}

static json_t *version_json(void)
{
	json_t *with = json_array();
	char built[32];

	for (const char *const *at = instructions; *at; at++)
		json_array_append_new(with, json_string(*at));
	snprintf(built, sizeof(built), "%u.%02u.%u", RTE_VER_YEAR, RTE_VER_MONTH, RTE_VER_MINOR);
	return json_pack(
	    "{s:s, s:s, s:s, s:o, s:s, s:{s:s, s:s}, s:s, s:{s:s, s:s}, s:s, s:{s:i, s:i}}",
	    "sluice", BUILD_VERSION, "compiler", VERSION_COMPILER, "flags", BUILD_FLAGS,
	    "instructions", with, "sanitizer", sanitizer(), "dpdk", "built_with", built,
	    "running_with", dpdk_version(), "libyaml", yaml_get_version_string(), "jansson",
	    "built_with", JANSSON_VERSION, "running_with", jansson_version_str(), "libpcap",
	    pcap_version(), "modules", "abi", (int)ABI_VERSION, "batch_max", BATCH_MAX);
}

static void version_print(json_t *all)
{
	const json_t *dpdk = json_object_get(all, "dpdk");
	const json_t *jansson = json_object_get(all, "jansson");

	printf("sluice        %s\n", BUILD_VERSION);
	printf("compiler      %s\n", VERSION_COMPILER);
	printf("flags         %s\n", BUILD_FLAGS);
	printf("instructions ");
	for (const char *const *at = instructions; *at; at++)
		printf(" %s", *at);
	printf("%s\n", instructions[0] ? "" : " the plainest");
	printf("sanitizer     %s\n", sanitizer());
	printf("DPDK          %s, built with %s\n",
	       json_string_value(json_object_get(dpdk, "running_with")),
	       json_string_value(json_object_get(dpdk, "built_with")));
	printf("libyaml       %s\n", yaml_get_version_string());
	printf("jansson       %s, built with %s\n",
	       json_string_value(json_object_get(jansson, "running_with")), JANSSON_VERSION);
	printf("libpcap       %s\n", pcap_version());
	printf("modules       interface %u, %d packets in a batch\n", ABI_VERSION, BATCH_MAX);
}

static const struct argp_option options[] = {
    {.name = "json", .key = 'j', .doc = "Print one JSON object"},
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
    .doc = "Shows versions, the compiler and the flags really used.",
};

static int version_run(int argc, char **argv)
{
	bool json = false;
	json_t *all;

	cli_parse(&syntax, argc, argv, &json);
	all = version_json();
	if (json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		version_print(all);
	}
	json_decref(all);
	return EXIT_DONE;
}

const struct subcommand cli_version = {
    .name = "version",
    .args = "[--json]",
    .help = "shows versions, the compiler and the flags",
    .run = version_run,
};
