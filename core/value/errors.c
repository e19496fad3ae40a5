// SPDX-License-Identifier: BSD-3-Clause
// The list of faults: collects them in any order, prints them in the order of the files.

#include "value/errors.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "value/arena.h"
#include "value/value.h"

struct error {
	unsigned file; // index of its name, in the order of first appearance
	unsigned line;
	unsigned col;
	unsigned order; // of reporting; keeps the sort stable
	enum error_kind kind;
	const char *text;
	const char *trace; // lines to be printed below, or NULL
};

// Keeps copies of all texts and names, so that it may outlive the documents it speaks of.
struct errors {
	struct arena *arena;
	struct subject subject;
	struct error *list;
	unsigned n;
	unsigned room;
	const char **files; // NULL: no file at all
	unsigned n_files;
};

struct errors *errors_new(void)
{
	struct errors *errors = memory_new(1, sizeof(*errors));

	errors->arena = arena_new();
	return errors;
}

void errors_free(struct errors *errors)
{
	if (!errors)
		return;
	arena_free(errors->arena);
	free(errors->list);
	free(errors->files);
	free(errors);
}

void errors_about(struct errors *errors, const struct subject *subject)
{
	errors->subject = subject ? *subject : (struct subject){};
}

static bool name_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static unsigned file_index(struct errors *errors, const char *file)
{
	for (unsigned i = errors->n_files; i-- > 0;)
		if (name_equal(errors->files[i], file))
			return i;
	errors->files = memory_grow(errors->files, errors->n_files + 1, sizeof(*errors->files));
	errors->files[errors->n_files] = file ? arena_strdup(errors->arena, file) : NULL;
	return errors->n_files++;
}

// What a file holds may be quoted in a message: nothing in it may steer the terminal or break the
// line. The text was made with four bytes of room for each byte.
static void escape_controls(char *to, const char *from)
{
	for (; *from; from++) {
		unsigned char c = *from;

		if (c >= 0x20 && c != 0x7f)
			*to++ = c;
		else if (c == '\n' || c == '\t' || c == '\r')
			to += sprintf(to, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
		else
			to += sprintf(to, "\\x%02x", c);
	}
	*to = '\0';
}

static bool has_controls(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

static const char *printable(struct errors *errors, const char *text)
{
	char *safe;

	if (!has_controls(text))
		return text;
	safe = arena_alloc(errors->arena, 4 * strlen(text) + 1);
	escape_controls(safe, text);
	return safe;
}

static void error_add(struct errors *errors, enum error_kind kind, struct place place,
		      const char *prefix, const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	if (errors->n == errors->room) {
		errors->room = errors->room ? 2 * errors->room : 16;
		errors->list = memory_grow(errors->list, errors->room, sizeof(*errors->list));
	}
	errors->list[errors->n] = (struct error){
	    .file = file_index(errors, place.file),
	    .line = place.line,
	    .col = place.col,
	    .order = errors->n,
	    .kind = kind,
	    // Without memory for the text, its format still says what it is about.
	    .text = printable(errors,
			      arena_printf(errors->arena, "%s%s", prefix, text ? text : format)),
	};
	errors->n++;
	free(text);
}

void error_at(struct errors *errors, struct place place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_add(errors, ERROR_INPUT, place, "", format, args);
	va_end(args);
}

void error_machine_at(struct errors *errors, struct place place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_add(errors, ERROR_MACHINE, place, "", format, args);
	va_end(args);
}

// The deepest part of what was written that the path names; the node itself if it names none.
static struct place subject_place(const struct subject *subject, const char *param)
{
	const struct value *part = subject->written;

	if (!param || !part)
		return subject->place;
	part = value_at(part, param);
	return part == subject->written ? subject->place : part->place;
}

static void error_about(struct errors *errors, enum error_kind kind, const char *param,
			const char *format, va_list args)
{
	const struct subject *subject = &errors->subject;
	const char *prefix = "";

	if (subject->type && param)
		prefix = arena_printf(errors->arena, "%s: %s: ", subject->type, param);
	else if (subject->type)
		prefix = arena_printf(errors->arena, "%s: ", subject->type);
	error_add(errors, kind, subject_place(subject, param), prefix, format, args);
}

void error_input(struct errors *errors, const char *param, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_about(errors, ERROR_INPUT, param, format, args);
	va_end(args);
}

void error_machine(struct errors *errors, const char *param, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_about(errors, ERROR_MACHINE, param, format, args);
	va_end(args);
}

void error_trace(struct errors *errors, const char *line)
{
	struct error *last = errors->n ? &errors->list[errors->n - 1] : NULL;

	if (last)
		last->trace =
		    arena_printf(errors->arena, "%s  %s\n", last->trace ? last->trace : "",
				 printable(errors, arena_strdup(errors->arena, line)));
}

unsigned errors_count(const struct errors *errors)
{
	return errors->n;
}

int errors_exit_code(const struct errors *errors)
{
	if (!errors->n)
		return 0;
	for (unsigned i = 0; i < errors->n; i++)
		if (errors->list[i].kind == ERROR_INPUT)
			return ERROR_INPUT;
	return ERROR_MACHINE;
}

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

static int error_place_order(const struct error *a, const struct error *b)
{
	return ORDER(a->file, b->file) ?: ORDER(a->line, b->line) ?: ORDER(a->col, b->col);
}

static int error_text_order(const void *a, const void *b)
{
	const struct error *x = a, *y = b;

	return error_place_order(x, y) ?: strcmp(x->text, y->text) ?: ORDER(x->order, y->order);
}

static int error_print_order(const void *a, const void *b)
{
	const struct error *x = a, *y = b;

	return error_place_order(x, y) ?: ORDER(x->order, y->order);
}

// Takes out all but the first of those that say the same of the same place.
static unsigned doubles_remove(struct error *list, unsigned n)
{
	unsigned kept = 0;

	qsort(list, n, sizeof(*list), error_text_order);
	for (unsigned i = 0; i < n; i++)
		if (!kept || error_place_order(&list[kept - 1], &list[i]) ||
		    strcmp(list[kept - 1].text, list[i].text))
			list[kept++] = list[i];
	return kept;
}

static void error_print(const struct errors *errors, const struct error *error, FILE *to)
{
	const char *file = errors->files[error->file];

	if (file)
		fputs(file, to);
	if (file && error->line)
		fprintf(to, ":%u", error->line);
	if (file && error->line && error->col)
		fprintf(to, ":%u", error->col);
	fprintf(to, "%serror: %s\n", file ? ": " : "", error->text);
	if (error->trace)
		fputs(error->trace, to);
}

void errors_print(const struct errors *errors, FILE *to)
{
	struct error *list;
	unsigned n;

	if (!errors->n)
		return;
	list = memory_new(errors->n, sizeof(*list));
	memcpy(list, errors->list, errors->n * sizeof(*list));
	n = doubles_remove(list, errors->n);
	qsort(list, n, sizeof(*list), error_print_order);
	for (unsigned i = 0; i < n; i++)
		error_print(errors, &list[i], to);
	free(list);
}

char *errors_text(const struct errors *errors)
{
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);

	if (to) {
		errors_print(errors, to);
		fclose(to);
	}
	return text ? text : memory_new(1, 1);
}
