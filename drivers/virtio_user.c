// SPDX-License-Identifier: BSD-3-Clause
// virtio_user: the guest's side of a virtio device without a virtual machine: it reaches a vhost
// port over a Unix socket, and the vhost side maps our packet buffers.

#include <stdio.h>
#include <string.h>

#include "driver.h"

struct virtio_user_params {
	const char *path;
	bool server;
	uint16_t queues;
	uint16_t queue_size;
	bool packed;
};

struct virtio_user {
	struct ethdev *dev;
};

// How long opening waits for a peer that is there already. It takes a second when the vhost side
// is in the same process, else milliseconds.
#define VIRTIO_USER_PATIENCE_MS 2000

static const struct param virtio_user_params[] = {
    PARAM(virtio_user_params, path, .min = 1, .max = 107, .example = "/tmp/vm.sock",
	  .help = "the Unix socket"),
    PARAM(virtio_user_params, server, .def = "false",
	  .help = "serve the socket, so that a vhost side in client mode connects to it"),
    PARAM(virtio_user_params, queues, .def = "0", .max = 8,
	  .help = "queue pairs; 0: as many as workers use the port"),
    PARAM(virtio_user_params, queue_size, .def = "256", .min = 32, .max = 32768,
	  .help = "packets that each queue holds, a power of two"),
    PARAM(virtio_user_params, packed, .def = "false",
	  .help = "use packed rings instead of split ones, if the peer can"),
    PARAM_END,
};

static void virtio_user_check(const void *params_, struct errors *errors)
{
	const struct virtio_user_params *params = params_;

	if (strpbrk(params->path, ",[]"))
		error_input(errors, "path",
			    "the path of the socket must not contain a comma or a bracket");
	if (params->queue_size & (params->queue_size - 1))
		error_input(errors, "queue_size", "%u is not a power of two (32, 64, ... 32768)",
			    params->queue_size);
}

static void virtio_user_caps(const void *params_, struct driver_caps *caps)
{
	(void)params_;
	*caps = (struct driver_caps){.rx_queues = 8, .tx_queues = 8, .rss = true};
}

static uint16_t virtio_user_pairs(const struct virtio_user_params *params, unsigned rx, unsigned tx)
{
	unsigned pairs = params->queues ? params->queues : 1;

	if (rx > pairs)
		pairs = rx;
	return tx > pairs ? tx : pairs;
}

static unsigned virtio_user_holds(const void *params_, unsigned rx, unsigned tx)
{
	const struct virtio_user_params *params = params_;

	return 2u * virtio_user_pairs(params, rx, tx) * params->queue_size;
}

static int virtio_user_open(struct port *port, struct errors *errors)
{
	const struct virtio_user_params *params = port->params;
	struct virtio_user *user = port->state;
	uint16_t pairs = virtio_user_pairs(params, port->rx_queues, port->tx_queues);
	struct ethdev_options options = {
	    .any_length = true,
	    .socket = params->path,
	    .server = params->server,
	    .patience_ms = params->server ? 0 : VIRTIO_USER_PATIENCE_MS,
	    .queues = pairs,
	    .rx_descriptors = params->queue_size,
	    .tx_descriptors = params->queue_size,
	};
	char devargs[256];

	snprintf(devargs, sizeof(devargs),
		 "net_virtio_user_%s,path=%s,queues=%u,queue_size=%u,server=%d,packed_vq=%d",
		 port->dpdk_name, params->path, pairs, params->queue_size, params->server,
		 params->packed);
	options.devargs = devargs;
	return ethdev_open(port, &user->dev, &options, errors);
}

static void virtio_user_close(struct port *port)
{
	struct virtio_user *user = port->state;

	ethdev_close(port, user->dev);
	user->dev = NULL;
}

static void virtio_user_counters(struct port *port, struct port_counters *counters)
{
	struct virtio_user *user = port->state;

	ethdev_counters(user->dev, counters);
}

static enum port_link virtio_user_link(struct port *port)
{
	struct virtio_user *user = port->state;

	return ethdev_link(user->dev);
}

static struct driver_type virtio_user = {
    .name = "virtio_user",
    .help = "the guest's side of a virtio device without a virtual machine, towards a vhost port",
    .details =
	"The peer is a vhost port of this or another process, or of another switch. By default the "
	"peer serves the socket and this port connects; with `server` it is the other way round, "
	"and the peer must be a vhost side in client mode. The port opens at once in both cases: "
	"the peer may come late, go and come back. While it is away nothing is received and "
	"PortOut "
	"counts what it is given as refused; packets that were in the queues when it went are "
	"lost.\n\n"
	"The peer maps this process's packet buffers. Without hugepages that works as it is. "
	"Frames "
	"of any length pass whole, as chains of buffers.",
    .example = "ports:\n"
	       "  host: {vhost: {path: /tmp/vm.sock}}\n"
	       "  guest: {virtio_user: {path: /tmp/vm.sock}}",
    .params = virtio_user_params,
    .state_size = sizeof(struct virtio_user),
    .needs_shared_memory = true,
    .late = true,
    .check = virtio_user_check,
    .caps = virtio_user_caps,
    .holds = virtio_user_holds,
    .open = virtio_user_open,
    .close = virtio_user_close,
    .counters = virtio_user_counters,
    .link = virtio_user_link,
};
DRIVER(virtio_user)
