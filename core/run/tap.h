// SPDX-License-Identifier: BSD-3-Clause
// Taps: who looks at packets on their way (capture, trace, explain). A tap is put on links, and
// into the calls of nodes, while the workers are parked; where none is, the walk is the same as
// ever.

#ifndef SLUICE_RUN_TAP_H
#define SLUICE_RUN_TAP_H

#include "module.h"
#include "run/run.h"

// The owner embeds it, and keeps it where it is from run_tap() until run_untap() has succeeded.
struct tap {
	// Which links: 0: not this one; else any number, which leaves() is then given with what
	// goes by the link. Asked on the control thread, again for each new graph.
	unsigned (*wants)(const struct tap *, const struct graph *, const struct graph_link *);

	// On the worker that walks: the batch is about to leave `ctx` by the gate. The packets may
	// be read and marked (ol_flags, dynamic fields), and that is all. No lock, log, allocation
	// or system call. NULL: not told.
	void (*leaves)(struct tap *, struct ctx *, gate_t, unsigned number, struct batch *);

	// On the worker: stands for process() at every input of the graph, and must call it, with
	// the batch or with parts of it in order (batch_new()). ctx->igate is set. Of several taps
	// that have it the last one put there is called. NULL: process() is called.
	void (*enters)(struct tap *, struct ctx *, struct batch *,
		       void (*process)(struct ctx *, struct batch *));

	struct tap *next; // the run's
};

// Parks the workers and puts the tap there; it goes along to each graph that is switched to. 0, or
// -1 with the reason: a worker did not park, and nothing has changed.
int run_tap(struct run *, struct tap *, struct errors *);
// Takes it away; when it returns 0 no worker is in its functions or will be. After -1 it is still
// there.
int run_untap(struct run *, struct tap *, struct errors *);

// For leaves() and enters(): the core of the worker that runs the ctx, which no two workers share
// (its number may change while it runs); and the time of the graph's clock, read now.
int tap_core(const struct ctx *);
uint64_t tap_now_ns(const struct ctx *);

#endif
