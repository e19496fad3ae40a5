// SPDX-License-Identifier: BSD-3-Clause
// Where DPDK's messages go: errors only, in our own form; while a device is created they are caught
// and become the reason of our own error.

#ifndef SLUICE_PORT_EALLOG_H
#define SLUICE_PORT_EALLOG_H

#include <stddef.h>

#define EALLOG_CAUGHT_MAX 2048

struct eallog_caught {
	char text[EALLOG_CAUGHT_MAX]; // lines joined by "; ", as many as fit
	size_t length;
	struct eallog_caught *outer;
};

// Before EAL starts; again is harmless.
void eallog_open(void);
void eallog_close(void);

// From begin to end what DPDK says on this thread is kept in `caught`. They nest.
void eallog_catch_begin(struct eallog_caught *caught);
void eallog_catch_end(struct eallog_caught *caught);

// Adds lines that came another way (EAL writes its last words to stderr itself).
void eallog_add(struct eallog_caught *caught, const char *text, size_t length);

// "" when nothing was caught, else ": TEXT", for the end of a message.
const char *eallog_reason(const struct eallog_caught *caught, char *buffer, size_t size);

#endif
