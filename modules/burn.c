// SPDX-License-Identifier: BSD-3-Clause
// Burn: spend cycles, as a stand-in for a module that computes. The cycles are those of a chain of
// multiplications, each waiting for the one before, whose length is measured when the node opens.

#include <rte_cycles.h>

#include "module.h"

struct burn_params {
	uint32_t per_packet;
	uint32_t per_batch;
};

struct burn {
	uint64_t packet_steps;
	uint64_t batch_steps;
};

static const struct param burn_params[] = {
    PARAM(burn_params, per_packet, .def = "0", .max = 1000000,
	  .help = "cycles of the time stamp counter to spend on each packet"),
    PARAM(burn_params, per_batch, .def = "0", .max = 10000000,
	  .help = "cycles to spend on each batch besides"),
    PARAM_END,
};

static inline uint64_t burn_steps(uint64_t seed, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++) {
		seed *= 0x9e3779b97f4a7c15;
		// The compiler must not shorten the chain.
		__asm__ volatile("" : "+r"(seed));
	}
	return seed;
}

static void burn_process(struct ctx *ctx, struct batch *in)
{
	const struct burn *burn = ctx->state;
	uint64_t seed = burn_steps(in->n | 1, burn->batch_steps);
	uint64_t steps = burn->packet_steps;

	for (uint32_t i = 0; i < in->n; i++)
		seed = burn_steps(seed, steps);
	emit(ctx, in, 0);
}

// Cycles of a million steps: the best of some tries, since whatever disturbs one makes it longer.
static uint64_t burn_measure(void)
{
	const uint64_t steps = 10000;
	uint64_t best = UINT64_MAX;

	for (unsigned tries = 0; tries < 8; tries++) {
		uint64_t begin = rte_rdtsc_precise();

		burn_steps(1, steps);
		best = RTE_MIN(best, rte_rdtsc_precise() - begin);
	}
	return RTE_MAX(best * (1000000 / steps), 1u);
}

static int burn_open(struct node *node, struct errors *errors)
{
	const struct burn_params *params = node->params;
	struct burn *burn = node->state;
	uint64_t cycles = burn_measure();

	(void)errors;
	burn->packet_steps = (params->per_packet * 1000000ull + cycles / 2) / cycles;
	burn->batch_steps = (params->per_batch * 1000000ull + cycles / 2) / cycles;
	return 0;
}

static struct module_type burn = {
    .name = "Burn",
    .help = "spends cycles on each packet or batch, to stand in for work",
    .details = "The cycles are spent in a chain of multiplications, three or four cycles each, "
	       "that touches no memory; its length is measured when the node opens. The packet is "
	       "not read.",
    .example = "nodes:\n"
	       "  work: {Burn: {per_packet: 100}}\n"
	       "graph:\n"
	       "  - rx -> work -> tx\n",
    .igates = 1,
    .ogates = 1,
    .params = burn_params,
    .state_size = sizeof(struct burn),
    .shared = true,
    .blind = true,
    .open = burn_open,
    .process = burn_process,
    .explain = burn_process,
};
MODULE(burn)
