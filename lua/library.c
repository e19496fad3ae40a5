// SPDX-License-Identifier: BSD-3-Clause
// The files of lua/lib and lua/bench, put into the program by the assembler; library_list.h is made
// by make.

#include <string.h>

#include "lua/library.h"
#include "value/embed.h"

#define LIBRARY(SYMBOL, NAME, PATH) EMBED(library_##SYMBOL, PATH)
#include "library_list.h"
#undef LIBRARY

#define LIBRARY(SYMBOL, NAME, PATH) {NAME, "=" NAME, library_##SYMBOL, library_##SYMBOL##_end},
const struct library_file library_files[] = {
#include "library_list.h"
    {NULL, NULL, NULL, NULL},
};

const struct library_file *library_find(const char *name)
{
	for (const struct library_file *file = library_files; file->name; file++)
		if (!strcmp(file->name, name))
			return file;
	return NULL;
}
