// SPDX-License-Identifier: BSD-3-Clause
// Sluice's own commands of DPDK's telemetry socket: /sluice/graph, /sluice/nodes and so on. DPDK
// serves them on threads of its own, which hand each question over to the control thread: nothing
// is read while a graph changes, and no worker knows of it.

#ifndef SLUICE_CONTROL_TELEMETRY_H
#define SLUICE_CONTROL_TELEMETRY_H

#include "run/run.h"

// From now on commands are answered for this run. `instance` is its name, and outlives it.
void telemetry_begin(struct run *, const char *instance);
// Answers what was asked meanwhile. On the control thread, at every turn of its loop.
void telemetry_tick(void);
// Nothing is answered any more, what is being asked neither.
void telemetry_end(void);

#endif
