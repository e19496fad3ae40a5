// SPDX-License-Identifier: BSD-3-Clause
// The reference of modules and drivers, made from their tables: one JSON object each, printed as
// JSON, text or Markdown.

#ifndef SLUICE_CLI_REFERENCE_H
#define SLUICE_CLI_REFERENCE_H

#include <jansson.h>

#include "graph/graph.h"

json_t *reference_module(const struct module_type *);
json_t *reference_driver(const struct driver_type *);

void reference_text(const json_t *entry);
void reference_markdown(const json_t *entry);

// All that `sluice modules` and `sluice drivers` have in common.
struct reference {
	const char *what; // "module"
	const char *doc;
	json_t *(*all)(void); // an array of entries, sorted by name
};
int reference_run(const struct reference *, int argc, char **argv);

// The units that a type of parameter is written with, or NULL.
const char *reference_units(const struct param *);

#endif
