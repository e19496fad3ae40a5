// SPDX-License-Identifier: BSD-3-Clause
// The tables of table_rig.h, and filling them.

#include "table_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static const char *const modes[] = {"bridge", "router", NULL};

const struct param kinds[] = {
    PARAM(kinds, yes, .def = "no"),
    PARAM(kinds, u8, .def = "0"),
    PARAM(kinds, u16, .def = "0"),
    PARAM(kinds, u32, .def = "0"),
    PARAM(kinds, size, .def = "4096", .min = 8, .max = 1 << 20),
    PARAM(kinds, u64, .def = "0"),
    PARAM(kinds, i32, .def = "0"),
    PARAM(kinds, level, .def = "0", .min = -5, .max = 5),
    PARAM(kinds, i64, .def = "0"),
    PARAM(kinds, real, .def = "0"),
    PARAM(kinds, share, .def = "0.5", .max = 1),
    PARAM(kinds, text, .def = ""),
    PARAM(kinds, tag, .def = "abc", .min = 2, .max = 4),
    PARAM(kinds, wait, .def = "0s"),
    PARAM(kinds, ageing, .def = "300s", .min = 1000000000, .max = 86400000000000),
    PARAM(kinds, most, .def = "1s", .max = 10000000000),
    PARAM(kinds, buffer, .def = "0"),
    PARAM(kinds, window, .def = "2KiB", .min = 64, .max = 1 << 20),
    PARAM(kinds, rate, .def = "0pps"),
    PARAM(kinds, speed, .def = "1Mpps", .min = 1, .max = 10000000),
    PARAM(kinds, mac, .def = ""),
    PARAM(kinds, net4, .def = "10.0.0.0/8"),
    PARAM(kinds, net6, .def = "2001:db8::/32"),
    PARAM(kinds, from4, .def = ""),
    PARAM(kinds, from6, .def = ""),
    PARAM(kinds, gate, .def = "0"),
    PARAM(kinds, mode, .def = "bridge", .choices = modes),
    PARAM(kinds, hex, .def = ""),
    PARAM(kinds, key, .def = "01 02", .min = 2, .max = 4),
    PARAM(kinds, frame, .def = ""),
    PARAM(kinds, port, .def = ""),
    PARAM_END,
};

const struct param entry_fields[] = {
    PARAM(entry, mac),
    PARAM(entry, gate, .def = "0"),
    PARAM_END,
};

static const char *const field_names[] = {"src", "dst", "proto", NULL};

static const struct param field_fields[] = {
    PARAM(field, what, .choices = field_names),
    PARAM_END,
};

const struct param lists[] = {
    PARAM(lists, size, .help = "must be given"),
    PARAM(lists, entries, .def = "", .max = 2, .fields = entry_fields),
    PARAM(lists, fields, .def = "[src, dst]", .min = 1, .fields = field_fields),
    PARAM_END,
};

static const char *const port_names[] = {"left", "right"};
static const char *const gate_names[] = {"match", "miss", ""};
static const struct table_scope scope = {port_names, 2, gate_names, 3};
static const struct place here = {"t.yaml", 1, 1};

char *table_faults(struct arena *arena, const struct param *table, const char *yaml, void **strct)
{
	struct errors *errors = errors_new();
	struct value *value = yaml_read_text(arena, "t.yaml", yaml, strlen(yaml), errors);
	char *text;

	*strct = table_fill(arena, table, "L2Fwd", here, value, &scope, errors);
	CU_ASSERT_EQUAL(*strct == NULL, errors_count(errors) > 0);
	text = errors_text(errors);
	errors_free(errors);
	return text;
}

void expect_text(const char *found, const char *wanted, const char *what)
{
	if (strcmp(found, wanted) != 0)
		printf("\n%s\n  gives  %s\n  wanted %s\n", what, found, wanted);
	CU_ASSERT_STRING_EQUAL(found, wanted);
}

void expect_faults(const struct param *table, const char *yaml, const char *wanted)
{
	struct arena *arena = arena_new();
	void *strct;
	char *found = table_faults(arena, table, yaml, &strct);

	expect_text(found, wanted, yaml);
	free(found);
	arena_free(arena);
}
