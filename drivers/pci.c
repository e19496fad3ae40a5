// SPDX-License-Identifier: BSD-3-Clause
// pci: a network card by its address on the PCI bus, driven by DPDK. Most of this file finds out
// why it cannot be, before DPDK says less.

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

#define PCI_FOLDER "/sys/bus/pci/devices"
#define PCI_CLASS_NETWORK 0x02
#define PCI_DESCRIPTORS_USUAL 2048
#define PCI_BEYOND_MTU 26 // Ethernet header, two VLAN tags, FCS

struct pci_params {
	const char *address;
	const char *args;
	uint32_t mtu;
	uint16_t rx_descriptors;
	uint16_t tx_descriptors;
	bool promiscuous;
};

struct pci {
	struct ethdev *dev;
};

static const struct param pci_params[] = {
    PARAM(pci_params, address, .min = 1, .max = 12, .example = "0000:03:00.0",
	  .help = "where the card is: domain:bus:device.function, as `lspci -D` shows it"),
    PARAM(pci_params, args, .def = "", .max = 200,
	  .help = "more arguments for DPDK's driver of the card, separated by commas"),
    PARAM(pci_params, mtu, .def = "0", .max = 16000,
	  .help = "longest packet behind the Ethernet header in bytes; 0: the card's own"),
    PARAM(pci_params, rx_descriptors, .def = "0",
	  .help = "packets that a receive queue holds; 0: the card's own choice"),
    PARAM(pci_params, tx_descriptors, .def = "0",
	  .help = "packets that a transmit queue holds; 0: the card's own choice"),
    PARAM(pci_params, promiscuous, .def = "true", .help = "receive frames for any address"),
    PARAM_END,
};

// Reads 0000:03:00.0 or 03:00.0 and writes the long form.
static bool pci_address(const char *text, char address[16])
{
	unsigned domain = 0, bus, device, function;
	int end = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1u%n", &domain, &bus, &device, &function, &end) != 4 ||
	    text[end]) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%2x:%2x.%1u%n", &bus, &device, &function, &end) != 3 || text[end])
			return false;
	}
	if (device > 0x1f || function > 7 ||
	    strspn(text, "0123456789abcdefABCDEF:.") != (size_t)end)
		return false;
	snprintf(address, 16, "%04x:%02x:%02x.%u", domain & 0xffff, bus & 0xff, device, function);
	return true;
}

static void pci_check(const void *params_, struct errors *errors)
{
	const struct pci_params *params = params_;
	char address[16];

	if (!pci_address(params->address, address))
		error_input(errors, "address",
			    "\"%s\" is not a PCI address (for example 0000:03:00.0)",
			    params->address);
}

static void pci_caps(const void *params_, struct driver_caps *caps)
{
	(void)params_;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static unsigned pci_holds(const void *params_, unsigned rx, unsigned tx)
{
	const struct pci_params *params = params_;
	unsigned rx_n = params->rx_descriptors ? params->rx_descriptors : PCI_DESCRIPTORS_USUAL;
	unsigned tx_n = params->tx_descriptors ? params->tx_descriptors : PCI_DESCRIPTORS_USUAL;

	return rx * rx_n + tx * tx_n;
}

static uint32_t pci_frame_max(const void *params_)
{
	const struct pci_params *params = params_;

	return params->mtu ? params->mtu + PCI_BEYOND_MTU : 0;
}

// The last part of what a link of the device points to ("driver", "iommu_group"); false: none.
static bool pci_link(const char *address, const char *name, char *part, size_t size)
{
	char path[PATH_MAX];
	char target[PATH_MAX];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), PCI_FOLDER "/%s/%s", address, name);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	slash = strrchr(target, '/');
	snprintf(part, size, "%.*s", (int)size - 1, slash ? slash + 1 : target);
	return true;
}

static unsigned pci_class(const char *address)
{
	char path[PATH_MAX];
	unsigned class = 0;
	FILE *file;

	snprintf(path, sizeof(path), PCI_FOLDER "/%s/class", address);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%x", &class) != 1)
		class = 0;
	fclose(file);
	return class >> 16;
}

// The kernel's name of the interface ("eth0"), "" if there is none.
static void pci_interface(const char *address, char *name, size_t size)
{
	static const char *const places[] = {"net/*", "virtio*/net/*"};
	char pattern[PATH_MAX];

	name[0] = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !name[0]; i++) {
		glob_t found;

		snprintf(pattern, sizeof(pattern), PCI_FOLDER "/%s/%s", address, places[i]);
		if (!glob(pattern, 0, NULL, &found) && found.gl_pathc)
			snprintf(name, size, "%s", strrchr(found.gl_pathv[0], '/') + 1);
		globfree(&found);
	}
}

// A driver that gives the device to programs, or that DPDK's own driver works beside.
static bool pci_driver_fits(const char *driver)
{
	static const char *const fit[] = {"vfio-pci",  "igb_uio",   "uio_pci_generic",
					  "mlx4_core", "mlx5_core", "mana"};

	for (size_t i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
		if (!strcmp(driver, fit[i]))
			return true;
	return false;
}

static int pci_refuse_driver(const char *address, const char *driver, struct errors *errors)
{
	char interface[32];

	pci_interface(address, interface, sizeof(interface));
	if (!driver[0])
		error_machine(
		    errors, "address",
		    "%s has no driver, bind it with: modprobe vfio-pci && dpdk-devbind.py "
		    "--bind=vfio-pci %s",
		    address, address);
	else
		error_machine(errors, "address",
			      "%s belongs to the kernel's driver %s%s%s%s, bind it to vfio-pci "
			      "instead (the kernel then loses the interface): modprobe vfio-pci && "
			      "dpdk-devbind.py --bind=vfio-pci %s",
			      address, driver, interface[0] ? " (interface " : "", interface,
			      interface[0] ? ")" : "", address);
	return -1;
}

static int pci_look(const char *address, struct errors *errors)
{
	char path[PATH_MAX];
	char driver[64] = "";
	char group[32];

	snprintf(path, sizeof(path), PCI_FOLDER "/%s", address);
	if (access(path, F_OK)) {
		error_machine(errors, "address",
			      "there is no PCI device %s, `lspci -D` lists those that there are",
			      address);
		return -1;
	}
	if (pci_class(address) != PCI_CLASS_NETWORK) {
		error_machine(
		    errors, "address",
		    "the PCI device %s is no network card (class 0x%02x), `lspci -D` lists "
		    "those that there are",
		    address, pci_class(address));
		return -1;
	}
	pci_link(address, "driver", driver, sizeof(driver));
	if (!pci_driver_fits(driver))
		return pci_refuse_driver(address, driver, errors);
	if (!strcmp(driver, "vfio-pci") && pci_link(address, "iommu_group", group, sizeof(group))) {
		snprintf(path, sizeof(path), "/dev/vfio/%s", group);
		if (access(path, R_OK | W_OK)) {
			error_machine(
			    errors, "address",
			    "no permission to use %s, which %s needs; run as root, or let "
			    "this user read and write it",
			    path, address);
			return -1;
		}
	}
	return 0;
}

static int pci_open(struct port *port, struct errors *errors)
{
	const struct pci_params *params = port->params;
	struct pci *pci = port->state;
	struct ethdev_options options = {
	    .rx_descriptors = params->rx_descriptors,
	    .tx_descriptors = params->tx_descriptors,
	    .mtu = params->mtu,
	    .rss = true,
	    .promiscuous = params->promiscuous,
	};
	char devargs[256];
	char address[16];

	if (!pci_address(params->address, address) || pci_look(address, errors))
		return -1;
	snprintf(devargs, sizeof(devargs), "%s%s%s", address, params->args[0] ? "," : "",
		 params->args);
	options.devargs = devargs;
	port->whole_headers = true;
	return ethdev_open(port, &pci->dev, &options, errors);
}

static void pci_close(struct port *port)
{
	struct pci *pci = port->state;

	ethdev_close(port, pci->dev);
	pci->dev = NULL;
}

static void pci_counters(struct port *port, struct port_counters *counters)
{
	struct pci *pci = port->state;

	ethdev_counters(pci->dev, counters);
}

static enum port_link pci_port_link(struct port *port)
{
	struct pci *pci = port->state;

	return ethdev_link(pci->dev);
}

static struct driver_type pci = {
    .name = "pci",
    .help = "a network card by its address on the PCI bus",
    .details =
	"The card must be given to programs first: bound to vfio-pci (with "
	"dpdk-devbind.py), or driven by a kernel driver that DPDK works beside (mlx5). Where "
	"it is not, the error says which driver has it and how to bind it. What the card "
	"cannot do (queues, RSS, MTU, descriptors) is refused with the reason.",
    .example = "ports:\n"
	       "  left: {pci: {address: \"0000:03:00.0\"}}",
    .params = pci_params,
    .state_size = sizeof(struct pci),
    .needs_pci = true,
    .check = pci_check,
    .caps = pci_caps,
    .holds = pci_holds,
    .frame_max = pci_frame_max,
    .open = pci_open,
    .close = pci_close,
    .counters = pci_counters,
    .link = pci_port_link,
};
DRIVER(pci)
