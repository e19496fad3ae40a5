// SPDX-License-Identifier: BSD-3-Clause
// Inside core/cli/top: what `sluice top` shows and how. top.c has the keys and the loop, each view
// a file that draws it.

#ifndef SLUICE_CLI_TOP_TOP_H
#define SLUICE_CLI_TOP_TOP_H

#include "cli/top/feed.h"
#include "cli/top/layout.h"
#include "cli/top/rows.h"

enum top_view { VIEW_TABLE, VIEW_GRAPH, VIEW_NODE, VIEW_HELP };

struct top {
	struct feed feed;
	struct sample now;   // that is shown; without stats: there is none yet
	struct sample last;  // the one before it
	struct arena *arena; // of the rates
	const struct rates *rates;
	struct arena *picture_arena; // of the picture
	struct layout *picture;
	json_t *picture_of; // the links that it was made of
	enum top_view view;
	enum top_view before; // where VIEW_NODE and VIEW_HELP lead back to
	enum top_column column;
	bool reverse;
	bool paused;
	bool typing; // the filter
	bool quit;
	uint64_t interval_ns;
	char filter[40];
	char selected[64]; // the node's name
	unsigned first;	   // of the rows that is shown
	unsigned lines;	   // of rows that there is room for
	int left, top;	   // corner of the picture that is shown
	bool follow;	   // the picture moves to the node that is selected
};

// The rows that are shown, in the arena of the rates; *selected is the place of the selected one.
const struct node_rates **top_rows(struct top *, unsigned *n, unsigned *selected);

// screen.c: one whole screen.
void top_draw(struct top *);
// The marks of a terminal: fits lines and colours to it.
bool screen_begin(const char **why); // false: it cannot be one
void screen_end(void);		     // may be called at any time, by a signal too
enum screen_mark {
	MARK_PLAIN,
	MARK_TITLE,
	MARK_SELECTED,
	MARK_BOLD,
	MARK_DIM,
	MARK_BAD,
	MARK_BUSY
};
// Text of at most so many places, cut to the screen; the rest of them stays as it is.
void screen_put(int y, int x, int width, enum screen_mark, const char *text);
void screen_fill(int y, int x, int width, enum screen_mark); // blanks
bool screen_unicode(void);
int screen_lines(void);
int screen_columns(void);

// table.c, picture.c, detail.c: a view, on lines from `y` to before `end`.
void table_draw(struct top *, int y, int end);
void picture_draw(struct top *, int y, int end);
void detail_draw(struct top *, int y, int end);
void help_draw(int y, int end);

// once.c: one screen as text, or what is in it as JSON.
void once_print(const struct top *, const char *name, bool json);

// keys.c
void top_key(struct top *, int key);

#endif
