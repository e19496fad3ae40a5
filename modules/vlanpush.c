// SPDX-License-Identifier: BSD-3-Clause
// VLANPush: put a VLAN tag in front of what follows the addresses.

#include "module.h"
#include "packet.h"

enum { VLANPUSH_NO_ROOM = REASON_OWN };

struct vlanpush_params {
	uint16_t vid;
	uint8_t pcp;
	bool dei;
	struct choice tpid;
};

static const char *const vlanpush_tpids[] = {"0x8100", "0x88a8", NULL};

static const struct param vlanpush_params[] = {
    PARAM(vlanpush_params, vid, .min = 0, .max = 4094,
	  .help = "the VLAN; 0 is a tag for its priority only"),
    PARAM(vlanpush_params, pcp, .def = "0", .min = 0, .max = 7, .help = "the priority"),
    PARAM(vlanpush_params, dei, .def = "false",
	  .help = "whether the packet may be dropped first (drop eligible)"),
    PARAM(vlanpush_params, tpid, .def = "0x8100", .choices = vlanpush_tpids,
	  .help = "the tag's type: 0x8100 of a customer's tag, 0x88a8 of a service tag "
		  "(the outer one of QinQ)"),
    PARAM_END,
};

static void vlanpush_process(struct ctx *ctx, struct batch *in)
{
	const struct vlanpush_params *params = ctx->params;
	uint16_t tci = params->pcp << 13 | params->dei << 12 | params->vid;
	uint16_t tpid = params->tpid.n ? RTE_ETHER_TYPE_QINQ : RTE_ETHER_TYPE_VLAN;
	rte_be32_t tag = rte_cpu_to_be_32((uint32_t)tpid << 16 | tci);
	gate_t gates[BATCH_MAX], *gate = gates;

	batch_foreach (in, pkt) {
		uint8_t *bytes = packet_prepend(pkt, sizeof(tag));

		*gate++ = bytes ? 0 : DROP(VLANPUSH_NO_ROOM);
		if (unlikely(!bytes))
			continue;
		memmove(bytes, bytes + sizeof(tag), 2 * RTE_ETHER_ADDR_LEN);
		memcpy(bytes + 2 * RTE_ETHER_ADDR_LEN, &tag, sizeof(tag));
	}
	emit_each(ctx, in, gates);
}

static struct module_type vlanpush = {
    .name = "VLANPush",
    .help = "puts a VLAN tag on each packet",
    .details = "The new tag is the outermost; tags that a packet has already stay behind it. "
	       "Whether a port carries the four bytes more is for its MTU to say.",
    .example = "nodes:\n"
	       "  customer: {VLANPush: {vid: 5, pcp: 3}}\n"
	       "  service: {VLANPush: {vid: 100, tpid: 0x88a8}}\n"
	       "graph:\n"
	       "  - rx -> customer -> service -> tx\n",
    .igates = 1,
    .ogates = 1,
    .params = vlanpush_params,
    .drops = (const char *const[]){"no_room", NULL},
    .drops_help = (const char *const[]){"its buffer has no four bytes to spare", NULL},
    .shared = true,
    .process = vlanpush_process,
};
MODULE(vlanpush)
