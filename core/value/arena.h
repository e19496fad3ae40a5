// SPDX-License-Identifier: BSD-3-Clause
// An arena: memory of many small things that are freed together, on glibc's obstack.

#ifndef SLUICE_VALUE_ARENA_H
#define SLUICE_VALUE_ARENA_H

#include <stddef.h>

struct arena;

// When memory runs out, these and all below end the program with a message and exit code 3:
// they serve the control path only, where there is nothing better to do.
struct arena *arena_new(void);
void arena_free(struct arena *);
void *arena_alloc(struct arena *, size_t size); // zeroed, aligned for any type
char *arena_strdup(struct arena *, const char *);
char *arena_strndup(struct arena *, const char *, size_t);
char *arena_printf(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Zeroed memory by itself, freed with free().
void *memory_new(size_t n, size_t size);
// The same on cache lines of its own, as types with that alignment need it: what a compiler does
// with wide vectors faults elsewhere.
void *memory_lines(size_t size);
void *memory_grow(void *, size_t n, size_t size);

#endif
