// SPDX-License-Identifier: BSD-3-Clause
// A picture of a graph in layers: each node below all that lead to it; links over several layers
// pass through places kept free for them; places in a layer follow those above and below.

#include "cli/top/layout_inside.h"

#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"

#define SPAN_MAX 24   // layers that a link may pass: a longer one is only named
#define SWEEPS 8      // rounds of ordering
#define BOX_WIDTH 16  // at least
#define BOX_WIDEST 26 // at most
#define GAP 2	      // columns between boxes

static int box_find(const struct layout *layout, const char *name)
{
	for (unsigned i = 0; name && i < layout->n_boxes; i++)
		if (!strcmp(layout->boxes[i].name, name))
			return (int)i;
	return -1;
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

// The longest way from the top; what goes round ends after as many rounds as there are nodes.
static void layers_find(struct work *at)
{
	struct layout *layout = at->layout;
	bool moved = true;
	const json_t *link;
	size_t i;

	for (unsigned round = 0; moved && round < layout->n_boxes; round++) {
		moved = false;
		json_array_foreach (at->links, i, link) {
			int from = box_find(layout, text(link, "from"));
			int to = box_find(layout, text(link, "to"));
			unsigned below;

			if (from < 0 || to < 0 || from == to ||
			    json_is_true(json_object_get(link, "back")))
				continue;
			below = layout->boxes[from].layer + 1;
			if (layout->boxes[to].layer >= below || below >= layout->n_boxes)
				continue;
			layout->boxes[to].layer = below;
			moved = true;
		}
	}
	for (unsigned b = 0; b < layout->n_boxes; b++)
		if (layout->boxes[b].layer >= layout->n_layers)
			layout->n_layers = layout->boxes[b].layer + 1;
}

static unsigned place_add(struct work *at, unsigned layer, unsigned width, int box)
{
	if (!(at->n_places & (at->n_places - 1))) {
		struct place_in *more =
		    arena_alloc(at->arena, 2 * (at->n_places + 1) * sizeof(*more));

		if (at->n_places)
			memcpy(more, at->places, at->n_places * sizeof(*more));
		at->places = more;
	}
	at->places[at->n_places] = (struct place_in){.layer = layer, .width = width, .box = box};
	return at->n_places++;
}

static void step_add(struct work *at, unsigned from, unsigned to, unsigned way)
{
	if (!(at->n_steps & (at->n_steps - 1))) {
		struct step *more = arena_alloc(at->arena, 2 * (at->n_steps + 1) * sizeof(*more));

		if (at->n_steps)
			memcpy(more, at->steps, at->n_steps * sizeof(*more));
		at->steps = more;
	}
	at->steps[at->n_steps++] = (struct step){.from = from, .to = to, .way = way};
}

// The gate, where the node has more than one: by name, or number.
static const char *label_of(struct arena *arena, const json_t *link)
{
	const char *name = text(link, "ogate_name");
	json_int_t gate = json_integer_value(json_object_get(link, "ogate"));

	return name   ? arena_strdup(arena, name)
	       : gate ? arena_printf(arena, "%lld", (long long)gate)
		      : "";
}

static void link_add(struct work *at, const json_t *link)
{
	struct layout *layout = at->layout;
	int from = box_find(layout, text(link, "from")), to = box_find(layout, text(link, "to"));
	struct layout_box *above, *below;
	unsigned last;

	if (from < 0 || to < 0)
		return;
	above = &layout->boxes[from];
	below = &layout->boxes[to];
	if (below->layer <= above->layer || below->layer - above->layer > SPAN_MAX) {
		above->back = arena_printf(at->arena, "%s%s%s", above->back,
					   *above->back ? "," : "", below->name);
		return;
	}
	last = (unsigned)from;
	for (unsigned layer = above->layer + 1; layer < below->layer; layer++) {
		unsigned place = place_add(at, layer, 1, -1);

		step_add(at, last, place, layout->n_ways);
		last = place;
	}
	step_add(at, last, (unsigned)to, layout->n_ways);
	layout->ways[layout->n_ways++] = (struct layout_way){
	    .from = (unsigned)from, .to = (unsigned)to, .label = label_of(at->arena, link)};
}

// The places of boxes have the boxes' numbers.
static void places_make(struct work *at)
{
	struct layout *layout = at->layout;
	const json_t *link;
	size_t i;

	for (unsigned b = 0; b < layout->n_boxes; b++)
		place_add(at, layout->boxes[b].layer, layout->boxes[b].width, (int)b);
	layout->ways =
	    arena_alloc(at->arena, (json_array_size(at->links) + 1) * sizeof(*layout->ways));
	json_array_foreach (at->links, i, link)
		link_add(at, link);
	at->layers = arena_alloc(at->arena, (layout->n_layers + 1) * sizeof(*at->layers));
	at->n_in = arena_alloc(at->arena, (layout->n_layers + 1) * sizeof(*at->n_in));
	at->tracks = arena_alloc(at->arena, (layout->n_layers + 1) * sizeof(*at->tracks));
	for (unsigned p = 0; p < at->n_places; p++)
		at->n_in[at->places[p].layer]++;
	for (unsigned l = 0; l < layout->n_layers; l++) {
		at->layers[l] = arena_alloc(at->arena, (at->n_in[l] + 1) * sizeof(unsigned));
		at->n_in[l] = 0;
	}
	for (unsigned p = 0; p < at->n_places; p++) {
		struct place_in *place = &at->places[p];

		place->at = at->n_in[place->layer]++;
		at->layers[place->layer][place->at] = p;
	}
}

static int wish_compare(const void *a, const void *b, void *with)
{
	const struct place_in *places = with;
	const struct place_in *x = &places[*(const unsigned *)a];
	const struct place_in *y = &places[*(const unsigned *)b];

	return x->wish < y->wish ? -1 : x->wish > y->wish ? 1 : x->at < y->at ? -1 : x->at > y->at;
}

// Each place of a layer wishes to be in the middle of those it is linked with on one side.
static void layer_sort(struct work *at, const double *sums, const unsigned *counts, unsigned layer)
{
	unsigned n = at->n_in[layer], *list = at->layers[layer];

	for (unsigned i = 0; i < n; i++) {
		struct place_in *place = &at->places[list[i]];

		place->wish = counts[list[i]] ? sums[list[i]] / counts[list[i]] : place->at;
	}
	qsort_r(list, n, sizeof(*list), wish_compare, at->places);
	for (unsigned i = 0; i < n; i++)
		at->places[list[i]].at = i;
}

static void order_find(struct work *at)
{
	double *sums = arena_alloc(at->arena, (at->n_places + 1) * sizeof(*sums));
	unsigned *counts = arena_alloc(at->arena, (at->n_places + 1) * sizeof(*counts));

	for (unsigned sweep = 0; sweep < SWEEPS; sweep++) {
		bool down = sweep % 2 == 0;

		for (unsigned i = 0; i < at->layout->n_layers; i++) {
			unsigned layer = down ? i : at->layout->n_layers - 1 - i;

			memset(sums, 0, at->n_places * sizeof(*sums));
			memset(counts, 0, at->n_places * sizeof(*counts));
			for (unsigned s = 0; s < at->n_steps; s++) {
				const struct step *step = &at->steps[s];
				unsigned here = down ? step->to : step->from;
				unsigned there = down ? step->from : step->to;

				if (at->places[here].layer != layer)
					continue;
				sums[here] += at->places[there].at;
				counts[here]++;
			}
			layer_sort(at, sums, counts, layer);
		}
	}
}

static unsigned middle(const struct place_in *place)
{
	return place->x + place->width / 2;
}

// From left to right, each as near as it can be to the middle of those above it.
static void columns_find(struct work *at)
{
	struct layout *layout = at->layout;

	for (unsigned layer = 0; layer < layout->n_layers; layer++) {
		unsigned free_x = 0;

		for (unsigned i = 0; i < at->n_in[layer]; i++) {
			unsigned p = at->layers[layer][i], n = 0, sum = 0, wish;
			struct place_in *place = &at->places[p];

			for (unsigned s = 0; s < at->n_steps; s++) {
				if (at->steps[s].to != p)
					continue;
				sum += middle(&at->places[at->steps[s].from]);
				n++;
			}
			wish = n ? sum / n : 0;
			wish = wish > place->width / 2 ? wish - place->width / 2 : 0;
			place->x = wish > free_x ? wish : free_x;
			free_x = place->x + place->width + GAP;
			if (free_x > layout->width)
				layout->width = free_x;
		}
	}
}

struct layout *layout_make(struct arena *arena, const char *const *names, unsigned n_names,
			   const json_t *links)
{
	struct layout *layout = arena_alloc(arena, sizeof(*layout));
	struct work at = {.arena = arena, .layout = layout, .links = links};

	layout->n_boxes = n_names;
	layout->boxes = arena_alloc(arena, (n_names + 1) * sizeof(*layout->boxes));
	for (unsigned i = 0; i < n_names; i++) {
		unsigned width = text_width(names[i]) + 4;

		layout->boxes[i].name = arena_strdup(arena, names[i]);
		layout->boxes[i].back = "";
		layout->boxes[i].width = width < BOX_WIDTH    ? BOX_WIDTH
					 : width > BOX_WIDEST ? BOX_WIDEST
							      : width;
	}
	layers_find(&at);
	places_make(&at);
	order_find(&at);
	columns_find(&at);
	layout_ways(&at);
	return layout;
}
