// SPDX-License-Identifier: BSD-3-Clause
// The control thread's part of a running graph: ticks, faults, and whether it has come to its end.

#include <time.h>

#include "run/inside.h"

#define STUCK_NS 1000000000ULL // without progress

static void node_tick(struct run *run, struct run_node *node, uint64_t now_ns)
{
	const struct module_type *type = node->pub.type;
	struct errors *errors;

	if (!type->tick_ns || now_ns < node->next_tick_ns)
		return;
	// A set clock may have moved by many ticks at once: they all come, in order.
	if (run->clock.set)
		now_ns = node->next_tick_ns;
	node->next_tick_ns = now_ns + type->tick_ns;
	node->pub.now_ns = now_ns;
	if (type->tick)
		type->tick(&node->pub, now_ns);
	if (!type->tick_parked)
		return;
	errors = errors_new();
	if (!run_park(run, errors)) {
		type->tick_parked(&node->pub, now_ns);
		run_unpark(run);
	}
	errors_free(errors);
}

static void ticks(struct run *run)
{
	uint64_t now_ns = clock_now(&run->clock);

	for (unsigned i = 0; i < run->graph->n_nodes; i++) {
		struct run_node *node = run->nodes[i];

		do {
			node_tick(run, node, now_ns);
		} while (run->clock.set && node->pub.type->tick_ns && node->next_tick_ns <= now_ns);
	}
	for (unsigned i = 0; i < run->graph->n_ports; i++)
		if (run->ports[i]->pub.driver->tick)
			run->ports[i]->pub.driver->tick(&run->ports[i]->pub, now_ns);
}

static bool workers_settled(const struct run *run)
{
	for (unsigned i = 0; i < run->n_workers; i++)
		if (!__atomic_load_n(&run->workers[i]->settled, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

// Parked: nothing moves, so what is seen holds.
static bool worker_at_end(const struct worker *worker)
{
	for (unsigned i = 0; i < worker->plan.n_sources; i++)
		if (!worker->plan.sources[i].ctx->igates)
			return false;
	return !worker->pending_any;
}

static uint64_t port_unsent(const struct run_port *port)
{
	struct port *pub = (struct port *)(uintptr_t)&port->pub;

	return pub->driver->unsent ? pub->driver->unsent(pub) : 0;
}

// The name of what still holds packets, or NULL.
static const char *holder_find(struct run *run)
{
	for (unsigned i = 0; i < run->graph->n_nodes; i++)
		if (node_held(run, i))
			return run->nodes[i]->pub.name;
	for (unsigned i = 0; i < run->graph->n_ports; i++)
		if (port_unsent(run->ports[i]))
			return run->ports[i]->pub.name;
	return NULL;
}

static bool end_confirm(struct run *run)
{
	struct errors *errors = errors_new();
	bool ended = true;

	if (run_park(run, errors)) {
		errors_free(errors);
		return false;
	}
	for (unsigned i = 0; i < run->n_workers; i++)
		ended &= worker_at_end(run->workers[i]);
	ended = ended && !holder_find(run);
	if (!ended)
		run_unpark(run);
	errors_free(errors);
	return ended;
}

// A sum that grows while packets move.
static uint64_t progress_count(struct run *run)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < run->graph->n_nodes; i++) {
		struct node_counts counts;

		run_node_counts(run, i, &counts);
		sum += counts.consumed + counts.released + counts.made;
		for (unsigned gate = 0; gate < run->nodes[i]->pub.igates; gate++)
			sum += counts.in[gate];
	}
	for (unsigned i = 0; i < run->graph->n_ports; i++)
		sum -= port_unsent(run->ports[i]);
	return sum;
}

enum run_state run_tend(struct run *run)
{
	const char *holder;
	uint64_t progress, now_ns;

	// What has stopped is closed, and was reported.
	if (run->stopped)
		return RUN_BUSY;
	ticks(run);
	for (unsigned i = 0; i < run->graph->n_nodes; i++)
		faults_report(run, run->nodes[i]);
	if (run->fault_ends)
		return RUN_FAULT;
	if (!run->started || !workers_settled(run))
		return RUN_BUSY;
	holder = holder_find(run);
	if (!holder)
		return end_confirm(run) ? RUN_DONE : RUN_BUSY;
	progress = progress_count(run);
	now_ns = run_time_ns(run);
	if (progress != run->progress_count || !run->stuck) {
		run->progress_count = progress;
		run->progress_ns = now_ns;
	}
	run->stuck = holder;
	return now_ns - run->progress_ns >= STUCK_NS ? RUN_STUCK : RUN_BUSY;
}

const char *run_stuck_name(const struct run *run)
{
	return run->stuck;
}

unsigned run_faults(const struct run *run)
{
	return __atomic_load_n(&run->faults, __ATOMIC_RELAXED);
}
