// SPDX-License-Identifier: BSD-3-Clause
// Faults as JSON: for `--json` and the control socket.

#ifndef SLUICE_VALUE_ERRORS_JSON_H
#define SLUICE_VALUE_ERRORS_JSON_H

#include <jansson.h>

#include "value/errors.h"

// A list of {"file", "line", "column", "message"}, in the order in which they are printed; what has
// no place has no such members.
json_t *errors_json(const struct errors *);

#endif
