// SPDX-License-Identifier: BSD-3-Clause
// The table of `sluice run`: the counters, and how far captures are.

#include <stdlib.h>

#include "cli/screen.h"
#include "cli/stats_table.h"
#include "cli/view.h"

struct view {
	struct run *run;
	json_t *last; // the counters that were shown last; NULL: none were
	struct screen screen;
};

struct view *view_new(struct run *run)
{
	struct view *view = memory_new(1, sizeof(*view));

	view->run = run;
	return view;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	json_decref(view->last);
	free(view);
}

static void print_progress(struct view *view, FILE *out)
{
	const struct graph *graph = run_graph(view->run);

	for (unsigned i = 0; i < graph->n_ports; i++) {
		struct port *port = run_port(view->run, i);
		double done = port->driver->progress ? port->driver->progress(port) : -1;

		if (done >= 0)
			fprintf(out, "%s: %.0f %% of the capture\n", graph->ports[i].name,
				100 * done);
	}
}

static char *view_text(struct view *view, bool live, bool final)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_t *now = run_json(view->run);

	stats_title(run_graph(view->run)->file, now, out);
	if (live && !final)
		print_progress(view, out);
	fputc('\n', out);
	stats_tables(now, final ? NULL : view->last, out);
	fclose(out);
	json_decref(view->last);
	view->last = now;
	return text;
}

void view_show(struct view *view, bool live, bool final)
{
	char *text = view_text(view, live, final);

	if (live)
		screen_show(&view->screen, text, final);
	else
		printf("%s%s", text, final ? "" : "\n");
	free(text);
}
