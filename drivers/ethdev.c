// SPDX-License-Identifier: BSD-3-Clause
// ethdev: any DPDK device that has no driver of its own here, by the text that names it.

#include <ctype.h>
#include <string.h>

#include "driver.h"

struct ethdev_params {
	const char *devargs;
	uint32_t mtu;
	uint16_t rx_descriptors;
	uint16_t tx_descriptors;
	bool promiscuous;
};

struct ethdev_state {
	struct ethdev *dev;
};

#define ETHDEV_DESCRIPTORS_USUAL 2048
#define ETHDEV_BEYOND_MTU 26 // Ethernet header, two VLAN tags, FCS

static const struct param ethdev_params[] = {
    PARAM(ethdev_params, devargs, .min = 1, .max = 255, .example = "net_ring0",
	  .help = "the device as DPDK knows it: its name, then its arguments, with commas"),
    PARAM(ethdev_params, mtu, .def = "0", .max = 16000,
	  .help = "longest packet behind the Ethernet header in bytes; 0: the device's own"),
    PARAM(ethdev_params, rx_descriptors, .def = "0",
	  .help = "packets that a receive queue holds; 0: the device's own choice"),
    PARAM(ethdev_params, tx_descriptors, .def = "0",
	  .help = "packets that a transmit queue holds; 0: the device's own choice"),
    PARAM(ethdev_params, promiscuous, .def = "true",
	  .help = "receive frames for any address, where the device can"),
    PARAM_END,
};

// Whether the text begins with a PCI address (03:00.0, 0000:03:00.0, pci:...).
static bool ethdev_is_pci(const char *text)
{
	size_t hex = strspn(text, "0123456789abcdefABCDEF");

	return !strncmp(text, "pci:", 4) || (hex > 0 && text[hex] == ':');
}

static void ethdev_check(const void *params_, struct errors *errors)
{
	const struct ethdev_params *params = params_;

	if (ethdev_is_pci(params->devargs))
		error_input(errors, "devargs",
			    "\"%s\" is on the PCI bus, use {pci: {address: ...}} for it",
			    params->devargs);
	else if (!isalpha((unsigned char)params->devargs[0]))
		error_input(errors, "devargs",
			    "\"%s\" does not begin with a device's name (for example net_ring0)",
			    params->devargs);
}

static void ethdev_caps(const void *params_, struct driver_caps *caps)
{
	(void)params_;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static unsigned ethdev_holds(const void *params_, unsigned rx, unsigned tx)
{
	const struct ethdev_params *params = params_;
	unsigned rx_n = params->rx_descriptors ? params->rx_descriptors : ETHDEV_DESCRIPTORS_USUAL;
	unsigned tx_n = params->tx_descriptors ? params->tx_descriptors : ETHDEV_DESCRIPTORS_USUAL;

	return rx * rx_n + tx * tx_n;
}

static uint32_t ethdev_frame_max(const void *params_)
{
	const struct ethdev_params *params = params_;

	return params->mtu ? params->mtu + ETHDEV_BEYOND_MTU : 0;
}

static int ethdev_driver_open(struct port *port, struct errors *errors)
{
	const struct ethdev_params *params = port->params;
	struct ethdev_state *state = port->state;
	struct ethdev_options options = {
	    .devargs = params->devargs,
	    .rx_descriptors = params->rx_descriptors,
	    .tx_descriptors = params->tx_descriptors,
	    .mtu = params->mtu,
	    .rss = true,
	    .promiscuous = params->promiscuous,
	};

	return ethdev_open(port, &state->dev, &options, errors);
}

static void ethdev_driver_close(struct port *port)
{
	struct ethdev_state *state = port->state;

	ethdev_close(port, state->dev);
	state->dev = NULL;
}

static void ethdev_driver_counters(struct port *port, struct port_counters *counters)
{
	struct ethdev_state *state = port->state;

	ethdev_counters(state->dev, counters);
}

static enum port_link ethdev_driver_link(struct port *port)
{
	struct ethdev_state *state = port->state;

	return ethdev_link(state->dev);
}

static struct driver_type ethdev_driver = {
    .name = "ethdev",
    .help = "any other DPDK device, by the text that names it",
    .details = "The text is what DPDK's --vdev option takes: the driver's name with a number or a "
	       "word behind it, then its arguments. What the device cannot do (queues, RSS, MTU, "
	       "descriptors) is refused with the reason.",
    .example = "ports:\n"
	       "  loop: {ethdev: {devargs: net_ring0}}",
    .params = ethdev_params,
    .state_size = sizeof(struct ethdev_state),
    .check = ethdev_check,
    .caps = ethdev_caps,
    .holds = ethdev_holds,
    .frame_max = ethdev_frame_max,
    .open = ethdev_driver_open,
    .close = ethdev_driver_close,
    .counters = ethdev_driver_counters,
    .link = ethdev_driver_link,
};
DRIVER(ethdev_driver)
