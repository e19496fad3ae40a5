// SPDX-License-Identifier: BSD-3-Clause
// What the keys of `sluice top` do.

#include "cli/top/top.h"

#include <stdio.h>
#include <string.h>

#include <curses.h>

#define KEY_ESCAPE 27
#define PICTURE_FOOT 1000000 // lines: below every picture
#define INTERVAL_MIN_NS 100000000
#define INTERVAL_MAX_NS 60000000000

const struct node_rates **top_rows(struct top *top, unsigned *n, unsigned *selected)
{
	const struct node_rates **rows;

	*n = *selected = 0;
	if (!top->rates)
		return NULL;
	rows = arena_alloc(top->arena, (top->rates->n_nodes + 1) * sizeof(*rows));
	*n = rows_choose(top->rates, top->filter, top->column, top->reverse, rows);
	for (unsigned i = 0; i < *n; i++)
		if (!strcmp(rows[i]->name, top->selected))
			*selected = i;
	return rows;
}

static void select_row(struct top *top, long move)
{
	unsigned n, selected;
	const struct node_rates **rows = top_rows(top, &n, &selected);
	long to = (long)selected + move;

	if (!n)
		return;
	to = to < 0 ? 0 : to >= (long)n ? (long)n - 1 : to;
	snprintf(top->selected, sizeof(top->selected), "%s", rows[to]->name);
}

// In the order of the graph, and round.
static void select_next(struct top *top)
{
	unsigned n = top->rates ? top->rates->n_nodes : 0, at = n;

	for (unsigned i = 0; i < n; i++)
		if (!strcmp(top->rates->nodes[i].name, top->selected))
			at = i + 1;
	if (n)
		snprintf(top->selected, sizeof(top->selected), "%s",
			 top->rates->nodes[at % n].name);
	top->follow = true;
}

static void filter_key(struct top *top, int key)
{
	size_t n = strlen(top->filter);

	switch (key) {
	case '\r':
	case '\n':
	case KEY_ENTER:
		top->typing = false;
		return;
	case KEY_ESCAPE:
		top->typing = false;
		top->filter[0] = '\0';
		return;
	case KEY_BACKSPACE:
	case '\b':
	case 127:
		if (n)
			top->filter[n - 1] = '\0';
		return;
	default:
		if (key > ' ' && key < 127 && n + 1 < sizeof(top->filter)) {
			top->filter[n] = (char)key;
			top->filter[n + 1] = '\0';
		}
	}
}

static void sort_by(struct top *top, int column)
{
	top->column = (enum top_column)((column + TOP_COLUMNS) % TOP_COLUMNS);
	top->reverse = false;
}

static bool sort_key(struct top *top, int key)
{
	static const char letters[] = "nmsciobfd";
	static const enum top_column columns[] = {
	    COLUMN_NODE, COLUMN_MODULE, COLUMN_SHARE, COLUMN_CYCLES, COLUMN_IN,
	    COLUMN_OUT,	 COLUMN_BATCH,	COLUMN_FILL,  COLUMN_DROPS,
	};
	const char *at = key > 0 && key < 127 ? strchr(letters, key) : NULL;

	if (key == '<' || key == '>')
		sort_by(top, (int)top->column + (key == '>' ? 1 : -1));
	else if (key == 'r')
		top->reverse = !top->reverse;
	else if (at)
		sort_by(top, (int)columns[at - letters]);
	else
		return false;
	return true;
}

static void move_key(struct top *top, int key)
{
	bool picture = top->view == VIEW_GRAPH;
	long page = picture ? screen_lines() - 3 : (long)top->lines;
	long down = key == KEY_DOWN    ? 1
		    : key == KEY_UP    ? -1
		    : key == KEY_NPAGE ? page
		    : key == KEY_PPAGE ? -page
		    : key == KEY_END   ? 1000000
		    : key == KEY_HOME  ? -1000000
				       : 0;

	if (!picture) {
		select_row(top, down);
		return;
	}
	// Where the picture ends is seen to when it is drawn.
	top->top = key == KEY_HOME  ? 0
		   : key == KEY_END ? PICTURE_FOOT
				    : top->top + (int)(down == 1 || down == -1 ? 2 * down : down);
	top->left = key == KEY_HOME    ? 0
		    : key == KEY_RIGHT ? top->left + 8
		    : key == KEY_LEFT  ? top->left - 8
				       : top->left;
}

static void interval_change(struct top *top, bool longer)
{
	uint64_t ns = longer ? top->interval_ns * 2 : top->interval_ns / 2;

	if (ns >= INTERVAL_MIN_NS && ns <= INTERVAL_MAX_NS)
		top->interval_ns = ns;
}

static void view_open(struct top *top, enum top_view view)
{
	if (top->view == VIEW_TABLE || top->view == VIEW_GRAPH)
		top->before = top->view;
	top->view = view;
}

static void escape(struct top *top)
{
	if (top->view == VIEW_NODE)
		top->view = top->before;
	else
		top->filter[0] = '\0';
}

static void view_key(struct top *top, int key)
{
	switch (key) {
	case 't':
		top->view = VIEW_TABLE;
		break;
	case 'g':
		top->view = VIEW_GRAPH;
		top->follow = true;
		break;
	case '\t':
		if (top->view == VIEW_GRAPH)
			select_next(top);
		else
			top->view = VIEW_GRAPH;
		break;
	case '?':
	case 'h':
		view_open(top, VIEW_HELP);
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
		select_row(top, 0);
		view_open(top, VIEW_NODE);
		break;
	case KEY_ESCAPE:
	case KEY_BACKSPACE:
		escape(top);
		break;
	default:
		if (!sort_key(top, key))
			move_key(top, key);
	}
}

void top_key(struct top *top, int key)
{
	if (key == KEY_RESIZE)
		return;
	if (top->typing) {
		filter_key(top, key);
		return;
	}
	if (top->view == VIEW_HELP && key != 'q') {
		top->view = top->before;
		return;
	}
	switch (key) {
	case 'q':
		top->quit = true;
		break;
	case '/':
		top->typing = true;
		top->view = VIEW_TABLE;
		break;
	case 'p':
	case ' ':
		top->paused = !top->paused;
		break;
	case '+':
	case '-':
		interval_change(top, key == '+');
		break;
	default:
		view_key(top, key);
	}
}
