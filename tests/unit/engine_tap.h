// SPDX-License-Identifier: BSD-3-Clause
// A tap on all links, for tests: counts what it sees, and may split batches at the nodes.

#ifndef SLUICE_TESTS_ENGINE_TAP_H
#define SLUICE_TESTS_ENGINE_TAP_H

#include "engine.h"
#include "run/tap.h"

struct engine_tap {
	struct tap tap;
	uint64_t seen;	  // packets that left by a gate
	uint64_t entered; // packets at nodes, if it splits
};

// split: every packet enters each node in a batch of its own.
void engine_tap_new(struct engine_tap *, bool split);

#endif
