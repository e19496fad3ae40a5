// SPDX-License-Identifier: BSD-3-Clause
// Numbers and quantities for the command line: what they are, and the phrase when they are not.

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "value/scalar.h"
#include "value/table.h"

struct attempt {
	const char *text;
	uint64_t n;
	const char *why; // NULL: it is good
};

static void expect(const struct attempt *a, bool good, uint64_t n, const char *why)
{
	if (good != !a->why || (good ? n != a->n : strcmp(why, a->why) != 0))
		printf("\n\"%s\" gives %" PRIu64 " %s\n", a->text, n, good ? "" : why);
	CU_ASSERT_EQUAL_FATAL(good, !a->why);
	if (good)
		CU_ASSERT_EQUAL(n, a->n);
	if (!good)
		CU_ASSERT_STRING_EQUAL(why, a->why);
}

#define U64_RANGE "is out of range, it should be 0 to 18446744073709551615"

static void test_u64(void)
{
	static const struct attempt list[] = {
	    {"0", 0},
	    {"-0", 0},
	    {"12", 12},
	    {"010", 10},
	    {"0x10", 16},
	    {"0XfF", 255},
	    {"4294967296", 1ull << 32},
	    {"18446744073709551615", UINT64_MAX},
	    {"0xffffffffffffffff", UINT64_MAX},
	    {"18446744073709551616", 0, U64_RANGE},
	    {"0x10000000000000000", 0, U64_RANGE},
	    {"99999999999999999999999999999999999999999", 0, U64_RANGE},
	    {"-1", 0, U64_RANGE},
	    {"-18446744073709551616", 0, U64_RANGE},
	    {"1.5", 0, "is not a whole number"},
	    {"-1.5", 0, "is not a whole number"},
	    {"1.", 0, "is not a number"},
	    {".5", 0, "is not a number"},
	    {"12x", 0, "is not a number"},
	    {"x12", 0, "is not a number"},
	    {"", 0, "is not a number"},
	    {"-", 0, "is not a number"},
	    {"--1", 0, "is not a number"},
	    {"+1", 0, "is not a number"},
	    {" 1", 0, "is not a number"},
	    {"1 ", 0, "is not a number"},
	    {"0x", 0, "is not a number"},
	    {"0xg", 0, "is not a number"},
	    {"1e3", 0, "is not a number"},
	    {"1_000", 0, "is not a number"},
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		uint64_t n = 0;
		const char *why = NULL;
		bool good = parse_u64(list[i].text, &n, &why);

		expect(&list[i], good, n, why);
	}
}

#define T_UNITS "it should be one of ns, us, ms, s, min, h"
#define T_NOT "is not a duration (for example 300s)"
#define T_MOST "is out of range, it should be at most 18446744073709551615ns"
#define T_LEAST "is out of range, it should be at least 0s"

static void test_duration(void)
{
	static const struct attempt list[] = {
	    {"1ns", 1},
	    {"1us", 1000},
	    {"1ms", 1000000},
	    {"1s", 1000000000},
	    {"1min", 60000000000},
	    {"1h", 3600000000000},
	    {"0s", 0},
	    {"-0s", 0},
	    {"1.5s", 1500000000},
	    {"0.000000001s", 1},
	    {"1.50h", 5400000000000},
	    {"18446744073709551615ns", UINT64_MAX},
	    {"18446744073709551616ns", 0, T_MOST},
	    {"5124096h", 0, T_MOST},
	    {"99999999999999999999999999999h", 0, T_MOST},
	    {"-1s", 0, T_LEAST},
	    {"-99999999999999999999999s", 0, T_LEAST},
	    {"0.5ns", 0, "is not a whole number of nanoseconds"},
	    {"0.0000000001s", 0, "is not a whole number of nanoseconds"},
	    {"1.0000000000000000000000000s", 0, "is not a whole number of nanoseconds"},
	    {"300", 0, "has no unit, " T_UNITS},
	    {"0", 0, "has no unit, " T_UNITS},
	    {"300 s", 0, "has an unknown unit, " T_UNITS},
	    {"300S", 0, "has an unknown unit, " T_UNITS},
	    {"300sec", 0, "has an unknown unit, " T_UNITS},
	    {"1KiB", 0, "has an unknown unit, " T_UNITS},
	    {"1s1", 0, "has an unknown unit, " T_UNITS},
	    {"soon", 0, T_NOT},
	    {"s", 0, T_NOT},
	    {"", 0, T_NOT},
	    {"-", 0, T_NOT},
	    {"1.s", 0, T_NOT},
	    {".5s", 0, T_NOT},
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct duration duration = {0};
		const char *why = NULL;
		bool good = parse_duration(list[i].text, &duration, &why);

		expect(&list[i], good, duration.ns, why);
	}
}

#define B_MOST "is out of range, it should be at most 18446744073709551615B"

static void test_bytes(void)
{
	static const struct attempt list[] = {
	    {"0", 0},
	    {"1500", 1500},
	    {"1B", 1},
	    {"1KiB", 1024},
	    {"1MiB", 1 << 20},
	    {"1GiB", 1 << 30},
	    {"1kB", 1000},
	    {"1MB", 1000000},
	    {"1GB", 1000000000},
	    {"1.5KiB", 1536},
	    {"18446744073709551615", UINT64_MAX},
	    {"18446744073709551616", 0, B_MOST},
	    {"17179869184GiB", 0, B_MOST},
	    {"-1", 0, "is out of range, it should be at least 0B"},
	    {"1.5", 0, "is not a whole number of bytes"},
	    {"0.0001KiB", 0, "is not a whole number of bytes"},
	    {"1KB", 0, "has an unknown unit, it should be one of B, KiB, MiB, GiB, kB, MB, GB"},
	    {"1s", 0, "has an unknown unit, it should be one of B, KiB, MiB, GiB, kB, MB, GB"},
	    {"big", 0, "is not a size (for example 2KiB)"},
	    {"", 0, "is not a size (for example 2KiB)"},
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct bytes bytes = {0};
		const char *why = NULL;
		bool good = parse_bytes(list[i].text, &bytes, &why);

		expect(&list[i], good, bytes.bytes, why);
	}
}

#define R_UNITS "it should be one of pps, kpps, Mpps, Gpps, bps, kbps, Mbps, Gbps"
#define R_MOST "is out of range, it should be at most 18446744073709551615 per second"

static void test_rate(void)
{
	static const struct attempt list[] = {
	    {"0pps", 0},
	    {"1pps", 1},
	    {"1kpps", 1000},
	    {"10Mpps", 10000000},
	    {"1Gpps", 1000000000},
	    {"14.88Mpps", 14880000},
	    {"18446744073709551615pps", UINT64_MAX},
	    {"18446744073709551616pps", 0, R_MOST},
	    {"18446744074Gpps", 0, R_MOST},
	    {"-1pps", 0, "is out of range, it should be at least 0pps"},
	    {"0.5pps", 0, "is not a whole number per second"},
	    {"10", 0, "has no unit, " R_UNITS},
	    {"10MPPS", 0, "has an unknown unit, " R_UNITS},
	    {"10s", 0, "has an unknown unit, " R_UNITS},
	    {"fast", 0, "is not a rate (for example 10Mpps)"},
	};
	struct rate rate = {0};
	const char *why = NULL;

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		bool good = parse_rate(list[i].text, &rate, &why);

		expect(&list[i], good, rate.per_s, why);
	}
	CU_ASSERT_TRUE(parse_rate("1Gpps", &rate, &why) && rate.unit == RATE_PPS);
	CU_ASSERT_TRUE(parse_rate("1Gbps", &rate, &why) && rate.unit == RATE_BPS);
}

// The shortest text, which reads back to the same.
static void test_printing(void)
{
	static const struct {
		uint64_t n;
		const char *duration;
		const char *bytes;
		const char *rate;
	} list[] = {
	    {0, "0s", "0B", "0bps"},
	    {1, "1ns", "1B", "1bps"},
	    {1000, "1us", "1kB", "1kbps"},
	    {1024, "1024ns", "1KiB", "1024bps"},
	    {1500, "1500ns", "1500B", "1500bps"},
	    {1000000000, "1s", "1GB", "1Gbps"},
	    {90000000000, "90s", "90GB", "90Gbps"},
	    {300000000000, "300s", "300GB", "300Gbps"},
	    {3600000000000, "1h", "3600GB", "3600Gbps"},
	    {86400000000000, "24h", "86400GB", "86400Gbps"},
	    {UINT64_MAX, "18446744073709551615ns", "18446744073709551615B",
	     "18446744073709551615bps"},
	};
	struct arena *arena = arena_new();

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct duration duration = {list[i].n};
		struct bytes bytes = {list[i].n};
		struct rate rate = {list[i].n, RATE_BPS};

		CU_ASSERT_STRING_EQUAL(duration_text(arena, duration), list[i].duration);
		CU_ASSERT_STRING_EQUAL(bytes_text(arena, bytes), list[i].bytes);
		CU_ASSERT_STRING_EQUAL(rate_text(arena, rate), list[i].rate);
		CU_ASSERT_EQUAL(duration_scan(list[i].duration, &duration), SCAN_OK);
		CU_ASSERT_EQUAL(duration.ns, list[i].n);
		CU_ASSERT_EQUAL(bytes_scan(list[i].bytes, &bytes), SCAN_OK);
		CU_ASSERT_EQUAL(bytes.bytes, list[i].n);
		CU_ASSERT_EQUAL(rate_scan(list[i].rate, &rate), SCAN_OK);
		CU_ASSERT_EQUAL(rate.per_s, list[i].n);
	}
	CU_ASSERT_STRING_EQUAL(double_text(arena, 0.1), "0.1");
	CU_ASSERT_STRING_EQUAL(double_text(arena, 1.0 / 3), "0.3333333333333333");
	arena_free(arena);
}

static const CU_TestInfo cases[] = {
    {"numbers", test_u64}, {"durations", test_duration}, {"sizes", test_bytes},
    {"rates", test_rate},  {"printing", test_printing},	 CU_TEST_INFO_NULL,
};
SUITE(units, cases)
