// SPDX-License-Identifier: BSD-3-Clause
// What layout.c, which finds the places of boxes, and layout_ways.c, which draws links between
// them, share.

#ifndef SLUICE_CLI_TOP_LAYOUT_INSIDE_H
#define SLUICE_CLI_TOP_LAYOUT_INSIDE_H

#include "cli/top/layout.h"

// A box, or a place that is kept free for a link.
struct place_in {
	unsigned layer;
	unsigned at; // which in the layer
	unsigned width;
	unsigned x;
	double wish; // where it would rather be
	int box;     // -1: none
};

// One layer's worth of a link.
struct step {
	unsigned from, to; // places
	unsigned way;
	unsigned out_of, out_n; // the how-manieth end at its box, of how many
	unsigned in_of, in_n;
	unsigned x1, x2;
	unsigned track;
};

struct work {
	struct arena *arena;
	struct layout *layout;
	const json_t *links;
	struct place_in *places;
	unsigned n_places;
	struct step *steps;
	unsigned n_steps;
	unsigned **layers; // places by layer
	unsigned *n_in;	   // of each
	unsigned *tracks;  // lines between a layer and the next
};

// Fills the ways and the boxes' places, when layers and columns are known.
void layout_ways(struct work *);

#endif
