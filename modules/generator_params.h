// SPDX-License-Identifier: BSD-3-Clause
// What a user says of a Generator, and of a start of it.

#ifndef SLUICE_GENERATOR_PARAMS_H
#define SLUICE_GENERATOR_PARAMS_H

#include "source_frames.h"

// One of them, or neither: as fast as can be.
struct generator_speed {
	struct rate rate;
	double load;
};

struct generator_params {
	struct source_shape shape;
	struct generator_speed speed;
	struct choice layer;
	struct rate link;
	struct choice pattern;
	uint16_t burst;
	uint16_t burst_min;
	uint64_t seed;
	bool start;
	uint64_t count;
	struct duration duration;
	struct duration late;
	bool stamp;
	uint16_t at;
	uint16_t stream;
	bool payload;
	const char *replay;
	struct choice timing;
	uint32_t passes;
};

struct generator_start {
	struct generator_speed speed;
	uint64_t count;
	struct duration duration;
	struct duration delay;
};

enum { GENERATOR_L1, GENERATOR_L2 };
static const char *const generator_layers[] = {"l1", "l2", NULL};
static const char *const generator_patterns[] = {"constant", "burst", "poisson", NULL};
enum { GENERATOR_OWN, GENERATOR_PACED };
static const char *const generator_timings[] = {"own", "paced", NULL};

#define GENERATOR_RATE_MAX 1000000000000
#define GENERATOR_TIME_MAX 1000000000000000 // ns: 11 days

static const struct param generator_params[] = {
    SOURCE_SHAPE(generator_params),
    PARAM_NAMED(generator_params, speed.rate, "rate", .def = "0pps", .max = GENERATOR_RATE_MAX,
		.example = "1Mpps",
		.help = "packets or bits a second; 0: as fast as can be, a full batch at each "
			"poll, if there is no `load`"),
    PARAM_NAMED(generator_params, speed.load, "load", .def = "0", .example = "99.5",
		.help = "instead of rate: per cent of the link's speed"),
    PARAM(generator_params, layer, .def = "l1", .choices = generator_layers,
	  .help = "of a rate in bits: l2 counts frames with their FCS, l1 preamble and gap too"),
    PARAM(generator_params, link, .def = "10Gbps", .min = 1, .max = GENERATOR_RATE_MAX,
	  .help = "of `load`: bits a second on layer 1"),
    PARAM(generator_params, pattern, .def = "constant", .choices = generator_patterns,
	  .help = "how packets are spread over time; the mean rate is the same"),
    PARAM(generator_params, burst, .def = "1", .min = 1, .max = 65535,
	  .help = "of pattern `burst`: packets in a row"),
    PARAM(generator_params, burst_min, .def = "0", .max = 65535,
	  .help = "if bursts are to be of several lengths: the shortest; each length from this to "
		  "`burst` comes equally often, at random from the seed. 0: all are alike"),
    PARAM(generator_params, seed, .def = "1", .help = "the same seed, the same times"),
    PARAM(generator_params, start, .def = "true",
	  .help = "false: it waits for the command `start`, and does not end"),
    PARAM(generator_params, count, .def = "0",
	  .help = "packets to intend, after which the node ends; 0: without end"),
    PARAM(generator_params, duration, .def = "0s", .max = GENERATOR_TIME_MAX,
	  .help = "how long, from the first packet, after which the node ends; 0: without end"),
    PARAM(generator_params, late, .def = "1ms", .max = GENERATOR_TIME_MAX,
	  .help = "by how much a packet may be late and still be sent"),
    PARAM(generator_params, stamp, .def = "true",
	  .help = "whether packets are stamped for a Meter; with `replay` they are not"),
    PARAM(generator_params, at, .def = "0", .max = 1024,
	  .help = "where in the frame the stamp begins, an even place; 0: behind UDP, or behind "
		  "the Ethernet header where there is no IP"),
    PARAM(generator_params, stream, .def = "0",
	  .help = "by which a Meter tells this generator from others"),
    PARAM(generator_params, payload, .def = "false",
	  .help = "whether the stamp's checksum covers what lies behind it, too"),
    PARAM(generator_params, replay, .def = "", .example = "graphs/data/demo.pcap",
	  .help = "instead of templates: the packets of a capture, which is read into memory"),
    PARAM(generator_params, timing, .def = "own", .choices = generator_timings,
	  .help = "of `replay`: with the gaps that the capture has, or paced by rate or load"),
    PARAM(generator_params, passes, .def = "1",
	  .help = "of `replay`: how often, the mean gap between them; 0: without end"),
    PARAM_END,
};

static const struct param generator_start_args[] = {
    PARAM_NAMED(generator_start, speed.rate, "rate", .def = "0pps", .max = GENERATOR_RATE_MAX,
		.example = "1Mpps",
		.help = "packets or bits a second; without rate and load: the node's own"),
    PARAM_NAMED(generator_start, speed.load, "load", .def = "0", .example = "99.5",
		.help = "instead of rate: per cent of the link's speed"),
    PARAM(generator_start, count, .def = "0", .help = "packets to intend; 0: without end"),
    PARAM(generator_start, duration, .def = "0s", .max = GENERATOR_TIME_MAX,
	  .help = "how long, from the first packet; 0: without end"),
    PARAM(generator_start, delay, .def = "0s", .max = GENERATOR_TIME_MAX, .example = "20ms",
	  .help = "how long from now to the first packet: what starts generators on busy cores "
		  "can be at rest by then"),
    PARAM_END,
};

static bool generator_replays(const struct generator_params *params)
{
	return params->replay[0];
}

static bool generator_ends(const struct generator_params *params)
{
	return params->start && (params->count || params->duration.ns ||
				 (generator_replays(params) && params->passes));
}

// 0, or -1 with what is wrong with a rate or load.
static int generator_speed_check(const struct generator_params *params,
				 const struct generator_speed *speed, const char *rate,
				 const char *load, struct errors *errors)
{
	bool own = generator_replays(params) && params->timing.n == GENERATOR_OWN;
	int status = 0;

	if (!(speed->load >= 0 && speed->load <= 100)) {
		error_input(errors, load, "%g is out of range; it should be above 0, up to 100",
			    speed->load);
		status = -1;
	}
	if (speed->rate.per_s && speed->load != 0) {
		error_input(errors, load, "there is a `rate` too; give one of them");
		status = -1;
	}
	if (own && (speed->rate.per_s || speed->load != 0)) {
		error_input(errors, speed->rate.per_s ? rate : load,
			    "the capture has its own timing; say `timing: paced`");
		status = -1;
	}
	return status;
}

#endif
