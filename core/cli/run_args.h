// SPDX-License-Identifier: BSD-3-Clause
// The command line of `sluice run`.

#ifndef SLUICE_CLI_RUN_ARGS_H
#define SLUICE_CLI_RUN_ARGS_H

#include "cli/cli.h"
#include "cli/service.h"

struct run_args {
	struct cli_graph graph;
	uint64_t for_ns;   // 0: until it ends
	uint64_t stats_ns; // 0: none
	bool quiet;
	bool json;
	const char *name;	// of the instance; NULL: the graph's
	const char *group;	// that may use the control socket; NULL: the owner alone
	const char *listen;	// where TCP is served; NULL: nowhere
	const char *token_file; // NULL: a token is made
	bool no_control;
	struct service service;
};

extern const struct cli_syntax run_syntax; // fills a struct run_args, after service_init()

#endif
