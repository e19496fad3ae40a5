// SPDX-License-Identifier: BSD-3-Clause
// tap and af_packet at the two sides of one interface of the kernel. Needs root; refusals do not.

#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port_rig.h"
#include "suite.h"

static struct rig tap;
static struct rig packet;
static char name[IFNAMSIZ];

// Without IPv6 the kernel has nothing of its own to say on the interface.
static void interface_up(void)
{
	struct ifreq request = {0};
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	fd = open(path, O_WRONLY);
	if (fd >= 0) {
		CU_ASSERT_EQUAL(write(fd, "1", 1), 1);
		close(fd);
	}
	strcpy(request.ifr_name, name);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	CU_ASSERT(!ioctl(fd, SIOCGIFFLAGS, &request));
	request.ifr_flags |= IFF_UP;
	CU_ASSERT(!ioctl(fd, SIOCSIFFLAGS, &request));
	close(fd);
}

static bool both_open(unsigned mtu, unsigned queues)
{
	char params[128];

	if (getuid() || access("/dev/net/tun", R_OK | W_OK)) {
		test_skip("it needs root and /dev/net/tun");
		return false;
	}
	snprintf(name, sizeof(name), "slt%d", (int)getpid());
	snprintf(params, sizeof(params), "{iface: %s, mtu: %u, up: false}", name, mtu);
	if (!rig_open(&tap, "tap", params, queues)) {
		test_skip("this machine makes no interface");
		rig_close(&tap);
		return false;
	}
	interface_up();
	snprintf(params, sizeof(params), "{iface: %s, mtu: %u}", name, mtu);
	if (!rig_open(&packet, "af_packet", params, queues)) {
		CU_FAIL("the other side does not open");
		CU_ASSERT(rig_says(&packet, "nothing"));
		rig_close(&packet);
		rig_close(&tap);
		return false;
	}
	CU_ASSERT(rig_wait_link(&tap, PORT_UP));
	CU_ASSERT(rig_wait_link(&packet, PORT_UP));
	return true;
}

static void both_close(void)
{
	rig_close(&packet);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&tap);
	CU_ASSERT_EQUAL(if_nametoindex(name), 0);
}

static void test_frames(void)
{
	struct port_counters counters;

	if (!both_open(1500, 1))
		return;
	CU_ASSERT(rig_passes(&packet, &tap, 1514));
	CU_ASSERT(rig_passes(&tap, &packet, 1514));
	tap.port.driver->counters(&tap.port, &counters);
	CU_ASSERT_EQUAL(counters.rx_packets, 6);
	CU_ASSERT_EQUAL(counters.tx_packets, 6);
	packet.port.driver->counters(&packet.port, &counters);
	CU_ASSERT_EQUAL(counters.rx_packets, 6);
	CU_ASSERT_EQUAL(counters.rx_bytes, counters.tx_bytes);
	both_close();
}

static void test_long_frames(void)
{
	if (!both_open(16000, 1))
		return;
	CU_ASSERT(rig_passes(&packet, &tap, 16000));
	CU_ASSERT(rig_passes(&tap, &packet, 16000));
	both_close();
}

// What is longer than the interface carries is not sent in part.
static void test_too_long(void)
{
	struct port_counters counters;
	struct rte_mbuf *pkts[2];

	if (!both_open(1500, 1))
		return;
	pkts[0] = rig_frame(&packet, 2000, 1);
	pkts[1] = rig_frame(&packet, 1000, 2);
	CU_ASSERT_EQUAL(packet.port.tx(packet.port.tx_queue[0], pkts, 2), 2);
	packet.port.driver->counters(&packet.port, &counters);
	CU_ASSERT_EQUAL(counters.tx_errors, 1);
	pkts[0] = rig_receive(&tap);
	CU_ASSERT_FATAL(pkts[0] != NULL);
	CU_ASSERT(rig_is_frame(pkts[0], 1000, 2));
	rte_pktmbuf_free(pkts[0]);

	// A tap takes it, and the other side cannot receive it whole: it is counted, not cut.
	pkts[0] = rig_frame(&tap, 2000, 3);
	pkts[1] = rig_frame(&tap, 1000, 4);
	CU_ASSERT_EQUAL(tap.port.tx(tap.port.tx_queue[0], pkts, 2), 2);
	pkts[0] = rig_receive(&packet);
	CU_ASSERT_FATAL(pkts[0] != NULL);
	CU_ASSERT(rig_is_frame(pkts[0], 1000, 4));
	rte_pktmbuf_free(pkts[0]);
	packet.port.driver->counters(&packet.port, &counters);
	CU_ASSERT_EQUAL(counters.rx_errors, 1);
	both_close();
}

static void test_queues(void)
{
	if (!both_open(1500, 4))
		return;
	for (unsigned i = 0; i < 64; i++) {
		struct rte_mbuf *pkt = rig_frame(&packet, 60 + i, i);

		CU_ASSERT(rig_send(&packet, i % 4, pkt));
		pkt = rig_receive(&tap);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT(rig_is_frame(pkt, 60 + i, i));
		CU_ASSERT(rig_send(&tap, i % 4, pkt));
		pkt = rig_receive(&packet);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT(rig_is_frame(pkt, 60 + i, i));
		rte_pktmbuf_free(pkt);
	}
	both_close();
}

static void refuse(const char *driver, const char *params, int code, const char *text)
{
	struct rig rig;

	CU_ASSERT(!rig_open(&rig, driver, params, 1));
	CU_ASSERT(rig_says(&rig, text));
	CU_ASSERT_EQUAL(errors_exit_code(rig.errors), code);
	rig_close(&rig);
}

static void test_refusals(void)
{
	refuse("tap", "{iface: a/b}", 2, "\"a/b\" cannot be the name of an interface");
	refuse("tap", "{iface: tap%d}", 2, "cannot be the name of an interface");
	refuse("tap", "{iface: sixteencharacter}", 2, "1 to 15 bytes");
	refuse("tap", "{iface: tap0, mtu: 67}", 2, "mtu");
	refuse("af_packet", "{iface: sl-nothing}", 3, "there is no interface sl-nothing");
	refuse("af_packet", "{iface: lo}", 3, "the interface lo has an MTU of 65536");
	refuse("af_packet", "{iface: lo, mtu: 65001}", 2, "mtu");
}

static const CU_TestInfo cases[] = {
    {"frames both ways", test_frames},
    {"frames of 16000 bytes", test_long_frames},
    {"frames that are too long", test_too_long},
    {"four queues", test_queues},
    {"refusals", test_refusals},
    CU_TEST_INFO_NULL,
};
SUITE(kernel_port, cases, .eal = true)
