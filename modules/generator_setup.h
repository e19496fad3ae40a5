// SPDX-License-Identifier: BSD-3-Clause
// The part of Generator that runs before the packets: the check of its parameters, and what is
// worked out from them.

#ifndef SLUICE_GENERATOR_SETUP_H
#define SLUICE_GENERATOR_SETUP_H

#include "generator_pace.h"
#include "generator_params.h"
#include "generator_replay.h"
#include "source_frames.h"
#include "stamp.h"

enum generator_run { GENERATOR_STOPPED, GENERATOR_STARTS, GENERATOR_RUNS, GENERATOR_ENDED };

// Gaps between two polls while it makes packets, since they were last asked for. Changed by the
// worker, and by commands while it is parked.
struct generator_polls {
	uint64_t last_ns;   // 0: there was none yet since the start
	uint64_t median_ns; // a running estimate
	uint64_t hiccups;   // gaps far above it
	uint64_t sum_ns;    // of the hiccups
	uint64_t long_ns;   // of those that are longer than what usual rings hold
	uint64_t longest_ns;
};

struct generator {
	struct generator_pace pace;
	struct generator_polls polls;
	struct source_maker maker;
	unsigned run; // enum generator_run; read by other threads
	bool finite;  // ends by itself
	uint16_t stream;
	uint64_t late_ns;
	uint64_t sequence;
	uint64_t attempted; // since the start
	uint64_t unsent;
	uint64_t count; // of the present run; 0: without end
	uint64_t duration_ns;
	uint64_t delay_ns;	    // from the first poll after `start` to the first packet
	uint64_t begin_ns;	    // when that is; 0: not known yet
	struct generator_gap *gaps; // room for one a frame
	uint16_t *places;	    // of the stamp, by frame; NULL: none
	uint16_t *rests;	    // sums of what is behind it; NULL: not covered
	uint64_t *times_ns;	    // of a capture
};

#define GENERATOR_HICCUP_NS 20000
#define GENERATOR_HICCUP_MEDIANS 4
#define GENERATOR_LONG_NS 100000 // a ring of 1024 is full, or empty, after that at 10 Mpps

// Takes notice of a poll. The estimate goes up or down by 1/64 with each gap: it settles where as
// many gaps are above as below.
static inline void generator_polled(struct generator_polls *polls, uint64_t now_ns)
{
	uint64_t gap_ns = now_ns - polls->last_ns, median_ns = polls->median_ns;

	if (likely(polls->last_ns)) {
		polls->median_ns = gap_ns > median_ns
				       ? median_ns + median_ns / 64 + 1
				       : median_ns - RTE_MIN(median_ns, median_ns / 64 + 1);
		if (unlikely(gap_ns > GENERATOR_HICCUP_NS &&
			     gap_ns > GENERATOR_HICCUP_MEDIANS * median_ns)) {
			polls->hiccups++;
			polls->sum_ns += gap_ns;
			polls->long_ns += gap_ns > GENERATOR_LONG_NS ? gap_ns : 0;
			polls->longest_ns = RTE_MAX(polls->longest_ns, gap_ns);
		}
	}
	polls->last_ns = now_ns;
}

// Bits of a frame on the wire.
static uint64_t generator_bits(uint32_t length, bool l1)
{
	return (RTE_MAX(length, 60u) + 4 + (l1 ? 20 : 0)) * 8ull;
}

// Works out the gaps for a rate or load; if there is neither, for the node's own.
static void generator_speed_set(struct generator *state, const struct generator_params *params,
				const struct generator_speed *speed)
{
	const struct source_maker *maker = &state->maker;
	struct generator_pace *pace = &state->pace;
	bool bits, l1 = params->layer.n == GENERATOR_L1;

	if (!speed->rate.per_s && speed->load == 0)
		speed = &params->speed;
	pace->rate = speed->rate.per_s;
	bits = speed->rate.unit == RATE_BPS;
	if (speed->load > 0) {
		double rate = (double)params->link.per_s * speed->load / 100;

		pace->rate = RTE_MAX((uint64_t)(rate + 0.5), 1u);
		bits = l1 = true;
	}
	pace->gaps = state->gaps;
	pace->n_gaps = maker->n_frames;
	if (state->times_ns && params->timing.n == GENERATOR_OWN) {
		pace->rate = 1;
		generator_replay_gaps(state->gaps, state->times_ns, maker->n_frames);
	} else if (!pace->rate) {
		pace->gaps = NULL;
		return;
	} else {
		for (unsigned i = 0; i < maker->n_frames; i++)
			state->gaps[i] = generator_gap_of(
			    bits ? generator_bits(maker->frames[i].length, l1) : 1, pace->rate);
	}
	generator_cycle(pace);
}

static uint32_t generator_place(const struct generator_params *params, struct frame frame)
{
	struct view view = {.bytes = frame.bytes, .here = frame.n, .all = frame.n};

	return params->at ? params->at : stamp_place(view);
}

// Whether a stamp at [at, at + 18) may be put over what template `i` has there.
static void generator_check_over(const struct generator_params *params, unsigned i, uint32_t at,
				 struct errors *errors)
{
	struct frame frame = source_template(&params->shape, i);
	struct source_layout layout = source_layout(frame.bytes, frame.n);
	uint32_t end = at + STAMP_BYTES;
	char where[40];
	bool zeros = true;

	snprintf(where, sizeof(where), "templates[%u]", i);
	for (uint32_t j = at; j < RTE_MIN(end, frame.n); j++)
		zeros &= !frame.bytes[j];
	if (!zeros && !params->at)
		error_input(errors, where,
			    "bytes %u to %u are not zero, where the stamp goes; say "
			    "where with `at`, or `stamp: false`",
			    at, end - 1);
	if (layout.l4_sum && layout.end != frame.n && layout.end > at && layout.end < end)
		error_input(errors, where,
			    "the IP packet ends at byte %u, in the middle of the "
			    "stamp",
			    layout.end);
	for (unsigned j = 0; j < params->shape.fields.n; j++) {
		const struct source_field *field =
		    param_item(source_field, params->shape.fields, j);
		unsigned offset, bytes;

		if (!source_place(field, &layout, frame.n, &offset, &bytes) ||
		    offset + bytes <= at || (offset >= end && !params->payload))
			continue;
		snprintf(where, sizeof(where), "fields[%u]", j);
		error_input(errors, where,
			    "it would change bytes of template %u that the stamp's "
			    "checksum covers",
			    i);
	}
}

// Where the headers end that a stamp must leave alone.
static uint32_t generator_headers(struct frame frame)
{
	struct source_layout layout = source_layout(frame.bytes, frame.n);

	if (layout.l4_sum)
		return layout.udp ? layout.l4 + 8u : layout.l4_sum + 4u;
	if (layout.l4)
		return layout.udp ? layout.l4 + 8u : layout.l4;
	if (layout.ipv4)
		return layout.ipv4 + 20u;
	return layout.ipv6 ? layout.ipv6 + 40u : 14;
}

static void generator_check_stamp(const struct generator_params *params, unsigned i,
				  struct errors *errors)
{
	const struct source_shape *shape = &params->shape;
	struct frame frame = source_template(shape, i);
	char where[40];
	uint32_t at;

	if (frame.n < 14)
		return;
	at = generator_place(params, frame);
	snprintf(where, sizeof(where), "templates[%u]", i);
	if (!at) {
		error_input(errors, where,
			    "the stamp has no place, this being IP and not UDP; say where with "
			    "`at`, or `stamp: false`");
		return;
	}
	if (at < generator_headers(frame) || at & 1) {
		error_input(errors, "at",
			    "%u is no place for the stamp in template %u; it should be even, and "
			    "behind the headers, which end before byte %u",
			    at, i, generator_headers(frame));
		return;
	}
	generator_check_over(params, i, at, errors);
	for (unsigned j = 0; j < source_n_sizes(shape); j++) {
		uint32_t size = source_size(shape, i, j);

		if (size < at + STAMP_BYTES)
			error_input(
			    errors, source_size_name(shape, i, j, where, sizeof(where)),
			    "%u bytes are too few for the stamp; there should be %u or more", size,
			    at + STAMP_BYTES);
	}
}

static void generator_check(const void *p, struct errors *errors)
{
	const struct generator_params *params = p;
	const struct source_shape *shape = &params->shape;

	generator_speed_check(params, &params->speed, "rate", "load", errors);
	if (params->link.unit != RATE_BPS)
		error_input(errors, "link", "it should be in bits a second, as in 10Gbps");
	if (params->burst_min > params->burst)
		error_input(errors, "burst_min", "%u is more than `burst`, which is %u",
			    params->burst_min, params->burst);
	if (params->pattern.n != GENERATOR_BURST && (params->burst > 1 || params->burst_min))
		error_input(errors, params->burst > 1 ? "burst" : "burst_min",
			    "there are bursts with `pattern: burst` only");
	if (!params->stamp && (params->at || params->payload))
		error_input(errors, params->at ? "at" : "payload",
			    "with `stamp: false` there is no stamp");
	if (!params->start && (params->count || params->duration.ns))
		error_input(errors, params->count ? "count" : "duration",
			    "with `start: false` the command says how much");
	if (!generator_replays(params)) {
		source_shape_check(shape, false, errors);
		for (unsigned i = 0; params->stamp && i < source_n_templates(shape); i++)
			generator_check_stamp(params, i, errors);
	} else if (shape->templates.n || shape->sizes.n || shape->size || shape->fields.n) {
		error_input(errors, "replay",
			    "the packets are those of the capture, without "
			    "templates, sizes and fields");
	}
}

// Puts a stamp that says nothing into a frame, so that checksums over it are right from now on.
static void generator_stamp_frame(struct generator *state, unsigned i, uint32_t at)
{
	struct source_frame *frame = &state->maker.frames[i];
	struct source_layout layout = source_layout(frame->bytes, frame->length);
	uint32_t end = at + STAMP_BYTES;
	uint8_t stamp[STAMP_BYTES] = {0};
	uint16_t check;

	state->places[i] = (uint16_t)at;
	if (state->rests)
		state->rests[i] = rte_raw_cksum(frame->bytes + end, frame->length - end);
	check = ~(state->rests ? state->rests[i] : 0);
	memcpy(stamp + STAMP_BYTES - sizeof(check), &check, sizeof(check));
	if (layout.l4_sum && at >= layout.l4 && end <= layout.end)
		source_sum(frame->bytes, layout.l4_sum, frame->bytes + at, stamp, STAMP_BYTES,
			   layout.udp);
	memcpy(frame->bytes + at, stamp, STAMP_BYTES);
}

static int generator_stamps(struct generator *state, const struct generator_params *params,
			    struct errors *errors)
{
	const struct source_shape *shape = &params->shape;
	unsigned n = state->maker.n_frames, n_sizes = source_n_sizes(shape);

	state->places = calloc(n, sizeof(*state->places));
	state->rests = params->payload ? calloc(n, sizeof(*state->rests)) : NULL;
	if (!state->places || (params->payload && !state->rests)) {
		error_machine(errors, NULL, "no memory for %u frames", n);
		return -1;
	}
	for (unsigned i = 0; i < n; i++) {
		uint32_t at = generator_place(params, source_template(shape, i / n_sizes));

		if (at + STAMP_BYTES > state->maker.room) {
			error_machine(errors, "at", "packet buffers of %u bytes are too small",
				      state->maker.room);
			return -1;
		}
		generator_stamp_frame(state, i, at);
	}
	return 0;
}

// How many packets a run has, of which `count` are asked for; 0: without end.
static uint64_t generator_limit(const struct generator *state,
				const struct generator_params *params, uint64_t count)
{
	uint64_t all = (uint64_t)params->passes * state->maker.n_frames;

	if (!generator_replays(params) || !all)
		return count;
	return count ? RTE_MIN(count, all) : all;
}

static int generator_open(struct node *node, struct errors *errors)
{
	const struct generator_params *params = node->params;
	struct generator *state = node->state;
	struct generator_pace *pace = &state->pace;
	bool replays = generator_replays(params);

	state->stream = params->stream;
	state->late_ns = params->late.ns;
	state->finite = generator_ends(params);
	state->run = params->start ? GENERATOR_STARTS : GENERATOR_STOPPED;
	if (replays ? generator_replay_open(&state->maker, node, params->replay, &state->times_ns,
					    errors)
		    : source_maker_open(&state->maker, node, &params->shape, false, errors))
		return -1;
	if (params->stamp && !replays && generator_stamps(state, params, errors))
		return -1;
	state->gaps = calloc(state->maker.n_frames, sizeof(*state->gaps));
	if (!state->gaps) {
		error_machine(errors, NULL, "no memory for %u frames", state->maker.n_frames);
		return -1;
	}
	pace->pattern = params->pattern.n;
	pace->burst_max = params->burst;
	pace->burst_min = params->burst_min ? params->burst_min : params->burst;
	pace->random = params->seed;
	generator_speed_set(state, params, &params->speed);
	state->duration_ns = params->duration.ns;
	state->count = generator_limit(state, params, params->count);
	return 0;
}

static void generator_close(struct node *node)
{
	struct generator *state = node->state;

	source_maker_close(&state->maker);
	free(state->gaps);
	free(state->places);
	free(state->rests);
	free(state->times_ns);
	state->gaps = NULL;
	state->places = NULL;
	state->rests = NULL;
	state->times_ns = NULL;
}

#endif
