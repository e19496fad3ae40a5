// SPDX-License-Identifier: BSD-3-Clause
// Between the files that read YAML: what a map is, once all of it is read.

#ifndef SLUICE_VALUE_YAML_MAP_H
#define SLUICE_VALUE_YAML_MAP_H

#include "value/value.h"

// Adds the members of the maps in `merges` (a list, or NULL), and reports keys that are written
// twice. What is written stands before what is merged.
void yaml_map_finish(struct arena *, struct value *map, const struct value *merges,
		     struct errors *);

#endif
