// SPDX-License-Identifier: BSD-3-Clause
// The terminal of `sluice top`, through ncurses: marks, the lines around each view.

#include "cli/top/top.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "cli/grid.h"

// The terminal is the process's, and so is this. It is read by a signal's handler.
static SCREEN *volatile screen;
static bool unicode;
static bool colours;

enum { COLOUR_BAD = 1, COLOUR_BUSY, COLOUR_TITLE };

bool screen_begin(const char **why)
{
	const char *name = getenv("TERM");

	// The numbers stay as they are everywhere.
	setlocale(LC_CTYPE, "");
	unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
	*why = "is not known here (TERM is wrong, or its description is missing)";
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return false;
	*why = "cannot place its cursor; `--once` prints one screen as text";
	if (!cursor_address || !name || !strcmp(name, "dumb")) {
		screen_end();
		return false;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	// A screen is always shown whole, also while keys come in.
	typeahead(-1);
	curs_set(0);
	colours = has_colors() && !getenv("NO_COLOR") && start_color() == OK;
	if (colours) {
		short ground = use_default_colors() == OK ? -1 : COLOR_BLACK;

		init_pair(COLOUR_BAD, COLOR_RED, ground);
		init_pair(COLOUR_BUSY, COLOR_YELLOW, ground);
		init_pair(COLOUR_TITLE, COLOR_CYAN, ground);
	}
	return true;
}

void screen_end(void)
{
	if (!screen)
		return;
	screen = NULL;
	endwin();
}

bool screen_unicode(void)
{
	return unicode;
}

int screen_lines(void)
{
	return LINES;
}

int screen_columns(void)
{
	return COLS;
}

static attr_t mark_of(enum screen_mark mark)
{
	switch (mark) {
	case MARK_TITLE:
	case MARK_SELECTED:
		return A_REVERSE;
	case MARK_BOLD:
		return A_BOLD;
	case MARK_DIM:
		return colours ? (attr_t)COLOR_PAIR(COLOUR_TITLE) : A_NORMAL;
	case MARK_BAD:
		return colours ? COLOR_PAIR(COLOUR_BAD) | A_BOLD : A_BOLD;
	case MARK_BUSY:
		return colours ? COLOR_PAIR(COLOUR_BUSY) | A_BOLD : A_BOLD;
	default:
		return A_NORMAL;
	}
}

// The bytes of as many characters as there is room for.
static int text_bytes(const char *text, int width)
{
	int n = 0;

	for (int at = 0; text[n] && at < width; at++)
		do
			n++;
		while ((text[n] & 0xc0) == 0x80);
	return n;
}

void screen_put(int y, int x, int width, enum screen_mark mark, const char *text)
{
	if (width > COLS - x)
		width = COLS - x;
	if (y < 0 || y >= LINES || x < 0 || width <= 0)
		return;
	attrset(mark_of(mark));
	mvaddnstr(y, x, text, text_bytes(text, width));
	attrset(A_NORMAL);
}

void screen_fill(int y, int x, int width, enum screen_mark mark)
{
	for (int i = 0; i < width; i++)
		screen_put(y, x + i, 1, mark, " ");
}

static void title_draw(const struct top *top)
{
	double seconds = json_number_value(json_object_get(top->now.stats, "seconds"));
	struct arena *arena = arena_new();
	const char *text =
	    arena_printf(arena, "sluice top  %s  up %.1f s  every %.3g s%s%s%s%s", top->feed.name,
			 seconds, (double)top->interval_ns / 1e9, top->paused ? "  [paused]" : "",
			 *top->filter ? "  filter: " : "", top->filter,
			 top->rates && top->rates->since_start ? "  (since the start)" : "");

	screen_fill(0, 0, COLS, MARK_TITLE);
	screen_put(0, 0, COLS, MARK_TITLE, text);
	arena_free(arena);
}

static void foot_draw(const struct top *top)
{
	static const char *const hints[] = {
	    [VIEW_TABLE] = "q quit  ? help  g graph  Enter node  < > sort  r reverse  / filter  p "
			   "pause  + - interval",
	    [VIEW_GRAPH] = "q quit  ? help  t table  Enter node  arrows scroll  Tab next node  p "
			   "pause",
	    [VIEW_NODE] = "q quit  ? help  Esc back  p pause",
	    [VIEW_HELP] = "any key goes back",
	};
	struct arena *arena = arena_new();
	int y = LINES - 1;

	if (top->typing)
		screen_put(y, 0, COLS, MARK_BOLD, arena_printf(arena, "filter: %s_", top->filter));
	else if (!top->feed.client)
		screen_put(y, 0, COLS, MARK_BAD,
			   arena_printf(arena, "waiting for %s ...", top->feed.name));
	else
		screen_put(y, 0, COLS, MARK_DIM, hints[top->view]);
	arena_free(arena);
}

void top_draw(struct top *top)
{
	int end = LINES - 1;

	erase();
	title_draw(top);
	if (top->view == VIEW_HELP)
		help_draw(1, end);
	else if (top->rates && top->view == VIEW_GRAPH)
		picture_draw(top, 1, end);
	else if (top->rates && top->view == VIEW_NODE)
		detail_draw(top, 1, end);
	else if (top->rates)
		table_draw(top, 1, end);
	foot_draw(top);
	refresh();
}
