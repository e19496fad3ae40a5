// SPDX-License-Identifier: BSD-3-Clause
// The first view: workers, ports, and the table of nodes. What a small screen has no room for is
// left out, the nodes last.

#include "cli/top/top.h"

#include <math.h>
#include <string.h>

#include "cli/grid.h"

#define BAR 10	      // places of a worker's load
#define WORKER 40     // places of a worker
#define SECTION_MAX 8 // lines of workers, and of ports

static int workers_draw(const struct top *top, struct arena *arena, int y, int lines)
{
	int columns = screen_columns() / WORKER > 0 ? screen_columns() / WORKER : 1;
	int n = (int)top->rates->n_workers, i;

	for (i = 0; i < n && i < lines * columns; i++) {
		const struct worker_rates *worker = &top->rates->workers[i];
		double busy = isfinite(worker->busy) ? worker->busy : 0;
		char bar[BAR + 1] = "";

		for (int k = 0; k < BAR; k++)
			bar[k] = k < (int)(busy * BAR + 0.5) ? '#' : '.';
		screen_put(y + i / columns, i % columns * WORKER, WORKER - 1,
			   busy > 0.9 ? MARK_BUSY : MARK_PLAIN,
			   arena_printf(arena, "worker %d core %-3u [%s] %s", i, worker->core, bar,
					percent_text(arena, worker->busy)));
	}
	return (i + columns - 1) / columns;
}

static int ports_draw(const struct top *top, struct arena *arena, int y, int lines)
{
	int n = (int)top->rates->n_ports;

	if (lines < 2 || !n)
		return 0;
	screen_put(y, 0, screen_columns(), MARK_BOLD,
		   arena_printf(arena, "%-16s %-10s %8s %8s %8s %8s %8s", "port", "driver", "rx/s",
				"rx bit/s", "tx/s", "tx bit/s", "errors/s"));
	for (int i = 0; i < n && i < lines - 1; i++) {
		const struct port_rates *port = &top->rates->ports[i];

		screen_put(
		    y + 1 + i, 0, screen_columns(), port->errors > 0 ? MARK_BAD : MARK_PLAIN,
		    arena_printf(arena, "%-16s %-10s %8s %8s %8s %8s %8s", port->name, port->driver,
				 per_s_text(arena, port->rx), per_s_text(arena, port->rx_bits),
				 per_s_text(arena, port->tx), per_s_text(arena, port->tx_bits),
				 per_s_text(arena, port->errors)));
	}
	return n < lines - 1 ? n + 1 : lines;
}

static void titles_draw(const struct top *top, struct arena *arena, int y)
{
	const char *mark =
	    screen_unicode() ? (top->reverse ? "↑" : "↓") : (top->reverse ? "^" : "v");
	int x = 0;

	screen_fill(y, 0, screen_columns(), MARK_TITLE);
	for (unsigned c = 0; c < TOP_COLUMNS; c++) {
		const struct top_title *title = &top_titles[c];
		int width = title->width ? (int)title->width : screen_columns() - x;
		bool here = c == top->column;
		const char *text = arena_printf(arena, "%s%s", title->name, here ? mark : "");
		int pad = title->text ? 0 : width - (int)text_width(text);

		screen_put(y, x + (pad > 0 ? pad : 0), width, MARK_TITLE, text);
		x += width + 1;
	}
}

static void row_draw(const struct top *top, struct arena *arena, const struct node_rates *row,
		     int y, bool selected)
{
	int x = 0;

	if (selected)
		screen_fill(y, 0, screen_columns(), MARK_SELECTED);
	for (unsigned c = 0; c < TOP_COLUMNS; c++) {
		int width = top_titles[c].width ? (int)top_titles[c].width : screen_columns() - x;
		const char *text = row_text(arena, top->rates, row, c);
		int pad = top_titles[c].text ? 0 : width - (int)text_width(text);
		enum screen_mark mark = selected				? MARK_SELECTED
					: c >= COLUMN_DROPS			? MARK_BAD
					: c == COLUMN_SHARE && row->share > 0.5 ? MARK_BUSY
										: MARK_PLAIN;

		screen_put(y, x + (pad > 0 ? pad : 0), width, mark, text);
		x += width + 1;
	}
}

static void rows_draw(struct top *top, struct arena *arena, int y, int end)
{
	unsigned n, selected;
	const struct node_rates **rows = top_rows(top, &n, &selected);

	top->lines = end > y ? (unsigned)(end - y) : 0;
	if (selected < top->first)
		top->first = selected;
	if (top->lines && selected >= top->first + top->lines)
		top->first = selected - top->lines + 1;
	if (top->first + top->lines > n)
		top->first = n > top->lines ? n - top->lines : 0;
	for (unsigned i = top->first; i < n && y < end; i++, y++)
		row_draw(top, arena, rows[i], y, i == selected);
	if (!n && y < end)
		screen_put(y, 0, screen_columns(), MARK_PLAIN, "no node is called so");
}

void table_draw(struct top *top, int y, int end)
{
	struct arena *arena = arena_new();
	int room = (end - y) / 3;

	if (room > SECTION_MAX)
		room = SECTION_MAX;
	if (end - y > 6) {
		y += workers_draw(top, arena, y, room);
		y += ports_draw(top, arena, y, room);
	}
	titles_draw(top, arena, y);
	rows_draw(top, arena, y + 1, end);
	arena_free(arena);
}
