// SPDX-License-Identifier: BSD-3-Clause
// Parameter tables: every type with good and bad values, and the exact messages.

#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "table_rig.h"

struct attempt {
	const char *param;
	const char *written;
	const char *printed; // what the field gives back; NULL: it is refused
	const char *why;
};

static const struct param *row_of(const char *name)
{
	const struct param *row = kinds;

	while (strcmp(row->name, name) != 0)
		row++;
	return row;
}

static void attempt(const struct attempt *a)
{
	struct arena *arena = arena_new();
	const char *yaml = arena_printf(arena, "%s: %s", a->param, a->written);
	void *strct;
	char *found = table_faults(arena, kinds, yaml, &strct);

	if (a->printed) {
		expect_text(found, "", yaml);
		if (strct)
			expect_text(table_field_value(arena, row_of(a->param), strct)->text,
				    a->printed, yaml);
	} else {
		expect_text(found,
			    arena_printf(arena, "t.yaml:1:%zu: error: L2Fwd: %s: %s\n",
					 strlen(a->param) + 3, a->param, a->why),
			    yaml);
	}
	free(found);
	arena_free(arena);
}

static void attempts(const struct attempt *a)
{
	for (; a->param; a++)
		attempt(a);
}

#define U32_WHY "it should be 0 to 4294967295"
#define U64_WHY "it should be 0 to 18446744073709551615"
#define SIZE_WHY "it should be 8 to 1048576"

static void test_numbers(void)
{
	static const struct attempt list[] = {
	    {"u8", "255", "255"},
	    {"u8", "256", NULL, "\"256\" is out of range, it should be 0 to 255"},
	    {"u8", "-1", NULL, "\"-1\" is out of range, it should be 0 to 255"},
	    {"u16", "65535", "65535"},
	    {"u16", "0x0800", "2048"},
	    {"u16", "65536", NULL, "\"65536\" is out of range, it should be 0 to 65535"},
	    {"u16", "0x10000", NULL, "\"0x10000\" is out of range, it should be 0 to 65535"},
	    {"u32", "0", "0"},
	    {"u32", "-0", "0"},
	    {"u32", "0xffffffff", "4294967295"},
	    {"u32", "4294967296", NULL, "\"4294967296\" is out of range, " U32_WHY},
	    {"u32", "18446744073709551616", NULL,
	     "\"18446744073709551616\" is out of range, " U32_WHY},
	    {"u32", "-1", NULL, "\"-1\" is out of range, " U32_WHY},
	    {"u32", "1.5", NULL, "\"1.5\" is not a whole number, " U32_WHY},
	    {"u32", "12x", NULL, "\"12x\" is not a number, " U32_WHY},
	    {"u32", "abc", NULL, "\"abc\" is not a number, " U32_WHY},
	    {"u32", "0x", NULL, "\"0x\" is not a number, " U32_WHY},
	    {"u32", "+1", NULL, "\"+1\" is not a number, " U32_WHY},
	    {"u32", "1e3", NULL, "\"1e3\" is not a number, " U32_WHY},
	    {"u32", "1 000", NULL, "\"1 000\" is not a number, " U32_WHY},
	    {"u32", "''", NULL, "\"\" is not a number, " U32_WHY},
	    {"u32", "'5'", NULL, "\"5\" is in quotes, it should be a number without them"},
	    {"u32", "~", NULL, "nothing is given, it should be a number from 0 to 4294967295"},
	    {"u32", "[1]", NULL, "a list is given, it should be a number from 0 to 4294967295"},
	    {"u32", "{a: 1}", NULL, "a map is given, it should be a number from 0 to 4294967295"},
	    {"size", "8", "8"},
	    {"size", "1048576", "1048576"},
	    {"size", "7", NULL, "\"7\" is out of range, " SIZE_WHY},
	    {"size", "1048577", NULL, "\"1048577\" is out of range, " SIZE_WHY},
	    {"size", "0", NULL, "\"0\" is out of range, " SIZE_WHY},
	    {"size", "-8", NULL, "\"-8\" is out of range, " SIZE_WHY},
	    {"size", "4294967304", NULL, "\"4294967304\" is out of range, " SIZE_WHY},
	    {"size", "1.5", NULL, "\"1.5\" is not a whole number, " SIZE_WHY},
	    {"u64", "18446744073709551615", "18446744073709551615"},
	    {"u64", "18446744073709551616", NULL,
	     "\"18446744073709551616\" is out of range, " U64_WHY},
	    {"u64", "-1", NULL, "\"-1\" is out of range, " U64_WHY},
	    {"i32", "-2147483648", "-2147483648"},
	    {"i32", "2147483647", "2147483647"},
	    {"i32", "-2147483649", NULL,
	     "\"-2147483649\" is out of range, it should be -2147483648 to 2147483647"},
	    {"i32", "2147483648", NULL,
	     "\"2147483648\" is out of range, it should be -2147483648 to 2147483647"},
	    {"level", "-5", "-5"},
	    {"level", "5", "5"},
	    {"level", "-6", NULL, "\"-6\" is out of range, it should be -5 to 5"},
	    {"level", "6", NULL, "\"6\" is out of range, it should be -5 to 5"},
	    {"i64", "-9223372036854775808", "-9223372036854775808"},
	    {"i64", "9223372036854775807", "9223372036854775807"},
	    {"i64", "9223372036854775808", NULL,
	     "\"9223372036854775808\" is out of range, it should be -9223372036854775808 to "
	     "9223372036854775807"},
	    {"i64", "-18446744073709551616", NULL,
	     "\"-18446744073709551616\" is out of range, it should be -9223372036854775808 to "
	     "9223372036854775807"},
	    {"real", "-1.5e3", "-1500"},
	    {"real", "0.1", "0.1"},
	    {"real", "nan", NULL, "\"nan\" is not a decimal number"},
	    {"real", "1.", NULL, "\"1.\" is not a decimal number"},
	    {"real", "0x10", NULL, "\"0x10\" is not a decimal number"},
	    {"real", "1e", NULL, "\"1e\" is not a decimal number"},
	    {"real", "1e999", NULL,
	     "\"1e999\" is out of range, it should be a number that a double can hold"},
	    {"share", "1", "1"},
	    {"share", "1.0001", NULL, "\"1.0001\" is out of range, it should be 0 to 1"},
	    {"share", "-0.1", NULL, "\"-0.1\" is out of range, it should be 0 to 1"},
	    {"share", "'0.5'", NULL, "\"0.5\" is in quotes, it should be a number without them"},
	    {NULL},
	};

	attempts(list);
}

static void test_booleans(void)
{
	static const struct attempt list[] = {
	    {"yes", "true", "true"},
	    {"yes", "yes", "true"},
	    {"yes", "on", "true"},
	    {"yes", "false", "false"},
	    {"yes", "no", "false"},
	    {"yes", "off", "false"},
	    {"yes", "1", NULL, "\"1\" is not true or false"},
	    {"yes", "maybe", NULL, "\"maybe\" is not true or false"},
	    {"yes", "'true'", NULL,
	     "\"true\" is in quotes, it should be true or false without them"},
	    {"yes", "[]", NULL, "a list is given, it should be true or false"},
	    {NULL},
	};

	attempts(list);
}

static void test_texts(void)
{
	static const struct attempt list[] = {
	    {"text", "hello", "hello"},
	    {"text", "''", ""},
	    {"text", "5", "5"},
	    {"text", "[a]", NULL, "a list is given, it should be a text"},
	    {"tag", "ab", "ab"},
	    {"tag", "abcd", "abcd"},
	    {"tag", "a", NULL, "\"a\" has 1 byte, it should have 2 to 4 bytes"},
	    {"tag", "abcde", NULL, "\"abcde\" has 5 bytes, it should have 2 to 4 bytes"},
	    {"tag", "''", NULL, "\"\" has 0 bytes, it should have 2 to 4 bytes"},
	    {"tag", "{}", NULL, "a map is given, it should be a text of 2 to 4 bytes"},
	    {NULL},
	};

	attempts(list);
}

#define UNITS_T "it should be one of ns, us, ms, s, min, h"

static void test_durations(void)
{
	static const struct attempt list[] = {
	    {"wait", "10ms", "10ms"},
	    {"wait", "'10ms'", "10ms"},
	    {"wait", "0h", "0s"},
	    {"wait", "1.5s", "1500ms"},
	    {"wait", "3600s", "1h"},
	    {"wait", "18446744073709551615ns", "18446744073709551615ns"},
	    {"wait", "18446744073709551616ns", NULL,
	     "\"18446744073709551616ns\" is out of range, it should be at most "
	     "18446744073709551615ns"},
	    {"wait", "-1s", NULL, "\"-1s\" is out of range, it should be at least 0s"},
	    {"wait", "300", NULL, "\"300\" has no unit, " UNITS_T},
	    {"wait", "300x", NULL, "\"300x\" has an unknown unit, " UNITS_T},
	    {"wait", "2KiB", NULL, "\"2KiB\" has an unknown unit, " UNITS_T},
	    {"wait", "0.5ns", NULL, "\"0.5ns\" is not a whole number of nanoseconds"},
	    {"wait", "soon", NULL, "\"soon\" is not a duration (for example 0s)"},
	    {"ageing", "1s", "1s"},
	    {"ageing", "24h", "24h"},
	    {"ageing", "0s", NULL, "\"0s\" is out of range, it should be 1s to 24h"},
	    {"ageing", "999999999ns", NULL,
	     "\"999999999ns\" is out of range, it should be 1s to 24h"},
	    {"ageing", "86400000000001ns", NULL,
	     "\"86400000000001ns\" is out of range, it should be 1s to 24h"},
	    {"ageing", "-1s", NULL, "\"-1s\" is out of range, it should be 1s to 24h"},
	    {"ageing", "18446744073709551616s", NULL,
	     "\"18446744073709551616s\" is out of range, it should be 1s to 24h"},
	    {"ageing", "soon", NULL, "\"soon\" is not a duration (for example 300s)"},
	    {"ageing", "[1s]", NULL, "a list is given, it should be a duration (for example 300s)"},
	    {"most", "11s", NULL, "\"11s\" is out of range, it should be 0s to 10s"},
	    {NULL},
	};

	attempts(list);
}

#define UNITS_B "it should be one of B, KiB, MiB, GiB, kB, MB, GB"
#define UNITS_R "it should be one of pps, kpps, Mpps, Gpps, bps, kbps, Mbps, Gbps"

static void test_sizes_and_rates(void)
{
	static const struct attempt list[] = {
	    {"buffer", "2KiB", "2KiB"},
	    {"buffer", "2048", "2KiB"},
	    {"buffer", "1500B", "1500B"},
	    {"buffer", "64kB", "64kB"},
	    {"buffer", "0.5MiB", "512KiB"},
	    {"buffer", "2kb", NULL, "\"2kb\" has an unknown unit, " UNITS_B},
	    {"buffer", "1.5", NULL, "\"1.5\" is not a whole number of bytes"},
	    {"buffer", "-1", NULL, "\"-1\" is out of range, it should be at least 0B"},
	    {"buffer", "18446744073709551616", NULL,
	     "\"18446744073709551616\" is out of range, it should be at most "
	     "18446744073709551615B"},
	    {"buffer", "17179869184GiB", NULL,
	     "\"17179869184GiB\" is out of range, it should be at most 18446744073709551615B"},
	    {"buffer", "big", NULL, "\"big\" is not a size (for example 0)"},
	    {"window", "63", NULL, "\"63\" is out of range, it should be 64B to 1MiB"},
	    {"window", "1048577B", NULL, "\"1048577B\" is out of range, it should be 64B to 1MiB"},
	    {"rate", "10Mpps", "10Mpps"},
	    {"rate", "1.5Gbps", "1500Mbps"},
	    {"rate", "0bps", "0bps"},
	    {"rate", "10", NULL, "\"10\" has no unit, " UNITS_R},
	    {"rate", "10Mb", NULL, "\"10Mb\" has an unknown unit, " UNITS_R},
	    {"rate", "0.5pps", NULL, "\"0.5pps\" is not a whole number per second"},
	    {"rate", "-1pps", NULL, "\"-1pps\" is out of range, it should be at least 0pps"},
	    {"rate", "18446744074Gpps", NULL,
	     "\"18446744074Gpps\" is out of range, it should be at most 18446744073709551615 per "
	     "second"},
	    {"rate", "fast", NULL, "\"fast\" is not a rate (for example 0pps)"},
	    {"speed", "0pps", NULL, "\"0pps\" is out of range, it should be 1pps to 10Mpps"},
	    {"speed", "11Mbps", NULL, "\"11Mbps\" is out of range, it should be 1bps to 10Mbps"},
	    {NULL},
	};

	attempts(list);
}

#define NET4_EG "an IPv4 network (for example 10.0.0.0/8)"
#define NET6_EG "an IPv6 network (for example 2001:db8::/32)"

static void test_addresses(void)
{
	static const struct attempt list[] = {
	    {"mac", "02:00:00:00:00:0A", "02:00:00:00:00:0a"},
	    {"mac", "02-00-00-00-00-01", "02:00:00:00:00:01"},
	    {"mac", "''", ""},
	    {"mac", "02:00:00:00:00", NULL, "\"02:00:00:00:00\" is not " MAC_EG},
	    {"mac", "02:00:00:00:00:01:02", NULL, "\"02:00:00:00:00:01:02\" is not " MAC_EG},
	    {"mac", "02:00:00:00-00:01", NULL, "\"02:00:00:00-00:01\" is not " MAC_EG},
	    {"mac", "2:0:0:0:0:1", NULL, "\"2:0:0:0:0:1\" is not " MAC_EG},
	    {"mac", "0", NULL, "\"0\" is not " MAC_EG},
	    {"mac", "{}", NULL, "a map is given, it should be " MAC_EG},
	    {"net4", "10.0.0.0/8", "10.0.0.0/8"},
	    {"net4", "10.1.2.3", "10.1.2.3"},
	    {"net4", "0.0.0.0/0", "0.0.0.0/0"},
	    {"net4", "10.1.2.3/8", NULL,
	     "\"10.1.2.3/8\" has bits set beyond the first 8, it should be 10.0.0.0/8"},
	    {"net4", "10.0.0.0/33", NULL, "\"10.0.0.0/33\" is not " NET4_EG},
	    {"net4", "10.0.0.0/", NULL, "\"10.0.0.0/\" is not " NET4_EG},
	    {"net4", "10.0.0.0/-1", NULL, "\"10.0.0.0/-1\" is not " NET4_EG},
	    {"net4", "10.0.0", NULL, "\"10.0.0\" is not " NET4_EG},
	    {"net4", "256.0.0.1", NULL, "\"256.0.0.1\" is not " NET4_EG},
	    {"net4", "'2001:db8::'", NULL, "\"2001:db8::\" is not " NET4_EG},
	    {"net6", "2001:db8::/32", "2001:db8::/32"},
	    {"net6", "'::'", "::"},
	    {"net6", "'::/0'", "::/0"},
	    {"net6", "fe80::1", "fe80::1"},
	    {"from4", "''", ""},
	    {"from4", "1.2.3.0/24", "1.2.3.0/24"},
	    {"from6", "''", ""},
	    {"from6", "fe80::/10", "fe80::/10"},
	    {"net4", "''", NULL, "\"\" is not " NET4_EG},
	    {"net6", "2001:db8::1/32", NULL,
	     "\"2001:db8::1/32\" has bits set beyond the first 32, it should be 2001:db8::/32"},
	    {"net6", "2001:db8::/129", NULL, "\"2001:db8::/129\" is not " NET6_EG},
	    {"net6", "10.0.0.1", NULL, "\"10.0.0.1\" is not " NET6_EG},
	    {NULL},
	};

	attempts(list);
}

static void test_names(void)
{
	static const struct attempt list[] = {
	    {"gate", "0", "0"},
	    {"gate", "2", "2"},
	    {"gate", "miss", "1"},
	    {"gate", "3", NULL, "\"3\" is out of range, it should be 0 to 2"},
	    {"gate", "-1", NULL, "\"-1\" is out of range, it should be 0 to 2"},
	    {"gate", "65536", NULL, "\"65536\" is out of range, it should be 0 to 2"},
	    {"gate", "4294967296", NULL, "\"4294967296\" is out of range, it should be 0 to 2"},
	    {"gate", "mis", NULL, "\"mis\" is not an output gate; did you mean \"miss\"?"},
	    {"gate", "other", NULL, "\"other\" is not an output gate; there are match, miss"},
	    {"gate", "'1'", NULL, "\"1\" is in quotes, it should be a number without them"},
	    {"gate", "[0]", NULL, "a list is given, it should be an output gate"},
	    {"mode", "router", "router"},
	    {"mode", "'bridge'", "bridge"},
	    {"mode", "brige", NULL,
	     "\"brige\" is not one of bridge, router; did you mean \"bridge\"?"},
	    {"mode", "0", NULL, "\"0\" is not one of bridge, router"},
	    {"mode", "{}", NULL, "a map is given, it should be one of bridge, router"},
	    {"port", "left", "left"},
	    {"port", "lefft", NULL, "\"lefft\" is not a port; did you mean \"left\"?"},
	    {"port", "nowhere", NULL, "\"nowhere\" is not a port; there are left, right"},
	    {"port", "[left]", NULL, "a list is given, it should be the name of a port"},
	    {NULL},
	};

	attempts(list);
}

static void test_bytes(void)
{
	static const struct attempt list[] = {
	    {"hex", "0800 45:00.ff", "08004500ff"},
	    {"hex", "0800", "0800"},
	    {"hex", "''", ""},
	    {"hex", "080", NULL, "\"080\" is not bytes in hexadecimal (for example 08 00)"},
	    {"hex", "0 8", NULL, "\"0 8\" is not bytes in hexadecimal (for example 08 00)"},
	    {"hex", "0x08", NULL, "\"0x08\" is not bytes in hexadecimal (for example 08 00)"},
	    {"key", "0102", "0102"},
	    {"key", "01", NULL, "\"01\" has 1 byte, it should have 2 to 4 bytes"},
	    {"key", "0102030405", NULL, "\"0102030405\" has 5 bytes, it should have 2 to 4 bytes"},
	    {"frame", "0102 0304", "01020304"},
	    {"frame", "[a]", NULL,
	     "a list is given, it should be a packet in words or hexadecimal (for example ether / "
	     "ipv4 / udp dport=53)"},
	    {NULL},
	};

	attempts(list);
}

static void test_quoting(void)
{
	struct arena *arena = arena_new();
	void *strct;
	char *found =
	    table_faults(arena, kinds,
			 "u8: \"a\\n\\x01b\"\nu16: "
			 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			 &strct);

	expect_text(found,
		    "t.yaml:1:5: error: L2Fwd: u8: \"a\\n\\x01b\" is not a number, it should be 0 "
		    "to 255\n"
		    "t.yaml:2:6: error: L2Fwd: u16: "
		    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" is not a "
		    "number, it should be 0 to 65535\n",
		    "long and odd texts");
	free(found);
	arena_free(arena);
}

static const CU_TestInfo cases[] = {
    {"numbers", test_numbers},
    {"booleans", test_booleans},
    {"texts", test_texts},
    {"durations", test_durations},
    {"sizes and rates", test_sizes_and_rates},
    {"addresses", test_addresses},
    {"gates, choices and ports", test_names},
    {"bytes", test_bytes},
    {"odd texts in messages", test_quoting},
    CU_TEST_INFO_NULL,
};
SUITE(table, cases)
