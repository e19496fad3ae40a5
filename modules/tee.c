// SPDX-License-Identifier: BSD-3-Clause
// Tee: each packet by the first linked gate, copies of it by all the others.

#include "module.h"

enum { TEE_COUNT_NOT_COPIED };

static const struct counter tee_counters[] = {
    {"not_copied", "copies that were not made, because no buffer was free"},
    {NULL, NULL},
};

// A batch of copies for one gate, or NULL; the copies that fail are counted.
static struct batch *tee_copy(struct ctx *ctx, struct batch *in)
{
	struct batch *out = batch_new(ctx);

	if (likely(out))
		batch_foreach (in, pkt) {
			struct rte_mbuf *copy = packet_copy(ctx, pkt);

			if (likely(copy))
				out->pkts[out->n++] = copy;
		}
	if (unlikely(!out || out->n < in->n))
		counter_add(&ctx->counters[TEE_COUNT_NOT_COPIED], in->n - (out ? out->n : 0));
	return out;
}

static void tee_process(struct ctx *ctx, struct batch *in)
{
	struct batch *copies[GATES_MAX];
	gate_t gates = ctx->ogates, first = 0;

	while (first < gates && !gate_linked(ctx, first))
		first++;
	if (unlikely(first == gates)) {
		drop(ctx, in, REASON_UNCONNECTED);
		return;
	}
	// All copies are made before the first verb: after it, the packets are gone.
	for (gate_t gate = first + 1; gate < gates; gate++)
		copies[gate] = gate_linked(ctx, gate) ? tee_copy(ctx, in) : NULL;
	emit(ctx, in, first);
	for (gate_t gate = first + 1; gate < gates; gate++)
		if (copies[gate])
			emit(ctx, copies[gate], gate);
}

static struct module_type tee = {
    .name = "Tee",
    .help = "sends each packet to every linked gate",
    .details = "The packet itself leaves by the first linked gate, deep copies of it, metadata "
	       "included, by the others; so what changes a packet behind one gate does not show "
	       "behind another. A copy for which there is no memory is counted as `not_copied`; "
	       "the packet and the other copies go on.",
    .example = "nodes:\n"
	       "  tee: Tee\n"
	       "graph:\n"
	       "  - rx -> tee -> tx\n"
	       "  - tee[1] -> capture\n",
    .igates = 1,
    .ogates = GATES_ANY,
    .counters = tee_counters,
    .shared = true,
    .process = tee_process,
};
MODULE(tee)
