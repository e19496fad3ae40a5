// SPDX-License-Identifier: BSD-3-Clause
// Value trees as text for the subcommands: on one line for people, as JSON for programs.

#ifndef SLUICE_CLI_TEXT_H
#define SLUICE_CLI_TEXT_H

#include <stdio.h>

#include <jansson.h>

#include "value/value.h"

// "port: left, entries: [...]": a map as a person would read it, cut to so many places.
const char *text_brief(struct arena *, const struct value *, unsigned width);

// The text (NULL: none yet) with one more word, to be freed; what an argument of several words is.
char *text_join(char *text, const char *word);

// The tree as JSON that, read as a graph, means the same: unquoted numbers and booleans stay
// unquoted.
void text_write_json(const struct value *, FILE *);

// The same as a jansson object; numbers beyond 64 bits become texts.
json_t *text_json(const struct value *);

#endif
