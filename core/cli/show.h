// SPDX-License-Identifier: BSD-3-Clause
// The ways to show a graph.

#ifndef SLUICE_CLI_SHOW_H
#define SLUICE_CLI_SHOW_H

#include <stdio.h>

#include "graph/graph.h"

// A picture of lines and dots in the terminal; `ascii`: without Unicode.
void show_text(const struct graph *, bool ascii, FILE *);

// The same in Graphviz's language.
void show_dot(const struct graph *, FILE *);

// Parameters that are not at their default, on one line of so many places.
const char *show_params(struct arena *, const struct param *, const void *params, unsigned width);

// A gate's name, or its number.
const char *show_gate(struct arena *, const struct graph_node *, bool output, gate_t);

// Why each worker has its sources, in words.
void show_workers(const struct graph *, FILE *);

#endif
