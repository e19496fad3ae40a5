// SPDX-License-Identifier: BSD-3-Clause
// The files that `sluice new-module` writes.

#ifndef SLUICE_CLI_NEW_MODULE_H
#define SLUICE_CLI_NEW_MODULE_H

struct new_module_file {
	const char *name;
	const char *text;
};

extern const struct new_module_file new_module_files[]; // ends with a nameless row

#endif
