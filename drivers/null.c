// SPDX-License-Identifier: BSD-3-Clause
// null: a port that makes packets out of nothing and throws away what is sent. No device stands
// behind it, so it costs little beside the allocation and the freeing of real packet buffers: it
// measures everything else.

#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "mbuf.h"

enum { FILL_NONE, FILL_ZERO };

struct null_params {
	bool rx;
	uint32_t size;
	struct choice fill;
	uint64_t count;
};

// One for each receive queue and one for each transmit queue; the counters are the worker's.
struct null_queue {
	struct port *port;
	struct rte_mempool *pool;
	uint64_t packets;
	uint64_t bytes;
	uint64_t no_memory;
	uint64_t left; // to make; UINT64_MAX: without end
	uint32_t size;
	bool zero;
} __rte_cache_aligned;

struct null_state {
	struct null_queue *queues; // receive queues, then transmit queues
	unsigned making;	   // receive queues that have packets left to make
};

static const char *const null_fills[] = {"none", "zero", NULL};

static const struct param null_params[] = {
    PARAM(null_params, rx, .def = "true",
	  .help = "whether packets are made; if not, the port ends at once as a receiver"),
    PARAM(null_params, size, .def = "64", .min = 1, .max = 9216,
	  .help = "length of each packet made in bytes, without FCS"),
    PARAM(null_params, fill, .def = "none", .choices = null_fills,
	  .help = "what is written into a packet made: nothing (it holds what its buffer held "
		  "before), or zeros"),
    PARAM(null_params, count, .def = "0", .example = "1000000",
	  .help = "packets to make, over all queues; then the port ends; 0: without end"),
    PARAM_END,
};

static void null_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static uint64_t null_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void null_queue_done(struct null_queue *queue)
{
	struct null_state *state = queue->port->state;

	if (__atomic_sub_fetch(&state->making, 1, __ATOMIC_ACQ_REL) == 0)
		port_end(queue->port);
}

static uint16_t null_rx(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct null_queue *queue = queue_;

	if (unlikely(queue->left < n)) // the last of `count`
		n = queue->left;
	if (unlikely(!n))
		return 0;
	if (unlikely(!mbufs_new(queue->pool, pkts, n, (uint16_t)queue->size))) {
		null_count(&queue->no_memory, n);
		return 0;
	}
	if (queue->zero)
		for (unsigned i = 0; i < n; i++)
			memset(rte_pktmbuf_mtod(pkts[i], void *), 0, queue->size);
	null_count(&queue->packets, n);
	if (queue->left != UINT64_MAX) {
		queue->left -= n;
		if (!queue->left)
			null_queue_done(queue);
	}
	return n;
}

static uint16_t null_tx(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct null_queue *queue = queue_;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += pkts[i]->pkt_len;
	mbufs_free(pkts, n);
	null_count(&queue->packets, n);
	null_count(&queue->bytes, bytes);
	return n;
}

static void null_caps(const void *params, struct driver_caps *caps)
{
	(void)params;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static uint32_t null_frame_max(const void *params_)
{
	const struct null_params *params = params_;

	return params->rx ? params->size : 0;
}

static void null_queue_fill(struct null_queue *queue, const struct null_params *params)
{
	queue->size = params->size;
	queue->zero = params->fill.n == FILL_ZERO;
}

static int null_open(struct port *port, struct errors *errors)
{
	const struct null_params *params = port->params;
	struct null_state *state = port->state;
	unsigned n = port->rx_queues + port->tx_queues;
	uint32_t room = rte_pktmbuf_data_room_size(port->pool);

	room = room > RTE_PKTMBUF_HEADROOM ? room - RTE_PKTMBUF_HEADROOM : 0;
	if (params->rx && params->size > room) {
		error_input(errors, "size", "%u does not fit into a packet buffer of %u bytes",
			    params->size, room);
		return -1;
	}
	state->queues = aligned_alloc(RTE_CACHE_LINE_SIZE, (n + 1) * sizeof(*state->queues));
	if (!state->queues) {
		error_machine(errors, NULL, "no memory for %u queues", n);
		return -1;
	}
	memset(state->queues, 0, (n + 1) * sizeof(*state->queues));
	for (unsigned i = 0; i < n; i++) {
		struct null_queue *queue = &state->queues[i];

		queue->port = port;
		queue->pool = port->pool;
		null_queue_fill(queue, params);
		if (i >= port->rx_queues) {
			port->tx_queue[i - port->rx_queues] = queue;
			continue;
		}
		port->rx_queue[i] = queue;
		queue->left = UINT64_MAX;
		if (!params->rx)
			queue->left = 0;
		else if (params->count)
			queue->left =
			    params->count / port->rx_queues + (i < params->count % port->rx_queues);
		if (queue->left)
			state->making++;
	}
	port->rx = null_rx;
	port->tx = null_tx;
	port->whole_headers = params->size >= RTE_ETHER_HDR_LEN;
	port->finite = !params->rx || params->count;
	if (!params->rx)
		port_end(port);
	return 0;
}

static void null_close(struct port *port)
{
	struct null_state *state = port->state;

	free(state->queues);
	state->queues = NULL;
}

static void null_counters(struct port *port, struct port_counters *counters)
{
	const struct null_params *params = port->params;
	struct null_state *state = port->state;

	if (!state->queues) // it could not be opened
		return;
	for (unsigned i = 0; i < port->rx_queues; i++) {
		const struct null_queue *queue = port->rx_queue[i];
		uint64_t packets = null_read(&queue->packets);

		counters->rx_packets += packets;
		counters->rx_bytes += packets * params->size;
		counters->rx_no_memory += null_read(&queue->no_memory);
	}
	for (unsigned i = 0; i < port->tx_queues; i++) {
		const struct null_queue *queue = port->tx_queue[i];

		counters->tx_packets += null_read(&queue->packets);
		counters->tx_bytes += null_read(&queue->bytes);
	}
}

static const struct driver_type null = {
    .name = "null",
    .help = "makes packets out of nothing, and throws away what is sent",
    .details =
	"For measurements and as a bottomless sink. Each receive makes as many packets as were "
	"asked for, straight from the graph's pool; each send frees them. The packets are no valid "
	"frames: use the module Source for those. Every queue makes packets of its own; `count` is "
	"shared out among them.",
    .example = "ports:\n"
	       "  left:  {null: {size: 64}}\n"
	       "  right: {null: {rx: false}}\n",
    .params = null_params,
    .state_size = sizeof(struct null_state),
    .caps = null_caps,
    .frame_max = null_frame_max,
    .open = null_open,
    .close = null_close,
    .counters = null_counters,
};
DRIVER(null)
