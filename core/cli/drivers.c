// SPDX-License-Identifier: BSD-3-Clause
// sluice drivers: the reference of the drivers, from their tables.

#include "cli/cli.h"
#include "cli/reference.h"

static json_t *drivers_all(void)
{
	const struct driver_type **list;
	unsigned n = driver_list(&list);
	json_t *all = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(all, reference_driver(list[i]));
	return all;
}

static const struct reference drivers_reference = {
    .what = "driver",
    .doc = "Lists the drivers of ports, or tells all about one: parameters and an example.",
    .all = drivers_all,
};

static int drivers_run(int argc, char **argv)
{
	return reference_run(&drivers_reference, argc, argv);
}

const struct subcommand cli_drivers = {
    .name = "drivers",
    .args = "[NAME] [--module PATH]... [--format text|markdown|json] [--json]",
    .help = "lists the drivers of ports, or tells all about one",
    .run = drivers_run,
};
