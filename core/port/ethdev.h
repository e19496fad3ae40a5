// SPDX-License-Identifier: BSD-3-Clause
// The wrapper of DPDK's devices, inside: one file creates and starts a device, one moves packets,
// one minds devices that come and go with a peer.

#ifndef SLUICE_PORT_ETHDEV_H
#define SLUICE_PORT_ETHDEV_H

#include <rte_dev.h>

#include "driver.h"

// One direction of one queue, as the burst functions see it.
struct ethdev_queue {
	uint16_t port_id;
	uint16_t queue_id; // of a share: the one that is polled first next time
	uint16_t first;	   // a worker's share of the device's queues: first, first + step, ...
	uint16_t step;
	uint16_t end;
	int up;		   // late devices: the poller may touch it; released by the helper thread
	bool chains;	   // the device sends packets of several segments
	uint32_t longest;  // bytes that it sends; 0: no limit of its own
	uint64_t too_long; // packets dropped for one of the two; the poller writes
} __attribute__((aligned(64)));

struct ethdev_late;

struct ethdev {
	uint16_t port_id;
	char name[RTE_DEV_NAME_MAX_LEN];
	struct rte_device *device; // NULL: none
	bool started;
	bool checks; // what is sent must be looked at first
	bool shares; // a worker polls several queues
	struct ethdev_queue rx[PORT_QUEUES_MAX];
	struct ethdev_queue tx[PORT_QUEUES_MAX];
	struct ethdev_late *late;
};

// Creates, configures and starts the device for the port's wishes; touches nothing of the port.
// ethdev_destroy() is called after a failure too.
int ethdev_create(const struct port *, struct ethdev *, const struct ethdev_options *,
		  struct errors *);
void ethdev_destroy(struct ethdev *);

// How many queues the device gets.
uint16_t ethdev_rx_queues(const struct port *, const struct ethdev_options *);
uint16_t ethdev_tx_queues(const struct port *, const struct ethdev_options *);

// Compares what is wanted of a device with what it can, and writes the configuration. 0 or -1.
struct rte_eth_dev_info;
struct rte_eth_conf;
int ethdev_compare(const struct port *, const struct ethdev *, const struct ethdev_options *,
		   const struct rte_eth_dev_info *, struct rte_eth_conf *, struct errors *);

int ethdev_late_open(struct port *, struct ethdev *, const struct ethdev_options *,
		     struct errors *);
// False: the device is stuck in a helper thread that cannot be ended, and must not be freed.
bool ethdev_late_close(struct ethdev *);
void ethdev_late_counters(struct ethdev *, struct port_counters *);
enum port_link ethdev_late_link(struct ethdev *);

// Of the device as it is.
void ethdev_read_counters(const struct ethdev *, struct port_counters *);

#endif
