// SPDX-License-Identifier: BSD-3-Clause
// DPDK's devices as ports: bursts, counters, link. Creating them is in ethdev_create.c, those that
// come and go with a peer are in ethdev_late.c.

#include "port/ethdev.h"

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

static uint16_t ethdev_rx(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct ethdev_queue *at = queue;

	return rte_eth_rx_burst(at->port_id, at->queue_id, pkts, n);
}

// A peer may use any queue that the device has, so all are polled, whoever is first in turn.
static uint16_t ethdev_rx_share(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct ethdev_queue *at = queue;
	uint16_t id = at->queue_id;
	uint16_t got = 0;

	do {
		got += rte_eth_rx_burst(at->port_id, id, pkts + got, n - got);
		id = id + at->step < at->end ? id + at->step : at->first;
	} while (got < n && id != at->queue_id);
	at->queue_id = id;
	return got;
}

static uint16_t ethdev_tx(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct ethdev_queue *at = queue;

	return rte_eth_tx_burst(at->port_id, at->queue_id, pkts, n);
}

// Whether the device can send it; a chain is made one segment where it must be.
static bool ethdev_sendable(const struct ethdev_queue *queue, struct rte_mbuf *pkt)
{
	if (queue->longest && pkt->pkt_len > queue->longest)
		return false;
	return queue->chains || pkt->nb_segs == 1 || !rte_pktmbuf_linearize(pkt);
}

// Whether all of a burst are of one segment: one look without a branch for each.
static inline bool ethdev_all_single(struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t segments = 0;

#pragma GCC unroll 4
	for (uint16_t i = 0; i < n; i++)
		segments |= pkts[i]->nb_segs;
	return segments == 1;
}

// The device would cut or refuse for ever what it cannot send: that is taken, freed and counted.
static __attribute__((noinline)) uint16_t ethdev_tx_each(struct ethdev_queue *at,
							 struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t done = 0;

	while (done < n) {
		uint16_t run = done;
		uint16_t sent;

		while (run < n && ethdev_sendable(at, pkts[run]))
			run++;
		sent = rte_eth_tx_burst(at->port_id, at->queue_id, pkts + done, run - done);
		done += sent;
		if (done < run || done == n)
			break;
		rte_pktmbuf_free(pkts[done++]);
		__atomic_store_n(&at->too_long, at->too_long + 1, __ATOMIC_RELAXED);
	}
	return done;
}

static uint16_t ethdev_tx_checked(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct ethdev_queue *at = queue;

	if (likely(!at->longest && ethdev_all_single(pkts, n)))
		return rte_eth_tx_burst(at->port_id, at->queue_id, pkts, n);
	return ethdev_tx_each(at, pkts, n);
}

static uint16_t ethdev_rx_late(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct ethdev_queue *at = queue;

	if (!__atomic_load_n(&at->up, __ATOMIC_ACQUIRE))
		return 0;
	return ethdev_rx_share(queue, pkts, n);
}

static uint16_t ethdev_tx_late(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct ethdev_queue *at = queue;

	if (!__atomic_load_n(&at->up, __ATOMIC_ACQUIRE))
		return 0;
	return ethdev_tx_checked(queue, pkts, n);
}

int ethdev_open(struct port *port, struct ethdev **place, const struct ethdev_options *options,
		struct errors *errors)
{
	struct ethdev *dev = aligned_alloc(_Alignof(struct ethdev), sizeof(*dev));

	*place = dev;
	if (!dev) {
		error_machine(errors, NULL, "no memory for the port");
		return -1;
	}
	memset(dev, 0, sizeof(*dev));
	if (options->socket ? ethdev_late_open(port, dev, options, errors)
			    : ethdev_create(port, dev, options, errors))
		return -1;
	for (unsigned i = 0; i < port->rx_queues; i++)
		port->rx_queue[i] = &dev->rx[i];
	for (unsigned i = 0; i < port->tx_queues; i++)
		port->tx_queue[i] = &dev->tx[i];
	port->rx = options->socket ? ethdev_rx_late : dev->shares ? ethdev_rx_share : ethdev_rx;
	port->tx = options->socket ? ethdev_tx_late : dev->checks ? ethdev_tx_checked : ethdev_tx;
	return 0;
}

void ethdev_close(struct port *port, struct ethdev *dev)
{
	(void)port;
	if (!dev)
		return;
	if (dev->late) {
		if (!ethdev_late_close(dev))
			return;
	} else {
		ethdev_destroy(dev);
	}
	free(dev);
}

void ethdev_read_counters(const struct ethdev *dev, struct port_counters *counters)
{
	struct rte_eth_stats stats;

	if (!dev->device || rte_eth_stats_get(dev->port_id, &stats))
		return;
	counters->rx_packets += stats.ipackets;
	counters->rx_bytes += stats.ibytes;
	counters->tx_packets += stats.opackets;
	counters->tx_bytes += stats.obytes;
	counters->rx_errors += stats.ierrors;
	counters->rx_missed += stats.imissed;
	counters->rx_no_memory += stats.rx_nombuf;
	counters->tx_errors += stats.oerrors;
}

void ethdev_counters(struct ethdev *dev, struct port_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	if (!dev)
		return;
	if (dev->late)
		ethdev_late_counters(dev, counters);
	else
		ethdev_read_counters(dev, counters);
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++)
		counters->tx_errors += __atomic_load_n(&dev->tx[i].too_long, __ATOMIC_RELAXED);
}

enum port_link ethdev_link(struct ethdev *dev)
{
	struct rte_eth_link link;

	if (!dev)
		return PORT_DOWN;
	if (dev->late)
		return ethdev_late_link(dev);
	if (!dev->started || rte_eth_link_get_nowait(dev->port_id, &link))
		return PORT_DOWN;
	return link.link_status == RTE_ETH_LINK_UP ? PORT_UP : PORT_DOWN;
}

uint16_t ethdev_port_id(const struct ethdev *dev)
{
	return dev->port_id;
}
