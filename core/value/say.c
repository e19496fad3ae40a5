// SPDX-License-Identifier: BSD-3-Clause
// Lines on standard error, and their copy.

#include "value/say.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_MAX 700
#define PLACE_MAX 300

// Standard error is the process's, and so is this.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*listener)(void *to, enum say_kind, const char *text);
static void *listener_to;

void say_listen(void (*hear)(void *to, enum say_kind, const char *text), void *to)
{
	pthread_mutex_lock(&lock);
	listener = hear;
	listener_to = to;
	pthread_mutex_unlock(&lock);
}

void say(enum say_kind kind, const char *place, const char *format, ...)
{
	char text[TEXT_MAX], line[PLACE_MAX + TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s: %s: %s\n", place ? place : "sluice",
		kind == SAY_ERROR ? "error" : "note", text);
	snprintf(line, sizeof(line), "%.*s%s%s", PLACE_MAX - 4, place ? place : "",
		 place ? ": " : "", text);
	pthread_mutex_lock(&lock);
	if (listener)
		listener(listener_to, kind, line);
	pthread_mutex_unlock(&lock);
}
