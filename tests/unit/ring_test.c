// SPDX-License-Identifier: BSD-3-Clause
// The driver `ring`: two ports on one wire, one on itself, and who may join whom.

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memzone.h>

#include "ports.h"
#include "suite.h"

static bool open_as(struct test_port *test, const char *name, const char *params)
{
	return test_port_open_as(test, name, "ring", params, 1, 1);
}

static void test_loop(void)
{
	struct test_port test;
	struct rte_mbuf *pkts[4];

	CU_ASSERT_TRUE_FATAL(open_as(&test, "echo", "{size: 3}"));
	for (unsigned i = 0; i < 4; i++)
		pkts[i] = test_packet(60 + i, 2048, i);
	CU_ASSERT_EQUAL(test.port.driver->link(&test.port), PORT_UP);
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 4), 0);
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], pkts, 4), 3);
	CU_ASSERT_EQUAL(test.port.driver->unsent(&test.port), 3);
	rte_pktmbuf_free(pkts[3]);
	memset(pkts, 0, sizeof(pkts));
	CU_ASSERT_EQUAL(test.port.rx(test.port.rx_queue[0], pkts, 2), 2);
	CU_ASSERT_EQUAL(pkts[0]->pkt_len, 60);
	CU_ASSERT_EQUAL(pkts[1]->pkt_len, 61);
	CU_ASSERT_EQUAL(test_port_counters(&test).tx_packets, 3);
	CU_ASSERT_EQUAL(test_port_counters(&test).tx_bytes, 60 + 61 + 62);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_packets, 2);
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_bytes, 60 + 61);
	CU_ASSERT_EQUAL(test.port.driver->unsent(&test.port), 1);
	rte_pktmbuf_free_bulk(pkts, 2);
	test_port_close(&test); // with one inside
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_wire(void)
{
	struct test_port left, right;
	struct rte_mbuf *pkts[4];

	CU_ASSERT_TRUE_FATAL(open_as(&left, "left", "{name: wire}"));
	CU_ASSERT_EQUAL(left.port.driver->link(&left.port), PORT_DOWN);
	CU_ASSERT_TRUE_FATAL(open_as(&right, "right", "{name: wire}"));
	CU_ASSERT_EQUAL(left.port.driver->link(&left.port), PORT_UP);
	CU_ASSERT_EQUAL(right.port.driver->link(&right.port), PORT_UP);
	for (unsigned i = 0; i < 4; i++)
		pkts[i] = test_packet(100 + i, 64, i);
	CU_ASSERT_EQUAL(left.port.tx(left.port.tx_queue[0], pkts, 2), 2);
	CU_ASSERT_EQUAL(right.port.tx(right.port.tx_queue[0], pkts + 2, 2), 2);
	CU_ASSERT_EQUAL_FATAL(left.port.rx(left.port.rx_queue[0], pkts, 4), 2);
	CU_ASSERT_EQUAL(pkts[0]->pkt_len, 102);
	CU_ASSERT_EQUAL_FATAL(right.port.rx(right.port.rx_queue[0], pkts + 2, 4), 2);
	CU_ASSERT_EQUAL(pkts[2]->pkt_len, 100);
	rte_pktmbuf_free_bulk(pkts, 4);
	test_port_close(&left);
	CU_ASSERT_EQUAL(right.port.driver->link(&right.port), PORT_DOWN);
	test_port_close(&right);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
	CU_ASSERT_PTR_NULL(rte_memzone_lookup("sluice_wire_wire"));
}

static void test_refused(void)
{
	struct test_port left, right, third;

	CU_ASSERT_TRUE_FATAL(open_as(&left, "left", "{name: w}"));
	CU_ASSERT_FALSE(open_as(&third, "third", "{name: w, size: 512}"));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(test_port_errors(&third), "512, but the other end of \"w\" has 1024"));
	test_port_close(&third);
	CU_ASSERT_TRUE_FATAL(open_as(&right, "right", "{name: w}"));
	CU_ASSERT_FALSE(open_as(&third, "third", "{name: w}"));
	CU_ASSERT_PTR_NOT_NULL(
	    strstr(test_port_errors(&third), "the wire \"w\" joins 'left' and 'right' already"));
	test_port_close(&third);
	test_port_close(&right);
	// The end is free again.
	CU_ASSERT_TRUE(open_as(&third, "third", "{name: w}"));
	CU_ASSERT_EQUAL(left.port.driver->link(&left.port), PORT_UP);
	test_port_close(&third);
	test_port_close(&left);
	CU_ASSERT_PTR_NULL(rte_memzone_lookup("sluice_wire_w"));
}

// A graph change opens the new ports beside the old ones.
static void test_change(void)
{
	struct test_port left, right, other, new_left, new_right;
	struct rte_mbuf *pkt;

	CU_ASSERT_TRUE_FATAL(open_as(&left, "left", "{name: w}"));
	CU_ASSERT_TRUE_FATAL(open_as(&right, "right", "{name: w}"));
	// One end alone: it goes on with the same peer, and gets what is inside.
	pkt = test_packet(60, 2048, 0);
	CU_ASSERT_EQUAL(left.port.tx(left.port.tx_queue[0], &pkt, 1), 1);
	CU_ASSERT_TRUE_FATAL(open_as(&other, "right", "{name: w}"));
	test_port_close(&right);
	CU_ASSERT_EQUAL(left.port.driver->link(&left.port), PORT_UP);
	CU_ASSERT_EQUAL_FATAL(other.port.rx(other.port.rx_queue[0], &pkt, 1), 1);
	// Both with another size: they meet on a new wire.
	CU_ASSERT_EQUAL(left.port.tx(left.port.tx_queue[0], &pkt, 1), 1);
	CU_ASSERT_TRUE_FATAL(open_as(&new_left, "left", "{name: w, size: 8}"));
	CU_ASSERT_TRUE_FATAL(open_as(&new_right, "right", "{name: w, size: 8}"));
	test_port_close(&left);
	test_port_close(&other);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
	pkt = test_packet(61, 2048, 0);
	CU_ASSERT_EQUAL(new_right.port.tx(new_right.port.tx_queue[0], &pkt, 1), 1);
	CU_ASSERT_EQUAL_FATAL(new_left.port.rx(new_left.port.rx_queue[0], &pkt, 1), 1);
	rte_pktmbuf_free(pkt);
	test_port_close(&new_left);
	test_port_close(&new_right);
	CU_ASSERT_PTR_NULL(rte_memzone_lookup("sluice_wire_w"));
}

// Two senders and a receiver in three threads: nothing is lost, and each sender's order stays.
#define SENDERS 2
#define SENT 4000

static void *send_all(void *at)
{
	struct test_port *test = ((void **)at)[0];
	void *queue = ((void **)at)[1];
	uint32_t sender = queue == test->port.tx_queue[1];

	for (uint32_t i = 0; i < SENT;) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(test_pool());

		if (!pkt) {
			sched_yield();
			continue;
		}
		pkt->pkt_len = pkt->data_len = 64;
		rte_pktmbuf_mtod(pkt, uint32_t *)[0] = sender;
		rte_pktmbuf_mtod(pkt, uint32_t *)[1] = i;
		if (test->port.tx(queue, &pkt, 1) == 1) {
			i++;
		} else {
			rte_pktmbuf_free(pkt);
			sched_yield();
		}
	}
	return NULL;
}

static void test_threads(void)
{
	struct test_port left, right;
	pthread_t threads[SENDERS];
	void *args[SENDERS][2];
	uint32_t next[SENDERS] = {0};
	struct rte_mbuf *pkts[32];

	CU_ASSERT_TRUE_FATAL(
	    test_port_open_as(&left, "left", "ring", "{name: t, size: 500}", 1, SENDERS));
	CU_ASSERT_TRUE_FATAL(
	    test_port_open_as(&right, "right", "ring", "{name: t, size: 500}", 1, 1));
	for (unsigned i = 0; i < SENDERS; i++) {
		args[i][0] = &left;
		args[i][1] = left.port.tx_queue[i];
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, send_all, args[i]), 0);
	}
	while (next[0] < SENT || next[1] < SENT) {
		unsigned got = test_port_receive(&right, pkts, 1);

		CU_ASSERT_EQUAL_FATAL(got, 1); // else the time is over
		got += right.port.rx(right.port.rx_queue[0], pkts + 1, 31);
		for (unsigned i = 0; i < got; i++) {
			uint32_t *words = rte_pktmbuf_mtod(pkts[i], uint32_t *);

			CU_ASSERT_EQUAL_FATAL(words[1], next[words[0]]);
			next[words[0]]++;
		}
		rte_pktmbuf_free_bulk(pkts, got);
	}
	for (unsigned i = 0; i < SENDERS; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT_EQUAL(test_port_counters(&left).tx_packets, SENDERS * SENT);
	CU_ASSERT_EQUAL(test_port_counters(&right).rx_packets, SENDERS * SENT);
	CU_ASSERT_EQUAL(test_port_counters(&right).rx_bytes, SENDERS * SENT * 64);
	test_port_close(&left);
	test_port_close(&right);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static const CU_TestInfo ring_cases[] = {
    {"a port on itself", test_loop},	{"a wire", test_wire},
    {"who may not join", test_refused}, {"a graph change", test_change},
    {"several senders", test_threads},	CU_TEST_INFO_NULL,
};
SUITE(ring, ring_cases, .eal = true)
