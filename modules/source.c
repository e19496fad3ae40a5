// SPDX-License-Identifier: BSD-3-Clause
// Source: makes packets from templates, in which fields may count up or vary at random from a seed.

#include "module.h"
#include "source_frames.h"

struct source_params {
	struct source_shape shape;
	uint64_t count;
	uint16_t burst;
	struct choice fill;
};

enum { SOURCE_TEMPLATE, SOURCE_NONE };
static const char *const source_fill[] = {"template", "none", NULL};

static const struct param source_params[] = {
    SOURCE_SHAPE(source_params),
    PARAM(source_params, count, .def = "0", .help = "packets to make; 0: without end"),
    PARAM(source_params, burst, .def = "0", .max = BATCH_MAX,
	  .help = "packets made at once; 0: the graph's setting"),
    PARAM(source_params, fill, .def = "template", .choices = source_fill,
	  .help = "none: only lengths are set, the bytes are whatever the buffer holds"),
    PARAM_END,
};

struct source {
	struct source_maker maker;
	uint16_t length; // of every packet, where nothing more need be done to one; else 0
	bool finite;
	uint16_t burst; // 0: the graph's setting, which may change with it
	uint64_t left;	// packets still to be made, if finite
};

static __attribute__((noinline)) void source_write(struct ctx *ctx, struct batch *batch)
{
	struct source *state = ctx->state;
	unsigned n = 0;

	batch_foreach (batch, pkt) {
		if (likely(source_make(ctx, &state->maker, pkt)))
			batch->pkts[n++] = pkt;
		else
			packet_drop(ctx, pkt, REASON_NO_MEMORY);
	}
	batch->n = n;
}

static int source_poll(struct ctx *ctx)
{
	struct source *state = ctx->state;
	unsigned n = state->burst ? state->burst : ctx->node->burst;
	struct batch *batch;

	if (state->finite) {
		if (!state->left)
			return POLL_ENDED;
		n = (unsigned)RTE_MIN((uint64_t)n, state->left);
	}
	batch = batch_new(ctx);
	if (unlikely(!batch))
		return 0;
	if (unlikely(!packets_new(ctx, batch->pkts, n, state->length))) {
		batch_free(ctx, batch);
		return 0;
	}
	batch->n = n;
	state->left -= n;
	if (!state->length)
		source_write(ctx, batch);
	emit(ctx, batch, 0);
	return (int)n;
}

static void source_check(const void *p, struct errors *errors)
{
	const struct source_params *params = p;
	bool none = params->fill.n == SOURCE_NONE;

	if (none && params->shape.templates.n)
		error_input(errors, "templates", "with `fill: none` nothing is written");
	if (none && params->shape.fields.n)
		error_input(errors, "fields", "with `fill: none` nothing is written");
	source_shape_check(&params->shape, none, errors);
}

static bool source_finite(const struct node *node)
{
	return ((const struct source_params *)node->params)->count > 0;
}

// With other parameters it begins anew, and is meant to.
static const char *source_loses(const void *params, const void *old_params)
{
	(void)params;
	(void)old_params;
	return NULL;
}

static int source_open(struct node *node, struct errors *errors)
{
	const struct source_params *params = node->params;
	struct source *state = node->state;
	struct source_maker *maker = &state->maker;

	state->burst = params->burst;
	state->finite = params->count > 0;
	state->left = params->count;
	if (source_maker_open(maker, node, &params->shape, params->fill.n == SOURCE_NONE, errors))
		return -1;
	if (maker->none && maker->n_frames == 1 && maker->frames[0].length <= maker->room)
		state->length = (uint16_t)maker->frames[0].length;
	return 0;
}

static void source_close(struct node *node)
{
	source_maker_close(&((struct source *)node->state)->maker);
}

static struct module_type source = {
    .name = "Source",
    .help = "makes packets from templates",
    .details =
	"The templates are made in turn, each in every size. A longer size adds zero bytes, and "
	"the lengths of IP and UDP grow along if they reached to the frame's end. A field takes "
	"`values` different values: the template's own, then `step` more each time (beyond its "
	"width it wraps), in turn or at random; IPv4, UDP, TCP and ICMP checksums follow. With "
	"several fields that count, `every` makes all combinations: the second field's `every` is "
	"the first one's `values`. `ipv6.src` and `ipv6.dst` vary in their lower 64 bits, "
	"`vlan.id` is that of the outer tag. With `count` the node ends after so many packets. "
	"`fill: none` measures the engine alone.",
    .example = "nodes:\n"
	       "  gen:\n"
	       "    Source:\n"
	       "      templates: [ether / ipv4 / udp dport=53]\n"
	       "      size: 60\n"
	       "      count: 1000000\n"
	       "      fields:\n"
	       "        - {field: ipv4.src, values: 65536, mode: random, seed: 7}\n"
	       "        - {field: sport, values: 1000}\n",
    .ogates = 1,
    .params = source_params,
    .state_size = sizeof(struct source),
    .check = source_check,
    .open = source_open,
    .close = source_close,
    .poll = source_poll,
    .finite = source_finite,
    .loses = source_loses,
};
MODULE(source)
