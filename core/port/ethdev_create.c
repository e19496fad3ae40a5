// SPDX-License-Identifier: BSD-3-Clause
// Makes a DPDK device after EAL runs: hot-plugs it, finds it by its name, configures and starts it.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "port/eal.h"
#include "port/eallog.h"
#include "port/ethdev.h"
#include "value/errors.h"

// How many descriptors a ring gets where neither the user nor the device says.
#define ETHDEV_DESCRIPTORS 1024

static int ethdev_failed(struct errors *errors, const char *what, int code,
			 const struct eallog_caught *caught)
{
	char reason[EALLOG_CAUGHT_MAX];

	error_machine(errors, NULL, "%s: %s%s", what, rte_strerror(code < 0 ? -code : code),
		      eallog_reason(caught, reason, sizeof(reason)));
	return -1;
}

// The port of a device just probed: of the same name, or, where a driver makes its own names, the
// first that belongs to it.
static bool ethdev_find(struct ethdev *dev, const char *devargs)
{
	struct rte_dev_iterator iterator;
	uint16_t id;

	if (!rte_eth_dev_get_port_by_name(dev->name, &dev->port_id))
		return true;
	RTE_ETH_FOREACH_MATCHING_DEV(id, devargs, &iterator)
	{
		dev->port_id = id;
		rte_eth_iterator_cleanup(&iterator);
		return true;
	}
	return false;
}

static int ethdev_probe(struct ethdev *dev, const struct ethdev_options *options,
			struct errors *errors)
{
	struct eallog_caught caught;
	size_t length = strcspn(options->devargs, ",");
	struct rte_eth_dev_info info;
	char what[256];
	int code;

	if (!length || length >= sizeof(dev->name)) {
		error_input(errors, NULL,
			    "\"%s\" does not begin with the name of a DPDK device of "
			    "at most %zu characters",
			    options->devargs, sizeof(dev->name) - 1);
		return -1;
	}
	snprintf(dev->name, sizeof(dev->name), "%.*s", (int)length, options->devargs);
	snprintf(what, sizeof(what), "DPDK cannot create the device %s", options->devargs);
	if (rte_eth_dev_get_port_by_name(dev->name, &dev->port_id) == 0) {
		error_machine(errors, NULL, "the DPDK device %s is in use by another port",
			      dev->name);
		return -1;
	}
	eallog_catch_begin(&caught);
	code = rte_dev_probe(options->devargs);
	eallog_catch_end(&caught);
	if (code)
		return ethdev_failed(errors, what, code, &caught);
	if (!ethdev_find(dev, options->devargs) || rte_eth_dev_info_get(dev->port_id, &info))
		return ethdev_failed(errors, what, ENODEV, &caught);
	dev->device = info.device;
	return 0;
}

// The number of descriptors: the user's, refused if the device cannot; else the device's.
static int ethdev_descriptors(const char *which, uint16_t wanted, uint16_t own,
			      const struct rte_eth_desc_lim *limits, uint16_t *number,
			      struct errors *errors)
{
	uint16_t align = limits->nb_align ? limits->nb_align : 1;

	if (!wanted) {
		uint16_t n = own ? own : ETHDEV_DESCRIPTORS;

		if (limits->nb_max && n > limits->nb_max)
			n = limits->nb_max;
		if (n < limits->nb_min)
			n = limits->nb_min;
		*number = RTE_ALIGN_FLOOR(n, align);
		return 0;
	}
	*number = wanted;
	if (wanted >= limits->nb_min && (!limits->nb_max || wanted <= limits->nb_max) &&
	    wanted % align == 0)
		return 0;
	error_machine(errors, NULL,
		      "the device cannot have %u %s descriptors, it takes %u to %u in steps of %u",
		      wanted, which, limits->nb_min, limits->nb_max, align);
	return -1;
}

static int ethdev_queues(const struct port *port, struct ethdev *dev,
			 const struct ethdev_options *options, const struct rte_eth_dev_info *info,
			 const struct rte_eth_conf *conf, struct errors *errors)
{
	int socket = rte_eth_dev_socket_id(dev->port_id);
	struct rte_eth_rxconf rxconf = info->default_rxconf;
	struct rte_eth_txconf txconf = info->default_txconf;
	uint16_t rx_n;
	uint16_t tx_n;
	int code;

	if (ethdev_descriptors("receive", options->rx_descriptors,
			       info->default_rxportconf.ring_size, &info->rx_desc_lim, &rx_n,
			       errors) |
	    ethdev_descriptors("transmit", options->tx_descriptors,
			       info->default_txportconf.ring_size, &info->tx_desc_lim, &tx_n,
			       errors))
		return -1;
	rxconf.offloads = conf->rxmode.offloads;
	txconf.offloads = conf->txmode.offloads;
	for (uint16_t i = 0; i < info->nb_rx_queues; i++) {
		code = rte_eth_rx_queue_setup(dev->port_id, i, rx_n, socket, &rxconf, port->pool);
		if (code)
			return code;
	}
	for (uint16_t i = 0; i < info->nb_tx_queues; i++) {
		code = rte_eth_tx_queue_setup(dev->port_id, i, tx_n, socket, &txconf);
		if (code)
			return code;
	}
	return 0;
}

// DPDK's software devices come with queue pairs, and some want at least one of each, also for a
// port that only sends.
uint16_t ethdev_rx_queues(const struct port *port, const struct ethdev_options *options)
{
	uint16_t n = port->rx_queues > options->queues ? port->rx_queues : options->queues;

	return n ? n : 1;
}

uint16_t ethdev_tx_queues(const struct port *port, const struct ethdev_options *options)
{
	uint16_t n = port->tx_queues > options->queues ? port->tx_queues : options->queues;

	return n ? n : 1;
}

static int ethdev_configure(const struct port *port, struct ethdev *dev,
			    const struct ethdev_options *options, struct rte_eth_dev_info *info,
			    struct errors *errors)
{
	struct rte_eth_conf conf = {0};
	unsigned before = errors_count(errors);
	uint16_t rx = ethdev_rx_queues(port, options);
	uint16_t tx = ethdev_tx_queues(port, options);
	int code;

	if (ethdev_compare(port, dev, options, info, &conf, errors))
		return -1;
	if (rx > info->max_rx_queues)
		rx = info->max_rx_queues;
	if (tx > info->max_tx_queues)
		tx = info->max_tx_queues;
	code = rte_eth_dev_configure(dev->port_id, rx, tx, &conf);
	if (code)
		return code;
	info->nb_rx_queues = rx;
	info->nb_tx_queues = tx;
	code = ethdev_queues(port, dev, options, info, &conf, errors);
	if (code && errors_count(errors) > before)
		return -1;
	return code;
}

static int ethdev_start(struct ethdev *dev, const struct ethdev_options *options)
{
	int code = rte_eth_dev_start(dev->port_id);

	if (code)
		return code;
	dev->started = true;
	rte_eth_stats_reset(dev->port_id);
	if (options->promiscuous)
		rte_eth_promiscuous_enable(dev->port_id);
	return 0;
}

static void ethdev_fill_queues(const struct port *port, struct ethdev *dev,
			       const struct rte_eth_dev_info *info)
{
	bool chains = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;

	for (uint16_t i = 0; i < port->rx_queues; i++) {
		dev->rx[i].port_id = dev->port_id;
		dev->rx[i].queue_id = i;
		dev->rx[i].first = i;
		dev->rx[i].step = port->rx_queues;
		dev->rx[i].end = info->nb_rx_queues;
	}
	for (uint16_t i = 0; i < port->tx_queues; i++) {
		dev->tx[i].port_id = dev->port_id;
		dev->tx[i].queue_id = i;
		dev->tx[i].chains = chains;
	}
	dev->checks = !chains;
	dev->shares = info->nb_rx_queues > port->rx_queues;
}

int ethdev_create(const struct port *port, struct ethdev *dev, const struct ethdev_options *options,
		  struct errors *errors)
{
	struct eallog_caught caught;
	struct rte_eth_dev_info info;
	unsigned before = errors_count(errors);
	char what[256];
	int code;

	if (!eal_running()) {
		error_machine(errors, NULL, "DPDK does not run");
		return -1;
	}
	if (ethdev_probe(dev, options, errors))
		return -1;
	snprintf(what, sizeof(what), "DPDK cannot start the device %s", options->devargs);
	eallog_catch_begin(&caught);
	code = rte_eth_dev_info_get(dev->port_id, &info);
	if (!code)
		code = ethdev_configure(port, dev, options, &info, errors);
	if (!code)
		code = ethdev_start(dev, options);
	eallog_catch_end(&caught);
	if (code && errors_count(errors) > before)
		return -1;
	if (code)
		return ethdev_failed(errors, what, code, &caught);
	ethdev_fill_queues(port, dev, &info);
	return 0;
}

void ethdev_destroy(struct ethdev *dev)
{
	struct eallog_caught caught;

	if (!dev->device)
		return;
	// What a device says when its peer is gone already is of no interest.
	eallog_catch_begin(&caught);
	if (dev->started)
		rte_eth_dev_stop(dev->port_id);
	rte_eth_dev_close(dev->port_id);
	rte_dev_remove(dev->device);
	eallog_catch_end(&caught);
	dev->started = false;
	dev->device = NULL;
}
