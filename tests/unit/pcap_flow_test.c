// SPDX-License-Identifier: BSD-3-Clause
// The driver `pcap` in time: loops, pacing, progress, and being stopped at any moment.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../drivers/capture.h"
#include "captures.h"
#include "ports.h"
#include "suite.h"

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

// Three packets, so many milliseconds apart.
static const char *three(uint32_t gap_ms)
{
	struct capture capture = {0};

	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	for (unsigned i = 0; i < 3; i++)
		capture_packet(&capture, 1000 + i * gap_ms / 1000, i * gap_ms % 1000 * 1000,
			       100 + i, i);
	return capture_save(&capture, "three.pcap");
}

static void test_loop(void)
{
	struct rte_mbuf *pkts[16];

	three(0);
	for (unsigned replay = 0; replay < 2; replay++) {
		struct test_port test;

		CU_ASSERT_TRUE_FATAL(
		    capture_open_rx(&test, capture_path("three.pcap"), ", loop: 4", replay));
		CU_ASSERT_TRUE(test.port.finite);
		CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, pkts, 16), 12);
		CU_ASSERT_TRUE(port_ended(&test.port));
		for (unsigned i = 0; i < 12; i++)
			CU_ASSERT_TRUE(test_packet_is(pkts[i], 100 + i % 3, i % 3));
		CU_ASSERT_DOUBLE_EQUAL(test.port.driver->progress(&test.port), 1, 0);
		rte_pktmbuf_free_bulk(pkts, 12);
		test_port_close(&test);
	}
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_forever(void)
{
	struct test_port test;
	struct rte_mbuf *pkt;

	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, three(0), ", loop: forever", false));
	CU_ASSERT_FALSE(test.port.finite);
	for (unsigned i = 0; i < 10000; i++) {
		CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, &pkt, 1), 1);
		CU_ASSERT_TRUE(test_packet_is(pkt, 100 + i % 3, i % 3));
		rte_pktmbuf_free(pkt);
	}
	CU_ASSERT_TRUE(test.port.driver->progress(&test.port) < 0);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

// Files that are too large to stay in memory are read again.
static void test_rewind(void)
{
	struct capture_problem problem;
	struct capture_record record;
	struct capture_in *in = capture_in_open(three(0), -1, &problem);

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	for (unsigned pass = 0; pass < 3; pass++) {
		for (unsigned i = 0; i < 3; i++) {
			CU_ASSERT_EQUAL_FATAL(capture_in_next(in, &record), CAPTURE_RECORD);
			CU_ASSERT_EQUAL(record.captured, 100 + i);
			CU_ASSERT_EQUAL(record.bytes[0], i);
			CU_ASSERT_EQUAL(record.time_ns, UINT64_C(1000000000000));
		}
		CU_ASSERT_EQUAL(capture_in_records(in), 3);
		CU_ASSERT_DOUBLE_EQUAL(capture_in_progress(in), 1, 0);
		CU_ASSERT_EQUAL(capture_in_next(in, &record), CAPTURE_END);
		capture_in_rewind(in);
	}
	capture_in_close(in);
}

static void test_loop_damaged(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[16];
	unsigned got;

	for (unsigned replay = 0; replay < 2; replay++) {
		const char *path = three(0);

		CU_ASSERT_EQUAL(truncate(path, 24 + 16 + 100 + 16 + 50), 0);
		CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, ", loop: 4", replay));
		got = test_port_receive(&test, pkts, 16);
		CU_ASSERT_EQUAL(got, 1);
		rte_pktmbuf_free_bulk(pkts, got);
		test.port.driver->stop(&test.port);
		CU_ASSERT_EQUAL(test.n_faults, 1);
		test_port_close(&test);
	}
}

// The least time that the gaps take; how much longer it is depends on the machine.
static void test_speed(void)
{
	static const struct {
		const char *more;
		unsigned gap_ms;
		unsigned least_ms;
	} speeds[] = {
	    {", speed: original", 20, 40},
	    {", speed: 2x", 40, 40},
	    {", speed: 0.5x", 10, 40},
	    {", speed: 1000000x", 3600 * 1000, 0},
	    {", speed: original, loop: 2", 10, 40},
	};

	for (unsigned i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		struct test_port test;
		struct rte_mbuf *pkts[8];
		uint64_t began;
		unsigned got;

		CU_ASSERT_TRUE_FATAL(
		    capture_open_rx(&test, three(speeds[i].gap_ms), speeds[i].more, 0));
		began = now_ms();
		got = test_port_receive(&test, pkts, 8);
		CU_ASSERT_EQUAL(got, strstr(speeds[i].more, "loop") ? 6 : 3);
		CU_ASSERT_TRUE(now_ms() - began >= speeds[i].least_ms);
		rte_pktmbuf_free_bulk(pkts, got);
		test_port_close(&test);
	}
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

// A test's time is set: it waits for nothing.
static void test_speed_replay(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[3];

	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, three(3600 * 1000), ", speed: original", true));
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 3), 3);
	rte_pktmbuf_free_bulk(pkts, 3);
	test_port_close(&test);
}

// A clock that jumps back costs nothing, and what comes behind keeps its gaps.
static void test_time_back(void)
{
	struct capture capture = {0};
	struct test_port test;
	struct rte_mbuf *pkts[3];

	capture_head(&capture, MAGIC_NANO, 4, 65535, 1);
	capture_packet(&capture, 4000000000u, 0, 60, 0);
	capture_packet(&capture, 5, 999999999, 60, 1);
	capture_packet(&capture, 6, 0, 60, 2);
	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, capture_save(&capture, "back.pcap"),
					     ", speed: original", false));
	CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, pkts, 3), 3);
	rte_pktmbuf_free_bulk(pkts, 3);
	test_port_close(&test);
}

static bool two_received(void *test)
{
	return test_port_counters(test).rx_packets == 2;
}

// Stopped in an hour's gap, with a full ring, with an empty pool, and at once.
static void test_stopped(void)
{
	struct capture capture = {0};
	struct test_port test;
	static struct rte_mbuf *all[TEST_BUFFERS], *pkt;
	unsigned n = 0;
	const char *path;

	CU_ASSERT_TRUE_FATAL(
	    capture_open_rx(&test, three(3600 * 1000), ", speed: original", false));
	CU_ASSERT_EQUAL(test_port_receive(&test, &pkt, 1), 1);
	rte_pktmbuf_free(pkt);
	CU_ASSERT_FALSE(two_received(&test));
	test.port.driver->stop(&test.port);
	CU_ASSERT_EQUAL(test_port_receive(&test, &pkt, 1), 0);
	CU_ASSERT_TRUE(port_ended(&test.port));
	test_port_close(&test);

	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	for (unsigned i = 0; i < 6000; i++)
		capture_packet(&capture, i, 0, 60, i);
	path = capture_save(&capture, "6000.pcap");
	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, "", false));
	CU_ASSERT_EQUAL(test_port_receive(&test, &pkt, 1), 1);
	rte_pktmbuf_free(pkt);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);

	while (n < TEST_BUFFERS && (all[n] = rte_pktmbuf_alloc(test_pool())))
		n++;
	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, "", false));
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], &pkt, 1), 0);
	test_port_close(&test);
	rte_pktmbuf_free_bulk(all, n);
	for (unsigned i = 0; i < 20; i++) {
		CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, ", loop: forever", false));
		test_port_close(&test);
	}
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

// An empty pool delays, and loses nothing.
static void test_no_memory(void)
{
	static struct rte_mbuf *all[TEST_BUFFERS], *pkts[3];
	struct capture capture = {0};
	const char *path;

	capture_head(&capture, MAGIC_MICRO, 4, 65535, 1);
	for (unsigned i = 0; i < 3; i++)
		capture_packet(&capture, i, 0, 3000, i);
	path = capture_save(&capture, "pool.pcap");
	for (unsigned replay = 0; replay < 2; replay++) {
		struct test_port test;
		unsigned n = 0;

		while (n < TEST_BUFFERS && (all[n] = rte_pktmbuf_alloc(test_pool())))
			n++;
		rte_pktmbuf_free(all[--n]); // one where two are needed
		CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, "", replay));
		CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 3), 0);
		rte_pktmbuf_free_bulk(all, n);
		CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, pkts, 3), 3);
		for (unsigned i = 0; i < 3; i++)
			CU_ASSERT_TRUE(test_packet_is(pkts[i], 3000, i));
		rte_pktmbuf_free_bulk(pkts, 3);
		test_port_close(&test);
		CU_ASSERT_EQUAL(test_pool_out(), 0);
	}
}

static const CU_TestInfo pcap_flow_cases[] = {
    {"a loop", test_loop},
    {"a loop without end", test_forever},
    {"a file read again", test_rewind},
    {"a loop over a damaged file", test_loop_damaged},
    {"speeds", test_speed},
    {"no pacing in a test", test_speed_replay},
    {"times that go back", test_time_back},
    {"stopped at any moment", test_stopped},
    {"an empty pool", test_no_memory},
    CU_TEST_INFO_NULL,
};
SUITE(pcap_flow, pcap_flow_cases, .eal = true)
