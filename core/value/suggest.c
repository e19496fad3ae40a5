// SPDX-License-Identifier: BSD-3-Clause
// "Did you mean": the nearest of some words.

#include <ctype.h>
#include <string.h>

#include "value/value.h"

#define WORD_MAX 64
#define DISTANCE_MAX 3

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

// Insertions, deletions, replacements and swaps of neighbours that make one word of the other,
// upper and lower case being the same (optimal string alignment).
static unsigned word_distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		above[j] = j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *spare = before;
		int c = tolower((unsigned char)a[i - 1]);

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			int d = tolower((unsigned char)b[j - 1]);

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (c != d));
			if (i > 1 && j > 1 && c == tolower((unsigned char)b[j - 2]) &&
			    d == tolower((unsigned char)a[i - 2]))
				row[j] = min3(row[j], row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = spare;
	}
	return above[m];
}

// One slip in three letters still looks like the word; two letters of which one is wrong do not.
static unsigned distance_allowed(size_t n, size_t m)
{
	size_t allowed = (n > m ? n : m) / 3;

	return allowed < DISTANCE_MAX ? allowed : DISTANCE_MAX;
}

const char *suggest(const char *word, const char *const *candidates, size_t n)
{
	size_t length = word ? strlen(word) : 0;
	const char *best = NULL;
	unsigned least = DISTANCE_MAX + 1;

	if (!length || length > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t m = candidates[i] ? strlen(candidates[i]) : 0;
		unsigned allowed = distance_allowed(length, m);
		unsigned distance;

		// The lengths alone often tell that it is too far.
		if (!m || m > WORD_MAX || (m > length ? m - length : length - m) > allowed)
			continue;
		distance = word_distance(word, length, candidates[i], m);
		if (distance <= allowed && distance < least) {
			least = distance;
			best = candidates[i];
		}
	}
	return best;
}
