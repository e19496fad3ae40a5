// SPDX-License-Identifier: BSD-3-Clause
// Inside core/run: a change from one graph to the next, while it is made (switch.c).

#ifndef SLUICE_RUN_CHANGE_H
#define SLUICE_RUN_CHANGE_H

#include "run/inside.h"

// The new side while it is made; after the switch, the old one.
struct change {
	struct run *run;
	struct graph *old;
	struct graph *new;
	struct arena *arena;
	struct graph_diff *diff;
	struct run_port **ports;
	struct run_node **nodes;
	struct worker **workers;
	bool *fresh; // workers that are new
	struct plan *plans;
};

static inline bool goes_on(enum graph_fate fate)
{
	return fate == FATE_KEPT || fate == FATE_LIVE;
}

// drain.c: lets packets that nobody takes over run to their end through the old graph. The workers
// are parked on success; -1 with the reason: some did not leave in time and may not be lost.
int change_drain(struct change *, bool allow_loss, struct errors *);

#endif
