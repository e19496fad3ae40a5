// SPDX-License-Identifier: BSD-3-Clause
// RoundRobin: spread packets, or batches, evenly over the linked gates, one after the other.

#include "module.h"

enum { ROUNDROBIN_PACKET, ROUNDROBIN_BATCH };

struct roundrobin_params {
	struct choice each;
};

struct roundrobin {
	unsigned next; // index among the linked gates
};

static const char *const roundrobin_each[] = {"packet", "batch", NULL};

static const struct param roundrobin_params[] = {
    PARAM(roundrobin_params, each, .def = "packet", .choices = roundrobin_each,
	  .help = "what goes to the next gate: each packet, or each batch as it comes "
		  "(cheaper, and as even over time)"),
    PARAM_END,
};

static void roundrobin_process(struct ctx *ctx, struct batch *in)
{
	const struct roundrobin_params *params = ctx->params;
	struct roundrobin *own = ctx->local;
	gate_t linked[GATES_MAX], gates[BATCH_MAX];
	unsigned n = 0, next = own->next;

	for (gate_t gate = 0; gate < ctx->ogates; gate++)
		if (gate_linked(ctx, gate))
			linked[n++] = gate;
	if (unlikely(!n)) {
		drop(ctx, in, REASON_UNCONNECTED);
		return;
	}
	if (unlikely(next >= n)) // fewer gates than before a change of the graph
		next = 0;
	if (params->each.n == ROUNDROBIN_BATCH) {
		own->next = next + 1 < n ? next + 1 : 0;
		emit(ctx, in, linked[next]);
		return;
	}
	for (uint32_t i = 0; i < in->n; i++) {
		gates[i] = linked[next];
		next = next + 1 < n ? next + 1 : 0;
	}
	own->next = next;
	emit_each(ctx, in, gates);
}

static struct module_type roundrobin = {
    .name = "RoundRobin",
    .help = "spreads packets evenly over its linked gates",
    .details = "Packets of one flow take different ways and may overtake each other; HashSplit "
	       "keeps flows together. Each worker counts for itself.",
    .example = "nodes:\n"
	       "  spread: {RoundRobin: {each: batch}}\n"
	       "graph:\n"
	       "  - rx -> spread -> q0\n"
	       "  - spread[1] -> q1\n",
    .igates = 1,
    .ogates = GATES_ANY,
    .params = roundrobin_params,
    .local_size = sizeof(struct roundrobin),
    .shared = true,
    .blind = true,
    .process = roundrobin_process,
    .explain = roundrobin_process,
};
MODULE(roundrobin)
