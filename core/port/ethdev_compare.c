// SPDX-License-Identifier: BSD-3-Clause
// What is wanted of a DPDK device against what it can: every difference is refused with the way
// out, none is passed over.

#include <rte_ethdev.h>

#include "port/ethdev.h"
#include "value/errors.h"

// Of an Ethernet header with two VLAN tags: what a frame may have beyond its MTU.
#define ETHDEV_HEADER (RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN)

static void ethdev_compare_queues(const struct port *port, const struct ethdev *dev,
				  const struct ethdev_options *options,
				  const struct rte_eth_dev_info *info, struct errors *errors)
{
	if (port->rx_queues && !info->max_rx_queues)
		error_machine(errors, NULL, "%s cannot receive", dev->name);
	else if (port->rx_queues > info->max_rx_queues)
		error_machine(errors, NULL,
			      "%u workers receive from the port and %s has %u receive queues; let "
			      "%u workers receive, and spread the packets with HashSplit and Queue",
			      port->rx_queues, dev->name, info->max_rx_queues, info->max_rx_queues);
	else if (options->rss && port->rx_queues > 1 && !info->flow_type_rss_offloads)
		error_machine(errors, NULL,
			      "%u workers receive from the port and %s cannot spread flows over "
			      "its queues (no RSS); let one worker receive, and spread the packets "
			      "with HashSplit and Queue",
			      port->rx_queues, dev->name);
	if (port->tx_queues && !info->max_tx_queues)
		error_machine(errors, NULL, "%s cannot send", dev->name);
	else if (port->tx_queues > info->max_tx_queues)
		error_machine(errors, NULL,
			      "%u workers send to the port and %s has %u transmit queues; lead the "
			      "packets to %u workers with Queue",
			      port->tx_queues, dev->name, info->max_tx_queues, info->max_tx_queues);
}

static uint32_t ethdev_overhead(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu && info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

static void ethdev_compare_mtu(const struct ethdev *dev, uint32_t mtu,
			       const struct rte_eth_dev_info *info, struct rte_eth_conf *conf,
			       struct errors *errors)
{
	uint32_t most = info->max_mtu ? info->max_mtu : UINT16_MAX;

	if (info->max_rx_pktlen && info->max_rx_pktlen - ethdev_overhead(info) < most)
		most = info->max_rx_pktlen - ethdev_overhead(info);
	if (mtu > most || mtu < info->min_mtu)
		error_machine(errors, NULL, "%s cannot have an MTU of %u, it takes %u to %u",
			      dev->name, mtu, info->min_mtu, most);
	else
		conf->rxmode.mtu = mtu;
}

// A frame either fits into one buffer, or the device must be able to use several.
static void ethdev_compare_buffers(const struct port *port, const struct ethdev *dev,
				   const struct rte_eth_dev_info *info, struct rte_eth_conf *conf,
				   struct errors *errors)
{
	uint32_t mtu = conf->rxmode.mtu ? conf->rxmode.mtu : RTE_ETHER_MTU;
	uint32_t room = rte_pktmbuf_data_room_size(port->pool) - RTE_PKTMBUF_HEADROOM;

	if (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) {
		if (mtu + ETHDEV_HEADER + RTE_ETHER_CRC_LEN > room)
			conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	} else if (mtu + RTE_ETHER_HDR_LEN > room) {
		error_machine(errors, NULL,
			      "frames of %u bytes do not fit into a packet buffer of %u, and %s "
			      "cannot use several for one; choose an MTU of at most %u",
			      mtu + RTE_ETHER_HDR_LEN, room, dev->name, room - RTE_ETHER_HDR_LEN);
	}
}

int ethdev_compare(const struct port *port, const struct ethdev *dev,
		   const struct ethdev_options *options, const struct rte_eth_dev_info *info,
		   struct rte_eth_conf *conf, struct errors *errors)
{
	unsigned before = errors_count(errors);
	uint64_t spread = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP;

	ethdev_compare_queues(port, dev, options, info, errors);
	if (!options->any_length) {
		uint32_t mtu = options->mtu ? options->mtu : port->mtu;

		if (mtu)
			ethdev_compare_mtu(dev, mtu, info, conf, errors);
		if (port->rx_queues)
			ethdev_compare_buffers(port, dev, info, conf, errors);
	} else if (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) {
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	}
	if (port->rx_queues > 1 && (info->flow_type_rss_offloads & spread)) {
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & spread;
	}
	if (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
		conf->txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return errors_count(errors) > before ? -1 : 0;
}
