// SPDX-License-Identifier: BSD-3-Clause
// vhost and virtio_user, both ends in one process, on both of vhost's data paths: frames both ways,
// roles both ways, peers that come late, go and come back, and what is left behind.

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "port_rig.h"
#include "suite.h"

static struct rig host;
static struct rig guest;
static const char *via; // of vhost

static const char *vhost_path(const char *name)
{
	static char path[108];

	snprintf(path, sizeof(path), "%s/%s", rig_folder(), name);
	return path;
}

static bool host_open(const char *name, const char *more, unsigned queues)
{
	char params[256];

	snprintf(params, sizeof(params), "{path: %s, via: %s%s}", vhost_path(name), via, more);
	return rig_open(&host, "vhost", params, queues);
}

static bool guest_open(const char *name, const char *more, unsigned queues)
{
	char params[256];

	snprintf(params, sizeof(params), "{path: %s%s}", vhost_path(name), more);
	return rig_open(&guest, "virtio_user", params, queues);
}

static void both_up(void)
{
	CU_ASSERT(rig_wait_link(&host, PORT_UP));
	CU_ASSERT(rig_wait_link(&guest, PORT_UP));
}

static void both_ways(unsigned longest)
{
	CU_ASSERT(rig_passes(&guest, &host, longest));
	CU_ASSERT(rig_passes(&host, &guest, longest));
}

static void test_split(void)
{
	CU_ASSERT(host_open("split", "", 1));
	CU_ASSERT(guest_open("split", "", 1));
	both_up();
	both_ways(!strcmp(via, "own") ? 65535 : 16000);
	rig_close(&guest);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&host);
	CU_ASSERT(access(vhost_path("split"), F_OK) != 0);
}

static void test_packed(void)
{
	CU_ASSERT(host_open("packed", "", 1));
	CU_ASSERT(guest_open("packed", ", packed: true", 1));
	both_up();
	both_ways(!strcmp(via, "own") ? 65535 : 9014);
	rig_close(&guest);
	rig_close(&host);
}

// What else DPDK's virtio_user can be made to speak.
static void test_kinds(void)
{
	static const char *const kinds[] = {
	    "mrg_rxbuf=0,in_order=0,packed_vq=0", "mrg_rxbuf=0,in_order=1,packed_vq=0",
	    "mrg_rxbuf=0,in_order=0,packed_vq=1", "mrg_rxbuf=0,in_order=1,packed_vq=1",
	    "mrg_rxbuf=1,in_order=0,packed_vq=0", "mrg_rxbuf=1,in_order=1,packed_vq=0",
	    "mrg_rxbuf=1,in_order=0,packed_vq=1", "mrg_rxbuf=1,in_order=1,packed_vq=1",
	};

	CU_ASSERT(host_open("kinds", "", 1));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		bool long_ones = strstr(kinds[i], "mrg_rxbuf=1") && !strcmp(via, "own");
		char params[256];

		snprintf(params, sizeof(params),
			 "{devargs: 'net_virtio_user_kind%u,path=%s,queue_size=256,%s'}", i,
			 vhost_path("kinds"), kinds[i]);
		CU_ASSERT(rig_open(&guest, "ethdev", params, 1));
		both_up();
		both_ways(long_ones ? 65535 : 1514);
		for (unsigned j = 0; j < 600; j++) { // rings come round
			struct rte_mbuf *pkt = rig_frame(&guest, 60 + j, j);

			CU_ASSERT(rig_send(&guest, 0, pkt));
			pkt = rig_receive(&host);
			CU_ASSERT_FATAL(pkt != NULL);
			CU_ASSERT(rig_is_frame(pkt, 60 + j, j));
			CU_ASSERT(rig_send(&host, 0, pkt));
			pkt = rig_receive(&guest);
			CU_ASSERT_FATAL(pkt != NULL);
			CU_ASSERT(rig_is_frame(pkt, 60 + j, j));
			rte_pktmbuf_free(pkt);
		}
		rig_close(&guest);
		CU_ASSERT(rig_wait_link(&host, PORT_DOWN));
	}
	rig_close(&host);
}

// A vectorised receiver takes nothing unless it may take many.
static void test_vectorised(void)
{
	struct rte_mbuf *pkts[32];
	char params[256];
	unsigned got = 0, polls = 0;

	CU_ASSERT(host_open("vector", "", 1));
	snprintf(params, sizeof(params),
		 "{devargs: 'net_virtio_user_vector,path=%s,queue_size=256,mrg_rxbuf=0,in_order=0,"
		 "vectorized=1'}",
		 vhost_path("vector"));
	CU_ASSERT(rig_open(&guest, "ethdev", params, 1));
	both_up();
	for (unsigned j = 0; j < 640; j++) {
		CU_ASSERT(rig_send(&guest, 0, rig_frame(&guest, 60 + j, j)));
		pkts[0] = rig_receive(&host);
		CU_ASSERT_FATAL(pkts[0] != NULL);
		CU_ASSERT(rig_is_frame(pkts[0], 60 + j, j));
		CU_ASSERT(rig_send(&host, 0, pkts[0]));
		while (j % 32 == 31 && got <= j && polls++ < 1u << 24) {
			unsigned n = guest.port.rx(guest.port.rx_queue[0], pkts, 32);

			for (unsigned k = 0; k < n; k++, got++)
				CU_ASSERT(rig_is_frame(pkts[k], 60 + got, got));
			rte_pktmbuf_free_bulk(pkts, n);
		}
	}
	CU_ASSERT_EQUAL(got, 640);
	rig_close(&guest);
	rig_close(&host);
}

static void test_turned(void)
{
	CU_ASSERT(guest_open("turned", ", server: true", 1));
	CU_ASSERT_EQUAL(guest.port.driver->link(&guest.port), PORT_DOWN);
	CU_ASSERT(host_open("turned", ", client: true", 1));
	both_up();
	both_ways(9014);
	rig_close(&host);
	CU_ASSERT(rig_wait_link(&guest, PORT_DOWN));
	CU_ASSERT(host_open("turned", ", client: true", 1));
	both_up();
	both_ways(9014);
	rig_close(&host);
	rig_close(&guest);
}

static void test_guest_first(void)
{
	struct rte_mbuf *pkt;

	CU_ASSERT(guest_open("late", "", 1));
	CU_ASSERT_EQUAL(guest.port.driver->link(&guest.port), PORT_DOWN);
	pkt = rig_frame(&guest, 60, 1);
	CU_ASSERT_EQUAL(guest.port.tx(guest.port.tx_queue[0], &pkt, 1), 0);
	rte_pktmbuf_free(pkt);
	CU_ASSERT_EQUAL(guest.port.rx(guest.port.rx_queue[0], &pkt, 1), 0);
	CU_ASSERT(host_open("late", "", 1));
	both_up();
	both_ways(1514);
	rig_close(&host);
	CU_ASSERT(rig_wait_link(&guest, PORT_DOWN));
	CU_ASSERT(host_open("late", "", 1));
	both_up();
	both_ways(1514);
	rig_close(&host);
	rig_close(&guest);
}

static void test_guest_returns(void)
{
	CU_ASSERT(host_open("returns", "", 1));
	for (unsigned i = 0; i < 3; i++) {
		struct port_counters counters;

		CU_ASSERT(guest_open("returns", "", 1));
		both_up();
		both_ways(1514);
		guest.port.driver->counters(&guest.port, &counters);
		CU_ASSERT_EQUAL(counters.rx_packets, 6);
		CU_ASSERT_EQUAL(counters.tx_packets, 6);
		rig_close(&guest);
		CU_ASSERT(rig_wait_link(&host, PORT_DOWN));
	}
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&host);
}

static void test_queues(void)
{
	CU_ASSERT(host_open("queues", "", 2));
	CU_ASSERT(guest_open("queues", "", 2));
	both_up();
	for (unsigned queue = 0; queue < 2; queue++) {
		struct rte_mbuf *pkt = rig_frame(&guest, 100, queue);

		CU_ASSERT(rig_send(&guest, queue, pkt));
		pkt = rig_receive(&host);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT(rig_is_frame(pkt, 100, queue));
		CU_ASSERT(rig_send(&host, queue, pkt));
		pkt = rig_receive(&guest);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT(rig_is_frame(pkt, 100, queue));
		rte_pktmbuf_free(pkt);
	}
	rig_close(&guest);
	rig_close(&host);
}

// One worker polls all queues that the peer may use.
static void test_more_queues_than_workers(void)
{
	CU_ASSERT(host_open("many", ", queues: 4", 1));
	CU_ASSERT(guest_open("many", "", 4));
	both_up();
	for (unsigned queue = 0; queue < 4; queue++) {
		struct rte_mbuf *pkt = rig_frame(&guest, 100, queue);

		CU_ASSERT(rig_send(&guest, queue, pkt));
		pkt = rig_receive(&host);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT(rig_is_frame(pkt, 100, queue));
		rte_pktmbuf_free(pkt);
	}
	rig_close(&guest);
	rig_close(&host);
}

static void leave_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	CU_ASSERT(!bind(fd, (struct sockaddr *)&address, sizeof(address)));
	close(fd);
}

static void test_stale(void)
{
	leave_socket(vhost_path("stale"));
	CU_ASSERT(host_open("stale", "", 1));
	rig_close(&host);
	leave_socket(vhost_path("stale"));
	CU_ASSERT(guest_open("stale", ", server: true", 1));
	rig_close(&guest);
	unlink(vhost_path("stale"));
}

static void test_busy(void)
{
	struct rig second;
	char params[256];

	CU_ASSERT(host_open("busy", "", 1));
	snprintf(params, sizeof(params), "{path: %s, via: %s}", vhost_path("busy"), via);
	CU_ASSERT(!rig_open(&second, "vhost", params, 1));
	CU_ASSERT(rig_says(&second, "is served by another port of this process"));
	rig_close(&second);
	snprintf(params, sizeof(params), "{path: %s, server: true}", vhost_path("busy"));
	CU_ASSERT(!rig_open(&second, "virtio_user", params, 1));
	CU_ASSERT(rig_says(&second, "is served by another port of this process"));
	rig_close(&second);
	rig_close(&host);
}

static void test_refusals(void)
{
	CU_ASSERT(!rig_open(&host, "vhost", "{path: /no/such/folder/x.sock}", 1));
	CU_ASSERT(rig_says(&host, "the folder /no/such/folder of the socket"));
	CU_ASSERT_EQUAL(errors_exit_code(host.errors), 3);
	rig_close(&host);
	CU_ASSERT(!rig_open(&host, "vhost", "{path: '/tmp/a,b'}", 1));
	CU_ASSERT(rig_says(&host, "must not contain a comma"));
	CU_ASSERT_EQUAL(errors_exit_code(host.errors), 2);
	rig_close(&host);
	CU_ASSERT(!rig_open(&guest, "virtio_user", "{path: /tmp/x, queue_size: 100}", 1));
	CU_ASSERT(rig_says(&guest, "100 is not a power of two"));
	rig_close(&guest);
}

// Each of them on one data path and on the other.
#define BOTH(TEST)                                                                                 \
	static void TEST##_ethdev(void)                                                            \
	{                                                                                          \
		via = "ethdev";                                                                    \
		TEST();                                                                            \
	}                                                                                          \
	static void TEST##_own(void)                                                               \
	{                                                                                          \
		via = "own";                                                                       \
		TEST();                                                                            \
	}
BOTH(test_split)
BOTH(test_packed)
BOTH(test_kinds)
BOTH(test_vectorised)
BOTH(test_turned)
BOTH(test_guest_first)
BOTH(test_guest_returns)
BOTH(test_queues)
BOTH(test_more_queues_than_workers)
BOTH(test_stale)
BOTH(test_busy)

static const CU_TestInfo cases[] = {
    {"frames both ways, split rings", test_split_ethdev},
    {"frames both ways, split rings, own data path", test_split_own},
    {"frames both ways, packed rings", test_packed_ethdev},
    {"frames both ways, packed rings, own data path", test_packed_own},
    {"rings of other kinds", test_kinds_ethdev},
    {"rings of other kinds, own data path", test_kinds_own},
    {"a vectorised peer", test_vectorised_ethdev},
    {"a vectorised peer, own data path", test_vectorised_own},
    {"virtio_user serves, vhost connects, goes and comes back", test_turned_ethdev},
    {"virtio_user serves, vhost connects, goes and comes back, own data path", test_turned_own},
    {"virtio_user is there first, vhost goes and comes back", test_guest_first_ethdev},
    {"virtio_user is there first, vhost goes and comes back, own data path", test_guest_first_own},
    {"virtio_user goes and comes back", test_guest_returns_ethdev},
    {"virtio_user goes and comes back, own data path", test_guest_returns_own},
    {"two queues", test_queues_ethdev},
    {"two queues, own data path", test_queues_own},
    {"more queues than workers", test_more_queues_than_workers_ethdev},
    {"more queues than workers, own data path", test_more_queues_than_workers_own},
    {"a stale socket is removed", test_stale_ethdev},
    {"a stale socket is removed, own data path", test_stale_own},
    {"a live socket is an error", test_busy_ethdev},
    {"a live socket is an error, own data path", test_busy_own},
    {"refusals", test_refusals},
    CU_TEST_INFO_NULL,
};
SUITE(vhost, cases, .eal = true)
