// SPDX-License-Identifier: BSD-3-Clause
// The life of a running graph: opened, started, stepped (tests), parked, stopped, closed.

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mempool.h>

#include "port/quiet.h"
#include "run/inside.h"

#define PARK_NS 100000000ULL // that a worker may take to come to a stop between two polls

static uint32_t rdtsc_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t before = rte_rdtsc(), cycles = rte_rdtsc() - before;

		least = cycles < least ? cycles : least;
	}
	return (uint32_t)least;
}

// Finds which nodes are fed by sources that all end by themselves. Workers may run nodes that go on
// from an older graph: each is told once, what is so.
void nodes_prepare(const struct graph *graph, struct run_node **nodes)
{
	bool *finite = memory_new(graph->n_nodes + 1, sizeof(*finite));
	bool changed = true;

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct module_type *type = graph->nodes[i].type;

		finite[i] = type->igates || (type->finite && type->finite(&nodes[i]->pub));
	}
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < graph->n_links; i++) {
			const struct graph_link *link = &graph->links[i];

			if (finite[link->to] && !finite[link->from]) {
				finite[link->to] = false;
				changed = true;
			}
		}
	}
	for (unsigned i = 0; i < graph->n_nodes; i++)
		__atomic_store_n(&nodes[i]->pub.finite, finite[i], __ATOMIC_RELAXED);
	free(finite);
}

static int nodes_open(struct run *run, struct errors *errors)
{
	struct graph *graph = run->graph;
	int status = 0;

	run->nodes = memory_new(graph->n_nodes + 1, sizeof(struct run_node *));
	for (unsigned i = 0; i < graph->n_nodes; i++)
		run->nodes[i] = node_make(run, graph, i, run->ports);
	nodes_prepare(graph, run->nodes);
	if (meta_lay_out(run, graph, run->nodes, errors))
		return -1;
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (node_open(run, run->nodes[i], errors))
			status = -1;
	return status;
}

// NULL without memory.
struct worker *worker_make(struct run *run, const struct graph *graph, unsigned index)
{
	struct worker *worker = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*worker), 64));

	if (!worker)
		return NULL;
	*worker = (struct worker){
	    .run = run,
	    .index = index,
	    .core = graph->workers[index].core,
	    .pool = run->pools[run->n_pools - 1],
	    .clock = &run->clock,
	    .watch = graph->settings.watch,
	    .watch_in = graph->settings.watch,
	    .rdtsc_cycles = rdtsc_cost(),
	    .spin = graph->settings.idle.n == IDLE_SPIN,
	    .now_ns = clock_now(&run->clock),
	    .request = WORKER_PARK,
	};
	return worker;
}

void worker_free(struct worker *worker)
{
	plan_free(&worker->plan);
	free(worker);
}

static int workers_make(struct run *run, struct errors *errors)
{
	struct graph *graph = run->graph;

	run->workers = memory_new(graph->n_workers + 1, sizeof(struct worker *));
	for (unsigned i = 0; i < graph->n_workers; i++) {
		struct worker *worker = worker_make(run, graph, i);

		if (worker)
			run->workers[run->n_workers++] = worker;
		if (!worker || plan_make(graph, run->nodes, worker, i, &worker->plan) ||
		    batches_make(&worker->plan, 0)) {
			error_machine_at(errors, (struct place){.file = graph->file},
					 "no memory for worker %u", i);
			return -1;
		}
		batches_reset(worker);
	}
	return 0;
}

static int run_fill(struct run *run, struct errors *errors)
{
	struct graph *graph = run->graph;

	if (!pool_make(run, graph, errors))
		return -1;
	clock_start(&run->clock, run->options.replay, run->options.start_ns);
	run->ports = memory_new(graph->n_ports + 1, sizeof(struct run_port *));
	for (unsigned i = 0; i < graph->n_ports; i++)
		run->ports[i] = port_make(run, &graph->ports[i], (uint16_t)graph->settings.burst);
	if (ports_open(run, graph, run->ports, errors) || nodes_open(run, errors))
		return -1;
	return workers_make(run, errors);
}

struct run *run_open(struct graph *graph, const struct run_options *options, struct errors *errors)
{
	struct run *run = memory_new(1, sizeof(*run));

	run->graph = graph;
	if (options)
		run->options = *options;
	if (run_fill(run, errors)) {
		run_close(run);
		return NULL;
	}
	run->started_ns = monotonic_ns();
	return run;
}

// What the workers are at, for those who wait until none can be using something: a poll is counted
// when it begins, and a parked or stopped worker is in none.
static void polls_report(void *arg, struct quiet_progress *progress)
{
	const struct run *run = arg;

	for (unsigned i = 0; i < run->n_workers; i++) {
		const struct worker *worker = run->workers[i];

		progress->polls[i] = !worker->started || worker_parked(worker)
					 ? QUIET_IDLE
					 : __atomic_load_n(&worker->polls, __ATOMIC_ACQUIRE);
	}
	progress->n = run->n_workers;
}

void run_pollers(struct run *run, bool known)
{
	if (run->started)
		quiet_pollers(known ? polls_report : NULL, run);
}

void run_step_aside(struct run *run, bool aside)
{
	cpu_set_t cores = aside ? graph_cores_beside(run->graph) : *graph_cores();

	run->aside = aside;
	if (run->started && !run->options.no_cores)
		sched_setaffinity(0, sizeof(cores), &cores);
}

int run_start(struct run *run, struct errors *errors)
{
	run->started = true;
	for (unsigned i = 0; i < run->n_workers; i++)
		if (worker_start(run->workers[i], run->graph->workers[i].place, errors))
			return -1;
	run->started_ns = monotonic_ns();
	run->progress_ns = run->started_ns;
	run_step_aside(run, true);
	run_pollers(run, true);
	run_unpark(run);
	return 0;
}

int run_park(struct run *run, struct errors *errors)
{
	uint64_t limit;
	const char *late = NULL;

	if (!run->started)
		return 0;
	for (unsigned i = 0; i < run->n_workers; i++)
		worker_ask(run->workers[i], WORKER_PARK);
	limit = monotonic_ns() + PARK_NS;
	for (unsigned i = 0; i < run->n_workers; i++) {
		struct worker *worker = run->workers[i];

		if (!worker->started)
			continue;
		while (!worker_parked(worker) && monotonic_ns() < limit)
			sched_yield();
		if (worker_parked(worker))
			continue;
		late = "";
		error_machine_at(errors, (struct place){.file = run->graph->file},
				 "the worker on core %d did not come to a stop within 100 ms",
				 worker->core);
	}
	if (!late)
		return 0;
	run_unpark(run);
	return -1;
}

void run_unpark(struct run *run)
{
	for (unsigned i = 0; run->started && i < run->n_workers; i++)
		worker_ask(run->workers[i], WORKER_RUN);
}

int run_step(struct run *run)
{
	int total = 0;
	bool settled = true;

	for (unsigned i = 0; i < run->n_workers; i++) {
		struct worker *worker = run->workers[i];
		unsigned n = 0;

		for (unsigned s = 0; s < worker->plan.n_sources; s++)
			n += worker->plan.sources[s].weight;
		worker->now_ns = clock_now(&run->clock);
		do {
			total += walk_poll(worker);
		} while (n-- > 1);
		settled &= !worker->pending_any;
		for (unsigned s = 0; s < worker->plan.n_sources; s++)
			settled &= worker->plan.sources[s].ctx->igates != 0;
	}
	return settled && !total ? -1 : total;
}

void run_set_time(struct run *run, uint64_t now_ns)
{
	__atomic_store_n(&run->clock.now_ns, now_ns, __ATOMIC_RELAXED);
}

void ports_stop(struct run_port **ports, unsigned n)
{
	for (int late = 1; late >= 0; late--)
		for (unsigned i = 0; i < n; i++) {
			struct run_port *port = ports[i];

			if (!port || port->pub.driver->late != late)
				continue;
			if (port->usable && port->pub.driver->stop)
				port->pub.driver->stop(&port->pub);
			port_close(port);
		}
}

// Nodes first: what they hold may lie in memory of a port.
void run_stop(struct run *run)
{
	if (run->stopped)
		return;
	run_pollers(run, false);
	workers_stop(run->workers, run->n_workers);
	for (unsigned i = 0; run->nodes && i < run->graph->n_nodes; i++)
		if (run->nodes[i])
			faults_report(run, run->nodes[i]);
	run->stopped_ns = run_time_ns(run);
	run->stopped = true;
	for (unsigned i = 0; run->nodes && i < run->graph->n_nodes; i++)
		if (run->nodes[i])
			node_close(run, run->nodes[i]);
	if (run->ports)
		ports_stop(run->ports, run->graph->n_ports);
}

void port_free(struct run_port *port)
{
	free(port->pub.state);
	free((void *)(uintptr_t)port->pub.name);
	free(port);
}

void run_close(struct run *run)
{
	if (!run)
		return;
	run_stop(run);
	for (unsigned i = 0; run->nodes && i < run->graph->n_nodes; i++)
		if (run->nodes[i])
			node_free(run->nodes[i]);
	for (unsigned i = 0; run->ports && i < run->graph->n_ports; i++)
		if (run->ports[i])
			port_free(run->ports[i]);
	for (unsigned i = 0; i < run->n_workers; i++)
		worker_free(run->workers[i]);
	for (unsigned i = 0; i < run->n_pools; i++)
		rte_mempool_free(run->pools[i]);
	free(run->pools);
	free(run->nodes);
	free(run->ports);
	free(run->workers);
	graph_free(run->graph);
	free(run);
}

void run_listen(struct run *run, void (*hear)(void *to, const char *event, json_t *what), void *to)
{
	run->hear = hear;
	run->hear_to = to;
}

const struct graph *run_graph(const struct run *run)
{
	return run->graph;
}

struct port *run_port(struct run *run, unsigned port)
{
	return &run->ports[port]->pub;
}

struct node *run_node(struct run *run, unsigned node)
{
	return &run->nodes[node]->pub;
}

uint64_t run_time_ns(const struct run *run)
{
	return run->stopped ? run->stopped_ns : monotonic_ns() - run->started_ns;
}

unsigned run_packets_out(const struct run *run)
{
	unsigned n = 0;

	for (unsigned i = 0; i < run->n_pools; i++)
		n += rte_mempool_in_use_count(run->pools[i]);
	return n;
}

const struct clock *run_clock(const struct run *run)
{
	return &run->clock;
}
