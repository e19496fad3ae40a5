// SPDX-License-Identifier: BSD-3-Clause
// DPDK's environment, started once a process with arguments that the program picks itself.

#ifndef SLUICE_PORT_EAL_H
#define SLUICE_PORT_EAL_H

#include "param.h"

struct eal_wishes {
	uint64_t memory_bytes; // for pools, tables and devices, all told
	bool pci;	       // scan the bus
	bool telemetry;	       // DPDK's own, where this user can have a folder for its socket
	bool shared_memory;    // peers map it
	const char *more;      // arguments of the user's, separated by blanks; may be NULL
};

// Starts EAL unless it runs; what is running already is kept (memory grows with hugepages only,
// with --no-huge a too small one is an error). 0 or -1.
int eal_start(const struct eal_wishes *, struct errors *);
bool eal_running(void);
bool eal_hugepages(void);
void eal_stop(void);

// The arguments that it was, or would be, started with, for doctor and messages; the caller frees
// it.
char *eal_command_line(const struct eal_wishes *);

#endif
