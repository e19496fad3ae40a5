// SPDX-License-Identifier: BSD-3-Clause
// Modules for the engine's own tests: those that do what a good module never would, and those that
// show what the engine did.

#include <string.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "engine.h"
#include "module.h"

// Leaky loses the first packet of each batch; or, as a source, of what it makes.

static void leaky_process(struct ctx *ctx, struct batch *in)
{
	rte_pktmbuf_free(in->pkts[0]);
	in->n--;
	memmove(in->pkts, in->pkts + 1, in->n * sizeof(*in->pkts));
	emit(ctx, in, 0);
}

static const struct module_type leaky = {
    .name = "Leaky",
    .help = "loses one packet of each batch",
    .igates = 1,
    .ogates = 1,
    .process = leaky_process,
};
MODULE(leaky)

struct leaky_source {
	unsigned polls;
};

static int leaky_source_poll(struct ctx *ctx)
{
	struct leaky_source *state = ctx->state;
	struct batch *batch = batch_new(ctx);

	if (state->polls++ || !packets_new(ctx, batch->pkts, 2, 60)) {
		batch_free(ctx, batch);
		return POLL_ENDED;
	}
	rte_pktmbuf_free(batch->pkts[1]);
	batch->n = 1;
	emit(ctx, batch, 0);
	return 1;
}

static const struct module_type leaky_source = {
    .name = "LeakySource",
    .help = "makes two packets and loses one of them",
    .ogates = 1,
    .state_size = sizeof(struct leaky_source),
    .poll = leaky_source_poll,
};
MODULE(leaky_source)

// Emitter calls emit several times for one batch: packet i leaves by itself through gate i modulo
// the number of gates, the last before the first if `backwards`; empty batches in between.

struct emitter_params {
	bool backwards;
};

static const struct param emitter_params[] = {
    PARAM(emitter_params, backwards, .def = "false", .help = "the last packet first"),
    PARAM_END,
};

static void emitter_process(struct ctx *ctx, struct batch *in)
{
	const struct emitter_params *params = ctx->params;
	unsigned n = in->n;

	for (unsigned i = 0; i < n; i++) {
		unsigned at = params->backwards ? n - 1 - i : i;
		struct batch *one = batch_new(ctx), *none = batch_new(ctx);

		if (none)
			emit(ctx, none, (gate_t)(at % ctx->ogates));
		if (!one) {
			packet_drop(ctx, in->pkts[at], REASON_NO_MEMORY);
			continue;
		}
		one->pkts[one->n++] = in->pkts[at];
		emit(ctx, one, (gate_t)(at % ctx->ogates));
	}
	batch_free(ctx, in);
}

static const struct module_type emitter = {
    .name = "Emitter",
    .help = "emits each packet by itself",
    .igates = 1,
    .ogates = GATES_ANY,
    .params = emitter_params,
    .process = emitter_process,
};
MODULE(emitter)

// Scatter gives each packet to the gate that its number says; a number with the highest bit set is
// dropped for its own reason, the others' remainder is the gate.

enum { SCATTER_WANTED = REASON_OWN };
static const char *const scatter_drops[] = {"wanted", NULL};
static const char *const scatter_drops_help[] = {"its number says so"};

static void scatter_process(struct ctx *ctx, struct batch *in)
{
	gate_t gates[BATCH_MAX];

	for (unsigned i = 0; i < in->n; i++) {
		uint32_t number;

		memcpy(&number, rte_pktmbuf_mtod(in->pkts[i], uint8_t *) + 14, sizeof(number));
		gates[i] = number >> 31 ? DROP(SCATTER_WANTED) : (gate_t)(number % ctx->ogates);
	}
	emit_each(ctx, in, gates);
}

static const struct module_type scatter = {
    .name = "Scatter",
    .help = "gives each packet to the gate that its number says",
    .igates = 1,
    .ogates = GATES_ANY,
    .drops = scatter_drops,
    .drops_help = scatter_drops_help,
    .shared = true,
    .process = scatter_process,
};
MODULE(scatter)

// Pass has named gates, runs in one worker only, and passes gate i on to gate i.

static const char *const pass_igates[] = {"main", "side"};
static const char *const pass_ogates[] = {"hit", "miss"};

static void pass_process(struct ctx *ctx, struct batch *in)
{
	emit(ctx, in, ctx->igate);
}

static const struct module_type pass = {
    .name = "Pass",
    .help = "passes packets on",
    .igates = 2,
    .ogates = 2,
    .igate_names = pass_igates,
    .ogate_names = pass_ogates,
    .process = pass_process,
};
MODULE(pass)

// Mesh passes gate i on to gate i, for any number of gates.

static const struct module_type mesh = {
    .name = "Mesh",
    .help = "passes packets on, gate by gate",
    .igates = GATES_ANY,
    .ogates = GATES_ANY,
    .shared = true,
    .process = pass_process,
};
MODULE(mesh)

// Metadata.

static const struct meta mark_u32[] = {{"test_mark", META_U32}, {.name = NULL}};
static const struct meta mark_u64[] = {{"test_mark", META_U64}, {.name = NULL}};

static void mark_process(struct ctx *ctx, struct batch *in)
{
	batch_foreach (in, pkt)
		*meta_u32(ctx, pkt, 0) = 7;
	emit(ctx, in, 0);
}

static const struct module_type mark = {
    .name = "Mark",
    .help = "writes the metadata test_mark",
    .igates = 1,
    .ogates = 1,
    .writes = mark_u32,
    .process = mark_process,
};
MODULE(mark)

static const struct module_type mark_wide = {
    .name = "MarkWide",
    .help = "writes the metadata test_mark with another type",
    .igates = 1,
    .ogates = 1,
    .writes = mark_u64,
    .process = pass_process,
};
MODULE(mark_wide)

enum { MARKED_WRONG = REASON_OWN };
static const char *const marked_drops[] = {"wrong", NULL};
static const char *const marked_drops_help[] = {"it bears another mark"};

static void marked_process(struct ctx *ctx, struct batch *in)
{
	bool wrong = false;

	batch_foreach (in, pkt)
		wrong |= *meta_u32(ctx, pkt, 0) != 7;
	if (wrong)
		drop(ctx, in, MARKED_WRONG);
	else
		emit(ctx, in, 0);
}

static const struct module_type marked = {
    .name = "Marked",
    .help = "reads the metadata test_mark",
    .igates = 1,
    .ogates = 1,
    .reads = mark_u32,
    .drops = marked_drops,
    .drops_help = marked_drops_help,
    .process = marked_process,
};
MODULE(marked)

// Slow takes its time over each batch: 100 us.

static void slow_process(struct ctx *ctx, struct batch *in)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 10000;

	while (rte_rdtsc() < end)
		rte_pause();
	emit(ctx, in, 0);
}

static const struct module_type slow = {
    .name = "Slow",
    .help = "takes its time",
    .igates = 1,
    .ogates = 1,
    .shared = true,
    .process = slow_process,
};
MODULE(slow)

bool engine_own_module(const struct module_type *type)
{
	static const char *const own[] = {
	    "Leaky", "LeakySource", "Emitter", "Scatter", "Pass",   "Mesh",
	    "Mark",  "MarkWide",    "Marked",  "Probe",	  "Keeper", "Slow",
	};

	for (unsigned i = 0; i < RTE_DIM(own); i++)
		if (!strcmp(own[i], type->name))
			return true;
	return false;
}
