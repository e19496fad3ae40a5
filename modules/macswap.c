// SPDX-License-Identifier: BSD-3-Clause
// MACSwap: send each frame back to where it came from.

#include "module.h"
#include "packet.h"

static void macswap_process(struct ctx *ctx, struct batch *in)
{
	batch_foreach (in, pkt)
		ether_swap(pkt);
	emit(ctx, in, 0);
}

static struct module_type macswap = {
    .name = "MACSwap",
    .help = "swaps the source and destination MAC address of each packet",
    .example = "graph:\n"
	       "  - rx -> MACSwap -> tx\n",
    .igates = 1,
    .ogates = 1,
    .shared = true,
    .process = macswap_process,
};
MODULE(macswap)
