// SPDX-License-Identifier: BSD-3-Clause
// vhost: the host's side of a virtio device, over a Unix socket: a virtual machine or a virtio-user
// port maps its packet buffers for us to copy from and to.

#include <stdio.h>
#include <string.h>

#include "vhost.h"

struct vhost {
	struct ethdev *dev;	 // via: ethdev
	struct vhost_link *link; // via: own
	bool up;
	uint64_t looked_ns;
};

#define VHOST_LOOK_NS 50000000

static const char *const vhost_vias[] = {"ethdev", "own", NULL};

static const struct param vhost_params[] = {
    PARAM(vhost_params, path, .min = 1, .max = 107, .example = "/tmp/vm.sock",
	  .help = "the Unix socket"),
    PARAM(vhost_params, client, .def = "false",
	  .help = "connect to a socket that the peer serves, again whenever it comes back, instead "
		  "of serving it"),
    PARAM(vhost_params, queues, .def = "0", .max = PORT_QUEUES_MAX,
	  .help = "queue pairs offered to the peer; 0: as many as workers use the port"),
    PARAM(vhost_params, via, .def = "own", .choices = vhost_vias,
	  .help = "the data path: this port's own, or DPDK's vhost device"),
    PARAM_END,
};

static void vhost_check(const void *params_, struct errors *errors)
{
	const struct vhost_params *params = params_;

	if (strpbrk(params->path, ",[]"))
		error_input(errors, "path",
			    "the path of the socket must not contain a comma or a bracket");
}

static void vhost_caps(const void *params_, struct driver_caps *caps)
{
	(void)params_;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static int vhost_open(struct port *port, struct errors *errors)
{
	const struct vhost_params *params = port->params;
	struct vhost *vhost = port->state;
	uint16_t queues = params->queues ? params->queues : 1;
	struct ethdev_options options = {.any_length = true};
	char devargs[256];

	if (!params->client && socket_claim(port, params->path, errors))
		return -1;
	if (params->via.n == VHOST_VIA_OWN)
		return vhost_link_open(port, &vhost->link, errors);
	if (port->rx_queues > queues)
		queues = port->rx_queues;
	if (port->tx_queues > queues)
		queues = port->tx_queues;
	snprintf(devargs, sizeof(devargs), "net_vhost_%s,iface=%s,queues=%u,client=%d",
		 port->dpdk_name, params->path, queues, params->client);
	options.devargs = devargs;
	options.queues = queues;
	return ethdev_open(port, &vhost->dev, &options, errors);
}

static void vhost_close(struct port *port)
{
	struct vhost *vhost = port->state;

	vhost_link_close(vhost->link);
	vhost->link = NULL;
	ethdev_close(port, vhost->dev);
	vhost->dev = NULL;
}

static void vhost_counters(struct port *port, struct port_counters *counters)
{
	struct vhost *vhost = port->state;

	if (vhost->link) {
		vhost_link_counters(vhost->link, counters);
		return;
	}
	ethdev_counters(vhost->dev, counters);
	// The device counts as errors what it did not take, which is still the caller's.
	counters->tx_errors = 0;
}

static enum port_link vhost_state(struct port *port)
{
	struct vhost *vhost = port->state;

	if (vhost->link)
		return vhost_link_up(vhost->link) ? PORT_UP : PORT_DOWN;
	return ethdev_link(vhost->dev);
}

static void vhost_tick(struct port *port, uint64_t now_ns)
{
	const struct vhost_params *params = port->params;
	struct vhost *vhost = port->state;
	bool up;

	if (vhost->link)
		vhost_link_tick(vhost->link, now_ns);
	if (now_ns - vhost->looked_ns < VHOST_LOOK_NS)
		return;
	vhost->looked_ns = now_ns;
	up = vhost_state(port) == PORT_UP;
	if (up != vhost->up)
		port_note(port, up ? "the peer at %s is there" : "the peer at %s has gone",
			  params->path);
	vhost->up = up;
}

static struct driver_type vhost = {
    .name = "vhost",
    .help = "the host's side of a virtio device over a Unix socket (vhost-user)",
    .details =
	"A virtual machine (QEMU's vhost-user netdev) or a virtio_user port is the peer. By "
	"default "
	"this port serves the socket and the peer connects; with `client` it is the other way "
	"round, which lets this side restart while a virtual machine goes on running. The peer may "
	"come late, go and come back; while it is away nothing is received and PortOut counts what "
	"it is given as refused. A socket that a dead process left behind is removed, one that "
	"somebody serves is an error.\n\n"
	"Which packets arrive in which queue is the peer's choice. Frames of any length pass "
	"whole, "
	"as chains of buffers. No root and no hugepages are needed.\n\n"
	"Packets are moved by code of this port's own, compiled for the processor, and a peer that "
	"breaks the rules of its rings, or takes away memory that it shared (a file made shorter), "
	"is disconnected and named. `via: ethdev` takes DPDK's vhost device instead, to compare "
	"with or to fall back on, for peers that are trusted: it takes more cycles a packet, and "
	"memory that goes away ends the process (SIGBUS). DPDK's library speaks the protocol in "
	"both cases.",
    .example = "ports:\n"
	       "  vm: {vhost: {path: /tmp/vm.sock}}",
    .params = vhost_params,
    .state_size = sizeof(struct vhost),
    .check = vhost_check,
    .caps = vhost_caps,
    .open = vhost_open,
    .close = vhost_close,
    .counters = vhost_counters,
    .link = vhost_state,
    .tick = vhost_tick,
};
DRIVER(vhost)
