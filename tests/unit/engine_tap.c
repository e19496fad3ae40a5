// SPDX-License-Identifier: BSD-3-Clause
// A tap on all links, for tests.

#include "engine_tap.h"

static unsigned wants_all(const struct tap *tap, const struct graph *graph,
			  const struct graph_link *link)
{
	(void)tap;
	(void)graph;
	(void)link;
	return 1;
}

static void count(struct tap *tap, struct ctx *ctx, gate_t gate, unsigned number,
		  struct batch *batch)
{
	(void)ctx;
	(void)gate;
	(void)number;
	((struct engine_tap *)tap)->seen += batch->n;
}

static void split(struct tap *tap, struct ctx *ctx, struct batch *batch,
		  void (*process)(struct ctx *, struct batch *))
{
	unsigned n = batch->n, i = 0;

	((struct engine_tap *)tap)->entered += n;
	for (; i + 1 < n; i++) {
		struct batch *one = batch_new(ctx);

		if (!one)
			break;
		one->pkts[one->n++] = batch->pkts[i];
		process(ctx, one);
	}
	for (unsigned k = i; k < n; k++)
		batch->pkts[k - i] = batch->pkts[k];
	batch->n = n - i;
	process(ctx, batch);
}

void engine_tap_new(struct engine_tap *tap, bool splits)
{
	*tap = (struct engine_tap){
	    .tap = {.wants = wants_all, .leaves = count, .enters = splits ? split : NULL}};
}
