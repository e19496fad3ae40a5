// SPDX-License-Identifier: BSD-3-Clause
// Quiescence by counting polls.

#include "port/quiet.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "driver.h"

#define QUIET_LOOK_NS 20000

static struct {
	pthread_mutex_t lock; // of the two below
	void (*progress)(void *arg, struct quiet_progress *);
	void *arg;
} quiet = {.lock = PTHREAD_MUTEX_INITIALIZER};

void quiet_pollers(void (*progress)(void *arg, struct quiet_progress *), void *arg)
{
	pthread_mutex_lock(&quiet.lock);
	quiet.progress = progress;
	quiet.arg = arg;
	pthread_mutex_unlock(&quiet.lock);
}

// False: nobody polls.
static bool quiet_look(struct quiet_progress *progress)
{
	bool any;

	progress->n = 0;
	pthread_mutex_lock(&quiet.lock);
	any = quiet.progress;
	if (any)
		quiet.progress(quiet.arg, progress);
	pthread_mutex_unlock(&quiet.lock);
	return any;
}

static bool quiet_since(struct quiet_progress *then, const struct quiet_progress *now)
{
	// The number of pollers changes only while all are parked.
	if (then->n != now->n)
		return true;
	for (unsigned i = 0; i < then->n; i++) {
		if (now->polls[i] == QUIET_IDLE || now->polls[i] - then->polls[i] >= 2)
			then->polls[i] = QUIET_IDLE;
		if (then->polls[i] != QUIET_IDLE)
			return false;
	}
	return true;
}

void quiet_wait(void)
{
	struct quiet_progress then;
	struct quiet_progress now;

	if (!quiet_look(&then))
		return;
	while (quiet_look(&now) && !quiet_since(&then, &now))
		nanosleep(&(struct timespec){.tv_nsec = QUIET_LOOK_NS}, NULL);
}

void port_quiet(void)
{
	quiet_wait();
}
