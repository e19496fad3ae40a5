// SPDX-License-Identifier: BSD-3-Clause
// What sluice doctor finds out about DPDK's drivers, permissions and network cards.

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_config.h>
#include <rte_version.h>

#include "cli/doctor.h"

// DPDK's drivers are shared objects of their own that it loads at its start.
static bool driver_present(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/librte_%s.so", RTE_EAL_PMD_PATH, name);
	if (!access(path, R_OK))
		return true;
	// Without the -dev packages only the name with its version is there.
	snprintf(path, sizeof(path), "%s/librte_%s.so.%s", RTE_EAL_PMD_PATH, name,
		 strrchr(RTE_EAL_PMD_PATH, '-') + 1);
	return !access(path, R_OK);
}

static void drivers_missing(const char *const *names, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (; *names; names++)
		if (!driver_present(*names) && at < size)
			at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " " : "", *names);
}

void doctor_dpdk(json_t *findings)
{
	static const char *const needed[] = {"bus_vdev", "mempool_ring", NULL};
	static const char *const ports[] = {"bus_pci",	"net_vhost",	 "net_virtio", "net_memif",
					    "net_tap",	"net_af_packet", "net_af_xdp", "net_null",
					    "net_pcap", "net_ring",	 NULL};
	char missing[256];

	drivers_missing(needed, missing, sizeof(missing));
	if (missing[0]) {
		finding_add(findings, FINDING_MISSING, "dpdk", "sudo apt-get install dpdk-dev",
			    "%s, but %s lacks %s, which every graph needs", rte_version(),
			    RTE_EAL_PMD_PATH, missing);
		return;
	}
	drivers_missing(ports, missing, sizeof(missing));
	if (missing[0])
		finding_add(findings, FINDING_NOTE, "dpdk", "sudo apt-get install dpdk-dev",
			    "%s; drivers of some ports are not there: %s", rte_version(), missing);
	else
		finding_add(findings, FINDING_OK, "dpdk", NULL, "%s, with the drivers of all ports",
			    rte_version());
}

static uint64_t capabilities(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	uint64_t set = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %" SCNx64, &set) == 1)
			break;
	if (file)
		fclose(file);
	return set;
}

static void right_add(json_t *findings, const char *name, bool there, const char *what,
		      const char *lacks, const char *fix)
{
	finding_add(findings, there ? FINDING_OK : FINDING_NOTE, name, there ? NULL : fix, "%s",
		    there ? what : lacks);
}

static bool iommu_on(void)
{
	DIR *groups = opendir("/sys/kernel/iommu_groups");
	struct dirent *entry;
	bool on = false;

	while (groups && (entry = readdir(groups)))
		on = on || entry->d_name[0] != '.';
	if (groups)
		closedir(groups);
	return on;
}

void doctor_rights(json_t *findings)
{
	static const char run_as[] =
	    "run as root, or sudo setcap cap_net_admin,cap_net_raw+ep $(command -v sluice)";
	uint64_t set = capabilities();
	bool admin = set & (1ull << CAP_NET_ADMIN);
	bool raw = set & (1ull << CAP_NET_RAW);
	bool tun = !access("/dev/net/tun", R_OK | W_OK);
	bool vfio = !access("/dev/vfio/vfio", R_OK | W_OK);

	right_add(findings, "net_admin", admin, "may create and set up network interfaces",
		  "may not create network interfaces (CAP_NET_ADMIN): no tap, no af_xdp", run_as);
	right_add(findings, "net_raw", raw, "may send and receive on network interfaces",
		  "may not use network interfaces (CAP_NET_RAW): no af_packet", run_as);
	right_add(findings, "tun", tun, "/dev/net/tun is there and open to this user",
		  "/dev/net/tun is not there or not open to this user: no tap",
		  "sudo modprobe tun; in a container, pass the device on (--device /dev/net/tun)");
	right_add(findings, "vfio", vfio,
		  iommu_on()
		      ? "/dev/vfio is there, and the IOMMU is on"
		      : "/dev/vfio is there; the IOMMU is off, so cards need its unsafe mode",
		  "/dev/vfio is not there or not open to this user: no network cards by vfio",
		  iommu_on()
		      ? "sudo modprobe vfio-pci"
		      : "switch the IOMMU on (boot with intel_iommu=on or amd_iommu=on), then sudo "
			"modprobe vfio-pci");
}

// The kernel's driver of a device; "" when none holds it.
static void card_driver(const char *address, char *name, size_t size)
{
	char path[PATH_MAX];
	char target[PATH_MAX];
	ssize_t length;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", address);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return;
	target[length] = '\0';
	snprintf(name, size, "%.60s", strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static bool card_usable(const char *driver)
{
	static const char *const users[] = {"vfio-pci", "uio_pci_generic", "igb_uio", "mlx4_core",
					    "mlx5_core"};

	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		if (!strcmp(driver, users[i]))
			return true;
	return false;
}

void doctor_cards(json_t *findings)
{
	DIR *devices = opendir("/sys/bus/pci/devices");
	struct dirent *entry;
	unsigned n = 0;

	while (devices && (entry = readdir(devices))) {
		char path[PATH_MAX];
		char driver[64];
		char fix[160];
		char class[16];

		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", entry->d_name);
		if (entry->d_name[0] == '.' || !file_line(path, class, sizeof(class)) ||
		    strncmp(class, "0x02", 4) != 0)
			continue;
		n++;
		card_driver(entry->d_name, driver, sizeof(driver));
		snprintf(fix, sizeof(fix),
			 "to use it in a graph: sudo dpdk-devbind.py --bind=vfio-pci %.31s (the "
			 "kernel loses it)",
			 entry->d_name);
		if (card_usable(driver))
			finding_add(findings, FINDING_OK, "card", NULL, "%s is ready (%s)",
				    entry->d_name, driver);
		else if (driver[0])
			finding_add(findings, FINDING_NOTE, "card", fix, "%s is the kernel's (%s)",
				    entry->d_name, driver);
		else
			finding_add(findings, FINDING_NOTE, "card", fix, "%s has no driver",
				    entry->d_name);
	}
	if (devices)
		closedir(devices);
	if (!n)
		finding_add(findings, FINDING_NOTE, "card",
			    "use pcap, tap, af_packet or a virtual port (`sluice drivers`)",
			    "no PCI network card: no pci ports");
}
