// SPDX-License-Identifier: BSD-3-Clause
// The graph's clock, and the calls by which ports read it.

#include <time.h>

#include "driver.h"
#include "run/clock.h"

void clock_start(struct clock *clock, bool set, uint64_t start_ns)
{
	clock->set = set;
	clock->now_ns = start_ns;
	clock->hz = rte_get_tsc_hz();
	clock->scale = (uint64_t)(((unsigned __int128)1000000000 << 32) / clock->hz);
	clock->base_tsc = rte_rdtsc();
}

uint64_t port_now_ns(const struct port *port)
{
	struct timespec now;

	if (port->clock)
		return clock_now(port->clock);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
