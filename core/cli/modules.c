// SPDX-License-Identifier: BSD-3-Clause
// sluice modules: the reference of the modules, from their tables.

#include "cli/cli.h"
#include "cli/reference.h"

static json_t *modules_all(void)
{
	const struct module_type **list;
	unsigned n = module_list(&list);
	json_t *all = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(all, reference_module(list[i]));
	return all;
}

static const struct reference modules_reference = {
    .what = "module",
    .doc = "Lists the modules, or tells all about one: gates, parameters, commands, counters, "
	   "drop reasons and an example.",
    .all = modules_all,
};

static int modules_run(int argc, char **argv)
{
	return reference_run(&modules_reference, argc, argv);
}

const struct subcommand cli_modules = {
    .name = "modules",
    .args = "[NAME] [--module PATH]... [--format text|markdown|json] [--json]",
    .help = "lists the modules, or tells all about one",
    .run = modules_run,
};
