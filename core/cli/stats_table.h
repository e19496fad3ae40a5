// SPDX-License-Identifier: BSD-3-Clause
// Counters as tables for people, from the object that run_json() makes: here or in another process.

#ifndef SLUICE_CLI_STATS_TABLE_H
#define SLUICE_CLI_STATS_TABLE_H

#include <stdio.h>

#include <jansson.h>

// "NAME after 1.234 s"
void stats_title(const char *name, const json_t *now, FILE *);

// Nodes, ports and workers. Rates are those since `last`; NULL: since the start.
void stats_tables(const json_t *now, const json_t *last, FILE *);

#endif
