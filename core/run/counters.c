// SPDX-License-Identifier: BSD-3-Clause
// Counters, gathered over workers and over the plans that are gone.

#include <string.h>

#include <rte_cycles.h>

#include "run/inside.h"

static const char *const reasons[REASON_OWN] = {
    "unconnected", "no_memory", "runt", "refused", "full", "loop_full",
};
static const char *const reasons_help[REASON_OWN] = {
    "the gate leads nowhere",  "no packet buffer or batch was free",
    "the packet is too short", "the device did not take it",
    "a queue was full",	       "too much goes round in a loop of the graph",
};

unsigned reason_count(const struct module_type *type)
{
	unsigned n = REASON_OWN;

	while (type->drops && type->drops[n - REASON_OWN])
		n++;
	return n;
}

const char *reason_name(const struct module_type *type, reason_t reason)
{
	return reason < REASON_OWN ? reasons[reason] : type->drops[reason - REASON_OWN];
}

const char *reason_help(const struct module_type *type, reason_t reason)
{
	if (reason < REASON_OWN)
		return reasons_help[reason];
	return type->drops_help ? type->drops_help[reason - REASON_OWN] : "";
}

static void ctx_add(const struct ctx *ctx, struct node_counts *counts)
{
	const struct module_type *type = ctx->node->type;

	for (unsigned i = 0; i < ctx->ogates; i++) {
		const struct ogate *gate = &ctx->gates[i];
		const struct input *input = ogate_input(gate);
		// The only link into an input is counted there.
		bool there = input && input->from;
		uint64_t batches = counter_read(there ? &input->batches : &gate->batches);

		counts->out[i] += counter_read(there ? &input->packets : &gate->packets);
		counts->gate_batches[i] += batches;
		counts->out_batches += batches;
	}
	for (unsigned i = 0; i < reason_count(type); i++)
		counts->dropped[i] += counter_read(&ctx->dropped[i]);
	for (unsigned i = 0; type->counters && type->counters[i].name; i++)
		counts->own[i] += counter_read(&ctx->counters[i]);
	counts->made += counter_read(&ctx->made);
	counts->consumed += counter_read(&ctx->consumed);
	counts->held += counter_read(&ctx->held);
	counts->released += counter_read(&ctx->released);
	counts->cycles += counter_read(&ctx->cycles);
	counts->cycles_sampled += counter_read(&ctx->cycles_sampled);
	counts->cycles_calls += counter_read(&ctx->cycles_calls);
}

// All but held, which is so far the sum of what was ever held.
void counts_add(struct node_counts *counts, const struct plan *plan, unsigned index)
{
	const struct ctx *ctx = index < plan->n_ctxs ? plan->ctxs[index] : NULL;

	if (!ctx)
		return;
	ctx_add(ctx, counts);
	for (unsigned i = 0; i < plan->n_inputs; i++)
		if (plan->inputs[i].ctx == ctx) {
			counts->in[plan->inputs[i].gate] += counter_read(&plan->inputs[i].packets);
			counts->in_batches += counter_read(&plan->inputs[i].batches);
		}
}

void run_node_counts(struct run *run, unsigned index, struct node_counts *counts)
{
	struct run_node *node = run->nodes[index];

	if (node->opened && node->pub.type->fold) {
		node->pub.now_ns = clock_now(&run->clock);
		node->pub.type->fold(&node->pub);
	}
	*counts = node->base;
	for (unsigned w = 0; w < run->n_workers; w++)
		counts_add(counts, &run->workers[w]->plan, index);
	counts->released += node->outside_released;
	for (unsigned i = 0; i < reason_count(node->pub.type); i++)
		counts->dropped[i] += node->outside_drops[i];
	counts->held -= counts->released;
}

uint64_t node_held(struct run *run, unsigned index)
{
	const struct run_node *node = run->nodes[index];
	uint64_t held = node->base.held - node->base.released - node->outside_released;

	for (unsigned w = 0; w < run->n_workers; w++) {
		const struct ctx *ctx = run->workers[w]->plan.ctxs[index];

		if (ctx)
			held += counter_read(&ctx->held) - counter_read(&ctx->released);
	}
	return held;
}

void run_port_counts(struct run *run, unsigned index, struct port_counters *counters)
{
	struct run_port *port = run->ports[index];

	*counters = port->last;
	if (port->opened && port->pub.driver->counters)
		port->pub.driver->counters(&port->pub, counters);
}

unsigned run_workers(const struct run *run)
{
	return run->n_workers;
}

void run_worker_counts(const struct run *run, unsigned index, struct worker_counts *counts)
{
	const struct worker *worker = run->workers[index];

	counts->core = worker->core;
	counts->polls = counter_read(&worker->polls);
	counts->busy_cycles = counter_read(&worker->busy_cycles);
	counts->idle_cycles = counter_read(&worker->idle_cycles);
	counts->parks = counter_read(&worker->parks);
	counts->parked_cycles = counter_read(&worker->parked_cycles);
}

uint64_t run_cycles_hz(void)
{
	return rte_get_tsc_hz();
}
