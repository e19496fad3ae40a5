// SPDX-License-Identifier: BSD-3-Clause
// Runs the suites: all, or those named on the command line. Ends with CUnit's summary.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/Basic.h>

#include "port/eal.h"
#include "suite.h"
#include "value/errors.h"

static struct suite *suites;
static unsigned skipped;

void suite_register(struct suite *suite)
{
	struct suite **at = &suites;

	while (*at && strcmp((*at)->name, suite->name) < 0)
		at = &(*at)->next;
	suite->next = *at;
	*at = suite;
}

void test_skip(const char *why)
{
	skipped++;
	printf("skipped: %s ", why);
}

static bool wanted(const struct suite *suite, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(suite->name, argv[i]))
			return true;
	return argc < 2;
}

static void eal_need(void)
{
	struct errors *errors = errors_new();
	struct eal_wishes wishes = {.memory_bytes = 256 << 20, .more = "--no-huge"};

	if (eal_start(&wishes, errors)) {
		errors_print(errors, stderr);
		exit(EXIT_FAILURE);
	}
	errors_free(errors);
}

int main(int argc, char **argv)
{
	unsigned failures;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS)
		return EXIT_FAILURE;
	for (struct suite *suite = suites; suite; suite = suite->next) {
		CU_pSuite at;

		if (!wanted(suite, argc, argv))
			continue;
		if (suite->eal)
			eal_need();
		at = CU_add_suite(suite->name, NULL, NULL);
		for (const CU_TestInfo *test = suite->cases; test->pName; test++)
			CU_add_test(at, test->pName, test->pTestFunc);
	}
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures() + CU_get_number_of_suites_failed();
	CU_cleanup_registry();
	printf("skipped: %u\n", skipped);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
