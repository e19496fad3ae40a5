// SPDX-License-Identifier: BSD-3-Clause
// Quiescence, and its one use beside our own devices: munmap() of the memif driver, which frees a
// peer's memory on DPDK's interrupt thread while a worker may be writing there. This file's
// munmap() takes the place of the C library's for shared libraries, and holds back the memif
// driver's calls until all workers have left its receive and transmit functions. The driver has
// marked itself disconnected before, so no worker enters them again.

#include "port/quiet.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

static bool quiet_from_memif(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "librte_net_memif");
}

int munmap(void *addr, size_t length)
{
	// The next in line is the sanitizers', which keep books on mappings, or the C library's.
	static int (*next)(void *, size_t);
	int (*unmap)(void *, size_t) = __atomic_load_n(&next, __ATOMIC_RELAXED);

	if (!unmap) {
		*(void **)&unmap = dlsym(RTLD_NEXT, "munmap");
		__atomic_store_n(&next, unmap, __ATOMIC_RELAXED);
	}
	if (quiet_from_memif(__builtin_return_address(0)))
		quiet_wait();
	return unmap ? unmap(addr, length) : (int)syscall(SYS_munmap, addr, length);
}
