// SPDX-License-Identifier: BSD-3-Clause
// SIGINT and SIGTERM for `sluice run`: the first asks for a clean stop, the second ends the program
// at once. SIGHUP asks for the graph's file to be read again.

#ifndef SLUICE_CLI_SIGNALS_H
#define SLUICE_CLI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

// Starts to listen. Signals that came before are not lost: they are blocked from the program's
// first instruction on. Returns false when the system gives no thread or descriptor.
bool signals_listen(void);

bool signals_stopping(void);

// Whether SIGHUP has come since this was asked last.
bool signals_reload(void);

// The same as a signal, from inside: whoever read our output has gone.
void signals_stop(void);

// Sleeps, but no longer than until a stop is requested, or there is something to read from `fd`
// (-1: from nothing).
void signals_sleep(uint64_t ns, int fd);

// A descriptor that can be read once a stop is requested.
int signals_event(void);

#endif
