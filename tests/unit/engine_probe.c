// SPDX-License-Identifier: BSD-3-Clause
// More modules for the engine's own tests: one that shows what the engine called, and one that
// never lets go of packets.

#include <string.h>

#include "module.h"

// Probe shows what the engine called, and when, and answers commands.

struct probe_params {
	uint32_t fixed;
	uint32_t live;
};

struct probe {
	uint64_t ticks;
	uint64_t parked_ticks;
	uint64_t last_tick_ns;
	uint64_t taken_from; // `fixed` of the node that it took over, plus 1
};

static const struct param probe_params[] = {
    PARAM(probe_params, fixed, .def = "0", .help = "cannot change"),
    PARAM(probe_params, live, .def = "0", .help = "may change", .live = true),
    PARAM_END,
};

struct probe_say_args {
	const char *text;
	struct gate gate;
};

static const struct param probe_say_args[] = {
    PARAM(probe_say_args, text, .help = "what is said"),
    PARAM(probe_say_args, gate, .def = "0", .help = "a gate"),
    PARAM_END,
};

static int probe_say(struct node *node, const void *p, struct reply *reply, struct errors *errors)
{
	const struct probe_say_args *args = p;

	(void)node;
	if (!strcmp(args->text, "bad")) {
		error_input(errors, "text", "\"bad\" is not said here, it should be good");
		return -1;
	}
	if (!strcmp(args->text, "out")) {
		error_machine(errors, NULL, "there is nothing left to say");
		return -1;
	}
	reply_text(reply, "text", args->text);
	reply_u64(reply, "gate", args->gate.n);
	reply_bool(reply, "said", true);
	reply_mac(reply, "mac", &(struct rte_ether_addr){{2, 0, 0, 0, 0, 0xab}});
	return 0;
}

static int probe_state(struct node *node, const void *args, struct reply *reply,
		       struct errors *errors)
{
	const struct probe *state = node->state;
	const struct probe_params *params = node->params;

	(void)args;
	(void)errors;
	reply_item(reply);
	reply_u64(reply, "ticks", state->ticks);
	reply_u64(reply, "parked_ticks", state->parked_ticks);
	reply_u64(reply, "last_tick_ns", state->last_tick_ns);
	reply_item(reply);
	reply_u64(reply, "taken_from", state->taken_from);
	reply_u64(reply, "live", params->live);
	reply_u64(reply, "workers", node->workers);
	reply_u64(reply, "burst", node->burst);
	reply_u64(reply, "now_ns", node->now_ns);
	return 0;
}

static int probe_nothing(struct node *node, const void *args, struct reply *reply,
			 struct errors *errors)
{
	(void)node;
	(void)args;
	(void)reply;
	(void)errors;
	return 0;
}

static const struct command probe_commands[] = {
    {.name = "say", .help = "says it again", .args = probe_say_args, .run = probe_say},
    {.name = "state", .help = "says what it knows", .run = probe_state, .live = true},
    {.name = "nothing", .help = "does nothing", .run = probe_nothing},
    {.name = NULL},
};

static void probe_tick(struct node *node, uint64_t now_ns)
{
	struct probe *state = node->state;

	state->ticks++;
	state->last_tick_ns = now_ns;
}

static void probe_tick_parked(struct node *node, uint64_t now_ns)
{
	struct probe *state = node->state;

	(void)now_ns;
	state->parked_ticks++;
}

static const char *probe_take(struct node *node, struct node *old)
{
	struct probe *state = node->state;
	const struct probe *from = old->state;

	state->ticks = from->ticks;
	state->taken_from = ((const struct probe_params *)old->params)->fixed + 1;
	return NULL;
}

static const char *probe_loses(const void *params, const void *old_params)
{
	const struct probe_params *now = params, *old = old_params;

	return now->fixed < old->fixed ? "what is above the new number" : NULL;
}

static void probe_process(struct ctx *ctx, struct batch *in)
{
	emit(ctx, in, 0);
}

static const struct module_type probe = {
    .name = "Probe",
    .help = "shows what the engine called",
    .igates = 1,
    .ogates = 1,
    .params = probe_params,
    .commands = probe_commands,
    .state_size = sizeof(struct probe),
    .tick_ns = 1000000000,
    .shared = true,
    .process = probe_process,
    .tick = probe_tick,
    .tick_parked = probe_tick_parked,
    .take = probe_take,
    .loses = probe_loses,
};
MODULE(probe)

// Keeper holds up to 64 packets and never lets go of them by itself; the next ones pass. It fails
// to open on demand.

struct keeper_params {
	uint32_t version;
	bool fails;
};

struct keeper {
	struct rte_mbuf *pkts[64];
	unsigned n;
};

static const struct param keeper_params[] = {
    PARAM(keeper_params, version, .def = "0", .help = "some number"),
    PARAM(keeper_params, fails, .def = "false", .help = "fails to open"),
    PARAM_END,
};

static unsigned keeper_holds(const void *params)
{
	(void)params;
	return 64;
}

static int keeper_open(struct node *node, struct errors *errors)
{
	const struct keeper_params *params = node->params;

	if (!params->fails)
		return 0;
	error_machine(errors, "fails", "it was told to fail");
	return -1;
}

static void keeper_close(struct node *node)
{
	struct keeper *state = node->state;

	node_drop(node, state->pkts, state->n, REASON_FULL);
	state->n = 0;
}

static void keeper_process(struct ctx *ctx, struct batch *in)
{
	struct keeper *state = ctx->state;
	unsigned n = RTE_MIN(in->n, RTE_DIM(state->pkts) - state->n);

	memcpy(&state->pkts[state->n], in->pkts, n * sizeof(*in->pkts));
	state->n += n;
	hold(ctx, n);
	in->n -= n;
	memmove(in->pkts, in->pkts + n, in->n * sizeof(*in->pkts));
	emit(ctx, in, 0);
}

static const struct module_type keeper = {
    .name = "Keeper",
    .help = "holds packets for ever",
    .igates = 1,
    .ogates = 1,
    .params = keeper_params,
    .state_size = sizeof(struct keeper),
    .holds = keeper_holds,
    .open = keeper_open,
    .close = keeper_close,
    .process = keeper_process,
};
MODULE(keeper)
