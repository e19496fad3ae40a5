// SPDX-License-Identifier: BSD-3-Clause
// The parts of the JSON Schema that are made from tables.

#ifndef SLUICE_CLI_SCHEMA_H
#define SLUICE_CLI_SCHEMA_H

#include <jansson.h>

#include "graph/graph.h"

// The name of a node or module inside a link, and a gate in brackets that may be left out.
#define SCHEMA_NAME "([A-Za-z0-9_#.]|-(?!>))+"
#define SCHEMA_GATE "(\\[\\s*[A-Za-z0-9_#.-]+\\s*\\])?"

json_t *schema_ports(void);
json_t *schema_nodes(void);
json_t *schema_workers(void);

// A parameter, or a variable in its place. `type` is that of its module, for the names of gates,
// or NULL.
json_t *schema_param(const struct param *, const struct module_type *type);

// Prints annotations for the Lua language server.
void schema_lua(void);

#endif
