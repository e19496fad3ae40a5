// SPDX-License-Identifier: BSD-3-Clause
// Where the boxes and arrows of a graph's picture lie: layers from the top to the bottom, links
// from one to the next. Places are columns and lines of text. Nothing of a terminal.

#ifndef SLUICE_CLI_TOP_LAYOUT_H
#define SLUICE_CLI_TOP_LAYOUT_H

#include <stdbool.h>

#include <jansson.h>

#include "value/arena.h"

#define BOX_LINES 4 // of a box, its frame included

struct layout_box {
	const char *name;
	unsigned x, y, width;
	unsigned layer;
	const char *back; // nodes that it leads to by a link that is not drawn, or ""
};

// A link's way: down from (x[0], y[0]), along line y[1] to x[1], down to the next corner, and so
// on: the way goes through (x[i], y[i]) to (x[i], y[i + 1]) to (x[i + 1], y[i + 1]).
struct layout_way {
	unsigned from, to; // boxes
	unsigned n;
	unsigned *x;	   // n + 1 of them
	unsigned *y;	   // n + 2: the first is the line below a box, the last that above one
	const char *label; // of its gate, or ""
};

struct layout {
	struct layout_box *boxes;
	unsigned n_boxes;
	struct layout_way *ways;
	unsigned n_ways;
	unsigned width, height;
	unsigned n_layers;
};

// From the names of the nodes and what GET /links answers. Everything lies in the arena.
struct layout *layout_make(struct arena *, const char *const *names, unsigned n_names,
			   const json_t *links);

#endif
