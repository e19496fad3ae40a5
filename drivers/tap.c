// SPDX-License-Identifier: BSD-3-Clause
// tap: an interface of the kernel whose other end is this port. Spoken to directly and not through
// DPDK's tap device, which cannot carry more than an MTU of 1500.

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "tap_interface.h"

#define TAP_BEYOND_MTU 22     // Ethernet header, two VLAN tags
#define TAP_FRAME_LIMIT 65536 // the kernel's
#define TAP_SEGMENTS 64

struct tap_receiver {
	int fd; // -1: none
	struct rte_mempool *pool;
	uint8_t *spill; // for what is longer than a buffer
	uint64_t packets;
	uint64_t bytes;
	uint64_t no_memory;
} __attribute__((aligned(64)));

// Any file of the interface does to send: the kernel spreads only what is received.
struct tap_sender {
	int fd; // a receiver's
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors;
} __attribute__((aligned(64)));

struct tap {
	struct tap_receiver receivers[PORT_QUEUES_MAX];
	struct tap_sender senders[PORT_QUEUES_MAX];
};

static const struct param tap_params[] = {
    PARAM(tap_params, iface, .min = 1, .max = IFNAMSIZ - 1, .example = "tap0",
	  .help = "name of the interface; it is made, and goes with the port"),
    PARAM(tap_params, mtu, .def = "1500", .min = 68, .max = 65000,
	  .help = "longest packet behind the Ethernet header in bytes"),
    PARAM(tap_params, up, .def = "true", .help = "bring the interface up"),
    PARAM_END,
};

static void tap_check(const void *params_, struct errors *errors)
{
	const struct tap_params *params = params_;

	if (strpbrk(params->iface, "/%: \t\n") || !strcmp(params->iface, ".") ||
	    !strcmp(params->iface, ".."))
		error_input(errors, "iface",
			    "\"%s\" cannot be the name of an interface (for example tap0)",
			    params->iface);
}

static void tap_caps(const void *params_, struct driver_caps *caps)
{
	(void)params_;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static uint32_t tap_frame_max(const void *params_)
{
	const struct tap_params *params = params_;

	return params->mtu + TAP_BEYOND_MTU;
}

static void tap_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

// Makes the packet longer by what was read past its buffer; false: no memory.
static bool tap_spilled(struct tap_receiver *queue, struct rte_mbuf *pkt, size_t left)
{
	const uint8_t *from = queue->spill;
	struct rte_mbuf *last = pkt;

	while (left) {
		struct rte_mbuf *more = rte_pktmbuf_alloc(queue->pool);
		uint16_t part;

		if (!more)
			return false;
		part =
		    rte_pktmbuf_tailroom(more) < left ? rte_pktmbuf_tailroom(more) : (uint16_t)left;
		memcpy(rte_pktmbuf_append(more, part), from, part);
		last->next = more;
		last = more;
		pkt->nb_segs++;
		pkt->pkt_len += part;
		from += part;
		left -= part;
	}
	return true;
}

static struct rte_mbuf *tap_read(struct tap_receiver *queue)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(queue->pool);
	struct iovec parts[2];
	uint16_t room;
	ssize_t n;

	if (unlikely(!pkt)) {
		tap_count(&queue->no_memory, 1);
		return NULL;
	}
	room = rte_pktmbuf_tailroom(pkt);
	parts[0] = (struct iovec){.iov_base = rte_pktmbuf_mtod(pkt, void *), .iov_len = room};
	parts[1] = (struct iovec){.iov_base = queue->spill, .iov_len = TAP_FRAME_LIMIT};
	n = readv(queue->fd, parts, 2);
	if (n <= 0) {
		rte_pktmbuf_free(pkt);
		return NULL;
	}
	pkt->data_len = (uint16_t)(n < room ? n : room);
	pkt->pkt_len = pkt->data_len;
	if (unlikely(n > room) && !tap_spilled(queue, pkt, (size_t)(n - room))) {
		tap_count(&queue->no_memory, 1);
		rte_pktmbuf_free(pkt);
		return NULL;
	}
	return pkt;
}

static uint16_t tap_rx(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct tap_receiver *queue = queue_;
	uint64_t bytes = 0;
	uint16_t got = 0;

	while (got < n) {
		struct rte_mbuf *pkt = tap_read(queue);

		if (!pkt)
			break;
		bytes += pkt->pkt_len;
		pkts[got++] = pkt;
	}
	tap_count(&queue->packets, got);
	tap_count(&queue->bytes, bytes);
	return got;
}

// 1: sent; 0: not now; -1: never.
static int tap_write(struct tap_sender *queue, struct rte_mbuf *pkt)
{
	struct iovec parts[TAP_SEGMENTS];
	int n = 0;

	if (unlikely(pkt->nb_segs > TAP_SEGMENTS && rte_pktmbuf_linearize(pkt)))
		return -1;
	for (struct rte_mbuf *seg = pkt; seg; seg = seg->next)
		parts[n++] = (struct iovec){.iov_base = rte_pktmbuf_mtod(seg, void *),
					    .iov_len = seg->data_len};
	if (likely(writev(queue->fd, parts, n) >= 0))
		return 1;
	// EIO: the interface is down. What else it does not like, it will not like later either.
	return errno == EAGAIN || errno == EINTR || errno == EIO || errno == ENOBUFS ||
		       errno == ENOMEM
		   ? 0
		   : -1;
}

static uint16_t tap_tx(void *queue_, struct rte_mbuf **pkts, uint16_t n)
{
	struct tap_sender *queue = queue_;
	uint64_t bytes = 0;
	uint16_t errors = 0;
	uint16_t done = 0;

	for (; done < n; done++) {
		int sent = tap_write(queue, pkts[done]);

		if (!sent)
			break;
		if (sent > 0)
			bytes += pkts[done]->pkt_len;
		else
			errors++;
	}
	if (!done)
		return 0;
	rte_pktmbuf_free_bulk(pkts, done);
	tap_count(&queue->packets, done - errors);
	tap_count(&queue->bytes, bytes);
	tap_count(&queue->errors, errors);
	return done;
}

static struct tap *tap_of(const struct port *port)
{
	return *(struct tap **)port->state;
}

static int tap_open(struct port *port, struct errors *errors)
{
	const struct tap_params *params = port->params;
	struct tap *tap = aligned_alloc(_Alignof(struct tap), sizeof(*tap));
	unsigned files = port->rx_queues ? port->rx_queues : 1;

	*(struct tap **)port->state = tap;
	if (!tap) {
		error_machine(errors, NULL, "no memory for the port");
		return -1;
	}
	memset(tap, 0, sizeof(*tap));
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++)
		tap->receivers[i].fd = -1;
	for (unsigned i = 0; i < files; i++) {
		struct tap_receiver *queue = &tap->receivers[i];

		queue->pool = port->pool;
		port->rx_queue[i] = queue;
		queue->fd = tap_interface_open(params, files > 1, errors);
		if (queue->fd < 0)
			return -1;
		queue->spill = malloc(TAP_FRAME_LIMIT);
		if (!queue->spill) {
			error_machine(errors, NULL, "no memory for the port");
			return -1;
		}
	}
	for (unsigned i = 0; i < port->tx_queues; i++) {
		tap->senders[i].fd = tap->receivers[i % files].fd;
		port->tx_queue[i] = &tap->senders[i];
	}
	port->rx = tap_rx;
	port->tx = tap_tx;
	port->whole_headers = true;
	return tap_interface_set(params, errors);
}

static void tap_close(struct port *port)
{
	struct tap *tap = tap_of(port);

	for (unsigned i = 0; tap && i < PORT_QUEUES_MAX; i++) {
		if (tap->receivers[i].fd >= 0)
			close(tap->receivers[i].fd);
		free(tap->receivers[i].spill);
	}
	free(tap);
	*(struct tap **)port->state = NULL;
}

static void tap_counters(struct port *port, struct port_counters *counters)
{
	const struct tap *tap = tap_of(port);

	*counters = (struct port_counters){0};
	for (unsigned i = 0; tap && i < PORT_QUEUES_MAX; i++) {
		const struct tap_receiver *receiver = &tap->receivers[i];
		const struct tap_sender *sender = &tap->senders[i];

		counters->rx_packets += __atomic_load_n(&receiver->packets, __ATOMIC_RELAXED);
		counters->rx_bytes += __atomic_load_n(&receiver->bytes, __ATOMIC_RELAXED);
		counters->rx_no_memory += __atomic_load_n(&receiver->no_memory, __ATOMIC_RELAXED);
		counters->tx_packets += __atomic_load_n(&sender->packets, __ATOMIC_RELAXED);
		counters->tx_bytes += __atomic_load_n(&sender->bytes, __ATOMIC_RELAXED);
		counters->tx_errors += __atomic_load_n(&sender->errors, __ATOMIC_RELAXED);
	}
}

// An interface that was moved to another network namespace cannot be seen: it counts as up.
static enum port_link tap_link(struct port *port)
{
	const struct tap_params *params = port->params;
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool down;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", params->iface);
	down = fd >= 0 && !ioctl(fd, SIOCGIFFLAGS, &request) && !(request.ifr_flags & IFF_UP);
	if (fd >= 0)
		close(fd);
	return down ? PORT_DOWN : PORT_UP;
}

static struct driver_type tap = {
    .name = "tap",
    .help = "an interface of the kernel: what the kernel sends through it is received here",
    .details =
	"The interface is made when the port opens and goes when it closes, also after kill -9. It "
	"can be moved to a network namespace meanwhile. Making it needs root (CAP_NET_ADMIN), "
	"unless "
	"root has made it for this user before: ip tuntap add dev tap0 mode tap user $USER (with "
	"multi_queue for several workers).\n\n"
	"Frames of any length pass whole, with checksums finished; the kernel spreads flows over "
	"the queues of several workers.",
    .example = "ports:\n"
	       "  host: {tap: {iface: tap0}}",
    .params = tap_params,
    .state_size = sizeof(struct tap *),
    .check = tap_check,
    .caps = tap_caps,
    .frame_max = tap_frame_max,
    .open = tap_open,
    .close = tap_close,
    .counters = tap_counters,
    .link = tap_link,
};
DRIVER(tap)
