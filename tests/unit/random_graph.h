// SPDX-License-Identifier: BSD-3-Clause
// Random graphs of all modules, from a seed. What parameters may be follows from the modules' own
// tables, so that new modules join by themselves.

#ifndef SLUICE_TESTS_RANDOM_GRAPH_H
#define SLUICE_TESTS_RANDOM_GRAPH_H

#include "engine.h"

struct random {
	uint64_t state;
};

uint32_t random_next(struct random *);
uint32_t random_below(struct random *, uint32_t n);
bool random_chance(struct random *, unsigned percent);

// The parameters of a table as a YAML flow map, all within their ranges; false if there is one that
// must be given and cannot be made up. Where `brief`, only what must be given. `port` is the name
// for ports, `gates` the number of gates that may be named.
bool random_params(struct random *, const struct param *table, bool brief, const char *port,
		   unsigned gates, struct engine_text *);

// A graph with ports p0, p1, ... that loads, as text; the caller frees it.
char *random_graph(struct random *);

// `Type: {...}` with parameters that the module takes; false when none can be found. Modules that
// use ports are not asked for.
bool random_node(struct random *, const struct module_type *, struct engine_text *);

// Whether a module is the program's own, has input gates and uses no port.
bool random_wanted(const struct module_type *);

// The modules that are wanted and can be made up; the caller frees the list.
const struct module_type **random_modules(unsigned *n);

#endif
