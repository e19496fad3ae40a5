// SPDX-License-Identifier: BSD-3-Clause
// The part of Meter that follows the sequence numbers of a stream: what is missing, what comes
// late, what comes again.

#ifndef SLUICE_METER_TRACK_H
#define SLUICE_METER_TRACK_H

#include <string.h>

#include "module.h"
#include "stamp.h"

// The node's counters.
enum {
	METER_RECEIVED,
	METER_SKIPPED,
	METER_LATE,
	METER_DUPLICATES,
	METER_REORDERED,
	METER_OLD,
	METER_DAMAGED,
	METER_FOREIGN,
	METER_UNTIMED,
};

// What is counted of a stream, since the last reset or within the window.
struct meter_counts {
	uint64_t received;   // with a good stamp
	uint64_t skipped;    // numbers passed over by one that came
	uint64_t late;	     // of these, those that came after all
	uint64_t duplicates; // numbers that had come before
	uint64_t reordered;  // numbers below the greatest seen (RFC 4737), no duplicates
	uint64_t old;	     // so far below that nobody knows whether they came before
};

// A stream: `seen` has a bit for each of the last `span` numbers before `next`, a power of two.
struct meter_stream {
	uint64_t next;	// the greatest number seen, and one; modulo 2^48
	uint64_t first; // the first number of which the counts know; before it nothing was skipped
	uint64_t *seen;
	bool begun;
	uint32_t olds; // in a row
	struct meter_counts counts;
};

// So many packets in a row that are older than all that is remembered are a sender that began anew.
#define METER_ANEW 64

static inline bool meter_bit(const struct meter_stream *stream, uint64_t number, uint32_t span)
{
	uint64_t at = number & (span - 1);

	return stream->seen[at / 64] >> at % 64 & 1;
}

static inline void meter_bit_set(struct meter_stream *stream, uint64_t number, uint32_t span)
{
	uint64_t at = number & (span - 1);

	stream->seen[at / 64] |= 1ull << at % 64;
}

// None of the n numbers from `next` on has been seen.
static void meter_pass(struct meter_stream *stream, uint64_t n, uint32_t span)
{
	if (n >= span) {
		memset(stream->seen, 0, span / 8);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = (stream->next + i) & (span - 1);

		stream->seen[at / 64] &= ~(1ull << at % 64);
	}
}

static void meter_begin(struct meter_stream *stream, uint64_t number, uint32_t span)
{
	memset(stream->seen, 0, span / 8);
	stream->next = number;
	stream->first = number;
	stream->begun = true;
	stream->olds = 0;
}

// The counters of the node go on for ever; those of a stream, until the next reset.
static inline void meter_count(uint64_t *counter, uint64_t *own, uint64_t n)
{
	counter_add(counter, n);
	counter_add(own, n);
}

// A number that is not the next one.
static __attribute__((noinline)) void meter_track_other(struct meter_stream *stream,
							uint64_t number, uint32_t span,
							struct meter_counts *counts, uint64_t *own)
{
	int64_t ahead;

	if (!stream->begun)
		meter_begin(stream, number, span);
	ahead = stamp_difference(number, stream->next);
	if (ahead < -(int64_t)span) {
		meter_count(&counts->old, &own[METER_OLD], 1);
		if (++stream->olds < METER_ANEW)
			return;
		meter_begin(stream, (number + 1) & STAMP_MASK, span);
		meter_bit_set(stream, number, span);
		return;
	}
	stream->olds = 0;
	if (ahead >= 0) {
		meter_pass(stream, (uint64_t)ahead, span);
		meter_count(&counts->skipped, &own[METER_SKIPPED], (uint64_t)ahead);
		stream->next = (number + 1) & STAMP_MASK;
	} else if (meter_bit(stream, number, span)) {
		meter_count(&counts->duplicates, &own[METER_DUPLICATES], 1);
	} else {
		meter_count(&counts->reordered, &own[METER_REORDERED], 1);
		if (stamp_difference(number, stream->first) >= 0)
			meter_count(&counts->late, &own[METER_LATE], 1);
	}
	meter_bit_set(stream, number, span);
}

// counts: those of the stream, or others if it is not counted now.
static inline void meter_track(struct meter_stream *stream, uint64_t number, uint32_t span,
			       struct meter_counts *counts, uint64_t *own)
{
	counter_add(&counts->received, 1);
	if (unlikely(number != stream->next || !stream->begun)) {
		meter_track_other(stream, number, span, counts, own);
		return;
	}
	meter_bit_set(stream, number, span);
	stream->next = (number + 1) & STAMP_MASK;
	stream->olds = 0;
}

#endif
