// SPDX-License-Identifier: BSD-3-Clause
// af_packet: an interface of the kernel, through packet sockets. Spoken to directly and not through
// DPDK's device, which passes on frames that the kernel has cut, loses the kind of a VLAN tag,
// leaves checksums unfinished and can block for ever in sending.

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "af_packet.h"

struct af_packet_params {
	const char *iface;
	uint32_t mtu;
	uint32_t slots;
	bool promiscuous;
};

struct af_packet {
	unsigned ifindex;
	uint32_t mtu; // the interface's
	uint64_t looked_ns;
	uint64_t told_errors; // that were told of
	struct af_packet_receiver receivers[PORT_QUEUES_MAX];
	struct af_packet_sender senders[PORT_QUEUES_MAX];
};

#define AF_PACKET_MTU_USUAL 1500
#define AF_PACKET_LOOK_NS 10000000

static const struct param af_packet_params[] = {
    PARAM(af_packet_params, iface, .min = 1, .max = IFNAMSIZ - 1, .example = "eth1",
	  .help = "name of the interface"),
    PARAM(af_packet_params, mtu, .def = "1500", .min = 68, .max = 65000,
	  .help = "longest packet behind the Ethernet header in bytes, at least the interface's"),
    PARAM(af_packet_params, slots, .def = "512", .min = 16, .max = 65536,
	  .help = "frames that each ring shared with the kernel holds"),
    PARAM(af_packet_params, promiscuous, .def = "true", .help = "receive frames for any address"),
    PARAM_END,
};

static void af_packet_caps(const void *params_, struct driver_caps *caps)
{
	(void)params_;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static uint32_t af_packet_frame_max(const void *params_)
{
	const struct af_packet_params *params = params_;

	return params->mtu + AF_PACKET_BEYOND_MTU;
}

static struct af_packet *af_packet_of(const struct port *port)
{
	return *(struct af_packet **)port->state;
}

// What the interface is, against what is wanted.
static int af_packet_look(const struct af_packet_params *params, int fd, uint32_t *mtu,
			  struct errors *errors)
{
	const char *name = params->iface;
	struct ifreq request = {0};

	rte_strscpy(request.ifr_name, name, sizeof(request.ifr_name));
	if (ioctl(fd, SIOCGIFHWADDR, &request)) {
		error_machine(errors, "iface",
			      "there is no interface %s, `ip link` lists those that there are",
			      name);
		return -1;
	}
	if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER &&
	    request.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK) {
		error_machine(errors, "iface",
			      "the interface %s does not carry Ethernet frames (its type is %u)",
			      name, request.ifr_hwaddr.sa_family);
		return -1;
	}
	if (ioctl(fd, SIOCGIFMTU, &request))
		return 0;
	*mtu = (uint32_t)request.ifr_mtu;
	if (request.ifr_mtu > (int)params->mtu) {
		error_machine(errors, "mtu",
			      "the interface %s has an MTU of %d and this port carries %u, frames "
			      "would be lost; write mtu: %d, or: ip link set dev %s mtu %u",
			      name, request.ifr_mtu, params->mtu, request.ifr_mtu, name,
			      params->mtu);
		return -1;
	}
	if (request.ifr_mtu < (int)params->mtu && params->mtu > AF_PACKET_MTU_USUAL) {
		error_machine(
		    errors, "mtu",
		    "the interface %s has an MTU of %d and would not carry %u; write mtu: "
		    "%d, or: ip link set dev %s mtu %u",
		    name, request.ifr_mtu, params->mtu, request.ifr_mtu, name, params->mtu);
		return -1;
	}
	return 0;
}

static int af_packet_interface(const struct af_packet_params *params, uint32_t *mtu,
			       struct errors *errors)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int status;

	if (fd < 0) {
		error_machine(errors, NULL, "no socket for the port: %s", strerror(errno));
		return -1;
	}
	status = af_packet_look(params, fd, mtu, errors);
	close(fd);
	return status;
}

// Several receiving sockets share what comes, by flow. The first makes a group of a number that
// nobody uses.
static int af_packet_spread(struct af_packet *af_packet, unsigned n, struct errors *errors)
{
	int group = (PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_UNIQUEID) << 16;

	for (unsigned i = 0; n > 1 && i < n; i++) {
		int fd = af_packet->receivers[i].ring.fd;
		socklen_t length = sizeof(group);

		if (setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof(group)) ||
		    (i == 0 && getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, &length))) {
			error_machine(errors, NULL,
				      "the kernel does not spread flows over %u queues: %s", n,
				      strerror(errno));
			return -1;
		}
		group &= ~(PACKET_FANOUT_FLAG_UNIQUEID << 16);
	}
	return 0;
}

static int af_packet_queues(struct port *port, struct af_packet *af_packet, struct errors *errors)
{
	const struct af_packet_params *params = port->params;

	for (unsigned i = 0; i < port->rx_queues; i++) {
		struct packet_mreq all = {.mr_ifindex = (int)af_packet->ifindex,
					  .mr_type = PACKET_MR_PROMISC};
		struct af_packet_receiver *receiver = &af_packet->receivers[i];

		receiver->pool = port->pool;
		port->rx_queue[i] = receiver;
		if (af_packet_receiver_open(receiver, params->iface, params->mtu, params->slots,
					    errors))
			return -1;
		if (params->promiscuous && setsockopt(receiver->ring.fd, SOL_PACKET,
						      PACKET_ADD_MEMBERSHIP, &all, sizeof(all))) {
			error_machine(
			    errors, "promiscuous",
			    "the interface %s does not receive frames for any address: %s",
			    params->iface, strerror(errno));
			return -1;
		}
	}
	for (unsigned i = 0; i < port->tx_queues; i++) {
		af_packet->senders[i].longest = af_packet->mtu + RTE_ETHER_HDR_LEN;
		port->tx_queue[i] = &af_packet->senders[i];
		if (af_packet_sender_open(&af_packet->senders[i], params->iface, params->mtu,
					  params->slots, errors))
			return -1;
	}
	return af_packet_spread(af_packet, port->rx_queues, errors);
}

static int af_packet_open(struct port *port, struct errors *errors)
{
	const struct af_packet_params *params = port->params;
	struct af_packet *af_packet = aligned_alloc(_Alignof(struct af_packet), sizeof(*af_packet));

	*(struct af_packet **)port->state = af_packet;
	if (!af_packet) {
		error_machine(errors, NULL, "no memory for the port");
		return -1;
	}
	memset(af_packet, 0, sizeof(*af_packet));
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		af_packet->receivers[i].ring.fd = -1;
		af_packet->senders[i].ring.fd = -1;
	}
	if (af_packet_interface(params, &af_packet->mtu, errors))
		return -1;
	af_packet->ifindex = if_nametoindex(params->iface);
	port->rx = af_packet_rx;
	port->tx = af_packet_tx;
	port->whole_headers = true;
	return af_packet_queues(port, af_packet, errors);
}

static void af_packet_close(struct port *port)
{
	struct af_packet *af_packet = af_packet_of(port);

	for (unsigned i = 0; af_packet && i < PORT_QUEUES_MAX; i++) {
		af_packet_ring_close(&af_packet->receivers[i].ring);
		af_packet_ring_close(&af_packet->senders[i].ring);
	}
	free(af_packet);
	*(struct af_packet **)port->state = NULL;
}

// The kernel forgets what it lost when it is asked.
static void af_packet_missed(struct af_packet_receiver *receiver)
{
	struct tpacket_stats stats;
	socklen_t length = sizeof(stats);

	if (receiver->ring.fd >= 0 &&
	    !getsockopt(receiver->ring.fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length))
		receiver->missed += stats.tp_drops;
}

static void af_packet_counters(struct port *port, struct port_counters *counters)
{
	struct af_packet *af_packet = af_packet_of(port);

	*counters = (struct port_counters){0};
	for (unsigned i = 0; af_packet && i < PORT_QUEUES_MAX; i++) {
		struct af_packet_receiver *receiver = &af_packet->receivers[i];
		const struct af_packet_sender *sender = &af_packet->senders[i];

		af_packet_missed(receiver);
		counters->rx_missed += receiver->missed;
		counters->rx_packets += __atomic_load_n(&receiver->packets, __ATOMIC_RELAXED);
		counters->rx_bytes += __atomic_load_n(&receiver->bytes, __ATOMIC_RELAXED);
		counters->rx_errors += __atomic_load_n(&receiver->errors, __ATOMIC_RELAXED);
		counters->rx_no_memory += __atomic_load_n(&receiver->no_memory, __ATOMIC_RELAXED);
		counters->tx_packets += __atomic_load_n(&sender->packets, __ATOMIC_RELAXED);
		counters->tx_bytes += __atomic_load_n(&sender->bytes, __ATOMIC_RELAXED);
		counters->tx_errors += __atomic_load_n(&sender->errors, __ATOMIC_RELAXED);
	}
}

static enum port_link af_packet_link(struct port *port)
{
	const struct af_packet_params *params = port->params;
	struct ifreq request = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool up;

	rte_strscpy(request.ifr_name, params->iface, sizeof(request.ifr_name));
	up = fd >= 0 && !ioctl(fd, SIOCGIFFLAGS, &request) && (request.ifr_flags & IFF_UP) &&
	     (request.ifr_flags & IFF_RUNNING);
	if (fd >= 0)
		close(fd);
	return up ? PORT_UP : PORT_DOWN;
}

static uint64_t af_packet_unsent(struct port *port)
{
	const struct af_packet *af_packet = af_packet_of(port);
	uint64_t n = 0;

	for (unsigned i = 0; i < port->tx_queues; i++)
		n += af_packet_waiting(&af_packet->senders[i]);
	return n;
}

// Pushes what a busy interface left in the rings, and says once that frames came which are longer
// than any on a wire: their sender leaves it to its card to cut them up.
static void af_packet_tick(struct port *port, uint64_t now_ns)
{
	const struct af_packet_params *params = port->params;
	struct af_packet *af_packet = af_packet_of(port);
	uint64_t errors = 0;

	if (now_ns - af_packet->looked_ns < AF_PACKET_LOOK_NS)
		return;
	af_packet->looked_ns = now_ns;
	for (unsigned i = 0; i < port->tx_queues; i++)
		if (af_packet_waiting(&af_packet->senders[i]))
			af_packet_push(&af_packet->senders[i]);
	for (unsigned i = 0; i < port->rx_queues; i++)
		errors += __atomic_load_n(&af_packet->receivers[i].errors, __ATOMIC_RELAXED);
	if (errors && !af_packet->told_errors)
		port_note(
		    port,
		    "frames longer than an MTU of %u came and were dropped; if their sender "
		    "is the other end of %s, switch its offloads off: ethtool -K INTERFACE tx "
		    "off",
		    params->mtu, params->iface);
	af_packet->told_errors = errors;
}

static struct driver_type af_packet = {
    .name = "af_packet",
    .help = "an interface of the kernel (veth, a card), through packet sockets",
    .details =
	"Takes what the interface receives, beside the kernel's own use of it, and sends through "
	"it. "
	"Needs root (CAP_NET_RAW).\n\n"
	"VLAN tags are put back where the kernel took them out, of either kind, and checksums that "
	"the kernel leaves to a card are finished. Frames longer than the MTU cannot be received "
	"whole and are counted as errors: the kernel hands such frames over a veth when the sender "
	"leaves segmentation to its card, so switch that off there (ethtool -K INTERFACE tx off). "
	"The "
	"kernel spreads flows over the queues of several workers.",
    .example = "ports:\n"
	       "  left: {af_packet: {iface: veth0}}",
    .params = af_packet_params,
    .state_size = sizeof(struct af_packet *),
    .caps = af_packet_caps,
    .frame_max = af_packet_frame_max,
    .open = af_packet_open,
    .close = af_packet_close,
    .counters = af_packet_counters,
    .link = af_packet_link,
    .unsent = af_packet_unsent,
    .tick = af_packet_tick,
};
DRIVER(af_packet)
