// SPDX-License-Identifier: BSD-3-Clause
// tap inside: the interface of the kernel.

#ifndef SLUICE_DRIVERS_TAP_INTERFACE_H
#define SLUICE_DRIVERS_TAP_INTERFACE_H

#include "driver.h"

struct tap_params {
	const char *iface;
	uint32_t mtu;
	bool up;
};

// One more file of the interface, which the first one makes; it goes with the last one. `several`:
// there will be more than one. -1: an error was reported.
int tap_interface_open(const struct tap_params *, bool several, struct errors *);

// MTU and state. 0 or -1.
int tap_interface_set(const struct tap_params *, struct errors *);

#endif
