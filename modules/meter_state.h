// SPDX-License-Identifier: BSD-3-Clause
// What a Meter is told and what it keeps.

#ifndef SLUICE_METER_STATE_H
#define SLUICE_METER_STATE_H

#include "meter_histogram.h"
#include "meter_track.h"

struct meter_params {
	uint16_t streams;
	uint32_t span;
	uint16_t at;
};

enum { METER_NONE, METER_COMPRESSED, METER_PLAIN };
static const char *const meter_texts[] = {"none", "compressed", "plain", NULL};

static const struct param meter_params[] = {
    PARAM(meter_params, streams, .def = "16", .min = 1, .max = 1024,
	  .help = "streams that are told apart, from 0 on; packets of others are foreign"),
    PARAM(meter_params, span, .def = "4096", .min = 64, .max = 1 << 20,
	  .help = "how many sequence numbers of each stream are remembered, a power of two"),
    PARAM(meter_params, at, .def = "0", .max = 1024,
	  .help = "where in the frame the stamp begins; 0: behind UDP, or behind the Ethernet "
		  "header where there is no IP"),
    PARAM_END,
};

struct meter {
	uint32_t place; // of the last packet's stamp
	bool fixed;	// the user has said where it is
	uint32_t span;
	unsigned n_streams;
	struct meter_stream *streams;
	uint64_t *seen; // of all streams
	// What is counted, and when: from begin_ns on, until before end_ns.
	uint64_t begin_ns;
	uint64_t end_ns; // UINT64_MAX: for ever
	struct meter_histogram histogram;
	uint64_t damaged;
	uint64_t foreign;
	uint64_t untimed;
	uint64_t bytes;
	struct meter_counts uncounted; // of packets outside the window
};

// Counts anew. What was missing before is no more asked for.
static void meter_clear(struct meter *meter, uint64_t begin_ns, uint64_t end_ns)
{
	struct meter_histogram *histogram = &meter->histogram;

	meter->begin_ns = begin_ns;
	meter->end_ns = end_ns;
	memset(histogram->counts, 0, METER_COUNTS * sizeof(*histogram->counts));
	*histogram = (struct meter_histogram){.counts = histogram->counts, .min_ns = UINT64_MAX};
	meter->damaged = 0;
	meter->foreign = 0;
	meter->untimed = 0;
	meter->bytes = 0;
	for (unsigned i = 0; i < meter->n_streams; i++) {
		meter->streams[i].first = meter->streams[i].next;
		meter->streams[i].counts = (struct meter_counts){0};
	}
}

#endif
