// SPDX-License-Identifier: BSD-3-Clause
// Puts taps into plans. A gate with a tap leads to a stand-in, which emit_slow() knows by its mark
// `special`; a gate without one pays nothing for it.

#include <stdlib.h>

#include "run/inside.h"
#include "run/tap.h"

// What a tapped gate leads to instead.
struct tapped {
	struct input stand_in;
	struct ogate through; // what the gate was
	struct ogate *gate;
	struct tapped *next;
	unsigned n;
	struct told {
		struct tap *tap;
		unsigned number;
	} told[];
};

struct ogate *tap_pass(struct ctx *ctx, struct batch *batch, gate_t gate)
{
	struct tapped *tapped = (struct tapped *)ctx->gates[gate].input;

	for (unsigned i = 0; i < tapped->n; i++) {
		struct tap *tap = tapped->told[i].tap;

		tap->leaves(tap, ctx, gate, tapped->told[i].number, batch);
	}
	return &tapped->through;
}

const struct input *ogate_input(const struct ogate *gate)
{
	const struct input *input = gate->input;

	if (input && input->special && !input->looped)
		return ((const struct tapped *)input)->through.input;
	return input;
}

static void tap_process(struct ctx *ctx, struct batch *batch)
{
	struct tap *tap = ctx->worker->plan.enters;

	tap->enters(tap, ctx, batch, ctx->node->type->process);
}

int tap_core(const struct ctx *ctx)
{
	return ctx->worker->core;
}

uint64_t tap_now_ns(const struct ctx *ctx)
{
	return clock_now(ctx->worker->clock);
}

static unsigned tap_number(const struct tap *tap, const struct graph *graph,
			   const struct graph_link *link)
{
	return tap->leaves ? tap->wants(tap, graph, link) : 0;
}

// -1 without memory.
static int link_tap(const struct graph *graph, const struct graph_link *link, struct plan *plan,
		    struct tap *taps)
{
	struct ctx *ctx = plan->ctxs[link->from];
	struct tapped *tapped;
	unsigned n = 0;

	for (struct tap *tap = taps; tap; tap = tap->next)
		n += tap_number(tap, graph, link) != 0;
	if (!n || !ctx || !ctx->gates[link->ogate].input)
		return 0;
	tapped = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*tapped) + n * sizeof(*tapped->told), 64));
	if (!tapped)
		return -1;
	*tapped = (struct tapped){.stand_in.special = true,
				  .through = ctx->gates[link->ogate],
				  .gate = &ctx->gates[link->ogate],
				  .next = plan->tapped};
	for (struct tap *tap = taps; tap; tap = tap->next) {
		unsigned number = tap_number(tap, graph, link);

		if (number && tapped->n < n)
			tapped->told[tapped->n++] = (struct told){tap, number};
	}
	plan->tapped = tapped;
	// What waits at the input says so by its gate, wherever that is.
	if (tapped->through.input->from == tapped->gate)
		tapped->through.input->from = &tapped->through;
	tapped->gate->direct = NULL;
	tapped->gate->input = &tapped->stand_in;
	return 0;
}

static void process_set(struct plan *plan, struct tap *enters)
{
	plan->enters = enters;
	for (unsigned i = 0; i < plan->n_inputs; i++) {
		struct input *input = &plan->inputs[i];

		input->process = enters ? tap_process : input->ctx->node->type->process;
	}
}

void taps_remove(struct plan *plan)
{
	struct tapped *next;

	for (struct tapped *tapped = plan->tapped; tapped; tapped = next) {
		next = tapped->next;
		tapped->gate->direct = tapped->through.direct;
		tapped->gate->input = tapped->through.input;
		if (tapped->through.input->from == &tapped->through)
			tapped->through.input->from = tapped->gate;
		free(tapped);
	}
	plan->tapped = NULL;
	if (plan->enters)
		process_set(plan, NULL);
}

int taps_set(const struct graph *graph, struct plan *plan, struct tap *taps)
{
	struct tap *enters = NULL;

	taps_remove(plan);
	for (unsigned i = 0; taps && i < graph->n_links; i++)
		if (link_tap(graph, &graph->links[i], plan, taps))
			return -1;
	for (struct tap *tap = taps; tap && !enters; tap = tap->next)
		enters = tap->enters ? tap : NULL;
	if (enters)
		process_set(plan, enters);
	return 0;
}

static int run_taps_set(struct run *run, struct tap *taps)
{
	for (unsigned i = 0; i < run->n_workers; i++)
		if (taps_set(run->graph, &run->workers[i]->plan, taps))
			return -1;
	run->taps = taps;
	return 0;
}

int run_tap(struct run *run, struct tap *tap, struct errors *errors)
{
	if (run_park(run, errors))
		return -1;
	tap->next = run->taps;
	if (run_taps_set(run, tap)) {
		for (unsigned i = 0; i < run->n_workers; i++)
			taps_remove(&run->workers[i]->plan);
		(void)run_taps_set(run, tap->next);
		run_unpark(run);
		error_machine_at(errors, (struct place){.file = run->graph->file},
				 "no memory for a tap");
		return -1;
	}
	run_unpark(run);
	return 0;
}

int run_untap(struct run *run, struct tap *tap, struct errors *errors)
{
	struct tap **at = &run->taps;

	if (run_park(run, errors))
		return -1;
	while (*at && *at != tap)
		at = &(*at)->next;
	if (*at)
		*at = tap->next;
	// What is set again was there before, and is less: memory has just been freed for it.
	(void)run_taps_set(run, run->taps);
	run_unpark(run);
	return 0;
}
