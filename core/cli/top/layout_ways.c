// SPDX-License-Identifier: BSD-3-Clause
// The links of a picture: where they leave and enter boxes, and on which line between two layers
// each goes sideways.

#include <stdlib.h>

#include "cli/top/layout_inside.h"

static int steps_from_left(const void *a, const void *b, void *with)
{
	const struct work *at = with;
	const struct step *x = &at->steps[*(const unsigned *)a];
	const struct step *y = &at->steps[*(const unsigned *)b];
	unsigned p = at->places[x->to].x, q = at->places[y->to].x;

	return p != q ? (p < q ? -1 : 1) : x->way < y->way ? -1 : x->way > y->way;
}

static int steps_to_left(const void *a, const void *b, void *with)
{
	const struct work *at = with;
	const struct step *x = &at->steps[*(const unsigned *)a];
	const struct step *y = &at->steps[*(const unsigned *)b];
	unsigned p = at->places[x->from].x, q = at->places[y->from].x;

	return p != q ? (p < q ? -1 : 1) : x->way < y->way ? -1 : x->way > y->way;
}

// Several links of a box are spread over its width, in the order of where they lead.
static unsigned end_of(const struct place_in *place, unsigned of, unsigned n)
{
	return place->box < 0 ? place->x : place->x + 1 + (of + 1) * (place->width - 2) / (n + 1);
}

static void ends_find(struct work *at)
{
	unsigned *sorted = arena_alloc(at->arena, (at->n_steps + 1) * sizeof(*sorted));
	unsigned *outs = arena_alloc(at->arena, (at->n_places + 1) * sizeof(*outs));
	unsigned *ins = arena_alloc(at->arena, (at->n_places + 1) * sizeof(*ins));

	for (unsigned s = 0; s < at->n_steps; s++)
		sorted[s] = s;
	qsort_r(sorted, at->n_steps, sizeof(*sorted), steps_from_left, at);
	for (unsigned s = 0; s < at->n_steps; s++)
		at->steps[sorted[s]].out_of = outs[at->steps[sorted[s]].from]++;
	qsort_r(sorted, at->n_steps, sizeof(*sorted), steps_to_left, at);
	for (unsigned s = 0; s < at->n_steps; s++)
		at->steps[sorted[s]].in_of = ins[at->steps[sorted[s]].to]++;
	for (unsigned s = 0; s < at->n_steps; s++) {
		struct step *step = &at->steps[s];

		step->x1 = end_of(&at->places[step->from], step->out_of, outs[step->from]);
		step->x2 = end_of(&at->places[step->to], step->in_of, ins[step->to]);
	}
}

static bool tracks_clash(const struct step *a, const struct step *b)
{
	unsigned a1 = a->x1 < a->x2 ? a->x1 : a->x2, a2 = a->x1 + a->x2 - a1;
	unsigned b1 = b->x1 < b->x2 ? b->x1 : b->x2, b2 = b->x1 + b->x2 - b1;

	return a->track == b->track && a1 <= b2 && b1 <= a2;
}

// The first line that is free for a link between two layers. Where another one comes down in the
// column that this one goes down in, it must have turned off before. Whether it has moved.
static bool track_choose(struct step *const *steps, unsigned n, struct step *step)
{
	unsigned before = step->track, least = 0;
	bool clash = true;

	for (unsigned i = 0; i < n; i++)
		if (steps[i] != step && steps[i]->x1 == step->x2 && steps[i]->x1 != steps[i]->x2 &&
		    steps[i]->track >= least)
			least = steps[i]->track + 1;
	step->track = least;
	while (clash) {
		clash = false;
		for (unsigned i = 0; i < n && !clash; i++)
			clash = steps[i] != step && tracks_clash(step, steps[i]);
		step->track += clash;
	}
	return step->track != before;
}

// Two that stand in each other's way could move for ever: so much is enough.
#define ROUNDS 6

static void layer_tracks(struct step *const *steps, unsigned n, unsigned *most)
{
	bool moved = true;

	// All differ at first: what has no line yet is in nobody's way.
	for (unsigned i = 0; i < n; i++)
		steps[i]->track = 1000000 + i;
	for (unsigned i = 0; i < n; i++) {
		unsigned later = 0;

		// Those that must turn off first come first.
		for (unsigned k = 0; k < n; k++)
			later += k != i && steps[k]->x1 == steps[i]->x2;
		if (!later)
			track_choose(steps, n, steps[i]);
	}
	for (unsigned i = 0; i < n; i++)
		if (steps[i]->track >= 1000000)
			steps[i]->track = n + i;
	for (unsigned round = 0; moved && round < ROUNDS; round++) {
		moved = false;
		for (unsigned i = 0; i < n; i++)
			moved |= track_choose(steps, n, steps[i]);
	}
	*most = 0;
	for (unsigned i = 0; i < n; i++)
		if (steps[i]->track >= *most)
			*most = steps[i]->track + 1;
}

// Of the links between two layers those that would lie on each other get lines of their own.
static void tracks_find(struct work *at)
{
	struct step **steps = arena_alloc(at->arena, (at->n_steps + 1) * sizeof(struct step *));

	for (unsigned layer = 0; layer < at->layout->n_layers; layer++) {
		unsigned n = 0;

		for (unsigned s = 0; s < at->n_steps; s++)
			if (at->places[at->steps[s].from].layer == layer)
				steps[n++] = &at->steps[s];
		layer_tracks(steps, n, &at->tracks[layer]);
	}
}

static void ways_fill(struct work *at, const unsigned *tops)
{
	for (unsigned s = 0; s < at->n_steps; s++) {
		const struct step *step = &at->steps[s];
		struct layout_way *way = &at->layout->ways[step->way];
		unsigned layer = at->places[step->from].layer;

		if (!way->x) {
			unsigned most = at->layout->boxes[way->to].layer - layer + 2;

			way->x = arena_alloc(at->arena, most * sizeof(*way->x));
			way->y = arena_alloc(at->arena, (most + 1) * sizeof(*way->y));
			way->x[0] = step->x1;
			way->y[0] = tops[layer] + BOX_LINES;
		}
		way->n++;
		way->y[way->n] = tops[layer] + BOX_LINES + step->track + 1;
		way->x[way->n] = step->x2;
		way->y[way->n + 1] = tops[layer + 1] - 1;
	}
}

static void lines_find(struct work *at)
{
	struct layout *layout = at->layout;
	unsigned *tops = arena_alloc(at->arena, (layout->n_layers + 1) * sizeof(*tops));

	for (unsigned layer = 0; layer < layout->n_layers; layer++)
		tops[layer + 1] =
		    tops[layer] + BOX_LINES + (at->tracks[layer] ? at->tracks[layer] + 2 : 1);
	for (unsigned b = 0; b < layout->n_boxes; b++) {
		layout->boxes[b].x = at->places[b].x;
		layout->boxes[b].y = tops[layout->boxes[b].layer];
	}
	layout->height = layout->n_layers ? tops[layout->n_layers] : 0;
	ways_fill(at, tops);
}

void layout_ways(struct work *at)
{
	ends_find(at);
	tracks_find(at);
	lines_find(at);
}
