// SPDX-License-Identifier: BSD-3-Clause
// The table of nodes: columns, sorting, filter.

#include "cli/top/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"

const struct top_title top_titles[TOP_COLUMNS] = {
    [COLUMN_NODE] = {"node", 16, true, "the node's name"},
    [COLUMN_MODULE] = {"module", 10, true, "what it is a node of"},
    [COLUMN_SHARE] = {"share", 6, false, "part of the time of its workers, scaled from samples"},
    [COLUMN_CYCLES] = {"cycles", 7, false, "cycles that a packet takes in it"},
    [COLUMN_IN] = {"in/s", 7, false, "packets that came in, a second"},
    [COLUMN_OUT] = {"out/s", 7, false, "packets that went out, a second"},
    [COLUMN_BATCH] = {"batch", 6, false, "packets in a batch, of 64 at most"},
    [COLUMN_FILL] = {"fill", 6, false, "how full a queue is"},
    [COLUMN_DROPS] = {"drop/s", 7, false, "packets that it dropped, a second"},
    [COLUMN_REASONS] = {"dropped", 0, true, "why it dropped them"},
};

static double row_number(const struct node_rates *row, enum top_column column)
{
	switch (column) {
	case COLUMN_SHARE:
		return row->share;
	case COLUMN_CYCLES:
		return row->cycles;
	case COLUMN_IN:
		return row->in;
	case COLUMN_OUT:
		return row->out;
	case COLUMN_BATCH:
		return row->batch;
	case COLUMN_FILL:
		return row->room ? (double)row->held / (double)row->room : NAN;
	case COLUMN_DROPS:
	case COLUMN_REASONS:
		return row->dropped;
	default:
		return NAN;
	}
}

struct order {
	enum top_column column;
	bool reverse;
};

// What is equal stays in the order of the names, so that rows do not jump.
static int rows_compare(const void *a, const void *b, void *with)
{
	const struct node_rates *x = *(const struct node_rates *const *)a;
	const struct node_rates *y = *(const struct node_rates *const *)b;
	const struct order *order = with;
	int names = strcmp(x->name, y->name), result = 0;
	double p, q;

	if (order->column == COLUMN_NODE)
		return order->reverse ? -names : names;
	if (order->column == COLUMN_MODULE) {
		result = strcmp(x->module, y->module);
	} else {
		p = row_number(x, order->column);
		q = row_number(y, order->column);
		if (isnan(p) || isnan(q))
			return isnan(p) && isnan(q) ? names : isnan(p) ? 1 : -1;
		result = p > q ? -1 : p < q;
	}
	if (order->reverse)
		result = -result;
	return result ? result : names;
}

unsigned rows_choose(const struct rates *rates, const char *filter, enum top_column column,
		     bool reverse, const struct node_rates **rows)
{
	struct order order = {column, reverse};
	unsigned n = 0;

	for (unsigned i = 0; i < rates->n_nodes; i++) {
		const struct node_rates *node = &rates->nodes[i];

		if (strcasestr(node->name, filter) || strcasestr(node->module, filter))
			rows[n++] = node;
	}
	qsort_r(rows, n, sizeof(*rows), rows_compare, &order);
	return n;
}

const char *percent_text(struct arena *arena, double part)
{
	if (!isfinite(part))
		return "";
	if (part > 0 && part < 0.01)
		return "<1 %";
	return arena_printf(arena, "%.0f %%", 100 * part);
}

const char *row_text(struct arena *arena, const struct rates *rates, const struct node_rates *row,
		     enum top_column column)
{
	double number = row_number(row, column);

	switch (column) {
	case COLUMN_NODE:
		return row->name;
	case COLUMN_MODULE:
		return row->module;
	case COLUMN_SHARE:
	case COLUMN_FILL:
		return percent_text(arena, number);
	case COLUMN_CYCLES:
		return isfinite(number) ? arena_printf(arena, "%.0f", number) : "";
	case COLUMN_BATCH:
		return isfinite(number) ? arena_printf(arena, "%.1f", number) : "";
	case COLUMN_IN:
		return json_array_size(json_object_get(row->now, "in")) && number == 0
			   ? "0"
			   : per_s_text(arena, number);
	case COLUMN_OUT:
		return json_array_size(json_object_get(row->now, "out")) && number == 0
			   ? "0"
			   : per_s_text(arena, number);
	case COLUMN_DROPS:
		return per_s_text(arena, number);
	default:
		return drops_text(arena, row, rates->seconds);
	}
}
