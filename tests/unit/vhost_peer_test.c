// SPDX-License-Identifier: BSD-3-Clause
// vhost's own data path and a peer that lies in its rings or takes its memory away: it is
// disconnected and named, and nothing else happens.

#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "vhost_liar.h"

// One good packet first: it arrives, whatever comes behind it.
static void lie(struct vring_desc desc, uint16_t head, uint16_t n)
{
	struct rte_mbuf *pkts[8];
	uint16_t got;

	liar_open(false, 0);
	liar_chain(1, 0, (struct vring_desc){.addr = LIAR_GUEST_AT + LIAR_BUFFERS_AT, .len = 72});
	liar_chain(1, 1, desc);
	liar_heads(1, 0, head, n);
	got = liar.host.port.rx(liar.host.port.rx_queue[0], pkts, 8);
	CU_ASSERT_EQUAL(got, n > LIAR_RING_SIZE ? 0 : 1);
	rte_pktmbuf_free_bulk(pkts, got);
	CU_ASSERT(rig_wait_link(&liar.host, PORT_DOWN));
	liar_close();
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
}

static void test_lies(void)
{
	uint64_t good = LIAR_GUEST_AT + LIAR_BUFFERS_AT;
	uint64_t end = LIAR_GUEST_AT + LIAR_BYTES;

	liar_host_open();
	lie((struct vring_desc){.addr = good, .len = 72}, LIAR_RING_SIZE, 2);
	lie((struct vring_desc){.addr = good, .len = 72}, 1, LIAR_RING_SIZE + 1);
	lie((struct vring_desc){.addr = end - 71, .len = 72}, 1, 2);
	lie((struct vring_desc){.addr = LIAR_GUEST_AT - 1, .len = 72}, 1, 2);
	lie((struct vring_desc){.addr = UINT64_MAX, .len = UINT32_MAX}, 1, 2);
	lie((struct vring_desc){.addr = good, .len = 11}, 1, 2);
	lie((struct vring_desc){.addr = good, .len = 65548}, 1, 2);
	lie((struct vring_desc){.addr = good, .len = 72, .flags = VRING_DESC_F_WRITE}, 1, 2);
	lie((struct vring_desc){.addr = good, .len = 16, .flags = VRING_DESC_F_INDIRECT}, 1, 2);
	lie((struct vring_desc){.addr = good, .len = 1, .flags = 1, .next = 1}, 1, 2);
	lie((struct vring_desc){.addr = good, .len = 0, .flags = 1, .next = 1}, 1, 2);
	lie((struct vring_desc){.addr = good, .len = 72, .flags = 1, .next = LIAR_RING_SIZE}, 1, 2);
	CU_ASSERT_EQUAL(liar.faults, 12);
	rig_close(&liar.host);
}

// A frame in one descriptor of every length, and in many.
static void test_lengths(void)
{
	static const unsigned lengths[] = {0,	 1,    13,   60,    1514, 1908,
					   1909, 2048, 4095, 65534, 65535};
	struct rte_mbuf *pkt;

	liar_host_open();
	liar_open(false, 0);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct vring_avail *avail = (struct vring_avail *)(liar.bytes + LIAR_AVAIL_AT(1));

		liar_chain(1, i,
			   (struct vring_desc){.addr = LIAR_GUEST_AT + LIAR_BUFFERS_AT,
					       .len = 12 + lengths[i]});
		avail->ring[i] = (uint16_t)i;
		__atomic_store_n(&avail->idx, (uint16_t)(i + 1), __ATOMIC_RELEASE);
		pkt = rig_receive(&liar.host);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT_EQUAL(pkt->pkt_len, lengths[i]);
		rte_pktmbuf_free(pkt);
	}
	liar_close();
	CU_ASSERT_EQUAL(liar.faults, 0);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&liar.host);
}

// Polls until the port has named so many peers.
static bool named(unsigned n)
{
	for (unsigned i = 0; i < 5000 && liar.faults < n; i++) {
		struct rte_mbuf *pkts[64];
		uint16_t got = liar.host.port.rx(liar.host.port.rx_queue[0], pkts, 64);
		uint16_t sent = liar.host.port.tx(liar.host.port.tx_queue[0], pkts, got);

		rte_pktmbuf_free_bulk(pkts + sent, got - sent);
		liar.host.port.driver->tick(&liar.host.port, i);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return liar.faults == n;
}

// Memory that the peer's table has and its file has not: the rings themselves, or what is in them.
static void test_short_files(void)
{
	static const uint32_t bytes[] = {0, 4096, 32768, LIAR_BUFFERS_AT, LIAR_BYTES - 4096};
	unsigned n = sizeof(bytes) / sizeof(bytes[0]);

	liar_host_open();
	for (unsigned i = 0; i < 2 * n; i++) {
		uint32_t base = i % 2 ? 0x8000 : 0;

		liar_call(i % 2, bytes[i / 2]);
		for (uint32_t ring = 0; ring < 2 && liar_ring(ring, LIAR_RING_SIZE, base, 0);
		     ring++)
			;
		CU_ASSERT(named(i + 1));
		liar_close();
	}
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&liar.host);
}

// A file that becomes shorter while the port works on it, and a second table with such a file.
static void test_vanishing_files(void)
{
	unsigned n = 0;
	bool done;

	liar_host_open();
	for (unsigned way = 0; way < 6; way++) {
		liar_open(way % 2, 0);
		liar_chain(1, 0,
			   (struct vring_desc){.addr = LIAR_GUEST_AT + LIAR_BUFFERS_AT, .len = 72});
		if (way % 2 == 0)
			liar_heads(1, 0, 0, 1);
		done = way >= 4 ? liar_memory(2 * LIAR_BYTES, 0)
				: !ftruncate(liar.memory, way < 2 ? 0 : LIAR_BUFFERS_AT);
		CU_ASSERT(done);
		// Who is never asked for what is behind the end is told by nothing.
		if (way != 3) {
			n++;
			CU_ASSERT(named(n));
		}
		liar_close();
	}
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	liar_open(false, 0); // an honest one
	liar_close();
	CU_ASSERT_EQUAL(liar.faults, n);
	rig_close(&liar.host);
}

static const CU_TestInfo cases[] = {
    {"descriptors and indices that make no sense", test_lies},
    {"frames of 0 to 65,535 bytes", test_lengths},
    {"memory that never was there", test_short_files},
    {"memory that goes away", test_vanishing_files},
    CU_TEST_INFO_NULL,
};
SUITE(vhost_peer, cases, .eal = true)
