// SPDX-License-Identifier: BSD-3-Clause
// What table_fill.c and table_scalar.c share: one run of table_fill().

#ifndef SLUICE_VALUE_TABLE_FILL_H
#define SLUICE_VALUE_TABLE_FILL_H

#include <stdlib.h>

#include "value/table_parts.h"

struct filler {
	struct arena *arena;
	const char *what;
	const struct table_scope *scope;
	struct errors *errors;
	struct place place;
	unsigned faults;
	bool in_default; // the value is a default of the table
};

// Reports a fault of the parameter at `path`; "" for the whole.
void fill_fault(struct filler *, struct place, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Reads a scalar into the field of its row, or reports what is wrong with it.
void scalar_fill(struct filler *, const struct param *, const struct value *, const char *path,
		 void *field);

#endif
