// SPDX-License-Identifier: BSD-3-Clause
// The one clock of a graph: nanoseconds from the TSC, or set by a test.

#ifndef SLUICE_RUN_CLOCK_H
#define SLUICE_RUN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <time.h>

#include <rte_cycles.h>

struct clock {
	bool set;	   // now_ns is what a test says
	uint64_t now_ns;   // of a set clock; atomic, any thread reads it
	uint64_t base_tsc; // when the clock was started
	uint64_t scale;	   // ns a cycle, times 2^32
	uint64_t hz;
};

void clock_start(struct clock *, bool set, uint64_t start_ns);

static inline uint64_t clock_at(const struct clock *clock, uint64_t tsc)
{
	return (uint64_t)((unsigned __int128)(tsc - clock->base_tsc) * clock->scale >> 32);
}

static inline uint64_t clock_now(const struct clock *clock)
{
	return clock->set ? __atomic_load_n(&clock->now_ns, __ATOMIC_RELAXED)
			  : clock_at(clock, rte_rdtsc());
}

// The system's clock, which nothing sets: for waiting, and for what no graph's clock is there.
static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
