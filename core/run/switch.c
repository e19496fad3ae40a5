// SPDX-License-Identifier: BSD-3-Clause
// From one graph to the next while packets flow: the new one is opened beside the old one, then
// plans are swapped in one park, then what is gone is closed.

#include <stdlib.h>
#include <string.h>

#include "run/change.h"

#define LAST_PASSES 1000 // over what is pending, in the park

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

// Workers on the same core go on. Their plans are made for their new number, which becomes theirs
// in the park.
static int workers_change(struct change *change, struct errors *errors)
{
	struct graph *new = change->new;

	change->workers = memory_new(new->n_workers + 1, sizeof(struct worker *));
	change->fresh = memory_new(new->n_workers + 1, sizeof(bool));
	change->plans = memory_new(new->n_workers + 1, sizeof(struct plan));
	for (unsigned i = 0; i < new->n_workers; i++) {
		struct worker *worker = worker_on(change->run, new->workers[i].core);

		change->fresh[i] = !worker;
		if (!worker)
			worker = worker_make(change->run, new, i);
		change->workers[i] = worker;
		if (!worker)
			goto no_memory;
		// It runs meanwhile, by the number that it has.
		if (plan_make(new, change->nodes, worker, i, &change->plans[i]))
			goto no_memory;
		if (taps_set(new, &change->plans[i], change->run->taps))
			goto no_memory;
		if (batches_make(&change->plans[i], worker->plan.n_batches))
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

static void node_hand_over(struct change *change, unsigned i)
{
	int old = change->diff->old_nodes[i];
	struct run_node *node = change->nodes[i];

	if (old < 0)
		return;
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
	if (worker->plan.batches) {
		batches_reset(worker);
	} else {
		worker->plan.batches = plan.batches;
		worker->plan.n_batches = plan.n_batches;
		plan.batches = NULL;
	}
	change->plans[i] = plan;
	worker->index = i;
	worker->turn = 0;
	worker->settled = 0;
	worker->pool = change->run->pools[change->run->n_pools - 1];
	worker->watch = change->new->settings.watch;
	worker->watch_in = worker->watch;
	worker->spin = change->new->settings.idle.n == IDLE_SPIN;
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

// The plan that an old worker had. After the switch.
static const struct plan *plan_old(const struct change *change, const struct worker *worker)
{
	for (unsigned i = 0; i < change->new->n_workers; i++)
		if (change->run->workers[i] == worker)
			return &change->plans[i];
	return &worker->plan;
}

// What was counted in the old plans. Not in the park: every counter would come from another core.
static void counts_hand_over(struct change *change, unsigned n_old_workers)
{
	for (unsigned i = 0; i < change->new->n_nodes; i++) {
		struct run_node *node = change->run->nodes[i];

		for (unsigned w = 0; change->diff->old_nodes[i] >= 0 && w < n_old_workers; w++)
			counts_add(&node->base, plan_old(change, change->workers[w]),
				   (unsigned)change->diff->old_nodes[i]);
	}
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
	json_t *diff = run->hear ? run_diff_json(run, new) : NULL;
	unsigned n_old_workers = run->n_workers;

	change.diff =
	    graph_diff_with(change.arena, run->graph, params_saved(run, change.arena, false), new);
	if (losses_refuse(&change, allow_loss, errors) || !pool_make(run, new, errors) ||
	    ports_change(&change, errors) || nodes_change(&change, errors) ||
	    workers_change(&change, errors) || change_drain(&change, allow_loss, errors)) {
		new_discard(&change);
		change_free(&change);
		graph_free(new);
		run->changes.refused++;
		json_decref(diff);
		return -1;
	}
	change_apply(&change);
	run_pollers(run, false);
	arrays_swap(&change);
	run->graph = new;
	run->n_workers = new->n_workers;
	run->stuck = NULL; // it may name a node that goes
	run_pollers(run, true);
	run_unpark(run);
	run_step_aside(run, run->aside); // from other workers' cores
	run->changes.made++;
	counts_hand_over(&change, n_old_workers);
	old_close(&change, n_old_workers);
	graph_free(change.old);
	change_free(&change);
	run->changes.parked_ns = run_parked_ns(run);
	if (diff)
		run->hear(run->hear_to, "graph",
			  json_pack("{s:o, s:I}", "diff", diff, "parked_ns",
				    (json_int_t)run->changes.parked_ns));
	return 0;
}

int run_reload(struct run *run, const char *file, const struct graph_set *sets, unsigned n_sets,
	       struct errors *errors)
{
	struct graph *graph = graph_load(file, sets, n_sets, errors);

	if (graph)
		return run_switch(run, graph, false, errors);
	run->changes.refused++;
	return -1;
}
