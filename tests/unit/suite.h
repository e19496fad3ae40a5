// SPDX-License-Identifier: BSD-3-Clause
// One CUnit suite a file: an array of cases and SUITE(). All files of tests/unit/ link into one
// program.

#ifndef SLUICE_TESTS_SUITE_H
#define SLUICE_TESTS_SUITE_H

#include <stdbool.h>

#include <CUnit/CUnit.h>

// CUnit's fatal assertions end a test by longjmp(), which an analyzer of one file cannot see.
#ifdef __clang_analyzer__
_Noreturn void suite_leave(void);
#define CU_assertImplementation(VALUE, LINE, TEXT, FILE, FUNCTION, FATAL)                          \
	((VALUE) || !(FATAL) ? (void)0 : suite_leave())
#endif

struct suite {
	const char *name;
	const CU_TestInfo *cases; // ends with CU_TEST_INFO_NULL
	bool eal;		  // DPDK must run (it is started once, without hugepages)
	struct suite *next;
};

void suite_register(struct suite *);

// Says why a test was not run, and counts it as skipped.
void test_skip(const char *why);

#define SUITE(NAME, CASES, ...)                                                                    \
	static struct suite NAME##_suite = {.name = #NAME, .cases = (CASES), __VA_ARGS__};         \
	__attribute__((constructor)) static void NAME##_suite_register(void)                       \
	{                                                                                          \
		suite_register(&NAME##_suite);                                                     \
	}

#endif
