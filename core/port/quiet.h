// SPDX-License-Identifier: BSD-3-Clause
// Waiting until no poller can still be using what is about to be freed: each has begun two more
// polls, or is not polling. Pollers pay nothing for it but a counter.

#ifndef SLUICE_PORT_QUIET_H
#define SLUICE_PORT_QUIET_H

#include <stdint.h>

#define QUIET_POLLERS_MAX 64
#define QUIET_IDLE UINT64_MAX

struct quiet_progress {
	unsigned n;
	uint64_t polls[QUIET_POLLERS_MAX]; // how many polls it has begun; QUIET_IDLE: it is in none
};

// Who polls. `progress` may be called from any thread until the next quiet_pollers() has returned.
// A poller that is parked or stopped reports QUIET_IDLE; one that sleeps wakes by itself and so
// need not. NULL: nobody polls.
void quiet_pollers(void (*progress)(void *arg, struct quiet_progress *), void *arg);

// Returns when every poll that had begun before the call has ended. Any thread but a poller.
void quiet_wait(void);

#endif
