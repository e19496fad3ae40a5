// SPDX-License-Identifier: BSD-3-Clause
// The driver `memory`: what was fed comes, what was sent is kept, byte for byte.

#include <string.h>

#include "../../drivers/memory.h"
#include "ports.h"
#include "suite.h"

static void test_feed(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[8];
	uint8_t bytes[3000];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = i * 7;
	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "memory", "{open: true}", 1, 1, true));
	CU_ASSERT_TRUE(memory_is(&test.port));
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 8), 0);
	CU_ASSERT_FALSE(port_ended(&test.port));
	memory_feed(&test.port, bytes, 60);
	memory_feed(&test.port, bytes, 0);
	memory_feed(&test.port, bytes, 3000);
	CU_ASSERT_EQUAL(memory_waiting(&test.port), 3);
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 2), 2);
	CU_ASSERT_EQUAL(memory_waiting(&test.port), 1);
	memory_end(&test.port);
	CU_ASSERT_FALSE(port_ended(&test.port));
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts + 2, 6), 1);
	CU_ASSERT_TRUE(port_ended(&test.port));
	CU_ASSERT_EQUAL(pkts[0]->pkt_len, 60);
	CU_ASSERT_EQUAL(pkts[1]->pkt_len, 0);
	CU_ASSERT_EQUAL(pkts[2]->pkt_len, 3000);
	CU_ASSERT_EQUAL(pkts[2]->nb_segs, 2);

	// And back.
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], pkts, 3), 3);
	CU_ASSERT_EQUAL_FATAL(memory_sent(&test.port), 3);
	CU_ASSERT_EQUAL(memory_sent_packet(&test.port, 0).length, 60);
	CU_ASSERT_EQUAL(memory_sent_packet(&test.port, 1).length, 0);
	CU_ASSERT_EQUAL(memory_sent_packet(&test.port, 2).length, 3000);
	CU_ASSERT_EQUAL(memory_sent_packet(&test.port, 2).segments, 2);
	CU_ASSERT_EQUAL(memcmp(memory_sent_packet(&test.port, 2).bytes, bytes, 3000), 0);
	CU_ASSERT_PTR_NULL(memory_sent_packet(&test.port, 3).bytes);
	memory_sent_clear(&test.port);
	CU_ASSERT_EQUAL(memory_sent(&test.port), 0);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_bytes, 3060);
	CU_ASSERT_EQUAL(test_port_counters(&test).tx_bytes, 3060);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_segments(void)
{
	struct test_port test;
	struct rte_mbuf *pkt;
	uint8_t bytes[50];

	memset(bytes, 5, sizeof(bytes));
	CU_ASSERT_TRUE_FATAL(
	    test_port_open(&test, "memory", "{open: true, segments: 7}", 1, 1, true));
	CU_ASSERT_FALSE(test.port.whole_headers);
	memory_feed(&test.port, bytes, 50);
	CU_ASSERT_EQUAL_FATAL(test.port.rx(test.port.rx_queue[0], &pkt, 1), 1);
	CU_ASSERT_EQUAL(pkt->nb_segs, 8);
	CU_ASSERT_EQUAL(pkt->data_len, 7);
	CU_ASSERT_EQUAL(rte_pktmbuf_lastseg(pkt)->data_len, 1);
	CU_ASSERT_EQUAL(rte_mbuf_check(pkt, 1, &(const char *){NULL}), 0);
	rte_pktmbuf_free(pkt);

	// More buffers than the pool ever has: counted, and no reason to stop.
	for (unsigned i = 0; i < 2; i++) {
		static const uint8_t large[7 * TEST_BUFFERS + 1];

		memory_feed(&test.port, large, i ? 7 : sizeof(large));
	}
	CU_ASSERT_EQUAL_FATAL(test.port.rx(test.port.rx_queue[0], &pkt, 1), 1);
	CU_ASSERT_EQUAL(pkt->pkt_len, 7);
	rte_pktmbuf_free(pkt);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_errors, 1);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_frames(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[8];

	CU_ASSERT_TRUE_FATAL(
	    test_port_open(&test, "memory", "{frames: [\"0102030405\", \"aabb\"]}", 1, 0, false));
	CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, pkts, 8), 2);
	CU_ASSERT_TRUE(port_ended(&test.port));
	CU_ASSERT_EQUAL(pkts[0]->pkt_len, 5);
	CU_ASSERT_EQUAL(memcmp(rte_pktmbuf_mtod(pkts[1], void *), "\xaa\xbb", 2), 0);
	rte_pktmbuf_free_bulk(pkts, 2);
	test_port_close(&test);
}

// An empty pool delays packets, and loses none.
static void test_no_memory(void)
{
	struct test_port test;
	static struct rte_mbuf *all[TEST_BUFFERS], *pkt;
	unsigned n = 0;
	uint8_t bytes[3000] = {0};

	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "memory", "{open: true}", 1, 0, true));
	memory_feed(&test.port, bytes, sizeof(bytes));
	while (n < TEST_BUFFERS && (all[n] = rte_pktmbuf_alloc(test_pool())))
		n++;
	rte_pktmbuf_free(all[--n]); // one where two are needed
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], &pkt, 1), 0);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_no_memory, 1);
	rte_pktmbuf_free(all[--n]);
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], &pkt, 1), 1);
	rte_pktmbuf_free(pkt);
	rte_pktmbuf_free_bulk(all, n);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_keep(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[5];

	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "memory", "{keep: 3}", 0, 2, false));
	for (unsigned i = 0; i < 5; i++)
		pkts[i] = test_packet(60, 2048, i);
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], pkts, 2), 2);
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[1], pkts + 2, 3), 1);
	CU_ASSERT_EQUAL(memory_sent_packet(&test.port, 2).bytes[0], 2);
	CU_ASSERT_EQUAL(test_pool_out(), 2);
	rte_pktmbuf_free_bulk(pkts + 3, 2);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static const CU_TestInfo memory_cases[] = {
    {"feeds and collects", test_feed},	  {"segments", test_segments},
    {"frames of the graph", test_frames}, {"an empty pool", test_no_memory},
    {"keeps so many", test_keep},	  CU_TEST_INFO_NULL,
};
SUITE(memory, memory_cases, .eal = true)
