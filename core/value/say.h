// SPDX-License-Identifier: BSD-3-Clause
// What is said of a graph while it runs: one line each on standard error, and to whoever listens.

#ifndef SLUICE_VALUE_SAY_H
#define SLUICE_VALUE_SAY_H

enum say_kind { SAY_ERROR, SAY_NOTE };

// "PLACE: error: TEXT". The place is a file's, or NULL: the program itself. Any thread.
void say(enum say_kind, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// There is one standard error, and one who listens: hear(NULL) ends it. It is called by any thread,
// one at a time, and says nothing itself.
void say_listen(void (*hear)(void *to, enum say_kind, const char *text), void *to);

#endif
