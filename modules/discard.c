// SPDX-License-Identifier: BSD-3-Clause
// Discard: the way of what is not wanted ends here, and is counted.

#include "module.h"

enum { DISCARD_DISCARDED = REASON_OWN };

static void discard_process(struct ctx *ctx, struct batch *in)
{
	drop(ctx, in, DISCARD_DISCARDED);
}

static struct module_type discard = {
    .name = "Discard",
    .help = "drops every packet",
    .details = "Every packet is counted as dropped, under the reason `discarded`. Where packets "
	       "end as they should, as behind a traffic generator, use Sink, which counts them as "
	       "consumed.",
    .example = "graph:\n"
	       "  - cls[miss] -> Discard\n",
    .igates = 1,
    .ogates = 0,
    .drops = (const char *const[]){"discarded", NULL},
    .drops_help = (const char *const[]){"reached this node", NULL},
    .shared = true,
    .blind = true,
    .process = discard_process,
};
MODULE(discard)
