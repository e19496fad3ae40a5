// SPDX-License-Identifier: BSD-3-Clause
// From one graph to the next while packets flow: the new one is opened beside the old one, then
// plans are swapped in one park, then what is gone is closed.

#include <stdlib.h>
#include <sched.h>
#include <string.h>

#include "run/inside.h"

#define DRAIN_NS 1000000000ULL // for packets held by nodes that go
#define LAST_PASSES 1000       // over what is pending, in the park

// The new side while it is made.
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

static bool goes_on(enum graph_fate fate)
{
	return fate == FATE_KEPT || fate == FATE_LIVE;
}

static int losses_refuse(const struct change *change, bool allow_loss, struct errors *errors)
{
	const struct graph_diff *diff = change->diff;

	if (allow_loss || !diff->n_losses)
		return 0;
	for (unsigned i = 0; i < change->new->n_nodes; i++)
		if (diff->losses[i])
			error_at(errors, change->new->nodes[i].place,
				 "the change would lose of %s '%s': %s; keep its parameters, or "
				 "allow the loss",
				 change->new->nodes[i].type->name, change->new->nodes[i].name,
				 diff->losses[i]);
	return -1;
}

static int ports_change(struct change *change, struct errors *errors)
{
	struct graph *new = change->new;

	change->ports = memory_new(new->n_ports + 1, sizeof(struct run_port *));
	for (unsigned i = 0; i < new->n_ports; i++)
		change->ports[i] =
		    change->diff->ports[i] == FATE_KEPT
			? change->run->ports[change->diff->old_ports[i]]
			: port_make(change->run, &new->ports[i], (uint16_t) new->settings.burst);
	return ports_open(change->run, new, change->ports, errors);
}

static int nodes_change(struct change *change, struct errors *errors)
{
	struct graph *new = change->new;
	int status = 0;

	change->nodes = memory_new(new->n_nodes + 1, sizeof(struct run_node *));
	for (unsigned i = 0; i < new->n_nodes; i++) {
		if (goes_on(change->diff->nodes[i])) {
			change->nodes[i] = change->run->nodes[change->diff->old_nodes[i]];
			ports_resolve(&new->nodes[i], new, change->ports);
		} else {
			change->nodes[i] = node_make(change->run, new, i, change->ports);
		}
	}
	nodes_prepare(new, change->nodes);
	if (meta_lay_out(change->run, new, change->nodes, errors))
		return -1;
	for (unsigned i = 0; i < new->n_nodes; i++)
		if (!goes_on(change->diff->nodes[i]) &&
		    node_open(change->run, change->nodes[i], errors))
			status = -1;
	return status;
}

static struct worker *worker_on(const struct run *run, int core)
{
	for (unsigned i = 0; i < run->n_workers; i++)
		if (run->workers[i]->core == core)
			return run->workers[i];
	return NULL;
}

// Workers on the same core go on. Their plans are made for their new number; it is theirs in the
// park.
static int workers_change(struct change *change, struct errors *errors)
{
	struct graph *new = change->new;

	change->workers = memory_new(new->n_workers + 1, sizeof(struct worker *));
	change->fresh = memory_new(new->n_workers + 1, sizeof(bool));
	change->plans = memory_new(new->n_workers + 1, sizeof(struct plan));
	for (unsigned i = 0; i < new->n_workers; i++) {
		struct worker *worker = worker_on(change->run, new->workers[i].core);
		unsigned index;

		change->fresh[i] = !worker;
		if (!worker)
			worker = worker_make(change->run, new, i);
		change->workers[i] = worker;
		if (!worker)
			goto no_memory;
		// The number of a worker matters only while plans are made and graphs are counted.
		index = worker->index;
		worker->index = i;
		if (plan_make(new, change->nodes, worker, &change->plans[i])) {
			worker->index = index;
			goto no_memory;
		}
		worker->index = index;
		if (taps_set(new, &change->plans[i], change->run->taps))
			goto no_memory;
		if (change->fresh[i] && batches_make(worker, &change->plans[i]))
			goto no_memory;
		if (change->fresh[i] && change->run->started &&
		    worker_start(worker, new->workers[i].place, errors))
			return -1;
	}
	return 0;
no_memory:
	error_machine_at(errors, (struct place){.file = new->file}, "no memory for workers");
	return -1;
}

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

// Lets held packets run to their end through the old graph. The workers are parked on success.
static int change_drain(struct change *change, bool allow_loss, struct errors *errors)
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

static void node_hand_over(struct change *change, unsigned i)
{
	int old = change->diff->old_nodes[i];
	struct run_node *node = change->nodes[i];

	if (old < 0)
		return;
	counts_fold(change->run, change->run->nodes[old], (unsigned)old);
	if (goes_on(change->diff->nodes[i])) {
		node->spec = &change->new->nodes[i];
		node->pub.params = node->spec->params;
		node->pub.workers = (uint16_t)__builtin_popcountll(node->spec->workers);
		node->pub.burst = (uint16_t)change->new->settings.burst;
		return;
	}
	node->base = change->run->nodes[old]->base;
	node->pub.now_ns = clock_now(&change->run->clock);
	if (node->pub.type->take)
		node->pub.type->take(&node->pub, &change->run->nodes[old]->pub);
}

static void worker_hand_over(struct change *change, unsigned i)
{
	struct worker *worker = change->workers[i];
	struct plan plan = worker->plan;

	worker->plan = change->plans[i];
	change->plans[i] = plan;
	worker->index = i;
	worker->turn = 0;
	worker->settled = 0;
	worker->pool = change->run->pools[change->run->n_pools - 1];
	worker->watch = change->new->settings.watch;
	worker->watch_in = worker->watch;
	worker->spin = change->new->settings.idle.n == IDLE_SPIN;
	// Without memory for a larger one the worker keeps its pool of batches.
	(void)batches_make(worker, &worker->plan);
}

// In the park.
static void change_apply(struct change *change)
{
	struct run *run = change->run;

	for (unsigned w = 0; w < run->n_workers; w++) {
		for (unsigned i = 0; i < LAST_PASSES && walk_pending(run->workers[w]); i++)
			;
		walk_discard(run->workers[w]);
	}
	for (unsigned i = 0; i < change->new->n_nodes; i++)
		node_hand_over(change, i);
	for (unsigned i = 0; i < change->new->n_ports; i++) {
		change->ports[i]->pub.params = change->new->ports[i].params;
		change->ports[i]->pub.burst = (uint16_t)change->new->settings.burst;
	}
	for (unsigned i = 0; i < change->new->n_workers; i++)
		worker_hand_over(change, i);
}

static void arrays_swap(struct change *change)
{
	struct run *run = change->run;
	struct run_port **ports = run->ports;
	struct run_node **nodes = run->nodes;
	struct worker **workers = run->workers;

	run->ports = change->ports;
	run->nodes = change->nodes;
	run->workers = change->workers;
	change->ports = ports;
	change->nodes = nodes;
	change->workers = workers;
}

// What an old node dropped outside of its calls, in close() at the latest, is its successor's: else
// that would seem to hold it for ever.
static void node_old_close(struct change *change, unsigned old)
{
	struct run *run = change->run;
	struct run_node *node = change->nodes[old];

	faults_report(run, node);
	node_close(run, node);
	for (unsigned i = 0; i < change->new->n_nodes; i++) {
		struct run_node *next = run->nodes[i];

		if (change->diff->old_nodes[i] != (int)old)
			continue;
		for (unsigned r = 0; r < reason_count(node->pub.type); r++)
			next->outside_drops[r] += node->outside_drops[r];
		next->outside_released += node->outside_released;
	}
	node_free(node);
}

// After the switch: `change` holds the old side. Workers that go were parked and stay so until they
// stop.
static void old_close(struct change *change, unsigned n_old_workers)
{
	struct run *run = change->run;

	for (unsigned i = 0; i < n_old_workers; i++)
		if (worker_on(run, change->workers[i]->core) != change->workers[i]) {
			workers_stop(&change->workers[i], 1);
			worker_free(change->workers[i]);
		}
	for (unsigned i = 0; i < change->old->n_nodes; i++)
		if (!goes_on(change->diff->gone_nodes[i]))
			node_old_close(change, i);
	for (unsigned i = 0; i < change->old->n_ports; i++)
		if (change->diff->gone_ports[i] == FATE_REMOVED) {
			ports_stop(&change->ports[i], 1);
			port_free(change->ports[i]);
		}
	for (unsigned i = 0; i < change->new->n_workers; i++)
		plan_free(&change->plans[i]);
}

// Before the switch, after an error: the new side goes.
static void new_discard(struct change *change)
{
	for (unsigned i = 0; change->workers && i < change->new->n_workers; i++) {
		plan_free(&change->plans[i]);
		if (change->fresh[i] && change->workers[i]) {
			workers_stop(&change->workers[i], 1);
			worker_free(change->workers[i]);
		}
	}
	for (unsigned i = 0; change->nodes && i < change->new->n_nodes; i++)
		if (change->nodes[i] && !goes_on(change->diff->nodes[i])) {
			node_close(change->run, change->nodes[i]);
			node_free(change->nodes[i]);
		}
	for (unsigned i = 0; change->ports && i < change->new->n_ports; i++)
		if (change->diff->ports[i] != FATE_KEPT) {
			ports_stop(&change->ports[i], 1);
			port_free(change->ports[i]);
		}
	nodes_prepare(change->old, change->run->nodes);
}

static void change_free(struct change *change)
{
	free(change->ports);
	free(change->nodes);
	free(change->workers);
	free(change->fresh);
	free(change->plans);
	arena_free(change->arena);
}

int run_switch(struct run *run, struct graph *new, bool allow_loss, struct errors *errors)
{
	struct change change = {.run = run, .old = run->graph, .new = new, .arena = arena_new()};
	unsigned n_old_workers = run->n_workers;
	uint64_t parked_ns;

	change.diff = graph_diff(change.arena, run->graph, new);
	if (losses_refuse(&change, allow_loss, errors) || !pool_make(run, new, errors) ||
	    ports_change(&change, errors) || nodes_change(&change, errors) ||
	    workers_change(&change, errors) || change_drain(&change, allow_loss, errors)) {
		new_discard(&change);
		change_free(&change);
		graph_free(new);
		return -1;
	}
	parked_ns = run_time_ns(run);
	change_apply(&change);
	run_pollers(run, false);
	arrays_swap(&change);
	run->graph = new;
	run->n_workers = new->n_workers;
	run->stuck = NULL; // it may name a node that goes
	run_pollers(run, true);
	run_unpark(run);
	run->switch_ns = run_time_ns(run) - parked_ns;
	old_close(&change, n_old_workers);
	graph_free(change.old);
	change_free(&change);
	return 0;
}

uint64_t run_switch_ns(const struct run *run)
{
	return run->switch_ns;
}

int run_reload(struct run *run, const char *file, const struct graph_set *sets, unsigned n_sets,
	       struct errors *errors)
{
	struct graph *graph = graph_load(file, sets, n_sets, errors);

	return graph ? run_switch(run, graph, false, errors) : -1;
}
