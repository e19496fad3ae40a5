// SPDX-License-Identifier: BSD-3-Clause
// The interface of a tap port: making it, and setting it as the port wants it.

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tap_interface.h"

static void tap_interface_refuse(const struct tap_params *params, int code, struct errors *errors)
{
	const char *name = params->iface;

	if (code == EPERM || code == EACCES)
		error_machine(
		    errors, "iface",
		    "no permission to make the interface %s; run as root, or as root make "
		    "it for this user first: ip tuntap add dev %s mode tap user %d",
		    name, name, (int)getuid());
	else if (code == EBUSY)
		error_machine(errors, "iface",
			      "the interface %s is in use by another process, choose another name",
			      name);
	else if (code == EINVAL)
		error_machine(
		    errors, "iface",
		    "there is an interface %s already that this port cannot use (no tap, or "
		    "with another number of queues), choose another name",
		    name);
	else
		error_machine(errors, "iface", "cannot make the interface %s: %s", name,
			      strerror(code));
}

int tap_interface_open(const struct tap_params *params, bool several, struct errors *errors)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd;

	if (several)
		request.ifr_flags |= IFF_MULTI_QUEUE;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", params->iface);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
			error_machine(errors, NULL,
				      "this machine has no /dev/net/tun, load it: modprobe tun");
		else
			tap_interface_refuse(params, errno, errors);
		return -1;
	}
	// Whole frames with finished checksums, whatever an interface made before was set to.
	if (ioctl(fd, TUNSETIFF, &request) || ioctl(fd, TUNSETOFFLOAD, 0UL)) {
		tap_interface_refuse(params, errno, errors);
		close(fd);
		return -1;
	}
	return fd;
}

// Sets what is not so already: an interface that was made for this user may not be ours to change.
static int tap_interface_adjust(const struct tap_params *params, int fd, struct errors *errors)
{
	const char *name = params->iface;
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFMTU, &request)) {
		error_machine(errors, "iface", "cannot look at the interface %s: %s", name,
			      strerror(errno));
		return -1;
	}
	if (request.ifr_mtu != (int)params->mtu) {
		request.ifr_mtu = (int)params->mtu;
		if (ioctl(fd, SIOCSIFMTU, &request)) {
			error_machine(errors, "mtu",
				      "the interface %s does not take an MTU of %u: %s; set it as "
				      "root: ip link set dev %s mtu %u",
				      name, params->mtu, strerror(errno), name, params->mtu);
			return -1;
		}
	}
	if (!params->up || ioctl(fd, SIOCGIFFLAGS, &request) || request.ifr_flags & IFF_UP)
		return 0;
	request.ifr_flags |= IFF_UP;
	if (!ioctl(fd, SIOCSIFFLAGS, &request))
		return 0;
	error_machine(errors, "iface",
		      "cannot bring the interface %s up: %s; do it as root: ip link set dev %s up",
		      name, strerror(errno), name);
	return -1;
}

int tap_interface_set(const struct tap_params *params, struct errors *errors)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int status;

	if (fd < 0) {
		error_machine(errors, NULL, "no socket for the port: %s", strerror(errno));
		return -1;
	}
	status = tap_interface_adjust(params, fd, errors);
	close(fd);
	return status;
}
