// SPDX-License-Identifier: BSD-3-Clause
// PortInc: brings what a port receives into the graph, and sees to it that every packet there has
// its first 14 bytes in its first segment.

#include <string.h>

#include "driver.h"
#include "module.h"

#define PORTINC_HEADER 14u // an Ethernet header

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

struct portinc {
	struct port *port;
	uint16_t burst;
};

// Makes room for the rest of the header in the first segment: behind what is there or, in a buffer
// that is full to its end, in front of it.
static char *portinc_room(struct rte_mbuf *pkt, uint16_t have)
{
	uint16_t want = PORTINC_HEADER - have;
	char *data = rte_pktmbuf_mtod(pkt, char *);

	if (pkt->buf_len - pkt->data_off - have >= want)
		return data;
	if (pkt->data_off < want)
		return NULL;
	memmove(data - want, data, have);
	pkt->data_off -= want;
	return data - want;
}

// Moves bytes from the next segments into the first one until that holds a header; segments that
// become empty are freed. false: there are too few, or there is no room.
static bool portinc_join(struct rte_mbuf *pkt)
{
	uint16_t have = pkt->data_len;
	char *data;

	if (pkt->pkt_len < PORTINC_HEADER)
		return false;
	data = portinc_room(pkt, have);
	if (!data)
		return false;
	while (have < PORTINC_HEADER) {
		struct rte_mbuf *seg = pkt->next;
		uint16_t n = RTE_MIN(seg->data_len, (uint16_t)(PORTINC_HEADER - have));

		memcpy(data + have, rte_pktmbuf_mtod(seg, char *), n);
		have += n;
		seg->data_off += n;
		seg->data_len -= n;
		if (!seg->data_len) {
			pkt->next = seg->next;
			pkt->nb_segs--;
			rte_pktmbuf_free_seg(seg);
		}
	}
	pkt->data_len = have;
	return true;
}

// Drops what is no frame; the rest close up, in order.
static void portinc_whole(struct ctx *ctx, struct batch *batch)
{
	unsigned n = 0;

	batch_foreach (batch, pkt) {
		if (unlikely(pkt->data_len < PORTINC_HEADER) && !portinc_join(pkt))
			packet_drop(ctx, pkt, REASON_RUNT);
		else
			batch->pkts[n++] = pkt;
	}
	batch->n = n;
}

static int portinc_poll(struct ctx *ctx)
{
	const struct portinc *state = ctx->state;
	struct port *port = state->port;
	// Read before rx: only what was received after the end was seen is the last.
	bool ended = port_ended(port);
	struct batch *batch = batch_new(ctx);
	unsigned n;

	if (unlikely(!batch))
		return 0;
	n = port->rx(port->rx_queue[ctx->queue], batch->pkts, state->burst);
	if (!n) {
		batch_free(ctx, batch);
		return ended ? POLL_ENDED : 0;
	}
	batch->n = n;
	made(ctx, n);
	if (!port->whole_headers)
		portinc_whole(ctx, batch);
	emit(ctx, batch, 0);
	return (int)n;
}

static int portinc_open(struct node *node, struct errors *errors)
{
	const struct portinc_params *params = node->params;
	struct portinc *state = node->state;

	state->port = params->port.port;
	if (!state->port->rx) {
		error_input(errors, "port", "port '%s' cannot receive", params->port.name);
		return -1;
	}
	state->burst = params->burst ? params->burst : state->port->burst;
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
    .state_size = sizeof(struct portinc),
    .shared = true,
    .open = portinc_open,
    .poll = portinc_poll,
};
MODULE(portinc)
