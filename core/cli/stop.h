// SPDX-License-Identifier: BSD-3-Clause
// SIGINT and SIGTERM for `sluice run`: the first asks for a clean stop, the second ends the program
// at once.

#ifndef SLUICE_CLI_STOP_H
#define SLUICE_CLI_STOP_H

#include <stdbool.h>
#include <stdint.h>

// Starts to listen. Signals that came before are not lost: they are blocked from the program's
// first instruction on. Returns false when the system gives no thread or descriptor.
bool stop_listen(void);

bool stop_requested(void);

// The same as a signal, from inside: whoever read our output has gone.
void stop_request(void);

// Sleeps, but no longer than until a stop is requested.
void stop_sleep(uint64_t ns);

#endif
