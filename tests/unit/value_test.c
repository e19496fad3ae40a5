// SPDX-License-Identifier: BSD-3-Clause
// Values: builders, look-ups, descriptions, suggestions, the writer, and arenas below them.

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "value/value.h"

static const struct place nowhere = {"f", 1, 1};

static void test_arena(void)
{
	struct arena *arena = arena_new();
	char *text;

	for (size_t size = 0; size < 100000; size = size * 3 + 1) {
		unsigned char *bytes = arena_alloc(arena, size);
		bool zeroed = true;

		CU_ASSERT_EQUAL((uintptr_t)bytes % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			zeroed = zeroed && !bytes[i];
		CU_ASSERT_TRUE(zeroed);
		memset(bytes, 0xff, size);
	}
	CU_ASSERT_STRING_EQUAL(arena_strdup(arena, ""), "");
	CU_ASSERT_STRING_EQUAL(arena_strndup(arena, "abc", 2), "ab");
	CU_ASSERT_STRING_EQUAL(arena_strndup(arena, "abc", 9), "abc");
	text = arena_printf(arena, "%0*d", 50000, 7);
	CU_ASSERT_EQUAL(strlen(text), 50000);
	CU_ASSERT_STRING_EQUAL(text + 49998, "07");
	arena_free(arena);
	arena_free(NULL);
	for (size_t size = 0; size < 200; size++) {
		unsigned char *lines = memory_lines(size);

		CU_ASSERT_EQUAL((uintptr_t)lines % 64, 0);
		CU_ASSERT_EQUAL(lines[0] | lines[size / 2] | lines[size], 0);
		free(lines);
	}
	text = memory_new(0, 5);
	text = memory_grow(text, 10, 1);
	CU_ASSERT_PTR_NOT_NULL(text);
	free(text);
}

static void test_builders(void)
{
	struct arena *arena = arena_new();
	struct value *map = value_new(arena, VALUE_MAP, nowhere);
	struct value *list = value_new(arena, VALUE_LIST, nowhere), *copy;
	size_t budget = 202;
	char text[16] = "text";

	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "k%u", i);
		value_append(arena, list, value_scalar(arena, nowhere, text));
		value_put(arena, map, text, (struct place){"f", i, 1}, list->items[i]);
	}
	CU_ASSERT_EQUAL(list->n, 100);
	CU_ASSERT_EQUAL(map->n, 100);
	CU_ASSERT_STRING_EQUAL(list->items[63]->text, "k63");
	CU_ASSERT_PTR_EQUAL(value_get(map, "k64"), list->items[64]);
	CU_ASSERT_EQUAL(value_member(map, "k99")->place.line, 99);
	value_put(arena, map, "k5", (struct place){"f", 200, 1}, list);
	CU_ASSERT_EQUAL(map->n, 100);
	CU_ASSERT_PTR_EQUAL(value_get(map, "k5"), list);
	CU_ASSERT_EQUAL(value_member(map, "k5")->place.line, 200);
	CU_ASSERT_PTR_NULL(value_get(map, "k100"));
	CU_ASSERT_PTR_NULL(value_get(list, "k1"));
	CU_ASSERT_PTR_NULL(value_get(NULL, "k1"));
	copy = value_copy(arena, map, &budget);
	CU_ASSERT_EQUAL(budget, 1);
	CU_ASSERT_PTR_NOT_EQUAL(value_get(copy, "k5"), list);
	CU_ASSERT_EQUAL(value_get(copy, "k5")->n, 100);
	// A copy may grow like its model.
	value_put(arena, copy, "more", nowhere, list);
	CU_ASSERT_EQUAL(copy->n, 101);
	CU_ASSERT_EQUAL(map->n, 100);
	budget = 200;
	CU_ASSERT_PTR_NULL(value_copy(arena, map, &budget));
	arena_free(arena);
}

static void test_paths(void)
{
	static const char text[] = "{a: {b-c: [1, {d: 2}]}, ab: 3}";
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *tree = yaml_read_text(arena, "f", text, strlen(text), errors);
	const struct value *list = value_get(value_get(tree, "a"), "b-c");

	CU_ASSERT_PTR_EQUAL(value_at(tree, ""), tree);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "a.b-c"), list);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "a.b-c[0]"), list->items[0]);
	CU_ASSERT_STRING_EQUAL(value_at(tree, "a.b-c[1].d")->text, "2");
	CU_ASSERT_STRING_EQUAL(value_at(tree, "a.b-c[1].d.e[4]")->text, "2");
	CU_ASSERT_PTR_EQUAL(value_at(tree, "a.b-c[2].d"), list);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "a.b-c[-1]"), list);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "a.b-c[99999999999999999999]"), list);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "a.b-c[]"), list);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "a.b-c[0"), list);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "[0]"), tree);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "x.y"), tree);
	CU_ASSERT_PTR_EQUAL(value_at(tree, "abc"), tree);
	CU_ASSERT_PTR_NULL(value_at(NULL, "a"));
	arena_free(arena);
	errors_free(errors);
}

static void test_describe(void)
{
	struct arena *arena = arena_new();
	struct value *text = value_scalar(arena, nowhere, "12x");

	CU_ASSERT_STRING_EQUAL(value_describe(arena, NULL), "nothing");
	CU_ASSERT_STRING_EQUAL(value_describe(arena, value_new(arena, VALUE_NULL, nowhere)),
			       "nothing");
	CU_ASSERT_STRING_EQUAL(value_describe(arena, value_new(arena, VALUE_LIST, nowhere)),
			       "a list");
	CU_ASSERT_STRING_EQUAL(value_describe(arena, value_new(arena, VALUE_MAP, nowhere)),
			       "a map");
	CU_ASSERT_STRING_EQUAL(value_describe(arena, text), "the text \"12x\"");
	text->text = "123456789 123456789 123456789 123456789äöü";
	CU_ASSERT_STRING_EQUAL(value_describe(arena, text),
			       "the text \"123456789 123456789 123456789 123456789...\"");
	arena_free(arena);
}

static void expect_near(const char *word, const char *want)
{
	static const char *const words[] = {"PortInc", "PortOut", "MACSwap", "L2Fwd", "size",
					    "ageing",  "rx",	  "tx",	     "",      NULL};
	const char *got = suggest(word, words, sizeof(words) / sizeof(*words));

	if (want)
		CU_ASSERT_STRING_EQUAL(got ? got : "none", want)
	else
		CU_ASSERT_PTR_NULL(got);
}

static void test_suggest(void)
{
	char long_word[200] = "";

	expect_near("PortIn", "PortInc");
	expect_near("macswap", "MACSwap");
	expect_near("MacSwpa", "MACSwap");
	expect_near("L2Fdw", "L2Fwd");
	expect_near("sise", "size");
	expect_near("aging", "ageing");
	expect_near("RX", "rx");
	expect_near("sx", NULL);
	expect_near("Queue", NULL);
	expect_near("", NULL);
	expect_near(NULL, NULL);
	memset(long_word, 'x', sizeof(long_word) - 1);
	expect_near(long_word, NULL);
	CU_ASSERT_PTR_NULL(suggest("a", NULL, 0));
}

static void expect_written(const char *text, const char *want)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *tree = yaml_read_text(arena, "f", text, strlen(text), errors);
	char *got = NULL;
	size_t length;

	for (unsigned round = 0; round < 2; round++) {
		FILE *to = open_memstream(&got, &length);

		CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
		value_write_yaml(tree, to);
		fclose(to);
		if (strcmp(got, want))
			printf("\ngot:  %swant: %s", got, want);
		CU_ASSERT_STRING_EQUAL(got, want);
		tree = yaml_read_text(arena, "f", got, length, errors);
		free(got);
	}
	CU_ASSERT_EQUAL(errors_count(errors), 0);
	arena_free(arena);
	errors_free(errors);
}

static void test_write(void)
{
	expect_written("{vars: {in: tests/web.pcap}, ports: {left: {pcap: {rx: $in}}, r: \"null\"},"
		       "nodes: {rx: {PortInc: {port: left}}, swap: MACSwap},"
		       "graph: ['rx -> swap[1] -> [0]tx'], empty: [[], {}, ~, '', '~']}",
		       "vars:\n"
		       "  in: tests/web.pcap\n"
		       "ports:\n"
		       "  left: {pcap: {rx: $in}}\n"
		       "  r: \"null\"\n"
		       "nodes:\n"
		       "  rx: {PortInc: {port: left}}\n"
		       "  swap: MACSwap\n"
		       "graph:\n"
		       "- rx -> swap[1] -> [0]tx\n"
		       "empty:\n"
		       "- []\n"
		       "- {}\n"
		       "- ~\n"
		       "- \"\"\n"
		       "- \"~\"\n");
	expect_written("a: ['5', 5, 'true', true, 'a: b', '- c', ' d ', \"e\\nf\", '#', \"\\x7f\"]",
		       "a:\n"
		       "- \"5\"\n"
		       "- 5\n"
		       "- \"true\"\n"
		       "- true\n"
		       "- 'a: b'\n"
		       "- \"- c\"\n"
		       "- ' d '\n"
		       "- \"e\\nf\"\n"
		       "- '#'\n"
		       "- \"\\x7F\"\n");
	expect_written("plain", "plain\n");
	expect_written("~", "~\n");
}

static void test_write_bad_text(void)
{
	struct arena *arena = arena_new();
	struct value *list = value_new(arena, VALUE_LIST, nowhere);
	char *got = NULL;
	size_t length;
	FILE *to = open_memstream(&got, &length);

	value_append(arena, list, value_scalar(arena, nowhere, "a\xff"));
	value_write_yaml(list, to);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(got, "- a?\n");
	free(got);
	arena_free(arena);
}

static void test_write_parts(void)
{
	struct arena *arena = arena_new();
	struct value *list = value_new(arena, VALUE_LIST, nowhere);
	char *whole = NULL, part[70];
	size_t length, n;
	FILE *to = open_memstream(&whole, &length);

	for (unsigned i = 0; i < 5000; i++) {
		struct value *map = value_new(arena, VALUE_MAP, nowhere);

		value_put(arena, map, "number", nowhere,
			  value_scalar(arena, nowhere, arena_printf(arena, "%u", i)));
		value_append(arena, list, map);
	}
	value_write_yaml(list, to);
	fclose(to);
	for (size_t max = 1; max <= sizeof(part); max += 23) {
		struct yaml_writer *writer = yaml_writer_new(list);
		size_t at = 0;

		while ((n = yaml_writer_take(writer, part, max)) > 0) {
			CU_ASSERT_FATAL(n <= max && at + n <= length);
			CU_ASSERT(!memcmp(whole + at, part, n));
			at += n;
		}
		CU_ASSERT_EQUAL(at, length);
		CU_ASSERT_EQUAL(yaml_writer_take(writer, part, max), 0);
		yaml_writer_free(writer);
	}
	// Whoever lets go before the end.
	struct yaml_writer *writer = yaml_writer_new(list);

	CU_ASSERT_EQUAL(yaml_writer_take(writer, part, 10), 10);
	yaml_writer_free(writer);
	free(whole);
	arena_free(arena);
}

static const CU_TestInfo cases[] = {
    {"arena", test_arena},
    {"builders and copies", test_builders},
    {"paths", test_paths},
    {"descriptions", test_describe},
    {"suggestions", test_suggest},
    {"written as YAML and read back", test_write},
    {"text that is no UTF-8", test_write_bad_text},
    {"written in parts", test_write_parts},
    CU_TEST_INFO_NULL,
};
SUITE(value, cases)
