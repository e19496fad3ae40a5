// SPDX-License-Identifier: BSD-3-Clause
// The view of one node: rates, counters, parameters; and the help.

#include "cli/top/top.h"

#include <math.h>
#include <string.h>

#include "cli/grid.h"

// Lines of the screen that are written one after the other; what has no room is not shown.
struct page {
	struct arena *arena;
	int y, end;
};

static void line(struct page *page, enum screen_mark mark, const char *text)
{
	if (page->y < page->end)
		screen_put(page->y++, 0, screen_columns(), mark, text);
}

static void pair(struct page *page, const char *name, const char *text)
{
	line(page, MARK_PLAIN, arena_printf(page->arena, "  %-20s %s", name, text));
}

static const char *plain(struct arena *arena, const json_t *value)
{
	if (json_is_string(value))
		return json_string_value(value);
	return json_is_integer(value)
		   ? grid_count(arena, (uint64_t)json_integer_value(value), false)
		   : "";
}

// A counter, and how much it grows.
static void counter(struct page *page, const char *name, const json_t *now, const json_t *last,
		    double seconds)
{
	double rate = NAN;
	json_int_t more = json_integer_value(now) - json_integer_value(last);

	if (more >= 0 && seconds > 0)
		rate = (double)more / seconds;
	pair(page, name,
	     arena_printf(page->arena, "%-20s %s%s", plain(page->arena, now),
			  per_s_text(page->arena, rate),
			  *per_s_text(page->arena, rate) ? "/s" : ""));
}

static void gates(struct page *page, const struct node_rates *row, const char *key, double seconds)
{
	json_t *now = json_object_get(row->now, key), *value;
	const json_t *last = json_object_get(row->last, key);
	size_t i;

	json_array_foreach (now, i, value)
		counter(page, arena_printf(page->arena, "%s[%zu]", key, i), value,
			json_array_get(last, i), seconds);
}

static void counters(struct page *page, const struct node_rates *row, const char *key,
		     const char *what, double seconds)
{
	json_t *now = json_object_get(row->now, key), *value;
	const char *name;

	json_object_foreach (now, name, value)
		counter(page, arena_printf(page->arena, "%s%s", what, name), value,
			json_object_get(json_object_get(row->last, key), name), seconds);
}

static void node_rates_show(struct page *page, const struct node_rates *row)
{
	struct arena *arena = page->arena;

	pair(page, "share of its workers", percent_text(arena, row->share));
	if (isfinite(row->cycles))
		pair(page, "cycles a packet", arena_printf(arena, "%.1f", row->cycles));
	if (isfinite(row->batch))
		pair(page, "packets a batch", arena_printf(arena, "%.1f", row->batch));
	if (row->room)
		pair(page, "holds",
		     arena_printf(arena, "%s of %s", grid_count(arena, row->held, false),
				  grid_count(arena, row->room, false)));
}

static void parameters_show(struct page *page, const json_t *node)
{
	json_t *values = json_object_get(node, "values"), *value;
	const char *name;

	if (!json_object_size(values))
		return;
	line(page, MARK_BOLD, "parameters");
	json_object_foreach (values, name, value)
		pair(page, name, plain(page->arena, value));
}

void detail_draw(struct top *top, int y, int end)
{
	struct page page = {.arena = arena_new(), .y = y, .end = end};
	const struct node_rates *row = NULL;
	double seconds = top->rates->seconds;

	for (unsigned i = 0; i < top->rates->n_nodes; i++)
		if (!strcmp(top->rates->nodes[i].name, top->selected))
			row = &top->rates->nodes[i];
	if (!row) {
		line(&page, MARK_BAD,
		     arena_printf(page.arena, "there is no node %s any more", top->selected));
		arena_free(page.arena);
		return;
	}
	line(&page, MARK_BOLD, arena_printf(page.arena, "%s: %s", row->name, row->module));
	if (top->now.node)
		line(&page, MARK_DIM, plain(page.arena, json_object_get(top->now.node, "help")));
	node_rates_show(&page, row);
	line(&page, MARK_BOLD, "counters");
	gates(&page, row, "in", seconds);
	gates(&page, row, "out", seconds);
	counter(&page, "made", json_object_get(row->now, "made"),
		json_object_get(row->last, "made"), seconds);
	counter(&page, "consumed", json_object_get(row->now, "consumed"),
		json_object_get(row->last, "consumed"), seconds);
	counters(&page, row, "dropped", "dropped ", seconds);
	counters(&page, row, "counters", "", seconds);
	parameters_show(&page, top->now.node);
	arena_free(page.arena);
}

void help_draw(int y, int end)
{
	static const char *const keys[] = {
	    "q, Ctrl-C         quit",
	    "t / g / Tab       the table / the picture / the next node in it",
	    "Enter, Esc        one node alone, and back",
	    "arrows, PgUp, PgDn, Home, End   move",
	    "< >               sort by the column to the left or right; r: the other way round",
	    "s i o c b d f n m sort by share, in, out, cycles, batch, drops, fill, name, module",
	    "/                 show only nodes with this in their name or module; Esc: all",
	    "p, blank          pause",
	    "+ -               a longer or shorter interval",
	    "",
	};
	struct page page = {.arena = arena_new(), .y = y, .end = end};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		line(&page, MARK_PLAIN, keys[i]);
	for (unsigned c = COLUMN_SHARE; c < TOP_COLUMNS; c++)
		pair(&page, top_titles[c].name, top_titles[c].help);
	arena_free(page.arena);
}
