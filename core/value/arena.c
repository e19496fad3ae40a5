// SPDX-License-Identifier: BSD-3-Clause
// Arenas on glibc's obstack, and plain memory that never is NULL.

#include "value/arena.h"

#include <obstack.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An obstack counts in int.
#define ARENA_ALLOC_MAX (1u << 30)
#define ARENA_CHUNK 16000
#define MEMORY_LINE 64

struct arena {
	struct obstack stack;
};

static void memory_out(void)
{
	fputs("sluice: error: out of memory\n", stderr);
	exit(3);
}

static void *chunk_new(size_t size)
{
	void *chunk = malloc(size);

	if (!chunk)
		memory_out();
	return chunk;
}

#define obstack_chunk_alloc chunk_new
#define obstack_chunk_free free

struct arena *arena_new(void)
{
	struct arena *arena = memory_new(1, sizeof(*arena));

	obstack_begin(&arena->stack, ARENA_CHUNK);
	return arena;
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	obstack_free(&arena->stack, NULL);
	free(arena);
}

// glibc's macro aligns by adding to a null pointer, which clang's sanitizer does not like.
__attribute__((no_sanitize("pointer-overflow"))) static void *arena_take(struct arena *arena,
									 size_t size)
{
	if (size > ARENA_ALLOC_MAX)
		memory_out();
	return obstack_alloc(&arena->stack, size);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return memset(arena_take(arena, size), 0, size);
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t n)
{
	size_t length = strnlen(text, n);
	char *copy = arena_take(arena, length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args, again;
	char small[128], *text;
	int length;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(small, sizeof(small), format, args);
	if (length < 0)
		memory_out();
	text = arena_take(arena, (size_t)length + 1);
	if ((size_t)length < sizeof(small))
		memcpy(text, small, (size_t)length + 1);
	else
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

void *memory_new(size_t n, size_t size)
{
	// calloc(0) may return NULL, which would look like a failure.
	void *memory = calloc(n ? n : 1, size ? size : 1);

	if (!memory)
		memory_out();
	return memory;
}

void *memory_lines(size_t size)
{
	size_t whole = (size + MEMORY_LINE) / MEMORY_LINE * MEMORY_LINE;
	void *memory = aligned_alloc(MEMORY_LINE, whole);

	if (!memory)
		memory_out();
	return memset(memory, 0, whole);
}

void *memory_grow(void *old, size_t n, size_t size)
{
	void *memory = reallocarray(old, n ? n : 1, size ? size : 1);

	if (!memory)
		memory_out();
	return memory;
}
