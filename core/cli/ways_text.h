// SPDX-License-Identifier: BSD-3-Clause
// The ways of a packet, as they are answered in JSON, as text.

#ifndef SLUICE_CLI_WAYS_TEXT_H
#define SLUICE_CLI_WAYS_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

// One line a step, copies indented below the step that made them. would: nothing of it was done.
void ways_print(const json_t *ways, bool would, FILE *);

#endif
