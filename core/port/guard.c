// SPDX-License-Identifier: BSD-3-Clause
// Guards on SIGBUS: Linux sends it where a mapping of a file is touched behind the file's end.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "driver.h"

#define GUARDS_MAX 2048

struct guard {
	uintptr_t begin;
	uintptr_t end; // 0: free; written last, read first
	int *gone;
};

static struct {
	pthread_mutex_t lock; // of writing
	struct guard list[GUARDS_MAX];
	struct sigaction before;
} guards = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t guard_once = PTHREAD_ONCE_INIT;
static __thread int *guard_of_thread;

static int *guard_find(uintptr_t at)
{
	for (unsigned i = 0; i < GUARDS_MAX; i++) {
		const struct guard *guard = &guards.list[i];

		if (at < __atomic_load_n(&guard->end, __ATOMIC_ACQUIRE) && at >= guard->begin)
			return guard->gone;
	}
	return guard_of_thread;
}

// Puts zeroes where `at` is. How large a page is depends on the file: what is no whole page of a
// mapping is refused.
static bool guard_patch(uintptr_t at)
{
	static const size_t pages[] = {1u << 12, 1u << 21, 1u << 30};

	for (unsigned i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (mmap((void *)(at & ~(uintptr_t)(pages[i] - 1)), pages[i],
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			 0) != MAP_FAILED)
			return true;
	return false;
}

// All that is called here is safe in a handler: mmap() is a system call and no more.
static void guard_fault(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	int *gone = info->si_code == BUS_ADRERR ? guard_find(at) : NULL;
	int error = errno;

	(void)context;
	if (gone && guard_patch(at)) {
		__atomic_store_n(gone, 1, __ATOMIC_RELAXED);
		errno = error;
		return;
	}
	// Nobody's: the same again, as if there were no guards.
	sigaction(number, &guards.before, NULL);
	if (info->si_code <= 0)
		raise(number);
}

static void guard_install(void)
{
	struct sigaction action = {.sa_sigaction = guard_fault, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &guards.before);
}

bool port_guard(const void *at, size_t size, int *gone)
{
	struct guard *guard = guards.list;

	pthread_once(&guard_once, guard_install);
	pthread_mutex_lock(&guards.lock);
	while (guard < guards.list + GUARDS_MAX && guard->end)
		guard++;
	if (guard < guards.list + GUARDS_MAX) {
		guard->begin = (uintptr_t)at;
		guard->gone = gone;
		__atomic_store_n(&guard->end, (uintptr_t)at + size, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&guards.lock);
	return guard < guards.list + GUARDS_MAX;
}

void port_unguard(const int *gone)
{
	pthread_mutex_lock(&guards.lock);
	for (unsigned i = 0; i < GUARDS_MAX; i++)
		if (guards.list[i].end && guards.list[i].gone == gone)
			__atomic_store_n(&guards.list[i].end, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&guards.lock);
}

void port_guard_thread(int *gone)
{
	pthread_once(&guard_once, guard_install);
	guard_of_thread = gone;
}
