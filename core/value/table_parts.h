// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the table code share: words for types and ranges, bounds, places of fields.

#ifndef SLUICE_VALUE_TABLE_PARTS_H
#define SLUICE_VALUE_TABLE_PARTS_H

#include "value/scalar.h"
#include "value/table.h"

// What a number, a quantity or a length may be. `low` and `high`: the row says so, or the type is
// a number with bounds worth naming.
struct bounds {
	__int128 min;
	__int128 max;
	bool low;
	bool high;
};

struct bounds bounds_of(const struct param *);

// "8 to 4096", "at least 1s", "at most 4KiB", "1pps to 10Mpps"; "" without bounds. `rate` is the
// unit of a rate.
const char *bounds_text(struct arena *, const struct param *, enum rate_unit rate);

// Completes "it should be ...": "a duration (for example 300s)", "one of a, b".
const char *row_wanted(struct arena *, const struct param *);

// Up to a dozen names joined by ", ", and how many more there are.
const char *names_text(struct arena *, const char *const *names, size_t n);

// The names of a table's rows; *n is their number.
const char *const *row_names(struct arena *, const struct param *table, unsigned *n);

// The text in quotation marks, shortened, with control characters made visible.
const char *quoted_text(struct arena *, const char *);

// Whether an empty text (or list) can stand for "none" in this row: its default says so.
bool empty_allowed(const struct param *);

static inline unsigned choices_count(const struct param *row)
{
	unsigned n = 0;

	while (row->choices && row->choices[n])
		n++;
	return n;
}

#endif
