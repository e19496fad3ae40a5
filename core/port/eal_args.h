// SPDX-License-Identifier: BSD-3-Clause
// Between the files that start DPDK's environment: its arguments.

#ifndef SLUICE_PORT_EAL_ARGS_H
#define SLUICE_PORT_EAL_ARGS_H

#include <stdbool.h>

#include "port/eal.h"

// Arguments as a list of separate texts.
struct eal_args {
	char **argv; // NULL at the end
	int argc;
};

// The arguments that fit this machine and the wishes; what the user gives himself replaces ours.
struct eal_args eal_args_pick(const struct eal_wishes *, bool *hugepages);
void eal_args_free(struct eal_args *);

// As one text, without the program's name; the caller frees it.
char *eal_args_text(const struct eal_args *);

// Whether any of these options is among them, as `--name`, `--name=value` or `-xVALUE`.
bool eal_args_have(const struct eal_args *, const char *const *names);
#define EAL_HAVE(args, ...) eal_args_have((args), (const char *const[]){__VA_ARGS__, NULL})

#endif
