// SPDX-License-Identifier: BSD-3-Clause
// Places in files, and the list of faults found: every fault of a file is reported in one run.

#ifndef SLUICE_VALUE_ERRORS_H
#define SLUICE_VALUE_ERRORS_H

#include <stdbool.h>
#include <stdio.h>

#include "param.h"

// Where something stands. line 0: the file as a whole; col 0: the line as a whole (Lua).
// `file` outlives the place (it is in the arena of the document or a literal).
struct place {
	const char *file;
	unsigned line;
	unsigned col;
};

enum error_kind {
	ERROR_INPUT = 2,   // the text is wrong; the numbers are the program's exit codes
	ERROR_MACHINE = 3, // this machine lacks something
};

struct value;

// What errors are about while a module's or driver's own function runs: gives error_input() and
// error_machine() their place and prefix ("L2Fwd: size: ...").
struct subject {
	const char *type;	     // "L2Fwd"; NULL: no prefix
	struct place place;	     // of the node or port
	const struct value *written; // the parameters as written, or NULL
};

struct errors *errors_new(void);
void errors_free(struct errors *);

// The subject stays until the next call; NULL clears it. Returns nothing; the struct is copied.
void errors_about(struct errors *, const struct subject *);

void error_at(struct errors *, struct place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void error_machine_at(struct errors *, struct place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Adds a line to what is printed below the last error: where a script came from.
void error_trace(struct errors *, const char *line);

unsigned errors_count(const struct errors *);

// 0 without errors, else the exit code: 2 if any text is wrong, else 3.
int errors_exit_code(const struct errors *);

// Prints all of them sorted by place (file order of first appearance, line, column), doubles
// removed: `FILE:LINE:COL: error: TEXT`.
void errors_print(const struct errors *, FILE *);

// The same as text; the caller frees it.
char *errors_text(const struct errors *);

#endif
