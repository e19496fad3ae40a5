// SPDX-License-Identifier: BSD-3-Clause
// What packet.h changes: bytes in any segment, room in front, segments joined. Random packets of
// several segments are compared with what plain arrays say.

#include <stdlib.h>
#include <string.h>

#include "packet.h"
#include "suite.h"

#define ROOM 256 // of a buffer, headroom included
#define LONGEST 800

static struct rte_mempool *pool;
static unsigned seed;

static unsigned any(unsigned n)
{
	return rand_r(&seed) % n;
}

static void pool_open(void)
{
	seed = 11;
	pool = rte_pktmbuf_pool_create("packet_edit", 255, 0, 0, ROOM, SOCKET_ID_ANY);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
}

static void pool_close(void)
{
	CU_ASSERT_EQUAL(rte_mempool_in_use_count(pool), 0);
	rte_mempool_free(pool);
}

// The first segment has 14 bytes or more, others may be empty.
static struct rte_mbuf *packet_random(uint8_t *bytes, uint32_t *n)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(pool), *seg = pkt;
	unsigned head = any(ROOM - 13);

	*n = 14 + any(LONGEST - 14);
	for (uint32_t i = 0; i < *n; i++)
		bytes[i] = any(256);
	for (uint32_t done = 0, part; done < *n; done += part) {
		seg->data_off = seg == pkt ? head : any(ROOM);
		part = RTE_MIN(*n - done, any(ROOM - seg->data_off + 1u));
		if (seg == pkt)
			part = RTE_MAX(part, 14u);
		memcpy(rte_pktmbuf_mtod(seg, uint8_t *), bytes + done, part);
		seg->data_len = part;
		if (done + part < *n) {
			seg->next = rte_pktmbuf_alloc(pool);
			seg = seg->next;
			pkt->nb_segs++;
		}
	}
	pkt->pkt_len = *n;
	return pkt;
}

// The packet is whole and has just these bytes.
static void expect(const struct rte_mbuf *pkt, const uint8_t *bytes, uint32_t n)
{
	uint8_t copy[LONGEST + 64];
	const char *why;

	CU_ASSERT(!rte_mbuf_check(pkt, 1, &why));
	CU_ASSERT_EQUAL_FATAL(pkt->pkt_len, n);
	CU_ASSERT(!memcmp(rte_pktmbuf_read(pkt, 0, n, copy), bytes, n));
}

static void writes(void)
{
	uint8_t bytes[LONGEST], with[LONGEST], mask[LONGEST];
	uint32_t n;

	pool_open();
	for (unsigned round = 0; round < 3000; round++) {
		struct rte_mbuf *pkt = packet_random(bytes, &n);
		uint32_t at = any(n + 2), length = any(at > n ? 4 : n - at + 2);
		bool masked = any(2), fits = at + length <= n;

		for (uint32_t i = 0; i < length; i++) {
			with[i] = any(256);
			mask[i] = any(256);
			if (fits && masked)
				bytes[at + i] = (bytes[at + i] & ~mask[i]) | (with[i] & mask[i]);
			else if (fits)
				bytes[at + i] = with[i];
		}
		CU_ASSERT_EQUAL(packet_write(pkt, at, with, masked ? mask : NULL, length), fits);
		CU_ASSERT(!packet_write(pkt, UINT32_MAX, with, NULL, 1));
		CU_ASSERT(!packet_write(pkt, 1, with, NULL, UINT32_MAX));
		expect(pkt, bytes, n);
		rte_pktmbuf_free(pkt);
	}
	pool_close();
}

static void prepends(void)
{
	uint8_t bytes[LONGEST + 64];
	uint32_t n;

	pool_open();
	for (unsigned round = 0; round < 3000; round++) {
		struct rte_mbuf *pkt = packet_random(bytes + 64, &n);
		uint16_t more = any(64);
		bool fits = pkt->data_len + more <= ROOM;
		uint8_t *at = packet_prepend(pkt, more);

		CU_ASSERT_EQUAL(at != NULL, fits);
		if (at)
			memset(at, round, more);
		memset(bytes + 64 - more, round, more);
		expect(pkt, bytes + 64 - (at ? more : 0), n + (at ? more : 0));
		rte_pktmbuf_free(pkt);
	}
	pool_close();
}

static void joins(void)
{
	uint8_t bytes[LONGEST];
	uint32_t n;

	pool_open();
	for (unsigned round = 0; round < 3000; round++) {
		struct rte_mbuf *pkt = packet_random(bytes, &n);
		uint32_t first = any(n + 8);
		bool fits = first <= n && first <= ROOM;

		CU_ASSERT_EQUAL(packet_join(pkt, first), fits);
		CU_ASSERT(!fits || pkt->data_len >= first);
		expect(pkt, bytes, n);
		rte_pktmbuf_free(pkt);
	}
	pool_close();
}

static void cuts(void)
{
	uint8_t bytes[LONGEST];
	uint32_t n;

	pool_open();
	for (unsigned round = 0; round < 3000; round++) {
		struct rte_mbuf *pkt = packet_random(bytes, &n);
		uint16_t less = any(64);
		bool cut = packet_cut(pkt, less);

		CU_ASSERT_EQUAL(cut, less + 14u <= n);
		CU_ASSERT(pkt->data_len >= 14);
		expect(pkt, bytes + (cut ? less : 0), n - (cut ? less : 0));
		rte_pktmbuf_free(pkt);
	}
	pool_close();
}

// Also where the buffer ends behind the header.
static void swaps(void)
{
	uint8_t bytes[LONGEST], swapped[LONGEST];
	uint32_t n;

	pool_open();
	for (unsigned round = 0; round < 3000; round++) {
		struct rte_mbuf *pkt = packet_random(bytes, &n);

		memcpy(swapped, bytes, n);
		memcpy(swapped, bytes + 6, 6);
		memcpy(swapped + 6, bytes, 6);
		ether_swap(pkt);
		expect(pkt, swapped, n);
		rte_pktmbuf_free(pkt);
	}
	pool_close();
}

static const CU_TestInfo packet_edit_cases[] = {
    {"bytes written across segments", writes},
    {"room in front", prepends},
    {"segments joined", joins},
    {"bytes cut off the front", cuts},
    {"addresses swapped", swaps},
    CU_TEST_INFO_NULL,
};
SUITE(packet_edit, packet_edit_cases, .eal = true)
