// SPDX-License-Identifier: BSD-3-Clause
// PortInc: brings what a port receives into the graph, and sees to it that every packet there has
// its first 14 bytes in its first segment.

#include "driver.h"
#include "module.h"
#include "packet.h"

struct portinc_params {
	struct port_ref port;
	uint16_t burst;
};

static const struct param portinc_params[] = {
    PARAM(portinc_params, port, .help = "the port to receive from"),
    PARAM(portinc_params, burst, .def = "0", .max = BATCH_MAX,
	  .help = "packets taken at once, at most; 0: the graph's setting"),
    PARAM_END,
};

// Drops what is no frame; the rest close up, in order.
static __attribute__((noinline)) void portinc_whole(struct ctx *ctx, struct batch *batch)
{
	unsigned n = 0;

	batch_foreach (batch, pkt) {
		if (likely(packet_join(pkt, sizeof(struct rte_ether_hdr))))
			batch->pkts[n++] = pkt;
		else
			packet_drop(ctx, pkt, REASON_RUNT);
	}
	batch->n = n;
}

// The length of the shortest first segment: one look without a branch for each, as none is too
// short as a rule.
static inline unsigned portinc_shortest(struct rte_mbuf **pkts, unsigned n)
{
	unsigned shortest = UINT16_MAX;

#pragma GCC unroll 4
	for (unsigned i = 0; i < n; i++)
		shortest = RTE_MIN(shortest, (unsigned)rte_pktmbuf_data_len(pkts[i]));
	return shortest;
}

static int portinc_poll(struct ctx *ctx)
{
	const struct portinc_params *params = ctx->params;
	struct port *port = params->port.port;
	uint16_t burst = params->burst ? params->burst : port->burst;
	// Read before rx: only what was received after the end was seen is the last.
	bool ended = port_ended(port);
	struct batch *batch = batch_new(ctx);
	unsigned n;

	if (unlikely(!batch))
		return 0;
	n = port->rx(port->rx_queue[ctx->queue], batch->pkts, burst);
	if (!n) {
		batch_free(ctx, batch);
		return ended ? POLL_ENDED : 0;
	}
	batch->n = n;
	made(ctx, n);
	if (!port->whole_headers &&
	    unlikely(portinc_shortest(batch->pkts, n) < sizeof(struct rte_ether_hdr)))
		portinc_whole(ctx, batch);
	emit(ctx, batch, 0);
	return (int)n;
}

static bool portinc_finite(const struct node *node)
{
	return ((const struct portinc_params *)node->params)->port.port->finite;
}

static int portinc_open(struct node *node, struct errors *errors)
{
	const struct port_ref *ref = &((const struct portinc_params *)node->params)->port;

	if (!ref->port->rx) {
		error_input(errors, "port", "port '%s' cannot receive", ref->name);
		return -1;
	}
	return 0;
}

static struct module_type portinc = {
    .name = "PortInc",
    .help = "receives packets from a port",
    .details =
	"Each worker that runs the node has a receive queue of its own. A packet shorter than an "
	"Ethernet header (14 bytes) is dropped as `runt`; one whose header is spread over several "
	"segments is joined. The node ends when its port has ended: a capture that was read to its "
	"end does, a device never.",
    .example = "ports:\n"
	       "  left: {pcap: {rx: in.pcap}}\n"
	       "nodes:\n"
	       "  rx: {PortInc: {port: left}}\n",
    .ogates = 1,
    .params = portinc_params,
    .shared = true,
    .open = portinc_open,
    .poll = portinc_poll,
    .finite = portinc_finite,
};
MODULE(portinc)
