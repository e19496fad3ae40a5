// SPDX-License-Identifier: BSD-3-Clause
// The driver `pcap` as a sender: whole packets, true times, and every way in which writing fails.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "captures.h"
#include "ports.h"
#include "suite.h"

static bool open_tx(struct test_port *test, const char *path, bool replay)
{
	char params[256];

	snprintf(params, sizeof(params), "{tx: \"%s\"}", path);
	return test_port_open(test, "pcap", params, 0, 1, replay);
}

static unsigned send_one(struct test_port *test, struct rte_mbuf *pkt)
{
	return test->port.tx(test->port.tx_queue[0], &pkt, 1);
}

static bool nothing_unsent(void *test_)
{
	struct test_port *test = test_;

	return !test->port.driver->unsent(&test->port);
}

static bool was_faulted(void *test_)
{
	return test_port_faults(test_);
}

// Reads a capture with libpcap alone: packet i is filled from seed i on.
static unsigned expect_file(const char *path, const uint32_t *lengths, unsigned n, uint64_t time_ns)
{
	char reason[PCAP_ERRBUF_SIZE];
	pcap_t *pcap =
	    pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, reason);
	struct pcap_pkthdr *header;
	const u_char *bytes;
	unsigned got = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcap);
	CU_ASSERT_EQUAL(pcap_datalink(pcap), DLT_EN10MB);
	CU_ASSERT_EQUAL(pcap_snapshot(pcap), 262144);
	while (pcap_next_ex(pcap, &header, &bytes) == 1) {
		bool same = true;

		CU_ASSERT_EQUAL(header->caplen, header->len);
		if (got < n)
			CU_ASSERT_EQUAL(header->len, lengths[got]);
		if (time_ns)
			CU_ASSERT_EQUAL(
			    header->ts.tv_sec * UINT64_C(1000000000) + header->ts.tv_usec, time_ns);
		for (uint32_t i = 0; i < header->caplen; i++)
			same &= bytes[i] == (uint8_t)(got + i);
		CU_ASSERT_TRUE(same);
		got++;
	}
	CU_ASSERT_STRING_EQUAL(pcap_geterr(pcap), "");
	pcap_close(pcap);
	return got;
}

static void test_whole(void)
{
	static const uint32_t lengths[] = {60, 0, 1, 14, 1514, 9230, 16129, 65590, 262144};
	const unsigned n = sizeof(lengths) / sizeof(lengths[0]);

	for (unsigned replay = 0; replay < 2; replay++) {
		struct test_port test;
		const char *path = capture_path("whole.pcap");
		uint64_t bytes = 0;

		CU_ASSERT_TRUE_FATAL(open_tx(&test, path, replay));
		for (unsigned i = 0; i < n; i++) {
			CU_ASSERT_EQUAL(send_one(&test, test_packet(lengths[i], 2000, i)), 1);
			bytes += lengths[i];
		}
		CU_ASSERT_TRUE(test_wait(nothing_unsent, &test));
		CU_ASSERT_EQUAL(test_port_counters(&test).tx_packets, n);
		CU_ASSERT_EQUAL(test_port_counters(&test).tx_bytes, bytes);
		CU_ASSERT_EQUAL(test_port_counters(&test).tx_errors, 0);
		// What counts as sent can be read, while the port is open still.
		CU_ASSERT_EQUAL(
		    expect_file(path, lengths, n, replay ? UINT64_C(1700000000123456789) : 0), n);
		test_port_close(&test);
		CU_ASSERT_EQUAL(test.n_faults, 0);
		CU_ASSERT_EQUAL(expect_file(path, lengths, n, 0), n);
		CU_ASSERT_EQUAL(test_pool_out(), 0);
	}
}

// Packets of a run bear the present time, whatever the graph's clock counts from.
static void test_time(void)
{
	struct test_port test;
	struct pcap_pkthdr *header;
	const u_char *bytes;
	char reason[PCAP_ERRBUF_SIZE];
	const char *path = capture_path("time.pcap");
	time_t before = time(NULL);
	pcap_t *pcap;

	CU_ASSERT_TRUE_FATAL(open_tx(&test, path, false));
	CU_ASSERT_EQUAL(send_one(&test, test_packet(60, 2048, 0)), 1);
	test_port_close(&test);
	pcap = pcap_open_offline(path, reason);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pcap);
	CU_ASSERT_EQUAL_FATAL(pcap_next_ex(pcap, &header, &bytes), 1);
	CU_ASSERT_TRUE(header->ts.tv_sec >= before && header->ts.tv_sec <= time(NULL));
	pcap_close(pcap);
}

static void test_nothing_sent(void)
{
	struct test_port test;
	const char *path = capture_path("none.pcap");

	CU_ASSERT_TRUE_FATAL(open_tx(&test, path, false));
	CU_ASSERT_EQUAL(expect_file(path, NULL, 0, 0), 0);
	test_port_close(&test);
	CU_ASSERT_EQUAL(expect_file(path, NULL, 0, 0), 0);
}

// An older, longer file leaves nothing behind.
static void test_replaced(void)
{
	struct capture capture = {0};
	struct test_port test;
	static const uint32_t lengths[] = {60};
	const char *path;

	capture_bytes(&capture, 5000, 0);
	path = capture_save(&capture, "old.pcap");
	CU_ASSERT_TRUE_FATAL(open_tx(&test, path, false));
	CU_ASSERT_EQUAL(send_one(&test, test_packet(60, 2048, 0)), 1);
	test_port_close(&test);
	CU_ASSERT_EQUAL(expect_file(path, lengths, 1, 0), 1);
}

static void test_too_long(void)
{
	for (unsigned replay = 0; replay < 2; replay++) {
		struct test_port test;
		static const uint32_t lengths[] = {100};
		const char *path = capture_path("long.pcap");

		CU_ASSERT_TRUE_FATAL(open_tx(&test, path, replay));
		CU_ASSERT_EQUAL(send_one(&test, test_packet(262145, 2048, 0)), 1);
		CU_ASSERT_EQUAL(send_one(&test, test_packet(100, 2048, 0)), 1);
		CU_ASSERT_TRUE(test_wait(nothing_unsent, &test));
		test.port.driver->stop(&test.port);
		CU_ASSERT_EQUAL(test_port_counters(&test).tx_errors, 1);
		CU_ASSERT_EQUAL(test_port_counters(&test).tx_packets, 1);
		test_port_close(&test);
		CU_ASSERT_EQUAL(test.n_faults, 1);
		CU_ASSERT_PTR_NOT_NULL(
		    strstr(test.fault, "a packet of 262145 bytes is too long for a capture"));
		CU_ASSERT_EQUAL(expect_file(path, lengths, 1, 0), 1);
	}
}

// More packets than the ring holds: those that are taken are written, in order.
static void test_many(void)
{
	struct test_port test;
	const char *path = capture_path("many.pcap");
	static uint32_t lengths[20000];
	unsigned taken = 0;

	CU_ASSERT_TRUE_FATAL(open_tx(&test, path, false));
	for (unsigned i = 0; i < 20000; i++) {
		struct rte_mbuf *pkt = test_packet(60 + taken % 100, 2048, taken);

		if (!send_one(&test, pkt)) {
			rte_pktmbuf_free(pkt);
			CU_ASSERT_TRUE(test_wait(nothing_unsent, &test));
			continue;
		}
		lengths[taken] = 60 + taken % 100;
		taken++;
	}
	test.port.driver->stop(&test.port);
	CU_ASSERT_EQUAL(test_port_counters(&test).tx_packets, taken);
	test_port_close(&test);
	CU_ASSERT_EQUAL(expect_file(path, lengths, taken, 0), taken);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_disk_full(void)
{
	for (unsigned i = 0; i < 3; i++) {
		struct test_port test;

		CU_ASSERT_TRUE_FATAL(open_tx(&test, "/dev/full", false));
		for (unsigned j = 0; j < 10; j++)
			CU_ASSERT_EQUAL(send_one(&test, test_packet(60, 2048, 0)), 1);
		CU_ASSERT_TRUE(test_wait(nothing_unsent, &test));
		CU_ASSERT_EQUAL(test_port_counters(&test).tx_errors, 10);
		CU_ASSERT_EQUAL(test_port_counters(&test).tx_packets, 0);
		CU_ASSERT_TRUE(test_wait(was_faulted, &test));
		test_port_close(&test);
		CU_ASSERT_EQUAL(test.n_faults, 1);
		CU_ASSERT_STRING_EQUAL(test.fault,
				       "tx: cannot write \"/dev/full\": No space left on device");
		CU_ASSERT_EQUAL(test_pool_out(), 0);
	}
}

// A file that may grow no further ends behind a whole packet.
static void test_file_full(void)
{
	for (unsigned replay = 0; replay < 2; replay++) {
		struct rlimit before, small;
		struct port_counters counters;
		struct test_port test;
		const char *path = capture_path("full.pcap");

		CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
		CU_ASSERT_TRUE_FATAL(open_tx(&test, path, replay));
		small = before;
		small.rlim_cur = 5000;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &small);
		for (unsigned i = 0; i < 100; i++)
			CU_ASSERT_EQUAL(send_one(&test, test_packet(200, 2048, i)), 1);
		test.port.driver->stop(&test.port);
		test_wait(nothing_unsent, &test);
		counters = test_port_counters(&test);
		test_port_close(&test);
		setrlimit(RLIMIT_FSIZE, &before);
		signal(SIGXFSZ, SIG_DFL);
		CU_ASSERT_EQUAL(counters.tx_packets + counters.tx_errors, 100);
		CU_ASSERT_TRUE(counters.tx_packets < 24);
		CU_ASSERT_EQUAL(test.n_faults, 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(test.fault, "full.pcap\": File too large"));
		CU_ASSERT_EQUAL(expect_file(path, NULL, 0, 0), counters.tx_packets);
		CU_ASSERT_EQUAL(test_pool_out(), 0);
	}
}

static void expect_refused(const char *path, const char *reason)
{
	struct test_port test;

	CU_ASSERT_FALSE(open_tx(&test, path, false));
	if (!strstr(test_port_errors(&test), reason)) {
		CU_FAIL("the reason is as expected");
		fprintf(stderr, "%s\nnot: %s\n", test_port_errors(&test), reason);
	}
	test_port_close(&test);
}

static void test_refused(void)
{
	char path[128];

	expect_refused("/", "cannot write \"/\": Is a directory");
	snprintf(path, sizeof(path), "%s/x.pcap", capture_path("no-such-folder"));
	expect_refused(path, "its folder does not exist");
	if (!geteuid())
		return;
	CU_ASSERT_EQUAL(mkdir(capture_path("locked"), 0500), 0);
	snprintf(path, sizeof(path), "%s/x.pcap", capture_path("locked"));
	expect_refused(path, "Permission denied");
}

// Nobody reads what another port writes.
static void test_in_use(void)
{
	static const uint32_t lengths[] = {60};
	struct test_port one, two;
	struct capture capture = {0};
	const char *path, *link = capture_path("link.pcap");
	char params[512];

	capture_head(&capture, MAGIC_MICRO, 4, 262144, 1);
	capture_packet(&capture, 1, 0, 60, 0);
	path = capture_save(&capture, "use.pcap");
	CU_ASSERT_EQUAL(symlink(path, link), 0);

	// Of one port, under two names.
	snprintf(params, sizeof(params), "{rx: \"%s\", tx: \"%s\"}", path, link);
	CU_ASSERT_FALSE(test_port_open(&one, "pcap", params, 1, 1, false));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(test_port_errors(&one), "a port of this or another program reads or writes it"));
	test_port_close(&one);
	CU_ASSERT_EQUAL(expect_file(path, lengths, 1, 0), 1);

	// Of two ports.
	snprintf(params, sizeof(params), "{rx: \"%s\"}", path);
	CU_ASSERT_TRUE(test_port_open(&one, "pcap", params, 1, 0, true));
	CU_ASSERT_FALSE(open_tx(&two, path, false));
	test_port_close(&two);
	CU_ASSERT_TRUE(test_port_open(&two, "pcap", params, 1, 0, true));
	test_port_close(&two);
	test_port_close(&one);
	CU_ASSERT_EQUAL(expect_file(path, lengths, 1, 0), 1);
	CU_ASSERT_TRUE(open_tx(&one, path, false));
	CU_ASSERT_FALSE(open_tx(&two, path, false));
	test_port_close(&two);
	CU_ASSERT_FALSE(test_port_open(&two, "pcap", params, 1, 0, false));
	CU_ASSERT_PTR_NOT_NULL(strstr(test_port_errors(&two), "is being written by a port"));
	test_port_close(&two);
	test_port_close(&one);
}

static const CU_TestInfo pcap_tx_cases[] = {
    {"packets are whole", test_whole},
    {"the present time", test_time},
    {"nothing sent", test_nothing_sent},
    {"an older file", test_replaced},
    {"too long for any capture", test_too_long},
    {"many packets", test_many},
    {"a full disk", test_disk_full},
    {"a full file", test_file_full},
    {"what cannot be written", test_refused},
    {"a file in use", test_in_use},
    CU_TEST_INFO_NULL,
};
SUITE(pcap_tx, pcap_tx_cases, .eal = true)
