// SPDX-License-Identifier: BSD-3-Clause
// The driver `pcap` on the hard captures of public test suites, where they lie beside the project:
// exactly which packets come of each.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_net_crc.h>

#include "ports.h"
#include "suite.h"

#define SHARED "../shared/pcaps"

// The checksum is CRC-32 over all bytes of all packets, worked out without libpcap.
static const struct {
	const char *file;
	unsigned packets;
	uint32_t bytes;
	uint32_t crc;
	unsigned errors;
	const char *fault;
} shared[] = {
    {"be.pcap", 1, 182, 0xd2b73c6c, 0, NULL},
    {"be_v2.1.pcap", 128, 22816, 0xe9d8749d, 0, NULL},
    {"empty.pcap", 0, 0, 0, 0, NULL},
    {"empty.pcapng", 0, 0, 0, 0, NULL},
    {"fcsbits.pcap", 1, 14, 0x44178076, 1, NULL},
    {"frag_syn.pcap", 2, 108, 0x058216a8, 0, NULL},
    {"fuzz2594.pcap", 691, 99997, 0x7bff2a5a, 0, NULL},
    {"ihl_lt5.pcap", 1, 98, 0x983ee4c1, 0, NULL},
    {"ip6_33frag.pcap", 1, 872, 0x5ee8f3ea, 0, NULL},
    {"ipopts.pcap", 2, 148, 0x5f381a6e, 0, NULL},
    {"jumbo2734.pcap", 1, 2734, 0x45eb349c, 0, NULL},
    {"jumbo9230.pcap", 1, 9230, 0x2f040515, 0, NULL},
    {"nano.pcap", 9, 1230, 0xdce480b3, 0, NULL},
    {"ng_be_spb.pcapng", 4, 1312, 0x91f3ca76, 0, NULL},
    {"ng_multi_if.pcapng", 6, 798, 0x8bc49c0b, 0, NULL},
    {"ng_multi_if_lt.pcapng", 0, 0, 0, 1,
     "packet 1: before it comes an interface of link type 0 (NULL, BSD loopback), not Ethernet "
     "(1); 0 packets were read"},
    {"qinq88a8.pcap", 2, 128, 0x9f9d3b96, 0, NULL},
    {"snap20.pcap", 1, 20, 0x1be622cb, 1, NULL},
    {"totlen_gt_wire.pcap", 1, 1530, 0x3999662e, 0, NULL},
    {"totlen_lt_ihl.pcap", 1, 98, 0x69dcad83, 0, NULL},
    {"trunc_hugecap.pcap", 1, 188, 0x27d8e26f, 1,
     "packet 2: it claims to be 1409179648 bytes long, the file is damaged; 1 packets were read"},
    {"tso_len0.pcap", 1, 2030, 0x17d3444d, 0, NULL},
    {"vlan_mix.pcap", 2, 96, 0x36b00e88, 0, NULL},
    {"zerolen.pcap", 2, 60, 0x4a763d3b, 1, NULL},
};

static const struct {
	const char *file;
	const char *reason;
} shared_refused[] = {
    {"lt228_rawip4.pcap", "link type 228 (IPV4, Raw IPv4), not Ethernet (1)"},
    {"nano_sll.pcap", "link type 113 (LINUX_SLL, Linux cooked v1), not Ethernet (1)"},
};

static bool open_shared(struct test_port *test, const char *file, bool replay)
{
	char params[256];

	snprintf(params, sizeof(params), "{rx: " SHARED "/%s}", file);
	return test_port_open(test, "pcap", params, 1, 0, replay);
}

static void read_shared(unsigned i, bool replay)
{
	static struct rte_mbuf *pkts[1024];
	static uint8_t all[1 << 17];
	struct test_port test;
	uint32_t bytes = 0;
	unsigned got;

	CU_ASSERT_TRUE_FATAL(open_shared(&test, shared[i].file, replay));
	got = test_port_receive(&test, pkts, 1024);
	for (unsigned j = 0; j < got; j++)
		for (struct rte_mbuf *at = pkts[j]; at; at = at->next) {
			memcpy(all + bytes, rte_pktmbuf_mtod(at, void *), at->data_len);
			bytes += at->data_len;
		}
	CU_ASSERT_EQUAL(got, shared[i].packets);
	CU_ASSERT_EQUAL(bytes, shared[i].bytes);
	CU_ASSERT_EQUAL(bytes ? rte_net_crc_calc(all, bytes, RTE_NET_CRC32_ETH) : 0, shared[i].crc);
	CU_ASSERT_TRUE(port_ended(&test.port));
	CU_ASSERT_EQUAL(test_port_counters(&test).rx_errors, shared[i].errors);
	test.port.driver->stop(&test.port);
	CU_ASSERT_EQUAL(test.n_faults, shared[i].fault != NULL);
	if (shared[i].fault)
		CU_ASSERT_PTR_NOT_NULL(strstr(test.fault, shared[i].fault));
	rte_pktmbuf_free_bulk(pkts, got);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_shared(void)
{
	struct test_port test;

	if (access(SHARED, R_OK)) {
		test_skip("no " SHARED);
		return;
	}
	for (unsigned i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		read_shared(i, false);
		read_shared(i, true);
	}
	for (unsigned i = 0; i < sizeof(shared_refused) / sizeof(shared_refused[0]); i++) {
		CU_ASSERT_FALSE(open_shared(&test, shared_refused[i].file, false));
		CU_ASSERT_PTR_NOT_NULL(strstr(test_port_errors(&test), shared_refused[i].reason));
		test_port_close(&test);
	}
}

static const CU_TestInfo pcap_shared_cases[] = {
    {"hard captures", test_shared},
    CU_TEST_INFO_NULL,
};
SUITE(pcap_shared, pcap_shared_cases, .eal = true)
