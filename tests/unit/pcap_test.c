// SPDX-License-Identifier: BSD-3-Clause
// The driver `pcap` as a receiver: every hard kind of capture, built here, read by its thread and
// as in a replay.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captures.h"
#include "ports.h"
#include "suite.h"

// What is to come of a capture.
struct expected {
	unsigned n;
	const uint32_t *lengths;
	uint64_t errors;   // rx_errors
	const char *fault; // part of the one that is reported; NULL: none
	const char *note;
};

// Packet i must have been filled from seed i on.
static void expect_once(const char *params, const struct expected *expected, bool replay)
{
	struct test_port test;
	static struct rte_mbuf *pkts[4096];
	unsigned got;

	if (!test_port_open(&test, "pcap", params, 1, 0, replay)) {
		CU_FAIL("the port opens");
		fprintf(stderr, "%s", test_port_errors(&test));
		test_port_close(&test);
		return;
	}
	CU_ASSERT_TRUE(test.port.finite);
	got = test_port_receive(&test, pkts, 4096);
	CU_ASSERT_EQUAL(got, expected->n);
	CU_ASSERT_TRUE(port_ended(&test.port));
	for (unsigned i = 0; i < got && i < expected->n; i++) {
		CU_ASSERT_TRUE(test_packet_is(pkts[i], expected->lengths[i], i));
	}
	if (test.port.driver->tick)
		test.port.driver->tick(&test.port, 0);
	CU_ASSERT_EQUAL(test.n_faults, expected->fault != NULL);
	CU_ASSERT_EQUAL(test.n_notes, expected->note != NULL);
	if (expected->fault && !strstr(test.fault, expected->fault)) {
		CU_FAIL("the fault is as expected");
		fprintf(stderr, "fault: %s\nnot: %s\n", test.fault, expected->fault);
	}
	if (expected->note)
		CU_ASSERT_PTR_NOT_NULL(strstr(test.note, expected->note));
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_packets, got);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_errors, expected->errors);
	test.port.driver->stop(&test.port);
	CU_ASSERT_EQUAL(test.n_faults, expected->fault != NULL);
	rte_pktmbuf_free_bulk(pkts, got);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void expect(const char *path, const struct expected *expected)
{
	char params[256];

	snprintf(params, sizeof(params), "{rx: \"%s\"}", path);
	expect_once(params, expected, false);
	expect_once(params, expected, true);
}

#define EXPECT(PATH, LENGTHS, ...)                                                                 \
	expect(PATH, &(struct expected){.n = sizeof(LENGTHS) / sizeof((LENGTHS)[0]),               \
					.lengths = (LENGTHS),                                      \
					__VA_ARGS__})

static void expect_refused(const char *params, const char *reason)
{
	struct test_port test;

	CU_ASSERT_FALSE(test_port_open(&test, "pcap", params, 1, 1, false));
	if (!strstr(test_port_errors(&test), reason)) {
		CU_FAIL("the reason is as expected");
		fprintf(stderr, "%s: %s\nnot: %s\n", params, test_port_errors(&test), reason);
	}
	test_port_close(&test);
}

static void expect_refused_rx(const char *path, const char *reason)
{
	char params[256];

	snprintf(params, sizeof(params), "{rx: \"%s\"}", path);
	expect_refused(params, reason);
}

static void test_kinds(void)
{
	static const struct {
		uint32_t magic;
		uint16_t minor;
		uint32_t link;
		bool big;
	} kinds[] = {
	    {MAGIC_MICRO, 4, 1, false},		 {MAGIC_MICRO, 4, 1, true},
	    {MAGIC_NANO, 4, 1, false},		 {MAGIC_NANO, 4, 1, true},
	    {MAGIC_MICRO, 1, 1, true},		 {MAGIC_MICRO, 4, 0x54000001, false}, // FCS bits
	    {MAGIC_MICRO, 4, 0x30000001, false},
	};
	static const uint32_t lengths[] = {60, 1514, 14, 100};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct capture capture = {.big = kinds[i].big};

		capture_head(&capture, kinds[i].magic, kinds[i].minor, 65535, kinds[i].link);
		for (unsigned j = 0; j < 4; j++)
			capture_packet(&capture, 100 + j, 5, lengths[j], j);
		EXPECT(capture_save(&capture, "kind.pcap"), lengths);
	}
}

static void test_empty(void)
{
	struct capture capture = {0};
	static const uint32_t none[0];

	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	EXPECT(capture_save(&capture, "empty.pcap"), none);
	capture_ng_section(&capture);
	capture_ng_interface(&capture, 1, 0);
	EXPECT(capture_save(&capture, "empty.pcapng"), none);
	// A loop over nothing has an end too.
	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	capture_save(&capture, "empty.pcap");
	struct test_port test;
	char params[256];
	struct rte_mbuf *pkt;

	snprintf(params, sizeof(params), "{rx: \"%s\", loop: forever}", capture_path("empty.pcap"));
	CU_ASSERT_TRUE(test_port_open(&test, "pcap", params, 1, 0, false));
	CU_ASSERT_EQUAL(test_port_receive(&test, &pkt, 1), 0);
	CU_ASSERT_TRUE(port_ended(&test.port));
	test_port_close(&test);
}

static void test_lengths(void)
{
	// Nothing, less than a header, one byte around a buffer, and all of 33 buffers.
	static const uint32_t lengths[] = {0,	 1,    13,   14,    2047, 2048,
					   2049, 4096, 9230, 65590, 67584};
	struct capture capture = {0};
	struct test_port test;
	struct rte_mbuf *pkts[11];
	char params[256];

	capture_head(&capture, MAGIC_MICRO, 4, 262144, 1);
	for (unsigned i = 0; i < 11; i++)
		capture_packet(&capture, i, 0, lengths[i], i);
	EXPECT(capture_save(&capture, "lengths.pcap"), lengths);
	snprintf(params, sizeof(params), "{rx: \"%s\"}", capture_path("lengths.pcap"));
	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "pcap", params, 1, 0, false));
	CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, pkts, 11), 11);
	CU_ASSERT_EQUAL(pkts[0]->nb_segs, 1);
	CU_ASSERT_EQUAL(pkts[5]->nb_segs, 1);
	CU_ASSERT_EQUAL(pkts[6]->nb_segs, 2);
	CU_ASSERT_EQUAL(pkts[9]->nb_segs, 33);
	CU_ASSERT_EQUAL(pkts[10]->nb_segs, 33);
	rte_pktmbuf_free_bulk(pkts, 11);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

// Many long records: no more buffers are taken than the driver says it holds.
static void test_long_records(void)
{
	struct capture capture = {0};
	struct test_port test;
	struct rte_mbuf *pkt;
	char params[256];
	unsigned got = 0, most = 0;

	capture_head(&capture, MAGIC_MICRO, 4, 262144, 1);
	for (unsigned i = 0; i < 200; i++)
		capture_packet(&capture, i, 0, 65590, i);
	snprintf(params, sizeof(params), "{rx: \"%s\"}", capture_save(&capture, "long.pcap"));
	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "pcap", params, 1, 0, false));
	while (test_port_receive(&test, &pkt, 1)) {
		unsigned out = test_pool_out();

		most = out > most ? out : most;
		CU_ASSERT_TRUE(test_packet_is(pkt, 65590, got));
		rte_pktmbuf_free(pkt);
		got++;
	}
	CU_ASSERT_EQUAL(got, 200);
	CU_ASSERT_TRUE(most <= test.port.driver->holds(test.port.params, 1, 0) + 33);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_short(void)
{
	static const uint32_t lengths[] = {20, 60, 0, 60};
	struct capture capture = {0};

	capture_head(&capture, MAGIC_MICRO, 4, 20, 1);
	capture_record(&capture, 1, 0, 20, 46, 20, 0);
	capture_record(&capture, 2, 0, 60, 98358, 60, 1); // longer than its own snap length
	capture_record(&capture, 3, 0, 0, 60, 0, 2);
	capture_record(&capture, 4, 0, 60, 0, 60, 3); // more was captured than there was
	EXPECT(capture_save(&capture, "snap.pcap"), lengths, .errors = 3,
	       .note = "3 packets were captured in part only");
}

static void test_cut(void)
{
	static const uint32_t one[] = {60}, two[] = {60, 100}, none[0];
	struct capture capture = {0};
	const char *path;

	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	capture_packet(&capture, 1, 0, 60, 0);
	capture_packet(&capture, 1, 0, 100, 1);
	path = capture_save(&capture, "cut.pcap");
	EXPECT(path, two);
	CU_ASSERT_EQUAL(truncate(path, 24 + 16 + 60 + 16 + 30), 0);
	EXPECT(path, one, .errors = 1,
	       .fault = "cut.pcap\": packet 2: it is cut: 30 of 100 bytes are there; 1 packets "
			"were read");
	CU_ASSERT_EQUAL(truncate(path, 24 + 16 + 60 + 7), 0);
	EXPECT(path, one, .errors = 1,
	       .fault = "packet 2: it is cut: 7 of 16 bytes of its header are there");
	CU_ASSERT_EQUAL(truncate(path, 24 + 3), 0);
	EXPECT(path, none, .errors = 1,
	       .fault = "packet 1: it is cut: 3 of 16 bytes of its header are there");
	CU_ASSERT_EQUAL(truncate(path, 23), 0);
	expect_refused_rx(path, "ends after 23 bytes, inside the header of a capture");
	CU_ASSERT_EQUAL(truncate(path, 0), 0);
	expect_refused_rx(path, "is empty, it is no capture");
}

static void test_absurd(void)
{
	static const uint32_t one[] = {60};
	struct capture capture = {0};

	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	capture_packet(&capture, 1, 0, 60, 0);
	capture_record(&capture, 1, 0, 1409179648, 60, 60, 1);
	EXPECT(capture_save(&capture, "absurd.pcap"), one, .errors = 1,
	       .fault = "packet 2: it claims to be 1409179648 bytes long, the file is damaged");
	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	capture_packet(&capture, 1, 0, 60, 0);
	capture_record(&capture, 1, 0, 262145, 262145, 262145, 1);
	EXPECT(capture_save(&capture, "absurd.pcap"), one, .errors = 1,
	       .fault = "packet 2: it claims to be 262145 bytes long");
}

static void test_links(void)
{
	struct capture capture = {0};

	capture_head(&capture, MAGIC_MICRO, 4, 65535, 228);
	expect_refused_rx(capture_save(&capture, "l.pcap"),
			  "holds packets of link type 228 (IPV4, Raw IPv4), not Ethernet (1)");
	capture_head(&capture, MAGIC_NANO, 4, 65535, 113);
	expect_refused_rx(capture_save(&capture, "l.pcap"),
			  "link type 113 (LINUX_SLL, Linux cooked v1), not Ethernet (1)");
	capture_head(&capture, MAGIC_NANO, 4, 65535, 101);
	expect_refused_rx(capture_save(&capture, "l.pcap"), "link type 101 (RAW, Raw IP)");
	capture_head(&capture, MAGIC_NANO, 4, 65535, 9999);
	expect_refused_rx(capture_save(&capture, "l.pcap"), "link type 9999 (unknown)");
	capture_ng_section(&capture);
	capture_ng_interface(&capture, 105, 0);
	expect_refused_rx(capture_save(&capture, "l.pcapng"), "link type 105 (IEEE802_11, 802.11)");
}

static void test_ng(void)
{
	static const uint32_t lengths[] = {60, 1000, 61, 3000};

	for (unsigned big = 0; big < 2; big++) {
		struct capture capture = {.big = big};

		capture_ng_section(&capture);
		capture_ng_interface(&capture, 1, 262144);
		capture_ng_packet(&capture, 0, 1000, 60, 60, 0);
		capture_ng_interface(&capture, 1, 262144);
		capture_ng_packet(&capture, 1, 2000, 1000, 1000, 1);
		capture_ng_simple(&capture, 61, 61, 2);
		capture_ng_packet(&capture, 0, 3000, 3000, 3000, 3);
		EXPECT(capture_save(&capture, "two.pcapng"), lengths);
	}
}

static void test_ng_snaps(void)
{
	static const uint32_t lengths[] = {60, 1000, 80};
	struct capture capture = {0};

	// Interfaces that were captured with different snap lengths.
	capture_ng_section(&capture);
	capture_ng_interface(&capture, 1, 96);
	capture_ng_interface(&capture, 1, 0);
	capture_ng_interface(&capture, 1, 262144);
	capture_ng_packet(&capture, 0, 1000, 60, 60, 0);
	capture_ng_packet(&capture, 1, 2000, 1000, 1000, 1);
	capture_ng_packet(&capture, 2, 3000, 80, 80, 2);
	EXPECT(capture_save(&capture, "snaps.pcapng"), lengths);
}

static void test_ng_simple(void)
{
	static const uint32_t lengths[] = {60, 96, 1000, 96, 200};

	// A simple packet is as long as the first interface of its section allows.
	for (unsigned big = 0; big < 2; big++) {
		struct capture capture = {.big = big};

		capture_ng_section(&capture);
		capture_ng_interface(&capture, 1, 96);
		capture_ng_interface(&capture, 1, 0);
		capture_ng_simple(&capture, 60, 60, 0);
		capture_ng_simple(&capture, 500, 96, 1);
		capture_ng_packet(&capture, 1, 2000, 1000, 1000, 2);
		capture_ng_simple(&capture, 97, 96, 3);
		capture_ng_section(&capture);
		capture_ng_interface(&capture, 1, 0);
		capture_ng_simple(&capture, 200, 200, 4);
		EXPECT(capture_save(&capture, "simple.pcapng"), lengths, .errors = 2,
		       .note = "2 packets were captured in part only");
	}
}

static void test_ng_mixed(void)
{
	static const uint32_t one[] = {60};
	struct capture capture = {0};

	capture_ng_section(&capture);
	capture_ng_interface(&capture, 1, 0);
	capture_ng_packet(&capture, 0, 1000, 60, 60, 0);
	capture_ng_interface(&capture, 113, 0);
	capture_ng_packet(&capture, 1, 2000, 60, 60, 1);
	EXPECT(capture_save(&capture, "mixed.pcapng"), one, .errors = 1,
	       .fault = "packet 2: before it comes an interface of link type 113 (LINUX_SLL, Linux "
			"cooked v1), not Ethernet (1); 1 packets were read");
	capture_ng_section(&capture);
	capture_ng_interface(&capture, 1, 0);
	capture_ng_packet(&capture, 0, 1000, 60, 60, 0);
	capture_ng_packet(&capture, 7, 2000, 60, 60, 1);
	EXPECT(capture_save(&capture, "mixed.pcapng"), one, .errors = 1,
	       .fault = "packet 2: a packet arrived on interface 7");
}

static void test_no_capture(void)
{
	struct capture capture = {0};
	const char *path;

	capture_bytes(&capture, 100, 'A');
	expect_refused_rx(capture_save(&capture, "text"), "text\" is no pcap or pcapng capture\n");
	capture_put8(&capture, 0x1f, 1);
	capture_put8(&capture, 0x8b, 1);
	capture_bytes(&capture, 100, 0);
	expect_refused_rx(capture_save(&capture, "x.gz"), "compressed with gzip: gunzip it first");
	expect_refused_rx(capture_path("missing.pcap"), "missing.pcap\": No such file");
	expect_refused_rx("/", "\"/\" is a folder, not a capture");
	if (!geteuid())
		return;
	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	path = capture_save(&capture, "secret.pcap");
	CU_ASSERT_EQUAL(chmod(path, 0), 0);
	expect_refused_rx(path, "secret.pcap\": Permission denied");
}

static void test_check(void)
{
	static const struct {
		const char *params;
		const char *reason;
	} bad[] = {
	    {"{}", "needs a capture to receive from (rx), to send to (tx), or both"},
	    {"{rx: a, tx: a}", "\"a\" is what rx reads; it must be another file"},
	    {"{rx: a, loop: 0}", "\"0\" is neither a number of times from 1 on nor \"forever\""},
	    {"{rx: a, loop: -1}", "neither a number"},
	    {"{rx: a, loop: 2x}", "neither a number"},
	    {"{rx: a, loop: 18446744073709551616}", "neither a number"},
	    {"{rx: \"-\", loop: 2}", "standard input can be read only once"},
	    {"{tx: a, loop: 2}", "there is no rx"},
	    {"{tx: a, speed: 2x}", "there is no rx"},
	    {"{rx: a, speed: quick}", "\"quick\" is neither \"fast\", \"original\" nor a factor"},
	    {"{rx: a, speed: 0x}", "nor a factor"},
	    {"{rx: a, speed: -1x}", "nor a factor"},
	    {"{rx: a, speed: x}", "nor a factor"},
	    {"{rx: a, speed: .x}", "nor a factor"},
	    {"{rx: a, speed: 1.2.3x}", "nor a factor"},
	    {"{rx: a, speed: 1000001x}", "nor a factor"},
	    {"{rx: a, speed: 0.0000001x}", "nor a factor"},
	    {"{rx: a, speed: 2}", "nor a factor"},
	};
	static const char *const good[] = {
	    "{rx: a, loop: 1}",	      "{rx: a, loop: 18446744073709551615}",
	    "{rx: a, loop: forever}", "{rx: a, speed: 2x}",
	    "{rx: a, speed: 0.5x}",   "{rx: a, speed: .5x}",
	    "{rx: \"-\", tx: \"-\"}"};
	struct test_port test;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CU_ASSERT_FALSE(test_port_check(&test, "pcap", bad[i].params));
		CU_ASSERT_PTR_NOT_NULL(strstr(test_port_errors(&test), bad[i].reason));
		test_port_close(&test);
	}
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CU_ASSERT_TRUE(test_port_check(&test, "pcap", good[i]));
		test_port_close(&test);
	}
}

static const CU_TestInfo pcap_cases[] = {
    {"byte orders, versions, times, FCS bits", test_kinds},
    {"no packets", test_empty},
    {"lengths", test_lengths},
    {"long records take no more than promised", test_long_records},
    {"captured in part", test_short},
    {"cut files", test_cut},
    {"absurd lengths", test_absurd},
    {"other link types", test_links},
    {"pcapng", test_ng},
    {"pcapng with several snap lengths", test_ng_snaps},
    {"pcapng with simple packets", test_ng_simple},
    {"pcapng with several link types", test_ng_mixed},
    {"no captures", test_no_capture},
    {"parameters", test_check},
    CU_TEST_INFO_NULL,
};
SUITE(pcap, pcap_cases, .eal = true)
