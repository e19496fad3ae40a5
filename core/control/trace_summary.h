// SPDX-License-Identifier: BSD-3-Clause
// Distinct ways with how many packets went each, in memory that does not grow with the packets.

#ifndef SLUICE_CONTROL_TRACE_SUMMARY_H
#define SLUICE_CONTROL_TRACE_SUMMARY_H

#include "control/trace_ways.h"

struct summary;

struct summary *summary_new(void);
void summary_free(struct summary *); // NULL is allowed
void summary_add(struct summary *, const struct ways_packet *, unsigned watch);
// {"count", "cycles", "ways"}: each distinct way, the most frequent first; what the table had no
// room for comes last, as {"count", "others": true}.
json_t *summary_json(struct summary *);

#endif
