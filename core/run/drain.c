// SPDX-License-Identifier: BSD-3-Clause
// Before a change of graph: packets that nodes hold which go run to their end through the old one.

#include <sched.h>

#include "run/change.h"

#define DRAIN_NS 1000000000ULL // for packets held by nodes that go

// Whether an old node goes with packets that nobody takes over.
static bool node_must_drain(const struct change *change, unsigned old)
{
	const struct graph_diff *diff = change->diff;

	if (goes_on(diff->gone_nodes[old]) || !node_held(change->run, old))
		return false;
	for (unsigned i = 0; i < change->new->n_nodes; i++)
		if (diff->old_nodes[i] == (int)old && change->new->nodes[i].type->take)
			return false;
	return true;
}

static bool change_must_drain(const struct change *change)
{
	for (unsigned i = 0; i < change->old->n_nodes; i++)
		if (node_must_drain(change, i))
			return true;
	return false;
}

// Parked on success.
static int draining_set(struct run *run, bool draining, struct errors *errors)
{
	int status = run_park(run, errors);

	// After a failure no worker may be left draining: whether it is parked or not, it reads
	// this anew at each poll.
	for (unsigned i = 0; i < run->n_workers; i++)
		__atomic_store_n(&run->workers[i]->draining, draining && !status, __ATOMIC_RELAXED);
	return status;
}

int change_drain(struct change *change, bool allow_loss, struct errors *errors)
{
	struct run *run = change->run;
	uint64_t limit = run_time_ns(run) + DRAIN_NS;

	if (run_park(run, errors))
		return -1;
	// Only what is seen in a park holds: a packet may be on its way from one node that goes to
	// another.
	while (change_must_drain(change) && run_time_ns(run) < limit) {
		if (draining_set(run, true, errors))
			return -1;
		run_unpark(run);
		while (change_must_drain(change) && run_time_ns(run) < limit) {
			if (!run->started)
				run_step(run);
			sched_yield();
		}
		if (draining_set(run, false, errors))
			return -1;
	}
	if (allow_loss || !change_must_drain(change))
		return 0;
	run_unpark(run);
	for (unsigned i = 0; i < change->old->n_nodes; i++) {
		uint64_t held = node_held(run, i);

		if (node_must_drain(change, i))
			error_at(
			    errors, change->old->nodes[i].place,
			    "%s '%s' goes, but its %lu packet%s did not leave it within a second",
			    change->old->nodes[i].type->name, change->old->nodes[i].name, held,
			    held == 1 ? "" : "s");
	}
	return -1;
}
