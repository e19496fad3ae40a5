// SPDX-License-Identifier: BSD-3-Clause
// VLANPop: take the outermost VLAN tag off.

#include "module.h"
#include "packet.h"

enum { VLANPOP_OUT, VLANPOP_UNTAGGED };
enum { VLANPOP_PASS, VLANPOP_SPLIT };
enum { VLANPOP_COUNT_POPPED, VLANPOP_COUNT_UNTAGGED };

struct vlanpop_params {
	struct choice untagged;
};

static const char *const vlanpop_choices[] = {"pass", "split", NULL};

static const struct param vlanpop_params[] = {
    PARAM(vlanpop_params, untagged, .def = "pass", .choices = vlanpop_choices,
	  .help = "where packets without a tag go: on as they are by gate out (pass), or by "
		  "gate untagged (split)"),
    PARAM_END,
};

static const struct counter vlanpop_counters[] = {
    {"popped", "packets that lost a tag"},
    {"untagged", "packets that had none"},
    {NULL, NULL},
};

// Whether the packet had a whole tag; it has lost it.
static inline bool vlanpop_cut(struct rte_mbuf *pkt)
{
	uint8_t *bytes;

	if (unlikely(!packet_join(pkt, sizeof(struct rte_ether_hdr) + sizeof(struct rte_vlan_hdr))))
		return false;
	bytes = rte_pktmbuf_mtod(pkt, uint8_t *);
	memmove(bytes + sizeof(struct rte_vlan_hdr), bytes, 2 * RTE_ETHER_ADDR_LEN);
	rte_pktmbuf_adj(pkt, sizeof(struct rte_vlan_hdr));
	return true;
}

static void vlanpop_process(struct ctx *ctx, struct batch *in)
{
	const struct vlanpop_params *params = ctx->params;
	gate_t bare = params->untagged.n == VLANPOP_SPLIT ? VLANPOP_UNTAGGED : VLANPOP_OUT;
	gate_t gates[BATCH_MAX], *gate = gates;
	unsigned popped = 0, untagged = 0;

	batch_foreach (in, pkt) {
		if (unlikely(!vlan_type(ether(pkt)->ether_type))) {
			*gate++ = bare;
			untagged++;
		} else if (likely(vlanpop_cut(pkt))) {
			*gate++ = VLANPOP_OUT;
			popped++;
		} else {
			*gate++ = DROP(REASON_RUNT);
		}
	}
	counter_add(&ctx->counters[VLANPOP_COUNT_POPPED], popped);
	counter_add(&ctx->counters[VLANPOP_COUNT_UNTAGGED], untagged);
	emit_each(ctx, in, gates);
}

static struct module_type vlanpop = {
    .name = "VLANPop",
    .help = "takes the outermost VLAN tag off each packet",
    .details = "Tags are those of type 0x8100, 0x88a8 and 0x9100. A packet that ends within its "
	       "tag is dropped as `runt`.",
    .example = "nodes:\n"
	       "  pop: {VLANPop: {untagged: split}}\n"
	       "graph:\n"
	       "  - rx -> pop -> tx\n"
	       "  - pop[untagged] -> Discard\n",
    .igates = 1,
    .ogates = 2,
    .ogate_names = (const char *const[]){"out", "untagged"},
    .params = vlanpop_params,
    .counters = vlanpop_counters,
    .shared = true,
    .process = vlanpop_process,
};
MODULE(vlanpop)
