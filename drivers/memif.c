// SPDX-License-Identifier: BSD-3-Clause
// memif: packets through memory shared with another process, as VPP and others speak it.

#include <stdlib.h>
#include <string.h>

#include "memif.h"

static const char *const memif_roles[] = {"client", "server", NULL};

static const struct param memif_params[] = {
    PARAM(memif_params, path, .min = 1, .max = 107, .example = "/run/vpp/memif.sock",
	  .help = "the Unix socket"),
    PARAM(memif_params, role, .choices = memif_roles,
	  .help = "who serves the socket; the other side must have the other role"),
    PARAM(memif_params, id, .def = "0", .help = "number of the interface, the same on both sides"),
    PARAM(memif_params, abstract, .def = "false",
	  .help = "the socket is a name in the abstract space and not a file"),
    PARAM(memif_params, zero_copy, .def = "false",
	  .help = "the peer works on our packet buffers themselves; client only"),
    PARAM(memif_params, queues, .def = "0", .max = PORT_QUEUES_MAX,
	  .help = "queues in each direction; 0: as many as workers use the port"),
    PARAM(memif_params, ring_size, .def = "1024", .min = 16, .max = 16384,
	  .help = "packets that each ring holds, a power of two; the client decides"),
    PARAM(memif_params, buffer_size, .def = "2048", .min = 64, .max = 65535,
	  .help = "bytes of a buffer in a ring; longer frames take several; the client decides"),
    PARAM(memif_params, secret, .def = "", .max = 23,
	  .help = "a word that both sides must know; empty: none"),
    PARAM_END,
};

static void memif_check(const void *params_, struct errors *errors)
{
	const struct memif_params *params = params_;

	if (params->ring_size & (params->ring_size - 1))
		error_input(errors, "ring_size", "%u is not a power of two (16, 32, ... 16384)",
			    params->ring_size);
	if (params->zero_copy && params->role.n == MEMIF_SERVER)
		error_input(errors, "zero_copy",
			    "a server cannot do without copies, make this side the client or "
			    "leave zero_copy out");
}

static void memif_caps(const void *params_, struct driver_caps *caps)
{
	(void)params_;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static uint16_t memif_pairs(const struct memif_params *params, unsigned rx, unsigned tx)
{
	unsigned pairs = params->queues ? params->queues : 1;

	if (rx > pairs)
		pairs = rx;
	return tx > pairs ? tx : pairs;
}

static unsigned memif_holds(const void *params_, unsigned rx, unsigned tx)
{
	const struct memif_params *params = params_;

	if (!params->zero_copy)
		return 0;
	return 2u * memif_pairs(params, rx, tx) * params->ring_size;
}

static struct memif *memif_of(const struct port *port)
{
	return *(struct memif **)port->state;
}

static int memif_open(struct port *port, struct errors *errors)
{
	struct memif *memif = aligned_alloc(_Alignof(struct memif), sizeof(*memif));

	*(struct memif **)port->state = memif;
	if (!memif) {
		error_machine(errors, NULL, "no memory for the port");
		return -1;
	}
	memset(memif, 0, sizeof(*memif));
	memif->port = port;
	memif->params = port->params;
	memif->pairs = memif_pairs(memif->params, port->rx_queues, port->tx_queues);
	memif->listener = -1;
	memif->fd = -1;
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		memif->receive_at[i].event = -1;
		memif->send_at[i].event = -1;
		port->tx_queue[i] = &memif->send[i];
	}
	// A server's peer may make as many rings as it likes; all are polled.
	for (uint16_t i = 0; i < port->rx_queues; i++) {
		memif->shares[i] = (struct memif_share){.queues = memif->receive,
							.first = i,
							.at = i,
							.step = port->rx_queues,
							.end = PORT_QUEUES_MAX};
		if (memif->params->role.n == MEMIF_CLIENT)
			memif->shares[i].end = memif->pairs;
		port->rx_queue[i] = &memif->shares[i];
	}
	port->rx = memif->params->zero_copy ? memif_rx_zero : memif_rx;
	port->tx = memif->params->zero_copy ? memif_tx_zero : memif_tx;
	if (memif->params->role.n == MEMIF_SERVER)
		return memif_listen(memif, errors);
	return 0;
}

static void memif_close(struct port *port)
{
	struct memif *memif = memif_of(port);

	if (!memif)
		return;
	memif_hang_up(memif, "the port was closed");
	memif_hang_up_listener(memif);
	free(memif);
	*(struct memif **)port->state = NULL;
}

static void memif_counters(struct port *port, struct port_counters *counters)
{
	struct memif *memif = memif_of(port);

	*counters = (struct port_counters){0};
	if (!memif)
		return;
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		const struct memif_queue *receive = &memif->receive[i];
		const struct memif_queue *send = &memif->send[i];

		counters->rx_packets += __atomic_load_n(&receive->packets, __ATOMIC_RELAXED);
		counters->rx_bytes += __atomic_load_n(&receive->bytes, __ATOMIC_RELAXED);
		counters->rx_no_memory += __atomic_load_n(&receive->no_memory, __ATOMIC_RELAXED);
		counters->tx_packets += __atomic_load_n(&send->packets, __ATOMIC_RELAXED);
		counters->tx_bytes += __atomic_load_n(&send->bytes, __ATOMIC_RELAXED);
		counters->tx_errors += __atomic_load_n(&send->errors, __ATOMIC_RELAXED);
	}
}

static enum port_link memif_link(struct port *port)
{
	struct memif *memif = memif_of(port);

	return memif->state == MEMIF_UP ? PORT_UP : PORT_DOWN;
}

// What lies in a client's rings and the server has yet to read. Of a server's rings only the client
// knows.
static uint64_t memif_unsent(struct port *port)
{
	struct memif *memif = memif_of(port);
	uint64_t n = 0;

	if (memif->state != MEMIF_UP || memif->params->role.n == MEMIF_SERVER)
		return 0;
	for (unsigned i = 0; i < memif->n_send; i++) {
		const struct memif_ring *ring = memif->send[i].ring;

		n += (uint16_t)(__atomic_load_n(&ring->head, __ATOMIC_RELAXED) -
				__atomic_load_n(&ring->tail, __ATOMIC_RELAXED));
	}
	return n;
}

static void memif_tick(struct port *port, uint64_t now_ns)
{
	memif_talk(memif_of(port), now_ns);
}

static struct driver_type memif = {
    .name = "memif",
    .help = "packets through memory shared with another process (memif)",
    .details =
	"The peer is a memif port of this or another process: of Sluice, VPP, or anything that "
	"speaks the protocol. One side is the server, the other the client; either may come late, "
	"go and come back. While the peer is away nothing is received and PortOut counts what it "
	"is "
	"given as refused. A peer that dies takes nobody along. A socket file that a dead process "
	"left behind is removed, one that somebody serves is an error.\n\n"
	"The client decides on the size of rings and buffers. Frames longer than a buffer pass "
	"whole "
	"in several. A peer may use any of the rings. A server has one client at a time.\n\n"
	"With `zero_copy` the client's packet buffers are themselves the shared memory, so that "
	"only "
	"the server copies: it can read and write all of this process's packet memory. Packets "
	"that "
	"were in the rings when the peer went are freed.",
    .example = "ports:\n"
	       "  vpp: {memif: {path: /run/vpp/memif.sock, role: client}}",
    .params = memif_params,
    .state_size = sizeof(struct memif *),
    .needs_shared_memory = true,
    .check = memif_check,
    .caps = memif_caps,
    .holds = memif_holds,
    .open = memif_open,
    .close = memif_close,
    .counters = memif_counters,
    .link = memif_link,
    .unsent = memif_unsent,
    .tick = memif_tick,
};
DRIVER(memif)
