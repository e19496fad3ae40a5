// SPDX-License-Identifier: BSD-3-Clause
// Parameter tables: types and ranges in words, and the way back from a struct to what a user would
// write.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "table_rig.h"

static void test_words(void)
{
	struct arena *arena = arena_new();
	static const struct {
		const struct param *table;
		unsigned row;
		const char *type;
		const char *range;
	} list[] = {
	    {lists, 0, "number", ""},
	    {lists, 1, "list of {mac, gate}", "at most 2 items, default empty"},
	    {lists, 2, "list of src|dst|proto", "at least 1 item, default [src, dst]"},
	    {kinds, 0, "true|false", "default no"},
	    {kinds, 1, "number", "0 to 255, default 0"},
	    {kinds, 4, "number", "8 to 1048576, default 4096"},
	    {kinds, 9, "decimal number", "default 0"},
	    {kinds, 14, "duration", "1s to 24h, default 300s"},
	    {kinds, 17, "size", "64B to 1MiB, default 2KiB"},
	    {kinds, 19, "rate", "1pps to 10Mpps, default 1Mpps"},
	    {kinds, 26, "bridge|router", "default bridge"},
	    {kinds, 28, "hex", "2 to 4 bytes, default 01 02"},
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		const struct param *row = &list[i].table[list[i].row];

		expect_text(table_type_name(arena, row), list[i].type, row->name);
		expect_text(table_range_text(arena, row), list[i].range, row->name);
	}
	CU_ASSERT_EQUAL(table_length(lists), 3);
	CU_ASSERT_EQUAL(table_length(NULL), 0);
	arena_free(arena);
}

static char *yaml_of(const struct value *value)
{
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);

	value_write_yaml(value, file);
	fclose(file);
	return text;
}

// What is printed reads back to an equal struct.
static void round_trip(const struct param *table, const char *yaml)
{
	struct arena *arena = arena_new();
	void *first;
	void *second;
	char *found = table_faults(arena, table, yaml, &first);
	char *printed;

	expect_text(found, "", yaml);
	free(found);
	for (unsigned brief = 0; first && brief < 2; brief++) {
		printed = yaml_of(table_value(arena, table, first, brief));
		found = table_faults(arena, table, printed, &second);
		expect_text(found, "", printed);
		CU_ASSERT_TRUE(second && table_equal(table, first, second));
		free(found);
		free(printed);
	}
	arena_free(arena);
}

static void test_round_trips(void)
{
	round_trip(kinds, "{}");
	round_trip(kinds,
		   "{yes: on, u8: 1, u64: 18446744073709551615, i32: -7, real: 0.1, text: 'a: "
		   "b', tag: '12', wait: 1500ms, buffer: 1500, rate: 1.5Gbps}");
	round_trip(kinds, "{mac: 02:00:00:00:00:01, net4: 10.0.0.0/8, net6: '2001:db8::/32', gate: "
			  "miss, mode: router, hex: 0102, frame: ether / ipv4 / udp, port: left}");
	round_trip(kinds, "{text: 'true', tag: '~'' ', hex: '', port: ''}");
	round_trip(lists,
		   "{size: 1, entries: [{mac: 02:00:00:00:00:01, gate: 1}], fields: [proto]}");
	round_trip(lists, "{size: 1, entries: []}");
}

static void test_brief(void)
{
	struct arena *arena = arena_new();
	void *strct;
	char *found = table_faults(
	    arena, lists, "{size: 4, entries: ['02:00:00:00:00:01'], fields: [src, dst]}", &strct);
	struct value *value;

	free(found);
	CU_ASSERT_PTR_NOT_NULL_FATAL(strct);
	value = table_value(arena, lists, strct, true);
	CU_ASSERT_EQUAL(value->n, 2);
	CU_ASSERT_STRING_EQUAL(value_get(value, "size")->text, "4");
	CU_ASSERT_STRING_EQUAL(value_get(value_get(value, "entries")->items[0], "mac")->text,
			       "02:00:00:00:00:01");
	CU_ASSERT_PTR_NULL(value_get(value, "fields"));
	value = table_value(arena, lists, strct, false);
	CU_ASSERT_EQUAL(value->n, 3);
	CU_ASSERT_STRING_EQUAL(value_get(value, "fields")->items[1]->text, "dst");
	arena_free(arena);
}

static void test_equal(void)
{
	static const char *const texts[] = {
	    "{}",
	    "{yes: yes}",
	    "{real: 1}",
	    "{text: a}",
	    "{rate: 1pps}",
	    "{rate: 1bps}",
	    "{mac: 02:00:00:00:00:01}",
	    "{net4: 11.0.0.0/8}",
	    "{net4: 10.0.0.0/9}",
	    "{net6: 'fe80::'}",
	    "{from4: 10.0.0.0/8}",
	    "{gate: 1}",
	    "{mode: router}",
	    "{hex: 00}",
	    "{frame: 00}",
	    "{port: left}",
	    "{port: right}",
	};
	const unsigned n = sizeof(texts) / sizeof(texts[0]);
	struct arena *arena = arena_new();
	void *a;
	void *b;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++) {
			free(table_faults(arena, kinds, texts[i], &a));
			free(table_faults(arena, kinds, texts[j], &b));
			if (!a || !b || table_equal(kinds, a, b) != (i == j))
				printf("\n%s and %s\n", texts[i], texts[j]);
			CU_ASSERT_TRUE(a && b && table_equal(kinds, a, b) == (i == j));
		}
	arena_free(arena);
}

static const CU_TestInfo cases[] = {
    {"types and ranges in words", test_words},
    {"what is printed reads back", test_round_trips},
    {"brief", test_brief},
    {"equal", test_equal},
    CU_TEST_INFO_NULL,
};
SUITE(table_back, cases)
