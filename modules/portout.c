// SPDX-License-Identifier: BSD-3-Clause
// PortOut: sends packets by a port. What the device refuses is dropped or, with `retry`, held until
// the device takes it.

#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "module.h"

// What one poll can bring: a batch, copied to as many gates as a node can have, all of which lead
// here.
#define PORTOUT_HELD (BATCH_MAX * GATES_MAX)

struct portout_params {
	struct port_ref port;
	bool retry;
};

static const struct param portout_params[] = {
    PARAM(portout_params, port, .help = "the port to send by"),
    PARAM(portout_params, retry, .def = "false",
	  .help = "hold what the device refuses, and send it later, instead of dropping it; a file "
		  "is waited for anyway where all that comes to it ends by itself"),
    PARAM_END,
};

struct portout {
	unsigned waiting; // workers that hold packets; atomic
};

// What one worker holds, oldest first. Only that worker touches it while the graph runs.
struct portout_local {
	struct rte_mbuf **held; // PORTOUT_HELD of them
	unsigned first;
	unsigned n;
};

// Whether the port can be waited for. A file always can, but live traffic must not stand still for
// it.
static inline bool portout_waits(const struct node *node)
{
	const struct portout_params *params = node->params;

	return params->retry || (params->port.port->driver->patient && node->finite);
}

static inline uint16_t portout_send(struct ctx *ctx, struct rte_mbuf **pkts, unsigned n)
{
	struct port *port = ((const struct portout_params *)ctx->params)->port.port;

	return port->tx(port->tx_queue[ctx->queue], pkts, (uint16_t)n);
}

// Tells the core whether anything is held. A worker that clears the mark while another one sets it
// does no lasting harm: whoever holds packets sets it again when it is polled next.
static void portout_mark(struct ctx *ctx, bool held_before, bool holds)
{
	struct portout *state = ctx->state;
	unsigned waiting = 0;

	if (holds && !held_before)
		__atomic_add_fetch(&state->waiting, 1, __ATOMIC_RELAXED);
	if (!holds && held_before)
		waiting = __atomic_sub_fetch(&state->waiting, 1, __ATOMIC_RELAXED);
	if (holds || !waiting)
		node_congest(ctx->node, holds);
}

// The device gets one chance to take what is held; returns how many it took.
static unsigned portout_flush(struct ctx *ctx)
{
	struct portout_local *local = ctx->local;
	struct batch *batch = batch_new(ctx);
	unsigned n = RTE_MIN(local->n, (unsigned)BATCH_MAX);

	if (!batch)
		return 0;
	n = portout_send(ctx, &local->held[local->first], n);
	local->n -= n;
	local->first = local->n ? local->first + n : 0;
	batch->n = n;
	release(ctx, n);
	taken(ctx, batch, n);
	batch_free(ctx, batch);
	return n;
}

// Holds what there is room for; drops the rest.
static void portout_hold(struct ctx *ctx, struct batch *in)
{
	struct portout_local *local = ctx->local;
	unsigned n = RTE_MIN(in->n, PORTOUT_HELD - local->n);
	bool held_before = local->n > 0;

	if (local->first + local->n + n > PORTOUT_HELD) {
		memmove(local->held, &local->held[local->first], local->n * sizeof(*local->held));
		local->first = 0;
	}
	memcpy(&local->held[local->first + local->n], in->pkts, n * sizeof(*local->held));
	local->n += n;
	hold(ctx, n);
	in->n -= n;
	memmove(in->pkts, in->pkts + n, in->n * sizeof(*in->pkts));
	portout_mark(ctx, held_before, true);
}

static void portout_process(struct ctx *ctx, struct batch *in)
{
	const struct portout_local *local = ctx->local;

	// What came before goes first.
	if (likely(!local->n))
		taken(ctx, in, portout_send(ctx, in->pkts, in->n));
	if (unlikely(in->n) && portout_waits(ctx->node))
		portout_hold(ctx, in);
	if (unlikely(in->n))
		drop(ctx, in, REASON_REFUSED);
	else
		batch_free(ctx, in);
}

static int portout_poll(struct ctx *ctx)
{
	const struct portout_local *local = ctx->local;
	unsigned n;

	if (!local->n)
		return 0;
	n = portout_flush(ctx);
	portout_mark(ctx, true, local->n > 0);
	return (int)n;
}

static bool portout_polls(const void *params)
{
	return ((const struct portout_params *)params)->retry;
}

static unsigned portout_holds(const void *params)
{
	return ((const struct portout_params *)params)->retry ? PORTOUT_HELD : 0;
}

// What is held goes out by the old graph before it ends.
static const char *portout_loses(const void *params, const void *old_params)
{
	(void)params;
	(void)old_params;
	return NULL;
}

static int portout_open(struct node *node, struct errors *errors)
{
	const struct portout_params *params = node->params;

	if (!params->port.port->tx) {
		error_input(errors, "port", "port '%s' cannot send", params->port.name);
		return -1;
	}
	// Whether all that feeds it ends may change with the graph around it.
	for (unsigned i = 0; i < node->workers; i++) {
		struct portout_local *local = node_local(node, i);

		if (!params->retry && !params->port.port->driver->patient)
			break;
		local->held = calloc(PORTOUT_HELD, sizeof(*local->held));
		if (!local->held) {
			error_machine(errors, "retry", "no memory for what is held");
			return -1;
		}
	}
	return 0;
}

static void portout_close(struct node *node)
{
	for (unsigned i = 0; i < node->workers; i++) {
		struct portout_local *local = node_local(node, i);

		if (local->n)
			node_drop(node, &local->held[local->first], local->n, REASON_REFUSED);
		local->n = 0;
		free(local->held);
		local->held = NULL;
	}
}

static struct module_type portout = {
    .name = "PortOut",
    .help = "sends packets by a port",
    .details =
	"Each worker that runs the node has a transmit queue of its own. What the device does not "
	"take at once is dropped as `refused`. With `retry: true` it is held, in order, and "
	"offered "
	"again at every poll, and the sources that feed the node rest meanwhile: so nothing is "
	"lost "
	"when a capture is read faster than the device sends. A file is waited for without being "
	"asked when every source before the node ends by itself: from capture to capture nothing "
	"is lost. Live traffic does not stand still for a file.",
    .example = "ports:\n"
	       "  right: {pcap: {tx: out.pcap}}\n"
	       "nodes:\n"
	       "  tx: {PortOut: {port: right}}\n",
    .igates = 1,
    .params = portout_params,
    .state_size = sizeof(struct portout),
    .local_size = sizeof(struct portout_local),
    .shared = true,
    .blind = true,
    .holds = portout_holds,
    .open = portout_open,
    .close = portout_close,
    .process = portout_process,
    .explain = consume, // as sent
    .poll = portout_poll,
    .polls = portout_polls,
    .loses = portout_loses,
};
MODULE(portout)
