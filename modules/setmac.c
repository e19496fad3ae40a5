// SPDX-License-Identifier: BSD-3-Clause
// SetMAC: write the source address, the destination address, or both. One pass without branches:
// the 12 bytes of both addresses are masked and set.

#include "module.h"
#include "packet.h"

struct setmac_params {
	struct rte_ether_addr src;
	struct rte_ether_addr dst;
};

struct setmac {
	uint8_t set[12];  // destination, source; zeros where they stay
	uint8_t keep[12]; // ones where they stay
};

static const struct param setmac_params[] = {
    PARAM(setmac_params, src, .def = "00:00:00:00:00:00",
	  .help = "the new source address; all zeros: it stays"),
    PARAM(setmac_params, dst, .def = "00:00:00:00:00:00",
	  .help = "the new destination address; all zeros: it stays"),
    PARAM_END,
};

static void setmac_process(struct ctx *ctx, struct batch *in)
{
	const struct setmac *mac = ctx->state;
	uint64_t set_head, keep_head;
	uint32_t set_tail, keep_tail;

	memcpy(&set_head, mac->set, 8);
	memcpy(&set_tail, mac->set + 8, 4);
	memcpy(&keep_head, mac->keep, 8);
	memcpy(&keep_tail, mac->keep + 8, 4);
	batch_foreach (in, pkt) {
		uint8_t *bytes = (uint8_t *)ether(pkt);
		uint64_t head;
		uint32_t tail;

		memcpy(&head, bytes, 8);
		memcpy(&tail, bytes + 8, 4);
		head = (head & keep_head) | set_head;
		tail = (tail & keep_tail) | set_tail;
		memcpy(bytes, &head, 8);
		memcpy(bytes + 8, &tail, 4);
	}
	emit(ctx, in, 0);
}

static void setmac_check(const void *given, struct errors *errors)
{
	const struct setmac_params *params = given;

	if (rte_is_zero_ether_addr(&params->src) && rte_is_zero_ether_addr(&params->dst))
		error_input(errors, NULL, "nothing to set: give src, dst, or both");
}

static int setmac_open(struct node *node, struct errors *errors)
{
	const struct setmac_params *params = node->params;
	struct setmac *mac = node->state;

	(void)errors;
	memcpy(mac->set, &params->dst, 6);
	memcpy(mac->set + 6, &params->src, 6);
	memset(mac->keep, rte_is_zero_ether_addr(&params->dst) ? 0xff : 0, 6);
	memset(mac->keep + 6, rte_is_zero_ether_addr(&params->src) ? 0xff : 0, 6);
	return 0;
}

static struct module_type setmac = {
    .name = "SetMAC",
    .help = "writes the source or destination MAC address of each packet, or both",
    .example = "nodes:\n"
	       "  gw: {SetMAC: {src: \"02:00:00:00:00:01\", dst: \"02:00:00:00:00:fe\"}}\n"
	       "graph:\n"
	       "  - rx -> gw -> tx\n",
    .igates = 1,
    .ogates = 1,
    .params = setmac_params,
    .state_size = sizeof(struct setmac),
    .shared = true,
    .check = setmac_check,
    .open = setmac_open,
    .process = setmac_process,
    .explain = setmac_process,
};
MODULE(setmac)
