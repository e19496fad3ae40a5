// SPDX-License-Identifier: BSD-3-Clause
// Meter: reads the stamps of a Generator's packets; counts what is lost, comes late, twice or
// damaged, and how long packets took.

#include "module.h"
#include "meter_commands.h"

static const struct counter meter_counters[] = {
    [METER_RECEIVED] = {"received", "packets with a good stamp, duplicates and old ones included"},
    [METER_SKIPPED] = {"skipped", "sequence numbers passed over by one that came: lost, unless "
				  "they count as `late` later"},
    [METER_LATE] = {"late", "skipped ones that came after all"},
    [METER_DUPLICATES] = {"duplicates", "numbers that had come before"},
    [METER_REORDERED] = {"reordered", "numbers below the greatest seen, and no duplicates"},
    [METER_OLD] = {"old", "numbers below all that is remembered: reordered, or duplicates"},
    [METER_DAMAGED] = {"damaged", "packets whose magic or checksum is wrong, and not both"},
    [METER_FOREIGN] = {"foreign", "packets without a stamp, or of a stream too many"},
    [METER_UNTIMED] = {"untimed", "packets that came before their time, or over 100 s after it"},
    {.name = NULL},
};

// What a batch adds to the counts.
struct meter_batch {
	bool counts; // within the window
	uint64_t received, damaged, foreign, untimed;
	uint64_t n, sum_ns, min_ns, max_ns, bytes;
};

static enum stamp_state meter_read_at(const struct rte_mbuf *pkt, uint32_t place,
				      struct stamp *stamp)
{
	uint32_t end = place + STAMP_BYTES, length = rte_pktmbuf_pkt_len(pkt);
	uint8_t copy[STAMP_BYTES];
	const uint8_t *bytes;
	uint16_t rest = 0;

	if (place < sizeof(struct rte_ether_hdr) || length < end)
		return STAMP_NONE;
	bytes = rte_pktmbuf_read(pkt, place, STAMP_BYTES, copy);
	if (!bytes)
		return STAMP_NONE;
	// That the sum is not asked for in vain is what matters: a frame may be long.
	if (stamp_covers(bytes) && length > end &&
	    rte_raw_cksum_mbuf(pkt, end, length - end, &rest))
		return STAMP_NONE;
	return stamp_read(bytes, rest, stamp);
}

#define METER_PLACE 42	  // in a plain UDP packet, the first place to look
#define METER_HEADERS 256 // bytes in which the headers before a stamp lie, as a rule

// Where the last stamp was there is none, or its checksum covers what is behind it.
static __rte_noinline enum stamp_state meter_find(struct meter *meter, const struct rte_mbuf *pkt,
						  struct stamp *stamp)
{
	enum stamp_state state = meter_read_at(pkt, meter->place, stamp);
	uint8_t copy[METER_HEADERS];
	uint32_t place;

	if (state == STAMP_GOOD || meter->fixed)
		return state;
	place = stamp_place(packet_peek(pkt, copy, sizeof(copy)));
	if (place == meter->place)
		return state;
	state = meter_read_at(pkt, place, stamp);
	if (state == STAMP_GOOD)
		meter->place = place;
	return state;
}

static inline void meter_time(struct meter *meter, struct meter_batch *sum, uint64_t now_ns,
			      uint64_t time_ns)
{
	int64_t latency = stamp_difference(now_ns, time_ns);

	if (unlikely(latency < 0 || latency > (int64_t)METER_MAX_NS)) {
		sum->untimed++;
		return;
	}
	counter_add(&meter->histogram.counts[meter_index((uint64_t)latency)], 1);
	sum->n++;
	sum->sum_ns += (uint64_t)latency;
	sum->min_ns = RTE_MIN(sum->min_ns, (uint64_t)latency);
	sum->max_ns = RTE_MAX(sum->max_ns, (uint64_t)latency);
}

static void meter_sum(struct ctx *ctx, struct meter *meter, const struct meter_batch *sum)
{
	struct meter_histogram *histogram = &meter->histogram;

	counter_add(&ctx->counters[METER_RECEIVED], sum->received);
	if (unlikely(sum->damaged | sum->foreign | sum->untimed)) {
		counter_add(&ctx->counters[METER_DAMAGED], sum->damaged);
		counter_add(&ctx->counters[METER_FOREIGN], sum->foreign);
		counter_add(&ctx->counters[METER_UNTIMED], sum->untimed);
	}
	if (!sum->counts)
		return;
	counter_add(&meter->damaged, sum->damaged);
	counter_add(&meter->foreign, sum->foreign);
	counter_add(&meter->untimed, sum->untimed);
	counter_add(&meter->bytes, sum->bytes);
	counter_add(&histogram->n, sum->n);
	counter_add(&histogram->sum_ns, sum->sum_ns);
	if (sum->min_ns < histogram->min_ns)
		__atomic_store_n(&histogram->min_ns, sum->min_ns, __ATOMIC_RELAXED);
	if (sum->max_ns > histogram->max_ns)
		__atomic_store_n(&histogram->max_ns, sum->max_ns, __ATOMIC_RELAXED);
}

static inline void meter_leave(struct ctx *ctx, struct batch *in)
{
	if (gate_linked(ctx, 0))
		emit(ctx, in, 0);
	else
		consume(ctx, in);
}

static void meter_explain(struct ctx *ctx, struct batch *in)
{
	meter_leave(ctx, in);
}

static void meter_process(struct ctx *ctx, struct batch *in)
{
	struct meter *meter = ctx->state;
	uint64_t now_ns = ctx->now_ns, *own = ctx->counters;
	unsigned n_streams = meter->n_streams;
	uint32_t span = meter->span;
	struct meter_batch sum = {.counts = now_ns >= meter->begin_ns && now_ns < meter->end_ns,
				  .min_ns = UINT64_MAX};

	batch_foreach (in, pkt) {
		uint32_t place = meter->place;
		enum stamp_state state = STAMP_NONE;
		struct meter_stream *stream;
		struct stamp stamp;

		if (likely(place + STAMP_BYTES <= rte_pktmbuf_data_len(pkt)))
			state =
			    stamp_read(rte_pktmbuf_mtod_offset(pkt, uint8_t *, place), 0, &stamp);
		if (unlikely(state != STAMP_GOOD))
			state = meter_find(meter, pkt, &stamp);
		if (unlikely(state != STAMP_GOOD || stamp.stream >= n_streams)) {
			*(state == STAMP_DAMAGED ? &sum.damaged : &sum.foreign) += 1;
			continue;
		}
		sum.received++;
		stream = &meter->streams[stamp.stream];
		meter_track(stream, stamp.sequence, span,
			    likely(sum.counts) ? &stream->counts : &meter->uncounted, own);
		if (unlikely(!sum.counts))
			continue;
		sum.bytes += rte_pktmbuf_pkt_len(pkt);
		meter_time(meter, &sum, now_ns, stamp.time_ns);
	}
	meter_sum(ctx, meter, &sum);
	meter_leave(ctx, in);
}

static void meter_check(const void *p, struct errors *errors)
{
	const struct meter_params *params = p;

	if (params->span & (params->span - 1))
		error_input(errors, "span", "%u is no power of two, it should be, as %u",
			    params->span, rte_align32pow2(params->span));
	if (params->at && params->at < 14)
		error_input(errors, "at",
			    "%u lies in the Ethernet header, it should be 0, or 14 to "
			    "1024",
			    params->at);
}

// The histogram, the counts and the streams that there are in both go on.
static const char *meter_take(struct node *node, struct node *old)
{
	struct meter *meter = node->state, *before = old->state;
	unsigned n = RTE_MIN(meter->n_streams, before->n_streams);
	struct meter_histogram histogram = meter->histogram;

	for (unsigned i = 0; i < n; i++) {
		uint64_t *seen = meter->streams[i].seen;

		meter->streams[i] = before->streams[i];
		meter->streams[i].seen = seen;
		// With another span nothing is known of what came before.
		if (meter->span == before->span)
			memcpy(seen, before->streams[i].seen, meter->span / 8);
		else
			meter->streams[i].first = meter->streams[i].next;
	}
	meter->histogram = before->histogram;
	before->histogram = histogram;
	meter->begin_ns = before->begin_ns;
	meter->end_ns = before->end_ns;
	meter->damaged = before->damaged;
	meter->foreign = before->foreign;
	meter->untimed = before->untimed;
	meter->bytes = before->bytes;
	return n < before->n_streams ? "the counts of streams that there are no more" : NULL;
}

static const char *meter_loses(const void *params, const void *old_params)
{
	const struct meter_params *new = params, *old = old_params;

	return new->streams < old->streams ? "the counts of streams that there are no more" : NULL;
}

static int meter_open(struct node *node, struct errors *errors)
{
	const struct meter_params *params = node->params;
	struct meter *meter = node->state;

	meter->fixed = params->at;
	meter->place = params->at ? params->at : METER_PLACE;
	meter->span = params->span;
	meter->n_streams = params->streams;
	meter->histogram.counts = calloc(METER_COUNTS, sizeof(*meter->histogram.counts));
	meter->streams = calloc(params->streams, sizeof(*meter->streams));
	meter->seen = calloc((size_t)params->streams * params->span / 64, sizeof(*meter->seen));
	if (!meter->histogram.counts || !meter->streams || !meter->seen) {
		error_machine(errors, "streams", "no memory for %u streams", params->streams);
		return -1;
	}
	for (unsigned i = 0; i < meter->n_streams; i++)
		meter->streams[i].seen = meter->seen + (size_t)i * params->span / 64;
	meter_clear(meter, node->now_ns, UINT64_MAX);
	return 0;
}

static void meter_close(struct node *node)
{
	struct meter *meter = node->state;

	free(meter->histogram.counts);
	free(meter->streams);
	free(meter->seen);
	meter->histogram.counts = NULL;
	meter->streams = NULL;
	meter->seen = NULL;
}

static struct module_type meter = {
    .name = "Meter",
    .help = "measures what a Generator sent: loss, order, damage and latency",
    .details =
	"The packets leave as they came, or are consumed where the gate is not linked. The stamp "
	"(see Generator) is found behind tags that were added, too. A number that is passed over "
	"counts as lost until it comes: then it is reordered, as RFC 4737 has it (below the "
	"greatest number seen), and lost no more. What comes again is a duplicate (RFC 5560), as "
	"far back as `span` remembers; what is older is `old`, and after 64 such in a row the "
	"stream has begun anew. The first number of a stream is taken for its beginning. The "
	"packets that came in are the received, damaged and foreign ones; of those received, "
	"duplicates and old ones are no new packets. One foreign packet in 20,000 or so looks "
	"damaged.\n\n"
	"Latency is the time from when a packet was meant to be sent to the poll that brought it "
	"here, on the clock of the process, read once at each poll: a stall of the generator "
	"counts, and a packet that came during a poll has that poll's time. So both nodes must be "
	"in one process, as each has its own clock; packets from another are mostly `untimed`. "
	"Percentiles are those of the nearest rank. The histogram has HdrHistogram's layout, three "
	"significant digits from 1 ns to 100 s; with its libraries, histograms of several nodes or "
	"runs can be added. A Meter has one worker, as the order of packets is lost between two.",
    .example = "nodes:\n"
	       "  gen: {Generator: {rate: 1Mpps, count: 1000000}}\n"
	       "  seen: Meter\n"
	       "graph:\n"
	       "  - gen -> seen\n",
    .igates = 1,
    .ogates = 1,
    .params = meter_params,
    .commands = meter_commands,
    .counters = meter_counters,
    .state_size = sizeof(struct meter),
    .clock = true,
    .check = meter_check,
    .open = meter_open,
    .close = meter_close,
    .process = meter_process,
    .explain = meter_explain,
    .take = meter_take,
    .loses = meter_loses,
};
MODULE(meter)
