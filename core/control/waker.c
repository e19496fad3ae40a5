// SPDX-License-Identifier: BSD-3-Clause
// An eventfd with a flag before it, so that a thread that wakes again and again makes no system
// call for it.

#include "control/waker.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "value/arena.h"

struct waker {
	int event;
	int woken; // atomic: since the last look
	int keepers;
};

struct waker *waker_new(void)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct waker *waker;

	if (event < 0)
		return NULL;
	waker = memory_new(1, sizeof(*waker));
	waker->event = event;
	waker->keepers = 1;
	return waker;
}

struct waker *waker_keep(struct waker *waker)
{
	__atomic_fetch_add(&waker->keepers, 1, __ATOMIC_RELAXED);
	return waker;
}

void waker_free(struct waker *waker)
{
	if (!waker || __atomic_sub_fetch(&waker->keepers, 1, __ATOMIC_ACQ_REL))
		return;
	close(waker->event);
	free(waker);
}

void waker_wake(struct waker *waker)
{
	if (!__atomic_exchange_n(&waker->woken, 1, __ATOMIC_ACQ_REL))
		eventfd_write(waker->event, 1);
}

int waker_event(const struct waker *waker)
{
	return waker->event;
}

void waker_drain(struct waker *waker)
{
	eventfd_t n;

	eventfd_read(waker->event, &n);
}

// Sees all that was done before the calls that it forgets.
void waker_look(struct waker *waker)
{
	__atomic_exchange_n(&waker->woken, 0, __ATOMIC_ACQ_REL);
}
