// SPDX-License-Identifier: BSD-3-Clause
// ring: a wire inside the process. Two ports of the same name are its ends; a port without a name
// receives what it sends. Packets are handed over, not copied.

#include <stdlib.h>
#include <string.h>

#include <rte_ring.h>

#include "ring_wire.h"

struct ring_queue {
	struct rte_ring *ring;
	uint64_t packets;
	uint64_t bytes;
} __rte_cache_aligned;

static const struct param ring_params[] = {
    PARAM(ring_params, name, .def = "", .max = 16, .example = "wire",
	  .help =
	      "name of the wire, which joins the two ports that have it; none: the port receives "
	      "what it sends"),
    PARAM(ring_params, size, .def = "1024", .min = 1, .max = 1 << 20,
	  .help = "packets that wait in each direction; more are refused"),
    PARAM_END,
};

static void ring_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static uint64_t ring_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static uint64_t ring_bytes(struct rte_mbuf *const *pkts, unsigned n)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += pkts[i]->pkt_len;
	return bytes;
}

static uint16_t ring_rx(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct ring_queue *queue = queue_;
	unsigned got = rte_ring_sc_dequeue_burst(queue->ring, (void **)pkts, n, NULL);

	if (got) {
		ring_count(&queue->packets, got);
		ring_count(&queue->bytes, ring_bytes(pkts, got));
	}
	return got;
}

// Lengths are read before the other end may have, and free, the packets.
static uint16_t ring_tx_burst(struct ring_queue *queue, struct rte_mbuf **pkts, uint16_t n,
			      unsigned (*put)(struct rte_ring *, void *const *, unsigned,
					      unsigned *))
{
	uint64_t bytes = ring_bytes(pkts, n), refused;
	uint16_t got = put(queue->ring, (void *const *)pkts, n, NULL);

	refused = ring_bytes(pkts + got, n - got);
	ring_count(&queue->packets, got);
	ring_count(&queue->bytes, bytes - refused);
	return got;
}

static uint16_t ring_tx_one(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return ring_tx_burst(queue, pkts, n, rte_ring_sp_enqueue_burst);
}

// Several workers: one at a time moves the ring's head, so that one that loses its core in the
// middle holds up the others before they begin.
static uint16_t ring_tx_many(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	return ring_tx_burst(queue, pkts, n, rte_ring_mp_hts_enqueue_burst);
}

static void ring_caps(const void *params, struct driver_caps *caps)
{
	(void)params;
	*caps = (struct driver_caps){.rx_queues = 1, .tx_queues = PORT_QUEUES_MAX};
}

static unsigned ring_holds(const void *params, unsigned rx_queues, unsigned tx_queues)
{
	(void)rx_queues;
	(void)tx_queues;
	return ((const struct ring_params *)params)->size;
}

static int ring_open(struct port *port, struct errors *errors)
{
	struct ring_state *state = port->state;
	unsigned n = 1 + port->tx_queues;

	if (ring_wire_join(port, errors))
		return -1;
	state->queues = aligned_alloc(RTE_CACHE_LINE_SIZE, n * sizeof(*state->queues));
	if (!state->queues) {
		error_machine(errors, NULL, "no memory for %u queues", n);
		return -1;
	}
	memset(state->queues, 0, n * sizeof(*state->queues));
	state->queues[0].ring = state->end->ring;
	port->rx_queue[0] = &state->queues[0];
	for (unsigned i = 0; i < port->tx_queues; i++) {
		state->queues[1 + i].ring = state->peer->ring;
		port->tx_queue[i] = &state->queues[1 + i];
	}
	port->rx = ring_rx;
	port->tx = port->tx_queues > 1 ? ring_tx_many : ring_tx_one;
	port->whole_headers = true; // packets of the graph have them
	return 0;
}

static void ring_close(struct port *port)
{
	struct ring_state *state = port->state;

	ring_wire_leave(port);
	free(state->queues);
	state->queues = NULL;
}

static void ring_counters(struct port *port, struct port_counters *counters)
{
	struct ring_state *state = port->state;

	if (!state->queues)
		return;
	counters->rx_packets = ring_read(&state->queues[0].packets);
	counters->rx_bytes = ring_read(&state->queues[0].bytes);
	for (unsigned i = 1; i <= port->tx_queues; i++) {
		counters->tx_packets += ring_read(&state->queues[i].packets);
		counters->tx_bytes += ring_read(&state->queues[i].bytes);
	}
}

static enum port_link ring_link(struct port *port)
{
	struct ring_state *state = port->state;

	return state->wire && state->peer->claims ? PORT_UP : PORT_DOWN;
}

// What waits for the other end: if nobody receives there, it never leaves.
static uint64_t ring_unsent(struct port *port)
{
	struct ring_state *state = port->state;

	const struct rte_ring *to = state->wire ? state->peer->ring : NULL;
	uint32_t taken;

	if (!to)
		return 0;
	// In this order: what is taken in between makes the answer too large, never negative.
	taken = __atomic_load_n(&to->cons.tail, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&to->prod.tail, __ATOMIC_RELAXED) - taken;
}

static const struct driver_type ring = {
    .name = "ring",
    .help = "a wire inside the process, between two ports or from a port to itself",
    .details =
	"Two ports with the same name are joined: what is sent to one is received from the other, "
	"in "
	"both directions, in order, without a copy. A third port of that name is refused, and so "
	"are two sizes. The link is up when both ends are there. Packets that find the ring full "
	"are refused, and lost unless the sender tries again (PortOut's `retry`). A wire never "
	"ends, so a graph that receives from one runs until it is stopped.",
    .example = "ports:\n"
	       "  left:  {ring: {name: wire}}\n"
	       "  right: {ring: {name: wire}}\n"
	       "  echo:  ring\n",
    .params = ring_params,
    .state_size = sizeof(struct ring_state),
    .caps = ring_caps,
    .holds = ring_holds,
    .open = ring_open,
    .close = ring_close,
    .counters = ring_counters,
    .link = ring_link,
    .unsent = ring_unsent,
};
DRIVER(ring)
