// SPDX-License-Identifier: BSD-3-Clause
// Says from any thread to the control thread that there is something for it.

#ifndef SLUICE_CONTROL_WAKER_H
#define SLUICE_CONTROL_WAKER_H

#include <stdbool.h>

struct waker;

// NULL: there is no descriptor left.
struct waker *waker_new(void);
// Counts one more who has it; waker_free() counts one less, and frees it with the last. Any thread.
struct waker *waker_keep(struct waker *);
void waker_free(struct waker *); // NULL is allowed

// Any thread, without a lock; a system call only where the control thread has looked since the
// last one.
void waker_wake(struct waker *);

// The control thread's part: a descriptor that can be read after a call, until it is drained; and
// that it looks now, so that the next call counts.
int waker_event(const struct waker *);
void waker_drain(struct waker *);
void waker_look(struct waker *);

#endif
