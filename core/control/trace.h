// SPDX-License-Identifier: BSD-3-Clause
// Those who trace a running graph: each has a stream of lines, all share one tracer.

#ifndef SLUICE_CONTROL_TRACE_H
#define SLUICE_CONTROL_TRACE_H

#include "control/route.h"

void serve_trace(const struct request *, struct answer *);
void serve_explain(const struct request *, struct answer *);

// At each turn: takes what workers have seen.
void traces_tick(struct control *);
// How long the next turn may be put off; UINT64_MAX: nobody traces.
uint64_t traces_wait_ns(const struct control *);
// After the last stream.
void traces_close(struct control *);

#endif
