// SPDX-License-Identifier: BSD-3-Clause
// The driver `null`: real buffers, all of them given back.

#include <stdlib.h>
#include <string.h>

#include "ports.h"
#include "suite.h"

static void test_makes(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[64];

	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "null", "{size: 100, fill: zero}", 1, 1, false));
	CU_ASSERT_FALSE(test.port.finite);
	CU_ASSERT_TRUE(test.port.whole_headers);
	CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, pkts, 64), 64);
	for (unsigned i = 0; i < 64; i++) {
		static const uint8_t zeros[100];
		struct rte_mbuf *pkt = pkts[i];

		CU_ASSERT_EQUAL(pkt->pkt_len, 100);
		CU_ASSERT_EQUAL(pkt->data_len, 100);
		CU_ASSERT_EQUAL(pkt->nb_segs, 1);
		CU_ASSERT_EQUAL(pkt->data_off, RTE_PKTMBUF_HEADROOM);
		CU_ASSERT_EQUAL(rte_mbuf_refcnt_read(pkt), 1);
		CU_ASSERT_EQUAL(pkt->ol_flags, 0);
		CU_ASSERT_PTR_NULL(pkt->next);
		CU_ASSERT_EQUAL(memcmp(rte_pktmbuf_mtod(pkt, void *), zeros, 100), 0);
		for (unsigned j = 0; j < i; j++)
			CU_ASSERT_PTR_NOT_EQUAL(pkts[j], pkt);
	}
	CU_ASSERT_EQUAL(test_pool_out(), 64);
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], pkts, 64), 64);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_packets, 64);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_bytes, 6400);
	CU_ASSERT_EQUAL(test_port_counters(&test).tx_packets, 64);
	CU_ASSERT_EQUAL(test_port_counters(&test).tx_bytes, 6400);
	test_port_close(&test);
}

// What a module left in a buffer must not show in the next packet.
static void test_fresh(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[32];

	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "null", "{size: 64}", 1, 1, false));
	for (unsigned round = 0; round < 3; round++) {
		CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, pkts, 32), 32);
		for (unsigned i = 0; i < 32; i++) {
			CU_ASSERT_EQUAL(pkts[i]->ol_flags, 0);
			CU_ASSERT_EQUAL(pkts[i]->vlan_tci, 0);
			CU_ASSERT_EQUAL(pkts[i]->packet_type, 0);
			CU_ASSERT_EQUAL(pkts[i]->data_off, RTE_PKTMBUF_HEADROOM);
			CU_ASSERT_EQUAL(pkts[i]->pkt_len, 64);
			CU_ASSERT_EQUAL(pkts[i]->hash.rss, 0);
			pkts[i]->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_VLAN;
			pkts[i]->vlan_tci = 7;
			pkts[i]->packet_type = 9;
			pkts[i]->hash.rss = 11;
			rte_pktmbuf_adj(pkts[i], 14);
		}
		CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], pkts, 32), 32);
	}
	CU_ASSERT_EQUAL(test_pool_out(), 0);
	test_port_close(&test);
}

// Chains, clones and packets of another pool take the long way home.
static void test_odd_packets(void)
{
	struct test_port test;
	struct rte_mempool *other = rte_pktmbuf_pool_create("test_other", 31, 0, 0, 256, -1);
	struct rte_mbuf *pkts[5], *whole;

	if (!other)
		abort();
	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "null", "{}", 1, 1, false));
	whole = test_packet(60, 2048, 0);
	pkts[0] = test_packet(60, 2048, 0);
	pkts[1] = test_packet(3000, 1000, 0);
	pkts[2] = rte_pktmbuf_clone(whole, test_pool());
	pkts[3] = rte_pktmbuf_alloc(other);
	pkts[4] = whole;
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], pkts, 5), 5);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
	CU_ASSERT_EQUAL(rte_mempool_in_use_count(other), 0);
	CU_ASSERT_EQUAL(test_port_counters(&test).tx_bytes, 60 + 3000 + 60 + 0 + 60);
	test_port_close(&test);
	rte_mempool_free(other);
}

static void test_count(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[64];
	unsigned got;

	// 11 over three queues: 4, 4 and 3, whatever order they are polled in.
	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "null", "{count: 11}", 3, 0, false));
	CU_ASSERT_TRUE(test.port.finite);
	got = test.port.rx(test.port.rx_queue[2], pkts, 64);
	CU_ASSERT_EQUAL(got, 3);
	rte_pktmbuf_free_bulk(pkts, got);
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[2], pkts, 64), 0);
	CU_ASSERT_FALSE(port_ended(&test.port));
	got = test.port.rx(test.port.rx_queue[0], pkts, 3);
	got += test.port.rx(test.port.rx_queue[0], pkts + got, 3);
	got += test.port.rx(test.port.rx_queue[1], pkts + got, 64);
	CU_ASSERT_EQUAL(got, 8);
	rte_pktmbuf_free_bulk(pkts, got);
	CU_ASSERT_TRUE(port_ended(&test.port));
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_packets, 11);
	test_port_close(&test);

	// Fewer packets than queues.
	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "null", "{count: 1}", 2, 0, false));
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[1], pkts, 64), 0);
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 64), 1);
	rte_pktmbuf_free(pkts[0]);
	CU_ASSERT_TRUE(port_ended(&test.port));
	test_port_close(&test);
}

static void test_silent(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[4];

	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "null", "{rx: false}", 1, 1, false));
	CU_ASSERT_TRUE(test.port.finite);
	CU_ASSERT_TRUE(port_ended(&test.port));
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 4), 0);
	test_port_close(&test);
}

static void test_no_memory(void)
{
	struct test_port test;
	static struct rte_mbuf *all[TEST_BUFFERS], *pkts[8];
	unsigned n = 0;

	CU_ASSERT_TRUE_FATAL(test_port_open(&test, "null", "{count: 8}", 1, 1, false));
	while (n < TEST_BUFFERS && (all[n] = rte_pktmbuf_alloc(test_pool())))
		n++;
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 8), 0);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_no_memory, 8);
	CU_ASSERT_FALSE(port_ended(&test.port));
	rte_pktmbuf_free_bulk(all, n);
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 8), 8);
	rte_pktmbuf_free_bulk(pkts, 8);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_too_large(void)
{
	struct test_port test;

	CU_ASSERT_FALSE(test_port_open(&test, "null", "{size: 2049}", 1, 0, false));
	CU_ASSERT_PTR_NOT_NULL(strstr(test_port_errors(&test),
				      "2049 does not fit into a packet buffer of 2048 bytes"));
	test_port_close(&test);
	CU_ASSERT_TRUE(test_port_open(&test, "null", "{size: 2048}", 1, 0, false));
	CU_ASSERT_EQUAL(test.port.driver->frame_max(test.port.params), 2048);
	test_port_close(&test);
	CU_ASSERT_TRUE(test_port_open(&test, "null", "{size: 13}", 1, 0, false));
	CU_ASSERT_FALSE(test.port.whole_headers);
	test_port_close(&test);
}

static const CU_TestInfo null_cases[] = {
    {"makes whole packets and frees them", test_makes},
    {"packets are fresh", test_fresh},
    {"frees chains, clones and foreign packets", test_odd_packets},
    {"count is shared among queues", test_count},
    {"rx: false ends at once", test_silent},
    {"an empty pool", test_no_memory},
    {"sizes", test_too_large},
    CU_TEST_INFO_NULL,
};
SUITE(null, null_cases, .eal = true)
