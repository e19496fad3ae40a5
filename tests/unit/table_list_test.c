// SPDX-License-Identifier: BSD-3-Clause
// Parameter tables: lists, what is unknown, missing or no map at all, and defaults that are wrong.

#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "table_rig.h"

static void test_lists(void)
{
	struct arena *arena = arena_new();
	void *strct;
	char *found = table_faults(arena, lists,
				   "size: 1\n"
				   "entries:\n"
				   "  - {mac: '02:00:00:00:00:01', gate: miss}\n"
				   "  - '02:00:00:00:00:02'\n",
				   &strct);
	const struct lists *got = strct;

	expect_text(found, "", "a good list");
	free(found);
	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	CU_ASSERT_EQUAL_FATAL(got->entries.n, 2);
	CU_ASSERT_EQUAL(param_item(entry, got->entries, 0)->gate.n, 1);
	CU_ASSERT_EQUAL(param_item(entry, got->entries, 1)->mac.addr_bytes[5], 2);
	CU_ASSERT_EQUAL(param_item(entry, got->entries, 1)->gate.n, 0);
	CU_ASSERT_EQUAL_FATAL(got->fields.n, 2);
	CU_ASSERT_EQUAL(param_item(field, got->fields, 1)->what.n, 1);
	arena_free(arena);
}

static void test_list_faults(void)
{
	expect_faults(
	    lists,
	    "entries:\n"
	    "  - {gate: 9}\n"
	    "  - {mac: x, gat: 1}\n"
	    "fields: [src, dest, [src]]\n",
	    "t.yaml:1:1: error: L2Fwd: size is missing, it should be a number from 0 to "
	    "4294967295\n"
	    "t.yaml:2:5: error: L2Fwd: entries[0].mac is missing, it should be " MAC_EG "\n"
	    "t.yaml:2:12: error: L2Fwd: entries[0].gate: \"9\" is out of range, it should "
	    "be 0 to 2\n"
	    "t.yaml:3:11: error: L2Fwd: entries[1].mac: \"x\" is not " MAC_EG "\n"
	    "t.yaml:3:14: error: L2Fwd: entries[1]: \"gat\" is not a parameter; did you "
	    "mean \"gate\"?\n"
	    "t.yaml:4:15: error: L2Fwd: fields[1].what: \"dest\" is not one of src, dst, "
	    "proto; did you mean \"dst\"?\n"
	    "t.yaml:4:21: error: L2Fwd: fields[2].what: a list is given, it should be one "
	    "of src, dst, proto\n");
	expect_faults(lists, "{size: 1, fields: []}",
		      "t.yaml:1:19: error: L2Fwd: fields: has 0 items, it should have at least 1 "
		      "item\n");
	expect_faults(lists, "{size: 1, entries: [a, b, c]}",
		      "t.yaml:1:20: error: L2Fwd: entries: has 3 items, it should have at most 2 "
		      "items\n");
	expect_faults(lists, "{size: 1, entries: x, fields: {a: 1}}",
		      "t.yaml:1:20: error: L2Fwd: entries: the text \"x\" is given, it should be a "
		      "list of {mac, gate}\n"
		      "t.yaml:1:31: error: L2Fwd: fields: a map is given, it should be a list of "
		      "src|dst|proto\n");
	expect_faults(
	    lists, "{size: 1, entries: }",
	    "t.yaml:1:20: error: L2Fwd: entries: nothing is given, it should be a list of "
	    "{mac, gate}\n");
}

static void test_wholes(void)
{
	static const struct param one[] = {PARAM(lists, size, .def = "1"), PARAM_END};

	expect_faults(lists, "{size: 1, sise: 2, other: 3}",
		      "t.yaml:1:11: error: L2Fwd: \"sise\" is not a parameter; did you mean "
		      "\"size\"?\n"
		      "t.yaml:1:20: error: L2Fwd: \"other\" is not a parameter; there are size, "
		      "entries, fields\n");
	expect_faults(one, "{other: 3}",
		      "t.yaml:1:2: error: L2Fwd: \"other\" is not a parameter; there is size\n");
	expect_faults(NULL, "{other: 3}",
		      "t.yaml:1:2: error: L2Fwd: \"other\" is not a parameter; it takes none\n");
	expect_faults(lists, "4096",
		      "t.yaml:1:1: error: L2Fwd: the text \"4096\" is given, it should be a map of "
		      "parameters (size, entries, fields)\n");
	expect_faults(NULL, "[1]",
		      "t.yaml:1:1: error: L2Fwd: a list is given, it takes no parameters\n");
	expect_faults(one, "{}", "");
	expect_faults(one, "~", "");
	expect_faults(NULL, "{}", "");
}

static void test_bad_defaults(void)
{
	static const struct param bad[] = {
	    PARAM(lists, size, .def = "0", .min = 1, .max = 9),
	    PARAM(lists, entries, .def = "[", .fields = entry_fields),
	    PARAM_END,
	};
	struct arena *arena = arena_new();
	void *strct;
	char *found = table_faults(arena, bad, "{}", &strct);

	CU_ASSERT_PTR_NOT_NULL(strstr(found, "t.yaml:1:1: error: L2Fwd: size: the default in its "
					     "table is wrong: \"0\" is out of range, it should be "
					     "1 to 9\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(found, "L2Fwd: entries: the default in its table is wrong: "
					     "\"[\" is not YAML\n"));
	free(found);
	arena_free(arena);
}

static const CU_TestInfo cases[] = {
    {"lists", test_lists},
    {"faults in lists", test_list_faults},
    {"unknown, missing, no map", test_wholes},
    {"bad defaults", test_bad_defaults},
    CU_TEST_INFO_NULL,
};
SUITE(table_list, cases)
