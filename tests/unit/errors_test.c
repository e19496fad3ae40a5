// SPDX-License-Identifier: BSD-3-Clause
// Errors: their form, order, doubles and exit code, and the place that a parameter's path gives.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "value/errors.h"
#include "value/value.h"

static void expect(struct errors *errors, const char *text)
{
	char *got = errors_text(errors);

	if (strcmp(got, text))
		printf("\ngot:  %swant: %s", got, text);
	CU_ASSERT_STRING_EQUAL(got, text);
	free(got);
	errors_free(errors);
}

static void test_none(void)
{
	struct errors *errors = errors_new();

	CU_ASSERT_EQUAL(errors_count(errors), 0);
	CU_ASSERT_EQUAL(errors_exit_code(errors), 0);
	expect(errors, "");
	errors_free(NULL);
}

static void test_form(void)
{
	struct errors *errors = errors_new();

	error_at(errors, (struct place){"a.yaml", 3, 7}, "%d is %s", 5, "odd");
	error_at(errors, (struct place){"a.lua", 3, 0}, "a line");
	error_at(errors, (struct place){"a.pcap", 0, 0}, "a file");
	error_at(errors, (struct place){NULL, 0, 0}, "no place");
	error_at(errors, (struct place){NULL, 4, 4}, "no file");
	expect(errors, "a.yaml:3:7: error: 5 is odd\n"
		       "a.lua:3: error: a line\n"
		       "a.pcap: error: a file\n"
		       "error: no place\n"
		       "error: no file\n");
}

static void test_order(void)
{
	struct errors *errors = errors_new();

	error_at(errors, (struct place){"z.yaml", 10, 1}, "fourth");
	error_at(errors, (struct place){"a.yaml", 1, 1}, "fifth");
	error_at(errors, (struct place){"z.yaml", 9, 5}, "third");
	error_at(errors, (struct place){"z.yaml", 9, 1}, "second, but said first");
	error_at(errors, (struct place){"z.yaml", 9, 1}, "a second");
	error_at(errors, (struct place){"z.yaml", 0, 0}, "first");
	expect(errors, "z.yaml: error: first\n"
		       "z.yaml:9:1: error: second, but said first\n"
		       "z.yaml:9:1: error: a second\n"
		       "z.yaml:9:5: error: third\n"
		       "z.yaml:10:1: error: fourth\n"
		       "a.yaml:1:1: error: fifth\n");
}

static void test_doubles(void)
{
	struct errors *errors = errors_new();
	char name[] = "a.yaml";

	error_at(errors, (struct place){"a.yaml", 1, 1}, "same");
	error_at(errors, (struct place){"a.yaml", 1, 1}, "other");
	error_at(errors, (struct place){name, 1, 1}, "same");
	error_at(errors, (struct place){"a.yaml", 1, 2}, "same");
	// The name is copied.
	memset(name, 'x', sizeof(name) - 1);
	expect(errors, "a.yaml:1:1: error: same\n"
		       "a.yaml:1:1: error: other\n"
		       "a.yaml:1:2: error: same\n");
}

static void test_controls_are_shown(void)
{
	struct errors *errors = errors_new();

	error_at(errors, (struct place){"a.yaml", 1, 1}, "\x1b[31m \n\t\r\x7f ä");
	expect(errors, "a.yaml:1:1: error: \\x1b[31m \\n\\t\\r\\x7f ä\n");
}

static void test_many(void)
{
	struct errors *errors = errors_new();
	char *text;

	for (unsigned i = 1000; i > 0; i--)
		error_at(errors, (struct place){"a.yaml", i, 1}, "no %u", i);
	CU_ASSERT_EQUAL(errors_count(errors), 1000);
	text = errors_text(errors);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "a.yaml:999:1: error: no 999\na.yaml:1000:1: "));
	free(text);
	errors_free(errors);
}

static void test_exit_code(void)
{
	struct errors *errors = errors_new();

	error_machine_at(errors, (struct place){"a.yaml", 1, 1}, "no huge pages");
	CU_ASSERT_EQUAL(errors_exit_code(errors), 3);
	error_machine(errors, NULL, "no memory");
	CU_ASSERT_EQUAL(errors_exit_code(errors), 3);
	error_input(errors, NULL, "wrong");
	CU_ASSERT_EQUAL(errors_exit_code(errors), 2);
	error_machine(errors, NULL, "no cores");
	CU_ASSERT_EQUAL(errors_exit_code(errors), 2);
	CU_ASSERT_EQUAL(errors_count(errors), 4);
	errors_free(errors);
}

static void test_subject(void)
{
	static const char text[] = "size: 5\n"
				   "entries:\n"
				   "  - {mac: a}\n"
				   "  - {mac: b, gate: 7}\n"
				   "  - c\n";
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct subject subject = {.type = "L2Fwd", .place = {"a.yaml", 100, 3}};

	subject.written = yaml_read_text(arena, "a.yaml", text, strlen(text), errors);
	errors_about(errors, &subject);
	subject.type = "copied";
	error_input(errors, "size", "is %d", 5);
	error_input(errors, "entries", "all");
	error_input(errors, "entries[1].gate", "seven");
	error_machine(errors, "entries[1].other", "the item");
	error_input(errors, "entries[2].mac", "the first field");
	error_input(errors, "entries[9].mac", "the list");
	error_input(errors, "ageing", "left out");
	error_input(errors, NULL, "all of it");
	errors_about(errors, NULL);
	error_input(errors, "size", "nothing known");
	arena_free(arena);
	expect(errors, "a.yaml:1:7: error: L2Fwd: size: is 5\n"
		       "a.yaml:3:3: error: L2Fwd: entries: all\n"
		       "a.yaml:3:3: error: L2Fwd: entries[9].mac: the list\n"
		       "a.yaml:4:5: error: L2Fwd: entries[1].other: the item\n"
		       "a.yaml:4:20: error: L2Fwd: entries[1].gate: seven\n"
		       "a.yaml:5:5: error: L2Fwd: entries[2].mac: the first field\n"
		       "a.yaml:100:3: error: L2Fwd: ageing: left out\n"
		       "a.yaml:100:3: error: L2Fwd: all of it\n"
		       "error: nothing known\n");
}

static void test_subject_bare(void)
{
	struct errors *errors = errors_new();
	struct subject subject = {.type = "null", .place = {"a.yaml", 2, 3}};

	errors_about(errors, &subject);
	error_input(errors, "size", "none written");
	subject.type = NULL;
	errors_about(errors, &subject);
	error_input(errors, "size", "no type");
	expect(errors, "a.yaml:2:3: error: null: size: none written\n"
		       "a.yaml:2:3: error: no type\n");
}

static const CU_TestInfo cases[] = {
    {"none", test_none},
    {"form", test_form},
    {"order of the files, lines and columns", test_order},
    {"doubles are removed", test_doubles},
    {"control characters are shown", test_controls_are_shown},
    {"many", test_many},
    {"exit code", test_exit_code},
    {"place and prefix of a subject", test_subject},
    {"subject without parameters or type", test_subject_bare},
    CU_TEST_INFO_NULL,
};
SUITE(errors, cases)
