// SPDX-License-Identifier: BSD-3-Clause
// The wrapper of DPDK's devices, with devices that need nothing: net_ring sends back what it is
// sent, net_null makes packets. And what pci refuses.

#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "port_rig.h"
#include "suite.h"

static void test_ring(void)
{
	struct port_counters counters;
	struct rig rig;

	CU_ASSERT_FATAL(rig_open(&rig, "ethdev", "{devargs: net_ring_test}", 1));
	CU_ASSERT(rig_wait_link(&rig, PORT_UP));
	CU_ASSERT(rig_passes(&rig, &rig, 16000));
	rig.port.driver->counters(&rig.port, &counters);
	CU_ASSERT_EQUAL(counters.rx_packets, 14);
	CU_ASSERT_EQUAL(counters.tx_packets, 14);
	rig_close(&rig);
}

// A device's name is free again when its port is closed.
static void test_again(void)
{
	for (unsigned i = 0; i < 20; i++) {
		struct rig rig;

		CU_ASSERT(rig_open(&rig, "ethdev", "{devargs: \"net_null_test,size=100\"}", 2));
		rig_close(&rig);
		CU_ASSERT_EQUAL(rte_eth_dev_count_avail(), 0);
	}
}

static void test_null(void)
{
	struct rte_mbuf *pkts[32];
	struct rig rig;
	uint16_t n;

	CU_ASSERT_FATAL(rig_open(&rig, "ethdev", "{devargs: \"net_null_test,size=100\"}", 1));
	n = rig.port.rx(rig.port.rx_queue[0], pkts, 32);
	CU_ASSERT_EQUAL(n, 32);
	CU_ASSERT_EQUAL(pkts[0]->pkt_len, 100);
	CU_ASSERT_EQUAL(rig.port.tx(rig.port.tx_queue[0], pkts, n), n);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&rig);
}

static void refuse(const char *driver, const char *params, unsigned queues, int code,
		   const char *text)
{
	struct rig rig;

	CU_ASSERT(!rig_open(&rig, driver, params, queues));
	CU_ASSERT(rig_says(&rig, text));
	CU_ASSERT_EQUAL(errors_exit_code(rig.errors), code);
	rig_close(&rig);
	CU_ASSERT_EQUAL(rte_eth_dev_count_avail(), 0);
}

static void test_refusals(void)
{
	refuse("ethdev", "{devargs: net_nothing0}", 1, 3,
	       "DPDK cannot create the device net_nothing0");
	refuse("ethdev", "{devargs: net_ring_few}", 4, 3,
	       "4 workers receive from the port and net_ring_few cannot spread flows");
	refuse("ethdev", "{devargs: \"net_null_x,size=abc\"}", 1, 3, "net_null_x,size=abc");
	refuse("ethdev", "{devargs: net_memif_x, mtu: 9000}", 1, 3,
	       "net_memif_x cannot have an MTU of 9000, it takes 46 to 1500");
	refuse("ethdev", "{devargs: \"0000:03:00.0\"}", 1, 2, "use {pci: {address: ...}}");
	refuse("ethdev", "{devargs: \",x\"}", 1, 2, "does not begin with a device's name");
}

static void test_busy(void)
{
	struct rig first;
	struct rig second;

	CU_ASSERT(rig_open(&first, "ethdev", "{devargs: net_ring_busy}", 1));
	CU_ASSERT(!rig_open(&second, "ethdev", "{devargs: net_ring_busy}", 1));
	CU_ASSERT(rig_says(&second, "in use by another port"));
	rig_close(&second);
	CU_ASSERT(rig_passes(&first, &first, 1514));
	rig_close(&first);
}

static void test_pci(void)
{
	refuse("pci", "{address: \"nonsense\"}", 1, 2, "\"nonsense\" is not a PCI address");
	refuse("pci", "{address: \"0000:03:20.0\"}", 1, 2, "is not a PCI address");
	refuse("pci", "{address: \"0000:03:00.9\"}", 1, 2, "is not a PCI address");
	refuse("pci", "{address: \"00:03:00.0x\"}", 1, 2, "is not a PCI address");
	refuse("pci", "{address: \"-3:00.0\"}", 1, 2, "is not a PCI address");
	refuse("pci", "{address: \"fffe:fe:1e.6\"}", 1, 3, "there is no PCI device fffe:fe:1e.6");
	refuse("pci", "{address: \"fe:1e.6\"}", 1, 3, "there is no PCI device 0000:fe:1e.6");
}

static const CU_TestInfo cases[] = {
    {"net_ring sends back whole frames", test_ring},
    {"net_null makes packets and frees them", test_null},
    {"created and removed over and over", test_again},
    {"refusals", test_refusals},
    {"a device is opened once", test_busy},
    {"pci refusals", test_pci},
    CU_TEST_INFO_NULL,
};
SUITE(ethdev, cases, .eal = true)
