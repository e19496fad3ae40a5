// SPDX-License-Identifier: BSD-3-Clause
// The table of nodes that `sluice top` shows: its columns, their order and texts. Nothing of a
// terminal.

#ifndef SLUICE_CLI_TOP_ROWS_H
#define SLUICE_CLI_TOP_ROWS_H

#include "cli/rates.h"

enum top_column {
	COLUMN_NODE,
	COLUMN_MODULE,
	COLUMN_SHARE,
	COLUMN_CYCLES,
	COLUMN_IN,
	COLUMN_OUT,
	COLUMN_BATCH,
	COLUMN_FILL,
	COLUMN_DROPS,
	COLUMN_REASONS,
	TOP_COLUMNS,
};

struct top_title {
	const char *name;
	unsigned width; // of its cells; 0: what is left of the line
	bool text;	// to the left, and sorted from a to z; else the most first
	const char *help;
};
extern const struct top_title top_titles[TOP_COLUMNS];

// The rows that the filter leaves (a part of the node's or module's name, whatever its case), in
// the order of a column; what is not known comes last. The caller gives room for all nodes; returns
// how many there are.
unsigned rows_choose(const struct rates *, const char *filter, enum top_column, bool reverse,
		     const struct node_rates **rows);

const char *row_text(struct arena *, const struct rates *, const struct node_rates *,
		     enum top_column);

// "12 %", "<1 %", or "" for what is not known.
const char *percent_text(struct arena *, double part);

#endif
