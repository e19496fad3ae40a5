// SPDX-License-Identifier: BSD-3-Clause
// BenchPass: the cheapest node there can be, which passes batches on. What it costs is what the
// engine costs.

#include "module.h"

static void pass_process(struct ctx *ctx, struct batch *in)
{
	emit(ctx, in, 0);
}

static struct module_type pass = {
    .name = "BenchPass",
    .help = "passes batches on by its first gate; the others may be linked and see nothing",
    .example = "gen -> BenchPass -> Sink",
    .igates = 1,
    .ogates = GATES_ANY,
    .shared = true,
    .blind = true,
    .process = pass_process,
};
MODULE(pass)
