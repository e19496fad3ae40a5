// SPDX-License-Identifier: BSD-3-Clause
// sluice bench: measures software switches. All of it is in lua/bench.

#include "cli/cli.h"
#include "lua/bench.h"

const struct subcommand cli_bench = {
    .name = "bench",
    .args =
	"doctor|roofline|list|run|latency|intrinsic|compare|suite|report|selftest [ARGUMENT]...",
    .help = "measures software switches",
    .run = bench_main,
};
