// SPDX-License-Identifier: BSD-3-Clause
// What happened between two samples of an instance's counters, as run_json() gives them: rates,
// shares of time, fills. By name, so that the graph may have changed between them.

#ifndef SLUICE_CLI_RATES_H
#define SLUICE_CLI_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "value/arena.h"

// A number that is not known is NAN: there is no sample before, or a counter has gone back.

struct node_rates {
	const char *name;
	const char *module;
	double in;	// packets a second
	double out;	// packets a second
	double handled; // packets a second: those that came in, or that a source made
	double batch;	// packets in one
	double cycles;	// a packet
	double share;	// of the time of the workers that run it, 0 to 1
	double dropped; // packets a second
	uint64_t held;
	uint64_t room;	   // how many it can hold; 0: it is no queue
	const json_t *now; // all that was sampled
	const json_t *last;
};

struct port_rates {
	const char *name;
	const char *driver;
	double rx, rx_bits, tx, tx_bits, errors; // a second
	const json_t *now;
};

struct worker_rates {
	unsigned core;
	double busy; // of its time, 0 to 1
	const json_t *now;
};

struct rates {
	double seconds;	  // between the samples
	bool since_start; // there was no sample before
	struct node_rates *nodes;
	unsigned n_nodes;
	struct port_rates *ports;
	unsigned n_ports;
	struct worker_rates *workers;
	unsigned n_workers;
};

// Everything lies in the arena, and points into the samples. last == NULL: since the start. Where
// `last` is of another run, or no older, nothing is known of the time between, and rates are NAN.
struct rates *rates_between(struct arena *, const json_t *now, const json_t *last);

// Whether two samples are of the same run, by their own clocks, the first one older.
bool rates_comparable(const json_t *now, const json_t *last);

// How much a counter has grown a second; NAN where that is not known.
double rate_of(const json_t *now, const json_t *last, const char *key, double seconds);

uint64_t count_of(const json_t *object, const char *key);  // 0: it is not there
uint64_t count_sum(const json_t *object, const char *key); // of a list or map of numbers

// The names of what grew, with how much a second: "runt 5/s, full 1.2k/s".
const char *drops_text(struct arena *, const struct node_rates *, double seconds);

// "1.2M", or "" for what is not known or nothing.
const char *per_s_text(struct arena *, double per_s);

// The same as one JSON object for programs; what is not known is null.
json_t *rates_json(const struct rates *);

#endif
