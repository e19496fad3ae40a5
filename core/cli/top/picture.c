// SPDX-License-Identifier: BSD-3-Clause
// The second view: the graph as boxes and arrows, with what passes through each node.

#include "cli/top/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

// The part of the picture that is on the screen.
struct window {
	struct top *top;
	struct arena *arena;
	int y, end;	// lines of the screen
	uint8_t *lines; // what leads where, by place
	int width, height;
};

static void line_mark(struct window *at, int x, int y, uint8_t ends)
{
	x -= at->top->left;
	y -= at->top->top;
	if (x >= 0 && x < at->width && y >= 0 && y < at->height)
		at->lines[y * at->width + x] |= ends;
}

static void line_down(struct window *at, int x, int from, int to)
{
	for (int y = from; y <= to; y++)
		line_mark(at, x, y, (y > from ? UP : 0) | (y < to ? DOWN : 0));
}

static void line_across(struct window *at, int y, int from, int to)
{
	int low = from < to ? from : to, high = from < to ? to : from;

	for (int x = low; x <= high; x++)
		line_mark(at, x, y, (x > low ? LEFT : 0) | (x < high ? RIGHT : 0));
}

static void way_mark(struct window *at, const struct layout_way *way)
{
	for (unsigned i = 0; i <= way->n; i++) {
		// From one line to the next, through the layer that it passes.
		line_down(at, (int)way->x[i], (int)way->y[i] - (i == 0), (int)way->y[i + 1]);
		if (i < way->n)
			line_across(at, (int)way->y[i + 1], (int)way->x[i], (int)way->x[i + 1]);
	}
}

static void put(const struct window *at, int x, int y, int width, enum screen_mark mark,
		const char *text)
{
	int cut = at->top->left - x;

	y += at->y - at->top->top;
	if (y < at->y || y >= at->end)
		return;
	// What begins left of the window: so much of the text is passed over.
	for (; cut > 0 && *text && width > 0; cut--, x++, width--)
		do
			text++;
		while ((*text & 0xc0) == 0x80);
	if (cut <= 0)
		screen_put(y, x - at->top->left, width, mark, text);
}

static void lines_draw(const struct window *at)
{
	// By what leads up, down, left and right.
	static const char *const shapes[] = {
	    " ", "╵", "╷", "│", "╴", "┘", "┐", "┤", //
	    "╶", "└", "┌", "├", "─", "┴", "┬", "┼", //
	};

	for (int y = 0; y < at->height; y++)
		for (int x = 0; x < at->width; x++) {
			uint8_t ends = at->lines[y * at->width + x];
			const char *plain = !(ends & (LEFT | RIGHT)) ? "|"
					    : !(ends & (UP | DOWN))  ? "-"
								     : "+";

			if (ends)
				screen_put(at->y + y, x, 1, MARK_DIM,
					   screen_unicode() ? shapes[ends] : plain);
		}
}

static const char *repeated(struct arena *arena, const char *text, unsigned n)
{
	const char *all = "";

	while (n--)
		all = arena_printf(arena, "%s%s", all, text);
	return all;
}

static const struct node_rates *rates_find(const struct rates *rates, const char *name)
{
	for (unsigned i = 0; i < rates->n_nodes; i++)
		if (!strcmp(rates->nodes[i].name, name))
			return &rates->nodes[i];
	return NULL;
}

// "1.2M/s  35 %", and in red what it drops.
static void inside_draw(const struct window *at, const struct layout_box *box,
			const struct node_rates *node)
{
	int x = (int)box->x + 2, y = (int)box->y + 2, width = (int)box->width - 4;
	const char *share = percent_text(at->arena, node->share);
	const char *rate = per_s_text(at->arena, node->handled);
	const char *text = arena_printf(at->arena, "%s%s", rate, *rate ? "/s" : "");

	put(at, x, y, width, MARK_PLAIN, text);
	put(at, x + width - (int)text_width(share), y, width,
	    node->share > 0.5 ? MARK_BUSY : MARK_PLAIN, share);
	if (node->dropped > 0)
		put(at, (int)box->x + 1, (int)box->y + 3, (int)box->width - 2, MARK_BAD,
		    arena_printf(at->arena, "drops %s/s", per_s_text(at->arena, node->dropped)));
}

static void box_draw(const struct window *at, const struct layout_box *box)
{
	bool fine = screen_unicode(), selected = !strcmp(box->name, at->top->selected);
	enum screen_mark mark = selected ? MARK_SELECTED : MARK_PLAIN;
	const struct node_rates *node = rates_find(at->top->rates, box->name);
	const char *line = repeated(at->arena, fine ? "─" : "-", box->width - 2);
	int x = (int)box->x, y = (int)box->y, width = (int)box->width;

	put(at, x, y, width, mark, arena_printf(at->arena, fine ? "┌%s┐" : "+%s+", line));
	for (int i = 1; i < BOX_LINES - 1; i++)
		put(at, x, y + i, width, mark,
		    arena_printf(at->arena, "%s%*s%s", fine ? "│" : "|", width - 2, "",
				 fine ? "│" : "|"));
	put(at, x, y + BOX_LINES - 1, width, mark,
	    arena_printf(at->arena, fine ? "└%s┘" : "+%s+", line));
	put(at, x + 2, y + 1, width - 4, selected ? MARK_SELECTED : MARK_BOLD, box->name);
	if (node)
		inside_draw(at, box, node);
	if (*box->back)
		put(at, x + 1, y + BOX_LINES - 1, width - 2, MARK_DIM,
		    arena_printf(at->arena, "%s %s", fine ? "↺" : "to", box->back));
}

// What goes over boxes and lines: heads of arrows, and names of gates.
static void way_finish(const struct window *at, const struct layout_way *way)
{
	put(at, (int)way->x[way->n], (int)way->y[way->n + 1], 1, MARK_DIM,
	    screen_unicode() ? "▼" : "v");
	if (*way->label)
		put(at, (int)way->x[0] + 1, (int)way->y[0], 8, MARK_DIM, way->label);
}

// Made anew when other nodes or links are there than before.
static bool picture_same(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"from", "to", "ogate", "back"};

	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			if (!json_equal(json_object_get(json_array_get(a, i), keys[k]),
					json_object_get(json_array_get(b, i), keys[k])))
				return false;
	return true;
}

static void picture_update(struct top *top)
{
	unsigned n = top->rates->n_nodes;
	const char **names;

	if (top->picture && top->picture->n_boxes == n &&
	    picture_same(top->picture_of, top->now.links))
		return;
	arena_free(top->picture_arena);
	json_decref(top->picture_of);
	top->picture_arena = arena_new();
	top->picture_of = json_incref(top->now.links);
	names = arena_alloc(top->picture_arena, (n + 1) * sizeof(*names));
	for (unsigned i = 0; i < n; i++)
		names[i] = top->rates->nodes[i].name;
	top->picture = layout_make(top->picture_arena, names, n, top->now.links);
}

// Within the picture; and where a node was chosen, so that it is to be seen.
static void picture_scroll(struct top *top, int width, int height)
{
	int most_left = (int)top->picture->width - width;
	int most_top = (int)top->picture->height - height;

	for (unsigned i = 0; top->follow && i < top->picture->n_boxes; i++) {
		const struct layout_box *box = &top->picture->boxes[i];

		if (strcmp(box->name, top->selected) != 0)
			continue;
		if ((int)box->x < top->left || (int)(box->x + box->width) > top->left + width)
			top->left = (int)(box->x + box->width / 2) - width / 2;
		if ((int)box->y < top->top || (int)box->y + BOX_LINES > top->top + height)
			top->top = (int)box->y + BOX_LINES / 2 - height / 2;
	}
	top->follow = false;
	top->left = top->left > most_left ? most_left : top->left;
	top->left = top->left < 0 ? 0 : top->left;
	top->top = top->top > most_top ? most_top : top->top;
	top->top = top->top < 0 ? 0 : top->top;
}

void picture_draw(struct top *top, int y, int end)
{
	struct window at = {.top = top, .y = y, .end = end};

	at.width = screen_columns();
	at.height = end - y;
	if (at.width < 1 || at.height < 1)
		return;
	at.arena = arena_new();
	at.lines = arena_alloc(at.arena, (size_t)at.width * (size_t)at.height);
	picture_update(top);
	picture_scroll(top, at.width, at.height);
	for (unsigned i = 0; i < top->picture->n_ways; i++)
		way_mark(&at, &top->picture->ways[i]);
	lines_draw(&at);
	for (unsigned i = 0; i < top->picture->n_boxes; i++)
		box_draw(&at, &top->picture->boxes[i]);
	for (unsigned i = 0; i < top->picture->n_ways; i++)
		way_finish(&at, &top->picture->ways[i]);
	arena_free(at.arena);
}
