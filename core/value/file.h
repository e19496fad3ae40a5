// SPDX-License-Identifier: BSD-3-Clause
// Files that people write: graphs and scripts.

#ifndef SLUICE_VALUE_FILE_H
#define SLUICE_VALUE_FILE_H

#include <stddef.h>

#include "value/errors.h"

// The bytes of a file, without a NUL at their end; the caller frees them. NULL after an error: what
// is no file, cannot be read or is too long. One byte too many may come: whoever reads the text
// refuses it.
char *file_read(const char *file, size_t *length, struct errors *);

#endif
