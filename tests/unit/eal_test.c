// SPDX-License-Identifier: BSD-3-Clause
// Which arguments EAL gets, what is refused once it runs, and what DPDK says.

#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "port/eal.h"
#include "port/eallog.h"
#include "suite.h"
#include "value/errors.h"

static bool line_has(const struct eal_wishes *wishes, const char *text)
{
	char *line = eal_command_line(wishes);
	bool has = strstr(line, text);

	free(line);
	return has;
}

static void test_arguments(void)
{
	struct eal_wishes wishes = {.memory_bytes = 100 << 20, .more = "--no-huge"};

	CU_ASSERT(line_has(&wishes, "--no-huge"));
	CU_ASSERT(line_has(&wishes, "--no-shconf"));
	CU_ASSERT(!line_has(&wishes, "--in-memory"));
	CU_ASSERT(line_has(&wishes, "--lcores=0@("));
	CU_ASSERT(line_has(&wishes, "--no-pci"));
	CU_ASSERT(line_has(&wishes, "--no-telemetry"));
	CU_ASSERT(line_has(&wishes, "--log-level=error"));
	CU_ASSERT(line_has(&wishes, " -m157 "));
	wishes.more = "--in-memory";
	CU_ASSERT(!line_has(&wishes, "--no-huge"));
	CU_ASSERT(!line_has(&wishes, "--no-shconf"));
	CU_ASSERT(line_has(&wishes, "--single-file-segments"));
}

static void test_pci(void)
{
	struct eal_wishes wishes = {.pci = true, .more = "--no-huge"};

	CU_ASSERT(!line_has(&wishes, "--no-pci"));
	CU_ASSERT(line_has(&wishes, "--allow="));
	wishes.more = "--no-huge -a 0000:03:00.0";
	CU_ASSERT(!line_has(&wishes, "--allow="));
	CU_ASSERT(line_has(&wishes, "-a 0000:03:00.0"));
}

// What a user gives replaces ours.
static void test_more(void)
{
	struct eal_wishes wishes = {.more = "--no-huge -l 0 -m 512 --log-level=debug"};

	CU_ASSERT(!line_has(&wishes, "--lcores"));
	CU_ASSERT(!line_has(&wishes, "-m128"));
	CU_ASSERT(!line_has(&wishes, "--log-level=error"));
	wishes.more = "--no-huge -l0 -m512";
	CU_ASSERT(!line_has(&wishes, "--lcores"));
	CU_ASSERT(!line_has(&wishes, "-m128"));
	wishes.more = "--file-prefix=mine --no-huge";
	CU_ASSERT(!line_has(&wishes, "--file-prefix=sluice"));
	CU_ASSERT(!line_has(&wishes, "--no-shconf"));
}

static void test_running(void)
{
	struct errors *errors = errors_new();
	struct eal_wishes wishes = {.memory_bytes = 1 << 20};
	char *text;

	CU_ASSERT(eal_running());
	CU_ASSERT(!eal_hugepages());
	CU_ASSERT_EQUAL(eal_start(&wishes, errors), 0);
	CU_ASSERT_EQUAL(errors_count(errors), 0);
	wishes.memory_bytes = UINT64_C(1) << 50;
	wishes.pci = true;
	CU_ASSERT_EQUAL(eal_start(&wishes, errors), -1);
	CU_ASSERT_EQUAL(errors_exit_code(errors), 3);
	text = errors_text(errors);
	CU_ASSERT(strstr(text, "without the PCI bus") != NULL);
	CU_ASSERT(strstr(text, "1073741824 MiB of memory are needed") != NULL);
	free(text);
	errors_free(errors);
}

// The thread that starts EAL is not pinned, and none of ours is taken for a worker.
static void test_threads(void)
{
	CU_ASSERT_EQUAL(rte_lcore_count(), 1);
	CU_ASSERT_EQUAL(rte_eth_dev_count_avail(), 0);
}

static void test_log(void)
{
	struct eallog_caught outer;
	struct eallog_caught inner;
	char reason[EALLOG_CAUGHT_MAX];

	eallog_catch_begin(&outer);
	CU_ASSERT_STRING_EQUAL(eallog_reason(&outer, reason, sizeof(reason)), "");
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_EAL, "EAL: one thing\n");
	eallog_catch_begin(&inner);
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_EAL, "some_function(): another\n");
	rte_log(RTE_LOG_INFO, RTE_LOGTYPE_EAL, "not an error\n");
	eallog_catch_end(&inner);
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_EAL, "EAL: one thing\n");
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_EAL, "EAL: PCI: a third\n");
	eallog_catch_end(&outer);
	CU_ASSERT_STRING_EQUAL(eallog_reason(&outer, reason, sizeof(reason)),
			       ": one thing; a third");
	CU_ASSERT_STRING_EQUAL(eallog_reason(&inner, reason, sizeof(reason)), ": another");
}

static void test_log_full(void)
{
	struct eallog_caught caught;
	char reason[64];

	eallog_catch_begin(&caught);
	for (unsigned i = 0; i < 1000; i++)
		rte_log(RTE_LOG_ERR, RTE_LOGTYPE_EAL, "line %u\n", i);
	eallog_catch_end(&caught);
	CU_ASSERT(caught.length < sizeof(caught.text));
	CU_ASSERT_EQUAL(strlen(caught.text), caught.length);
	eallog_reason(&caught, reason, sizeof(reason));
	CU_ASSERT_EQUAL(strlen(reason), sizeof(reason) - 1);
}

static const CU_TestInfo cases[] = {
    {"arguments without and with hugepages", test_arguments},
    {"arguments with the PCI bus", test_pci},
    {"arguments of the user's own", test_more},
    {"what a running EAL refuses", test_running},
    {"threads", test_threads},
    {"messages are caught", test_log},
    {"more messages than there is room for", test_log_full},
    CU_TEST_INFO_NULL,
};
SUITE(eal, cases, .eal = true)
