// SPDX-License-Identifier: BSD-3-Clause
// A table of text with aligned columns, for what the subcommands print to people.

#ifndef SLUICE_CLI_GRID_H
#define SLUICE_CLI_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "value/arena.h"

#define GRID_COLUMNS_MAX 16

struct grid;

// Everything lives in the arena. Columns come first, then cells row by row.
struct grid *grid_new(struct arena *);
void grid_column(struct grid *, const char *title, bool right);
void grid_cell(struct grid *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void grid_print(struct grid *, FILE *); // without columns that are empty

// "1,234,567", and "" for zero if `blank`.
const char *grid_count(struct arena *, uint64_t n, bool blank);
// "12.3M", "450k", "7": three digits that matter.
const char *grid_rate(struct arena *, double per_s);

// How many places on the screen a text takes: code points of UTF-8.
unsigned text_width(const char *);

// Breaks lines between words, so that none is longer; keeps the breaks that are there.
void text_wrap(const char *, unsigned width, FILE *);

#endif
