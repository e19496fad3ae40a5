// SPDX-License-Identifier: BSD-3-Clause
// What `sluice run` shows people: a table of nodes, ports and workers, live or final.

#ifndef SLUICE_CLI_VIEW_H
#define SLUICE_CLI_VIEW_H

#include "run/run.h"

struct view;

struct view *view_new(struct run *);
void view_free(struct view *);

// Prints the table to stdout. Rates are those since the last call, or of the whole run if `final`.
// On a terminal a live table takes the place of the last one.
void view_show(struct view *, bool live, bool final);

#endif
