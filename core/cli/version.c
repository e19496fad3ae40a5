// SPDX-License-Identifier: BSD-3-Clause
// sluice version: what this program is, and what it was built with.

#include <stdio.h>

#include <rte_version.h>

#include "cli/cli.h"

static int version_run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("sluice, %s, gcc " __VERSION__ "\n", rte_version());
	return EXIT_DONE;
}

const struct subcommand cli_version = {
    .name = "version",
    .args = "",
    .help = "shows versions, the compiler and the flags",
    .run = version_run,
};
