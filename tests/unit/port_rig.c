// SPDX-License-Identifier: BSD-3-Clause
// Opens one port by itself, and sends and receives on the test's thread.

#include "port_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "graph/graph.h"
#include "value/table.h"

#define RIG_PATIENCE_NS 5000000000ull

static struct rte_mempool *rig_pool;
static unsigned rig_users;
static struct rig *rig_open_ones;

static uint64_t rig_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// The control thread's part for all that are open, and a pause.
static void rig_rest(void)
{
	for (struct rig *rig = rig_open_ones; rig; rig = rig->next)
		if (rig->port.driver->tick)
			rig->port.driver->tick(&rig->port, rig_now_ns());
	nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static const void *rig_params(struct rig *rig, const struct driver_type *type, const char *text)
{
	struct place place = {.file = "test", .line = 1, .col = 1};
	struct value *value = yaml_read_text(rig->arena, "test", text, strlen(text), rig->errors);
	const void *params;

	if (!value)
		return NULL;
	params = table_fill(rig->arena, type->params, type->name, place, value, NULL, rig->errors);
	if (params && type->check)
		type->check(params, rig->errors);
	return errors_count(rig->errors) ? NULL : params;
}

bool rig_open(struct rig *rig, const char *driver, const char *params, unsigned queues)
{
	static unsigned serial;
	const struct driver_type *type = driver_find(driver);
	uint32_t longest;

	memset(rig, 0, sizeof(*rig));
	rig->arena = arena_new();
	rig->errors = errors_new();
	if (!rig_users++)
		rig_pool = rte_pktmbuf_pool_create("rig", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
						   SOCKET_ID_ANY);
	rig->pool = rig_pool;
	rig->port.name = driver;
	rig->port.driver = type;
	if (!type || !rig->pool)
		return false;
	rig->port.params = rig_params(rig, type, params);
	if (!rig->port.params)
		return false;
	snprintf(rig->dpdk_name, sizeof(rig->dpdk_name), "rig%u", serial++);
	longest = type->frame_max ? type->frame_max(rig->port.params) : 0;
	if (longest + RTE_PKTMBUF_HEADROOM > RTE_MBUF_DEFAULT_BUF_SIZE)
		rig->port.pool = rte_pktmbuf_pool_create(
		    rig->dpdk_name, 1023, 0, 0, longest + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	else
		rig->port.pool = rig->pool;
	if (!rig->port.pool)
		return false;
	rig->port.dpdk_name = rig->dpdk_name;
	rig->port.rx_queues = queues;
	rig->port.tx_queues = queues;
	rig->port.burst = 32;
	rig->port.state = aligned_alloc(64, (type->state_size + 63) / 64 * 64);
	memset(rig->port.state, 0, type->state_size);
	if (type->open(&rig->port, rig->errors))
		return false;
	rig->next = rig_open_ones;
	rig_open_ones = rig;
	return true;
}

void rig_close(struct rig *rig)
{
	for (struct rig **at = &rig_open_ones; *at; at = &(*at)->next)
		if (*at == rig) {
			*at = rig->next;
			break;
		}
	if (rig->port.state) {
		if (rig->port.driver->stop)
			rig->port.driver->stop(&rig->port);
		rig->port.driver->close(&rig->port);
		free(rig->port.state);
		if (rig->port.pool != rig->pool)
			rte_mempool_free(rig->port.pool);
	}
	errors_free(rig->errors);
	arena_free(rig->arena);
	if (--rig_users)
		return;
	rte_mempool_free(rig_pool);
	rig_pool = NULL;
}

bool rig_says(const struct rig *rig, const char *text)
{
	char *all = errors_text(rig->errors);
	bool said = strstr(all, text);

	if (!said)
		printf("\n    it says: %s    and not: %s\n    ", all, text);
	free(all);
	return said;
}

static uint8_t rig_byte(unsigned seed, unsigned at)
{
	return (uint8_t)(seed * 31 + at * 7 + (at >> 8));
}

struct rte_mbuf *rig_frame(struct rig *rig, unsigned length, unsigned seed)
{
	struct rte_mbuf *head = NULL;
	unsigned at = 0;

	while (at < length || !head) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(rig->pool);
		unsigned n = length - at;
		uint8_t *bytes;

		if (!pkt) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		if (n > rte_pktmbuf_tailroom(pkt))
			n = rte_pktmbuf_tailroom(pkt);
		bytes = (uint8_t *)rte_pktmbuf_append(pkt, (uint16_t)n);
		for (unsigned i = 0; i < n; i++)
			bytes[i] = rig_byte(seed, at + i);
		at += n;
		if (!head)
			head = pkt;
		else
			rte_pktmbuf_chain(head, pkt);
	}
	return head;
}

bool rig_is_frame(const struct rte_mbuf *pkt, unsigned length, unsigned seed)
{
	unsigned at = 0;

	if (pkt->pkt_len != length) {
		printf("\n    a packet of %u bytes instead of %u\n    ", pkt->pkt_len, length);
		return false;
	}
	for (; pkt; pkt = pkt->next) {
		const uint8_t *bytes = rte_pktmbuf_mtod(pkt, const uint8_t *);

		for (unsigned i = 0; i < pkt->data_len; i++, at++)
			if (bytes[i] != rig_byte(seed, at))
				return false;
	}
	return at == length;
}

bool rig_send(struct rig *rig, unsigned queue, struct rte_mbuf *pkt)
{
	uint64_t end = rig_now_ns() + RIG_PATIENCE_NS;

	while (rig->port.tx(rig->port.tx_queue[queue], &pkt, 1) == 0) {
		if (rig_now_ns() > end) {
			rte_pktmbuf_free(pkt);
			return false;
		}
		rig_rest();
	}
	return true;
}

struct rte_mbuf *rig_receive(struct rig *rig)
{
	uint64_t end = rig_now_ns() + RIG_PATIENCE_NS;
	struct rte_mbuf *pkt;

	do {
		for (unsigned i = 0; i < rig->port.rx_queues; i++)
			if (rig->port.rx(rig->port.rx_queue[i], &pkt, 1))
				return pkt;
		rig_rest();
	} while (rig_now_ns() < end);
	return NULL;
}

bool rig_wait_link(struct rig *rig, enum port_link link)
{
	uint64_t end = rig_now_ns() + RIG_PATIENCE_NS;

	while (rig->port.driver->link(&rig->port) != link) {
		if (rig_now_ns() > end)
			return false;
		rig_rest();
	}
	return true;
}

unsigned rig_packets_out(void)
{
	return rig_pool ? rte_mempool_in_use_count(rig_pool) : 0;
}

bool rig_passes(struct rig *from, struct rig *to, unsigned longest)
{
	static const unsigned lengths[] = {60,	 64,   65,   128,  1500,  1514,	 1518,	2000, 2047,
					   2048, 2049, 4096, 9014, 16000, 32768, 65534, 65535};

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct rte_mbuf *pkt;
		bool whole;

		if (lengths[i] > longest)
			break;
		// A receiver may have to give buffers before anything can be sent to it.
		if (to->port.rx(to->port.rx_queue[0], &pkt, 1))
			return false;
		pkt = rig_frame(from, lengths[i], i);
		if (!pkt || !rig_send(from, 0, pkt))
			return false;
		pkt = rig_receive(to);
		whole = pkt && rig_is_frame(pkt, lengths[i], i);
		rte_pktmbuf_free(pkt);
		if (!whole)
			return false;
	}
	return true;
}

static char rig_path[] = "/tmp/sluice-test-XXXXXX";

static void rig_folder_remove(void)
{
	rmdir(rig_path);
}

const char *rig_folder(void)
{
	static bool made;

	if (!made && mkdtemp(rig_path)) {
		made = true;
		atexit(rig_folder_remove);
	}
	return rig_path;
}
