// SPDX-License-Identifier: BSD-3-Clause
// What the program says while it runs goes through here: to standard error, syslog or the journal.
// Not for workers: they say nothing.

#ifndef SLUICE_VALUE_LOG_H
#define SLUICE_VALUE_LOG_H

#include <stdarg.h>

#include "value/errors.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTE, LOG_LEVEL_DEBUG };
extern const char *const log_levels[]; // their names; ends with NULL

enum log_target { LOG_TO_STDERR, LOG_TO_SYSLOG, LOG_TO_JOURNAL };
extern const char *const log_targets[]; // their names; ends with NULL

// Chooses where messages go, before threads start; what is less than `level` is left out. Without a
// call it is standard error, up to notes. 0, or -1 where there is no such log.
int log_open(enum log_target, enum log_level, struct errors *);
enum log_level log_level(void);

// What a message is about; the journal keeps it as fields. Any of them may be NULL.
struct log_about {
	const char *place;  // "web.yaml:3:5"; NULL: the program itself
	const char *source; // whose words they are: "dpdk"; NULL: the program's own
	const char *node, *module;
	const char *port;
};

// Says a line, from any thread: `PLACE: error: TEXT` on standard error.
void log_say(enum log_level, const struct log_about *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_say_args(enum log_level, const struct log_about *, const char *format, va_list);

// One who hears all that is said, as `PLACE: TEXT`; NULL: nobody. It is called by any thread, one
// at a time, and says nothing itself.
void log_listen(void (*hear)(void *to, enum log_level, const char *text), void *to);

// Says all of the errors, each on its line, as errors_print() does.
void log_errors(const struct errors *);

#endif
