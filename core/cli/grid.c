// SPDX-License-Identifier: BSD-3-Clause
// A table of text with aligned columns, for what the subcommands print to people.

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"

struct cell {
	const char *text;
	struct cell *next;
};

struct grid {
	struct arena *arena;
	unsigned columns;
	const char *titles[GRID_COLUMNS_MAX];
	bool right[GRID_COLUMNS_MAX];
	unsigned width[GRID_COLUMNS_MAX];
	bool filled[GRID_COLUMNS_MAX]; // an empty column is not printed
	unsigned pad;		       // blanks that are only printed when a text follows
	struct cell *first;
	struct cell **last;
	unsigned next_column;
};

unsigned text_width(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

struct grid *grid_new(struct arena *arena)
{
	struct grid *grid = arena_alloc(arena, sizeof(*grid));

	grid->arena = arena;
	grid->last = &grid->first;
	return grid;
}

void grid_column(struct grid *grid, const char *title, bool right)
{
	unsigned at = grid->columns++;

	grid->titles[at] = title;
	grid->right[at] = right;
	grid->width[at] = text_width(title);
}

void grid_cell(struct grid *grid, const char *format, ...)
{
	struct cell *cell = arena_alloc(grid->arena, sizeof(*cell));
	unsigned at = grid->next_column;
	unsigned width;
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	cell->text = arena_strdup(grid->arena, text);
	width = text_width(text);
	free(text);
	if (width > grid->width[at])
		grid->width[at] = width;
	if (width)
		grid->filled[at] = true;
	*grid->last = cell;
	grid->last = &cell->next;
	grid->next_column = (at + 1) % grid->columns;
}

static void print_cell(struct grid *grid, unsigned at, const char *text, FILE *out)
{
	unsigned pad = grid->width[at] - text_width(text);

	if (grid->filled[at]) {
		if (grid->right[at])
			grid->pad += pad;
		if (*text) {
			fprintf(out, "%*s%s", (int)grid->pad, "", text);
			grid->pad = 0;
		}
		if (!grid->right[at])
			grid->pad += pad;
		grid->pad += 2;
	}
	if (at == grid->columns - 1) {
		fputc('\n', out);
		grid->pad = 0;
	}
}

void grid_print(struct grid *grid, FILE *out)
{
	unsigned at = 0;

	for (unsigned i = 0; i < grid->columns; i++)
		print_cell(grid, i, grid->titles[i], out);
	for (const struct cell *cell = grid->first; cell && grid->columns; cell = cell->next) {
		print_cell(grid, at, cell->text, out);
		if (++at >= grid->columns)
			at = 0;
	}
}

void text_wrap(const char *text, unsigned width, FILE *out)
{
	unsigned at = 0;

	while (*text) {
		size_t blanks = strspn(text, " "), length;
		char *word;

		text += blanks;
		if (*text == '\n') {
			fputc('\n', out);
			text++;
			at = 0;
			continue;
		}
		length = strcspn(text, " \n");
		word = strndup(text, length);
		if (at && at + 1 + text_width(word) > width) {
			fputc('\n', out);
			at = 0;
		}
		at += (unsigned)fprintf(out, "%s", at ? " " : "") + text_width(word);
		fputs(word, out);
		free(word);
		text += length;
	}
	fputc('\n', out);
}

const char *grid_count(struct arena *arena, uint64_t n, bool blank)
{
	char digits[24], text[32];
	unsigned length, at = 0;

	if (!n && blank)
		return "";
	length = (unsigned)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	for (unsigned i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	return arena_strndup(arena, text, at);
}

const char *grid_rate(struct arena *arena, double per_s)
{
	static const char *const units[] = {"", "k", "M", "G", "T"};
	unsigned unit = 0;
	int decimals;

	while (per_s >= 999.5 && unit < 4) {
		per_s /= 1000;
		unit++;
	}
	decimals = per_s >= 99.95 || (!unit && per_s == (double)(uint64_t)per_s) ? 0
		   : per_s >= 9.995						 ? 1
										 : 2;
	return arena_printf(arena, "%.*f%s", decimals, per_s, units[unit]);
}
