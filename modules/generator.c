// SPDX-License-Identifier: BSD-3-Clause
// Generator: makes packets at a rate, each with the time at which it was meant to be sent, and
// counts those that it was too late for.

#include "module.h"
#include "generator_setup.h"

enum { GENERATOR_INTENDED, GENERATOR_ATTEMPTED, GENERATOR_UNSENT, GENERATOR_STARVED };
static const struct counter generator_counters[] = {
    {"intended", "packets whose time has come: those attempted and those unsent"},
    {"attempted", "packets that were made and sent on"},
    {"unsent", "packets that were never made, because they were late by more than `late`"},
    {"starved", "polls at which packets were due and no packet buffer was free"},
    {.name = NULL},
};

static inline void generator_count(struct ctx *ctx, struct generator *state, unsigned which,
				   uint64_t n)
{
	counter_add(&ctx->counters[GENERATOR_INTENDED], n);
	counter_add(&ctx->counters[which], n);
	counter_add(which == GENERATOR_UNSENT ? &state->unsent : &state->attempted, n);
}

static void generator_write(struct ctx *ctx, struct batch *batch, const uint64_t *times)
{
	struct generator *state = ctx->state;
	struct source_maker *maker = &state->maker;
	// Into locals: what is written to packets might be them, for all that the compiler knows.
	const uint16_t *places = state->places, *rests = state->rests;
	uint16_t magic = rests ? STAMP_MAGIC_ALL : STAMP_MAGIC;
	struct stamp stamp = {.stream = state->stream, .sequence = state->sequence};
	unsigned n = 0, i = 0;

	batch_foreach (batch, pkt) {
		unsigned frame = maker->next;

		stamp.time_ns = times[i++];
		if (unlikely(!source_make(ctx, maker, pkt))) {
			packet_drop(ctx, pkt, REASON_NO_MEMORY);
			continue;
		}
		if (likely(places)) {
			stamp_write(rte_pktmbuf_mtod_offset(pkt, uint8_t *, places[frame]), magic,
				    &stamp, rests ? rests[frame] : 0);
			stamp.sequence++;
		}
		batch->pkts[n++] = pkt;
	}
	batch->n = n;
	state->sequence = stamp.sequence;
}

// Makes the first n packets of the batch, and sends them on. false: no buffer was free.
static bool generator_send(struct ctx *ctx, const uint64_t *times, unsigned n)
{
	struct batch *batch = batch_new(ctx);

	if (unlikely(!batch))
		return false;
	if (unlikely(!packets_new(ctx, batch->pkts, n, 0))) {
		batch_free(ctx, batch);
		return false;
	}
	batch->n = n;
	generator_write(ctx, batch, times);
	emit(ctx, batch, 0);
	return true;
}

// Whether the time has come for the first packet after `start`.
static bool generator_waited(struct generator *state, uint64_t now_ns)
{
	if (!state->begin_ns)
		state->begin_ns = now_ns + state->delay_ns;
	if (now_ns < state->begin_ns)
		return false;
	state->begin_ns = 0;
	state->polls.last_ns = 0;
	return true;
}

static int generator_poll(struct ctx *ctx)
{
	struct generator *state = ctx->state;
	struct generator_pace pace;
	uint64_t times[BATCH_MAX], now_ns = ctx->now_ns;
	unsigned n;

	if (unlikely(state->run != GENERATOR_RUNS)) {
		if (state->run == GENERATOR_ENDED)
			return POLL_ENDED;
		if (state->run != GENERATOR_STARTS || !generator_waited(state, now_ns))
			return 0;
		state->pace.frame = state->maker.next;
		generator_begin(&state->pace, now_ns, state->count, state->duration_ns);
		__atomic_store_n(&state->run, GENERATOR_RUNS, __ATOMIC_RELAXED);
	}
	generator_polled(&state->polls, now_ns);
	if (state->pace.gaps && state->pace.at_ns > now_ns &&
	    state->pace.at_ns < state->pace.end_ns)
		return 0;
	pace = state->pace;
	if (unlikely(pace.gaps && pace.at_ns + state->late_ns < now_ns))
		generator_count(ctx, state, GENERATOR_UNSENT,
				generator_late(&pace, now_ns - state->late_ns));
	state->pace = pace;
	if (pace.gaps)
		state->maker.next = pace.frame;
	n = generator_due(&pace, now_ns, times, ctx->node->burst);
	if (n && unlikely(!generator_send(ctx, times, n))) {
		counter_add(&ctx->counters[GENERATOR_STARVED], 1);
		return 0;
	}
	state->pace = pace;
	if (n)
		generator_count(ctx, state, GENERATOR_ATTEMPTED, n);
	if (unlikely(generator_over(&pace)))
		__atomic_store_n(&state->run, state->finite ? GENERATOR_ENDED : GENERATOR_STOPPED,
				 __ATOMIC_RELAXED);
	return (int)n;
}

static int generator_status(struct node *node, const void *args, struct reply *reply,
			    struct errors *errors)
{
	struct generator *state = node->state;
	unsigned run = __atomic_load_n(&state->run, __ATOMIC_RELAXED);
	uint64_t attempted = counter_read(&state->attempted);
	uint64_t unsent = counter_read(&state->unsent);

	(void)args;
	(void)errors;
	reply_bool(reply, "running", run == GENERATOR_STARTS || run == GENERATOR_RUNS);
	reply_u64(reply, "intended", attempted + unsent);
	reply_u64(reply, "attempted", attempted);
	reply_u64(reply, "unsent", unsent);
	return 0;
}

static int generator_start(struct node *node, const void *args, struct reply *reply,
			   struct errors *errors)
{
	const struct generator_params *params = node->params;
	const struct generator_start *start = args;
	struct generator *state = node->state;

	if (state->finite) {
		error_input(errors, NULL,
			    "the node ends by itself; with `start: false` it does "
			    "what it is told");
		return -1;
	}
	if (generator_speed_check(params, &start->speed, "rate", "load", errors))
		return -1;
	generator_speed_set(state, params, &start->speed);
	state->count = generator_limit(state, params, start->count);
	state->duration_ns = start->duration.ns;
	state->delay_ns = start->delay.ns;
	state->begin_ns = 0;
	state->attempted = 0;
	state->unsent = 0;
	__atomic_store_n(&state->run, GENERATOR_STARTS, __ATOMIC_RELAXED);
	return generator_status(node, NULL, reply, errors);
}

static int generator_stop(struct node *node, const void *args, struct reply *reply,
			  struct errors *errors)
{
	struct generator *state = node->state;

	if (state->run != GENERATOR_ENDED)
		__atomic_store_n(&state->run, state->finite ? GENERATOR_ENDED : GENERATOR_STOPPED,
				 __ATOMIC_RELAXED);
	return generator_status(node, args, reply, errors);
}

static int generator_gaps(struct node *node, const void *args, struct reply *reply,
			  struct errors *errors)
{
	struct generator *state = node->state;
	struct generator_polls *polls = &state->polls;

	(void)args;
	(void)errors;
	reply_u64(reply, "median_ns", polls->median_ns);
	reply_u64(reply, "hiccups", polls->hiccups);
	reply_u64(reply, "sum_ns", polls->sum_ns);
	reply_u64(reply, "long_ns", polls->long_ns);
	reply_u64(reply, "longest_ns", polls->longest_ns);
	// That the worker is parked just now is no hiccup.
	*polls = (struct generator_polls){.median_ns = polls->median_ns};
	return 0;
}

static const struct command generator_commands[] = {
    {"start", "begins to make packets, anew if it does so already; answers as `status`",
     generator_start_args, generator_start},
    {"stop", "makes no more packets; answers as `status`", NULL, generator_stop},
    {"status", "says whether it makes packets, and how many there were since the start", NULL,
     generator_status, .live = true},
    {"gaps",
     "says how far apart its polls were while it made packets, since the last call: the median, "
     "and how many hiccups there were, gaps above 20 us and 4 times the median, how long in all, "
     "how long those above 100 us, and the longest; counts anew from now on",
     NULL, generator_gaps},
    {.name = NULL},
};

static bool generator_finite(const struct node *node)
{
	return generator_ends(node->params);
}

// With other parameters it begins anew, and is meant to; the sequence goes on, lest a Meter takes
// what comes for what is late.
static const char *generator_take(struct node *node, struct node *old)
{
	struct generator *state = node->state, *before = old->state;

	if (state->stream == before->stream)
		state->sequence = before->sequence;
	return NULL;
}

static const char *generator_loses(const void *params, const void *old_params)
{
	(void)params;
	(void)old_params;
	return NULL;
}

static struct module_type generator = {
    .name = "Generator",
    .help = "makes packets at a rate, and stamps each with the time at which it was meant to go",
    .details =
	"Each packet has an intended time, which follows from the start and the rate alone, in "
	"whole fractions of a nanosecond: no error adds up. Each poll makes the packets that are "
	"due, up to the graph's `burst`; what it cannot make at once, the next polls catch up "
	"with. A packet that is late by more than `late` is never made, and counts as `unsent`: "
	"so a stall is followed by at most `late` worth of packets in a row. `intended` is "
	"`attempted` and `unsent` together; what a port then refuses, its PortOut counts. A "
	"`rate` in packets a second holds whatever the sizes; one in bits a second spaces packets "
	"by their length. On the wire a frame has 4 bytes of FCS more than here, and 20 more on "
	"layer 1 (preamble and gap): 14.88 Mpps of 60 bytes are 10 Gbps of layer 1, and 7.62 of "
	"layer 2. Frames of less than 60 bytes count as 60, as they are padded there. `burst` "
	"sends several at the same time, at the same mean rate; `poisson` has exponential gaps "
	"from the seed. `fields`, `templates` and sizes are as of Source.\n\n"
	"The stamp takes 18 bytes, in network order: the magic 0x536c (2 bytes), the stream (2), "
	"the sequence number from 0 (6), the intended time in nanoseconds of this process's clock "
	"(6), and a checksum (2) that makes the sum of the stamp 0xffff. It lies behind the UDP "
	"header, or behind Ethernet header and tags where there is no IP; so a UDP packet of 60 "
	"bytes has room for it. It may take the place of zeros only, unless `at` says where it "
	"is. Checksums of UDP and TCP stay right. With `payload` the checksum covers all bytes "
	"behind the stamp too, and the magic is 0xac93. A Meter reads it. Packets of `replay` are "
	"not stamped. Sequence numbers go on when it is stopped and started again.",
    .example = "nodes:\n"
	       "  gen: {Generator: {rate: 1Mpps, templates: [ether / ipv4 / udp], size: 60}}\n"
	       "  half: {Generator: {load: 50, link: 10Gbps, sizes: [60, 60, 590, 1514]}}\n"
	       "  again: {Generator: {replay: graphs/data/demo.pcap, timing: own}}\n",
    .ogates = 1,
    .params = generator_params,
    .commands = generator_commands,
    .counters = generator_counters,
    .state_size = sizeof(struct generator),
    .clock = true,
    .check = generator_check,
    .open = generator_open,
    .close = generator_close,
    .poll = generator_poll,
    .finite = generator_finite,
    .take = generator_take,
    .loses = generator_loses,
};
MODULE(generator)
