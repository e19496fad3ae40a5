// SPDX-License-Identifier: BSD-3-Clause
// Sink: where packets end as meant. They count as consumed, not as dropped.

#include "module.h"

static struct module_type sink = {
    .name = "Sink",
    .help = "consumes packets",
    .details = "The packets count as consumed: their way was meant to end here. For packets that "
	       "should not have come, use Discard, which counts them as dropped.",
    .example = "nodes:\n"
	       "  gen: {Source: {size: 64}}\n"
	       "graph:\n"
	       "  - gen -> Sink\n",
    .igates = 1,
    .shared = true,
    .blind = true,
    .process = consume,
};
MODULE(sink)
