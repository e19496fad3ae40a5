// SPDX-License-Identifier: BSD-3-Clause
// The files of lua/lib, put into the program by the assembler; library_list.h is made by make.

#include <string.h>

#include "lua/library.h"
#include "value/embed.h"

#define LIBRARY(NAME) EMBED(library_##NAME, "lua/lib/" #NAME ".lua")
#include "library_list.h"
#undef LIBRARY

#define LIBRARY(NAME) {"sluice." #NAME, "=sluice." #NAME, library_##NAME, library_##NAME##_end},
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
