// SPDX-License-Identifier: BSD-3-Clause
// Packets in words: the bytes they make, the faults, and the way back from bytes to words.

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <rte_ip.h>

#include "suite.h"
#include "value/scalar.h"
#include "value/table.h"

struct pair {
	const char *words;
	const char *other; // bytes in hexadecimal, or the fault, or other words
};

#define MACS "020000000002020000000001"
#define IPS "0a0000010a000002"

static const char *bytes_of(struct arena *arena, const char *words)
{
	struct frame frame;
	const char *why = "";

	if (frame_parse(arena, words, &frame, &why))
		return hex_text(arena, frame.bytes, frame.n);
	return why;
}

static void expect(const char *words, const char *found, const char *wanted)
{
	if (strcmp(found, wanted) != 0)
		printf("\n%s\n  gives  %s\n  wanted %s\n", words, found, wanted);
	CU_ASSERT_STRING_EQUAL(found, wanted);
}

static void expect_all(const struct pair *list)
{
	struct arena *arena = arena_new();

	for (; list->words; list++)
		expect(list->words, bytes_of(arena, list->words), list->other);
	arena_free(arena);
}

// Checksums were worked out by another program.
static void test_bytes(void)
{
	static const struct pair list[] = {
	    {"0102 03:04\n05", "0102030405"},
	    {"ether", MACS "88b5"},
	    {"ether type=0x0800", MACS "0800"},
	    {"ether src=02:00:00:00:00:0a dst=ff:ff:ff:ff:ff:ff / raw 01 02",
	     "ffffffffffff02000000000a88b50102"},
	    {"ether/vlan id=5 pcp=7 dei=1/raw 00", MACS "8100f00588b500"},
	    {"ether / vlan id=4095 tpid=0x88a8 / vlan id=2 / text \"a / b\"",
	     MACS "88a80fff8100000288b561202f2062"},
	    {"ether / arp", MACS "08060001080006040001"
				 "0200000000010a000001"
				 "0000000000000a000002"},
	    {"ether / arp op=2 sha=02:00:00:00:00:09 spa=1.2.3.4 tha=02:00:00:00:00:08 tpa=5.6.7.8",
	     MACS "08060001080006040002"
		  "02000000000901020304"
		  "02000000000805060708"},
	    {"ipv4", "4500001400000000"
		     "40fd65eb" IPS},
	    {"ipv4 ttl=1 dscp=46 ecn=1 id=7 flags=2 frag=3 proto=99", "45b9001400074003"
								      "0163"
								      "64c2" IPS},
	    {"ipv4 options=01010100", "4600001800000000"
				      "40fd62e6" IPS "01010100"},
	    {"ipv4 checksum=0x1234 len=9 proto=1", "4500000900000000"
						   "40011234" IPS},
	    {"ether / ipv4 / udp / pad 44", MACS "0800"
						 "4500001c00000000"
						 "401166cf" IPS "03e807d00008e023"
						 "0000"},
	    {"ipv4 / udp sport=1 dport=2 checksum=0 / raw ff", "4500001d00000000"
							       "401166ce" IPS "0001000200090000ff"},
	    {"ipv4 / icmp type=8 id=1 seq=2", "4500001c00000000"
					      "400166df" IPS "0800f7fc00010002"},
	    {"ipv6 hop=1 tc=255 flow=0xfffff src=fe80::1 dst=fe80::2 / icmp6",
	     "6fffffff00083a01"
	     "fe800000000000000000000000000001"
	     "fe800000000000000000000000000002"
	     "8000"
	     "82b600010001"},
	    {NULL},
	};

	expect_all(list);
}

// DPDK's own functions find no fault with the checksums.
static void test_checksums(void)
{
	static const char *const ipv4[] = {
	    "ipv4 / udp",
	    "ipv4 / udp / raw 01",
	    "ipv4 options=01010100 / tcp flags=SA seq=1 ack=2 / text \"hello\"",
	    "ipv4 src=255.255.255.255 / tcp options=01010101 / raw 010203",
	    "ipv4 / udp / raw ffffffffffffffffffffffffffff",
	};
	static const char *const ipv6[] = {
	    "ipv6 / udp / raw 01",
	    "ipv6 / tcp flags=0 window=1 urgent=2",
	    "ipv6 src=2001:db8::1 / icmp6 type=135 / raw 20010db8",
	};
	struct arena *arena = arena_new();
	const char *why;
	struct frame frame;

	for (unsigned i = 0; i < sizeof(ipv4) / sizeof(ipv4[0]); i++) {
		const struct rte_ipv4_hdr *ip;

		CU_ASSERT_TRUE_FATAL(frame_parse(arena, ipv4[i], &frame, &why));
		ip = (const void *)frame.bytes;
		CU_ASSERT_EQUAL(rte_raw_cksum(ip, rte_ipv4_hdr_len(ip)), 0xffff);
		CU_ASSERT_EQUAL(
		    rte_ipv4_udptcp_cksum_verify(ip, frame.bytes + rte_ipv4_hdr_len(ip)), 0);
	}
	for (unsigned i = 0; i < sizeof(ipv6) / sizeof(ipv6[0]); i++) {
		CU_ASSERT_TRUE_FATAL(frame_parse(arena, ipv6[i], &frame, &why));
		CU_ASSERT_EQUAL(
		    rte_ipv6_udptcp_cksum_verify((const void *)frame.bytes, frame.bytes + 40), 0);
	}
	arena_free(arena);
}

static void test_tcp(void)
{
	static const struct pair list[] = {
	    {"tcp sport=1 dport=2 seq=4294967295 ack=1 flags=CEUAPRSF window=3 urgent=4 "
	     "checksum=0x5678",
	     "00010002ffffffff0000000150ff000356780004"},
	    {"tcp flags=0x12 checksum=0 reserved=1 off=6",
	     "03e807d000000000000000006112ffff00000000"},
	    {"tcp flags=FA checksum=0 options=020405b4",
	     "03e807d000000000000000006011ffff00000000020405b4"},
	    {NULL},
	};

	expect_all(list);
}

static void test_faults(void)
{
	static const struct pair list[] = {
	    {"", "the packet is empty"},
	    {" ", "the packet is empty"},
	    {"012", "\"012\" is not a packet in hexadecimal: pairs of digits"},
	    {"ethr", "\"ethr\" is not a layer of a packet; did you mean \"ether\"?"},
	    {"xyzzy",
	     "\"xyzzy\" is not a layer of a packet; there are raw, text, pad, ether, vlan, "
	     "arp, ipv4, ipv6, icmp, icmp6, udp, tcp"},
	    {"/ ether", "a layer is missing before \"/\""},
	    {"ether / / ipv4", "a layer is missing before \"/\""},
	    {"ether /", "a layer is missing after \"/\""},
	    {"ether scr=02:00:00:00:00:01", "ether: \"scr\" is not a field; did you mean \"src\"?"},
	    {"ether colour=1", "ether: \"colour\" is not a field; there are src, dst, type"},
	    {"ether 02:00:00:00:00:01", "ether: \"02:00:00:00:00:01\" should be a field and its "
					"value, as in src=02:00:00:00:00:01"},
	    {"ether src=x", "ether: src: \"x\" is not a MAC address (for example "
			    "02:00:00:00:00:01)"},
	    {"ether src=", "ether: src: \"\" is not a MAC address (for example 02:00:00:00:00:01)"},
	    {"ether type=0x800 type=1", "ether: type is given twice"},
	    {"ipv4 src=10.0.0.0/8", "\"8\" is not a layer of a packet; there are raw, text, pad, "
				    "ether, vlan, arp, ipv4, ipv6, icmp, icmp6, udp, tcp"},
	    {"ipv4 src=10.0.0", "ipv4: src: \"10.0.0\" is not an IPv4 address (for example "
				"10.0.0.1)"},
	    {"ipv6 dst=10.0.0.1", "ipv6: dst: \"10.0.0.1\" is not an IPv6 address (for example "
				  "fd00::1)"},
	    {"ipv4 ttl=256", "ipv4: ttl: \"256\" is out of range, it should be 0 to 255"},
	    {"ipv4 ttl=-1", "ipv4: ttl: \"-1\" is out of range, it should be 0 to 255"},
	    {"ipv4 ttl=1.5", "ipv4: ttl: \"1.5\" is not a whole number, it should be 0 to 255"},
	    {"ipv4 ttl=x", "ipv4: ttl: \"x\" is not a number, it should be 0 to 255"},
	    {"vlan id=4096", "vlan: id: \"4096\" is out of range, it should be 0 to 4095"},
	    {"tcp seq=4294967296",
	     "tcp: seq: \"4294967296\" is out of range, it should be 0 to 4294967295"},
	    {"tcp seq=18446744073709551616", "tcp: seq: \"18446744073709551616\" is out of range, "
					     "it should be 0 to 4294967295"},
	    {"tcp flags=SX", "tcp: flags: \"SX\" is neither letters of CEUAPRSF nor a number"},
	    {"tcp flags=256", "tcp: flags: \"256\" is out of range, it should be 0 to 255"},
	    {"ipv4 options=010", "ipv4: options: \"010\" is not bytes in hexadecimal"},
	    {"ipv4 options=010101", "ipv4: options: \"010101\" has 3 bytes, it should have a "
				    "multiple of 4 up to 40"},
	    {"ether / udp", "udp cannot follow ether, unless type= of ether is given"},
	    {"ipv4 / vlan", "vlan cannot follow ipv4, unless proto= of ipv4 is given"},
	    {"ipv4 / udp / tcp", "tcp cannot follow udp"},
	    {"ether / raw 00 / ipv4", "ipv4 cannot follow raw bytes or a text"},
	    {"ether / raw", "raw: \"\" is not bytes in hexadecimal (for example 08 00)"},
	    {"ether / raw 0g", "raw: \"0g\" is not bytes in hexadecimal (for example 08 00)"},
	    {"ether / text hello", "text: its text should be in double quotes"},
	    {"ether / text \"hello", "text: its text should be in double quotes"},
	    {"ether / text \"a\" b", "text: \"b\" is too much"},
	    {"ether / pad", "pad: the length of the whole packet is missing"},
	    {"ether / pad 0", "pad: \"0\" is not a length from 1 to 65535"},
	    {"ether / pad 65536", "pad: \"65536\" is not a length from 1 to 65535"},
	    {"ether / pad 60B", "pad: \"60B\" is not a length from 1 to 65535"},
	    {"ether / pad 60 60", "pad: \"60\" is too much"},
	    {"ether / pad 13", "pad: the packet has 14 bytes already, more than 13"},
	    {"ether / pad 60 / raw 00", "pad should be the last layer"},
	    {NULL},
	};

	expect_all(list);
}

static void test_limits(void)
{
	struct arena *arena = arena_new();
	char *digits = arena_alloc(arena, 2 * 65536 + 1);
	const char *words = "vlan";

	memset(digits, '0', 2 * 65535);
	CU_ASSERT_EQUAL(strlen(bytes_of(arena, digits)), 2 * 65535);
	memset(digits, '0', 2 * 65536);
	expect("65536 bytes", bytes_of(arena, digits), "the packet has more than 65535 bytes");
	expect("ether and 65536 bytes",
	       bytes_of(arena, arena_printf(arena, "ether / raw %s", digits)),
	       "the packet has more than 65535 bytes");
	digits[2 * 65530] = '\0';
	expect("too long a header",
	       bytes_of(arena, arena_printf(arena, "raw %s / text \"123456\"", digits)),
	       "the packet has more than 65535 bytes");
	for (unsigned i = 1; i < 32; i++)
		words = arena_printf(arena, "%s / vlan", words);
	CU_ASSERT_EQUAL(strlen(bytes_of(arena, words)), 2 * 32 * 4);
	expect("33 layers", bytes_of(arena, arena_printf(arena, "%s / vlan", words)),
	       "the packet has more than 32 layers");
	arena_free(arena);
}

// Words are printed in one form, whatever form they had.
static void test_describe(void)
{
	static const struct pair list[] = {
	    {"ether", "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02"},
	    {"ether type=0x0001 / raw 0102", "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 "
					     "type=0x0001 / raw 0102"},
	    {"ether / ipv4 / udp / pad 60",
	     "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv4 src=10.0.0.1 dst=10.0.0.2 / "
	     "udp sport=1000 dport=2000 / pad 60"},
	    {"ether / ipv4 ttl=1 / udp checksum=1 / text \"hello\" / pad 60",
	     "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv4 src=10.0.0.1 dst=10.0.0.2 "
	     "ttl=1 / udp sport=1000 dport=2000 checksum=0x0001 / text \"hello\" / pad 60"},
	    {"ether / vlan id=5 tpid=0x88a8 / vlan id=6 pcp=1 / arp / pad 64",
	     "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / vlan id=5 tpid=0x88a8 / vlan "
	     "id=6 "
	     "pcp=1 / arp op=1 sha=02:00:00:00:00:01 spa=10.0.0.1 tha=00:00:00:00:00:00 "
	     "tpa=10.0.0.2 / pad 64"},
	    {"ether / ipv6 / tcp flags=SA options=020405b4 / raw 0000",
	     "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv6 src=fd00::1 dst=fd00::2 / "
	     "tcp sport=1000 dport=2000 flags=AS options=020405b4 / raw 0000"},
	    {"ether / ipv4 frag=5 proto=17 / raw 01020304",
	     "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv4 src=10.0.0.1 dst=10.0.0.2 "
	     "frag=5 proto=17 / raw 01020304"},
	    {"ether / ipv4 len=999 / icmp / raw 00",
	     "ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv4 src=10.0.0.1 dst=10.0.0.2 "
	     "len=999 / icmp type=8 id=1 seq=1 / raw 00"},
	    {"0102", "0102"},
	    {NULL},
	};
	struct arena *arena = arena_new();
	const char *why = "";

	for (const struct pair *pair = list; pair->words; pair++) {
		struct frame frame = {0};

		CU_ASSERT_TRUE_FATAL(frame_parse(arena, pair->words, &frame, &why));
		expect(pair->words, frame_describe(arena, frame.bytes, frame.n), pair->other);
	}
	expect("nothing", frame_describe(arena, NULL, 0), "");
	arena_free(arena);
}

// Whatever the bytes, and wherever they lie: words (or hexadecimal) come out that make the same.
static void test_any_bytes(void)
{
	static const char *const seeds[] = {
	    "ether / vlan / ipv4 options=01010100 / tcp options=01010101 / text \"hello\" / pad 90",
	    "ether / ipv6 / udp / raw 0102030405",
	    "ether / arp / pad 60",
	    "ether / ipv4 / icmp / text \"abcdefgh\"",
	    "ether / ipv4 proto=4 / ipv4 / udp / pad 100",
	};
	unsigned random = 1;

	for (unsigned i = 0; i < 5000; i++) {
		struct arena *arena = arena_new();
		struct frame frame = {0};
		struct frame again = {0};
		const char *why = "";
		const char *text;
		uint8_t *moved;

		CU_ASSERT_TRUE_FATAL(frame_parse(arena, seeds[i % 5], &frame, &why));
		for (unsigned j = 0; j < i % 7; j++) {
			random = random * 1103515245 + 12345;
			frame.bytes[(random >> 8) % frame.n] ^= (uint8_t)(1u << (random >> 4) % 8);
		}
		if (i % 3 == 0)
			frame.n = 1 + (random >> 16) % frame.n;
		moved = arena_alloc(arena, frame.n + 8);
		memcpy(moved + i % 8, frame.bytes, frame.n);
		text = frame_describe(arena, moved + i % 8, frame.n);
		CU_ASSERT_TRUE_FATAL(frame_parse(arena, text, &again, &why));
		CU_ASSERT_TRUE_FATAL(again.n == frame.n &&
				     !memcmp(again.bytes, frame.bytes, frame.n));
		arena_free(arena);
	}
}

// Cut and garbled words are refused or read, and nothing worse.
static void test_any_words(void)
{
	static const char words[] =
	    "ether src=02:00:00:00:00:01 / vlan id=5 tpid=0x88a8 / ipv4 options=01010100 ttl=3 / "
	    "tcp flags=SA options=01 / text \"a/b\" / raw 00 / pad 200";
	unsigned random = 7;

	for (unsigned i = 0; i < 5000; i++) {
		struct arena *arena = arena_new();
		char *text = arena_strdup(arena, words);
		struct frame frame = {0};
		const char *why = NULL;

		for (unsigned j = 0; j < i % 5; j++) {
			random = random * 1103515245 + 12345;
			text[(random >> 8) % (sizeof(words) - 1)] =
			    "/ =\"0z\x80"[(random >> 20) % 7];
		}
		if (i % 2)
			text[(random >> 12) % sizeof(words)] = '\0';
		if (!frame_parse(arena, text, &frame, &why))
			CU_ASSERT_PTR_NOT_NULL_FATAL(why);
		arena_free(arena);
	}
}

static const CU_TestInfo cases[] = {
    {"words to bytes", test_bytes},
    {"checksums", test_checksums},
    {"TCP", test_tcp},
    {"faults", test_faults},
    {"limits", test_limits},
    {"bytes to words", test_describe},
    {"any bytes to words and back", test_any_bytes},
    {"any words", test_any_words},
    CU_TEST_INFO_NULL,
};
SUITE(frame, cases)
