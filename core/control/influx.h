// SPDX-License-Identifier: BSD-3-Clause
// All counters as InfluxDB's line protocol, and a thread that posts them to a server.

#ifndef SLUICE_CONTROL_INFLUX_H
#define SLUICE_CONTROL_INFLUX_H

#include <jansson.h>

#include "value/errors.h"

// Writes what `sluice stats --json` prints as lines, all with its time; docs/dashboards.md says
// what they are named.
void influx_lines(const json_t *stats, const char *instance, FILE *);

// One point: tags that are empty are left out, fields may come until the end; without a field it
// was nothing.
struct influx_line {
	FILE *to;
	const char *measurement;
	char *tags; // as written, from a memory stream
	bool fields;
};
void influx_begin(struct influx_line *, FILE *, const char *measurement, const char *const tags[]);
void influx_integer(struct influx_line *, const char *name, json_int_t);
void influx_real(struct influx_line *, const char *name, double);
void influx_text(struct influx_line *, const char *name, const char *);
void influx_end(struct influx_line *, uint64_t time_ns);

struct influx_push;

struct influx_counts {
	uint64_t written;  // points in time that the server has taken
	uint64_t dropped;  // that it did not take in time, or refused
	uint64_t failures; // requests that came to nothing
};

// Starts a thread that posts to a URL such as "http://host:8086/write?db=sluice". Nothing need
// answer there yet. NULL with the reason in errors.
struct influx_push *influx_push_start(const char *url, struct errors *);
// Hands over what is to be posted, which is the thread's then. Never waits: when the server is slow
// or away the oldest is dropped.
void influx_push_give(struct influx_push *, char *text);
void influx_push_counts(struct influx_push *, struct influx_counts *);
// Sends what is left, for two seconds at most. NULL is allowed.
void influx_push_stop(struct influx_push *);

#endif
