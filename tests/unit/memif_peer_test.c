// SPDX-License-Identifier: BSD-3-Clause
// A memif server and a peer that does not keep to the protocol: it is turned away, or its packets
// are lost, and nothing else happens.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../drivers/memif_wire.h"
#include "port_rig.h"
#include "suite.h"

#define REGION_BYTES 65536
#define RING_SIZE 16

static struct rig server;
static unsigned faults;

// The peer's half of a connection, with one region: a ring to the server, one from it, and buffers.
static struct peer {
	int fd;
	int memory;
	uint8_t *region;
	struct memif_ring *to_server;
	struct memif_ring *to_client;
	char reason[97]; // of the last disconnection
} peer;

#define TO_CLIENT_AT 1024
#define BUFFERS_AT 4096

static void peer_open(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(&peer, 0, sizeof(peer));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/peer", rig_folder());
	peer.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(!connect(peer.fd, (struct sockaddr *)&address, sizeof(address)));
	peer.memory = memfd_create("peer", MFD_CLOEXEC);
	CU_ASSERT_FATAL(!ftruncate(peer.memory, REGION_BYTES));
	peer.region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, peer.memory, 0);
	CU_ASSERT_FATAL(peer.region != MAP_FAILED);
	peer.to_server = (struct memif_ring *)peer.region;
	peer.to_client = (struct memif_ring *)(peer.region + TO_CLIENT_AT);
	peer.to_server->cookie = MEMIF_COOKIE;
	peer.to_client->cookie = MEMIF_COOKIE;
	peer.to_client->flags = MEMIF_RING_MASK_INT;
	for (unsigned i = 0; i < RING_SIZE; i++) {
		peer.to_server->desc[i] = (struct memif_desc){.offset = BUFFERS_AT + i * 2048};
		peer.to_client->desc[i] =
		    (struct memif_desc){.offset = BUFFERS_AT + i * 1024, .length = 1024};
	}
}

static void peer_close(void)
{
	munmap(peer.region, REGION_BYTES);
	close(peer.memory);
	close(peer.fd);
	CU_ASSERT(rig_wait_link(&server, PORT_DOWN));
}

// What the server says next: the type of its message, 0 when it has hung up.
static int peer_hear(void)
{
	struct memif_message message;
	ssize_t n = -1;

	for (unsigned tries = 0; tries < 10000 && n < 0; tries++) {
		rig_wait_link(&server, server.port.driver->link(&server.port));
		server.port.driver->tick(&server.port, (tries + 1) * 1000000ull);
		n = recv(peer.fd, &message, sizeof(message), MSG_DONTWAIT);
	}
	if (n != (ssize_t)sizeof(message))
		return 0;
	if (message.type == MEMIF_MSG_DISCONNECT)
		snprintf(peer.reason, sizeof(peer.reason), "%.96s",
			 (const char *)message.disconnect.reason);
	return message.type;
}

// Says something, and hears the answer.
static int peer_say(struct memif_message message, int fd)
{
	struct memif memif = {.fd = peer.fd};

	CU_ASSERT(memif_send(&memif, &message, fd));
	return peer_hear();
}

static int peer_init(uint32_t id, uint16_t version)
{
	struct memif_message message = {.type = MEMIF_MSG_INIT};

	message.init.id = id;
	message.init.version = version;
	return peer_say(message, -1);
}

static int peer_region(uint16_t index, uint64_t size, int fd)
{
	struct memif_message message = {.type = MEMIF_MSG_ADD_REGION};

	message.region.index = index;
	message.region.size = size;
	return peer_say(message, fd);
}

static int peer_ring(bool to_server, uint16_t index, uint16_t region, uint32_t offset,
		     uint8_t log2_size)
{
	struct memif_message message = {.type = MEMIF_MSG_ADD_RING};

	message.ring.flags = to_server ? MEMIF_RING_TO_SERVER : 0;
	message.ring.index = index;
	message.ring.region = region;
	message.ring.offset = offset;
	message.ring.log2_size = log2_size;
	return peer_say(message, -1);
}

static int peer_connect(void)
{
	return peer_say((struct memif_message){.type = MEMIF_MSG_CONNECT}, -1);
}

static void peer_up(void)
{
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(peer_init(0, MEMIF_VERSION), MEMIF_MSG_ACK);
	CU_ASSERT_EQUAL(peer_region(0, REGION_BYTES, peer.memory), MEMIF_MSG_ACK);
	CU_ASSERT_EQUAL(peer_ring(true, 0, 0, 0, 4), MEMIF_MSG_ACK);
	CU_ASSERT_EQUAL(peer_ring(false, 0, 0, TO_CLIENT_AT, 4), MEMIF_MSG_ACK);
	CU_ASSERT_EQUAL(peer_connect(), MEMIF_MSG_CONNECTED);
	CU_ASSERT_EQUAL(server.port.driver->link(&server.port), PORT_UP);
}

static void server_open(void)
{
	char params[256];

	snprintf(params, sizeof(params), "{path: %s/peer, role: server}", rig_folder());
	CU_ASSERT_FATAL(rig_open(&server, "memif", params, 1));
	faults = 0;
	server.port.faults = &faults;
}

static void turned_away(const char *reason)
{
	CU_ASSERT_STRING_EQUAL(peer.reason, reason);
	CU_ASSERT_EQUAL(peer_hear(), 0);
	peer_close();
}

static void test_words(void)
{
	server_open();
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(peer_init(0, 0x0100), MEMIF_MSG_DISCONNECT);
	turned_away("the peer speaks another version of the protocol");
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(peer_init(7, MEMIF_VERSION), MEMIF_MSG_DISCONNECT);
	turned_away("the peer asks for another id");
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(peer_connect(), MEMIF_MSG_DISCONNECT);
	turned_away("a message that is not expected");
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(peer_init(0, MEMIF_VERSION), MEMIF_MSG_ACK);
	CU_ASSERT_EQUAL(peer_region(3, REGION_BYTES, peer.memory), MEMIF_MSG_DISCONNECT);
	turned_away("a region that makes no sense");
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(send(peer.fd, "hello", 5, MSG_NOSIGNAL), 5);
	CU_ASSERT_EQUAL(peer_hear(), 0);
	peer_close();
	CU_ASSERT_EQUAL(faults, 0);
	rig_close(&server);
}

// Regions and rings that the server would have to touch where nothing is.
static void test_places(void)
{
	static const struct {
		uint64_t region;
		uint32_t ring;
		uint16_t in;
		const char *reason;
	} bad[] = {
	    {UINT64_C(1) << 40, 0, 0, "a region is larger than its file"},
	    {REGION_BYTES + 1, 0, 0, "a region is larger than its file"},
	    {REGION_BYTES, REGION_BYTES - 64, 0, "a ring is not within its region"},
	    {REGION_BYTES, UINT32_MAX & ~7u, 0, "a ring is not within its region"},
	    {REGION_BYTES, 4, 0, "a ring is not within its region"},
	    {REGION_BYTES, 0, 1, "a ring is not within its region"},
	    {REGION_BYTES, 0, 65535, "a ring is not within its region"},
	    {REGION_BYTES, BUFFERS_AT, 0, "a ring has not the right cookie"},
	};

	server_open();
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		peer_open();
		CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
		CU_ASSERT_EQUAL(peer_init(0, MEMIF_VERSION), MEMIF_MSG_ACK);
		CU_ASSERT_EQUAL(peer_region(0, bad[i].region, peer.memory), MEMIF_MSG_ACK);
		CU_ASSERT_EQUAL(peer_ring(true, 0, bad[i].in, bad[i].ring, 4), MEMIF_MSG_ACK);
		CU_ASSERT_EQUAL(peer_connect(), MEMIF_MSG_DISCONNECT);
		turned_away(bad[i].reason);
	}
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(peer_init(0, MEMIF_VERSION), MEMIF_MSG_ACK);
	CU_ASSERT_EQUAL(peer_ring(true, 0, 0, 0, 15), MEMIF_MSG_DISCONNECT);
	turned_away("a ring that makes no sense");
	peer_open();
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_HELLO);
	CU_ASSERT_EQUAL(peer_init(0, MEMIF_VERSION), MEMIF_MSG_ACK);
	CU_ASSERT_EQUAL(peer_ring(true, 99, 0, 0, 4), MEMIF_MSG_DISCONNECT);
	turned_away("a ring that makes no sense");
	rig_close(&server);
}

static void peer_gives(uint16_t n)
{
	__atomic_store_n(&peer.to_server->head, (uint16_t)(peer.to_server->head + n),
			 __ATOMIC_RELEASE);
}

// One good packet first: it arrives, whatever comes behind it.
static void bad_descriptor(struct memif_desc desc)
{
	struct rte_mbuf *pkts[8];
	uint16_t n;

	peer_up();
	peer.to_server->desc[0].length = 60;
	peer.to_server->desc[1] = desc;
	peer_gives(2);
	n = server.port.rx(server.port.rx_queue[0], pkts, 8);
	CU_ASSERT_EQUAL(n, 1);
	rte_pktmbuf_free_bulk(pkts, n);
	n = server.port.rx(server.port.rx_queue[0], pkts, 8);
	CU_ASSERT_EQUAL(n, 0);
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_DISCONNECT);
	turned_away("a ring that makes no sense");
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
}

static void test_descriptors(void)
{
	server_open();
	bad_descriptor((struct memif_desc){.region = 1, .length = 60});
	bad_descriptor((struct memif_desc){.region = 65535, .length = 60});
	bad_descriptor((struct memif_desc){.offset = REGION_BYTES - 59, .length = 60});
	bad_descriptor((struct memif_desc){.offset = UINT32_MAX, .length = UINT32_MAX});
	bad_descriptor((struct memif_desc){.length = REGION_BYTES + 1});
	bad_descriptor((struct memif_desc){.length = 60, .flags = MEMIF_DESC_NEXT});
	CU_ASSERT_EQUAL(faults, 6);
	rig_close(&server);
}

static void test_indices(void)
{
	struct rte_mbuf *pkts[8];
	struct rte_mbuf *pkt;

	server_open();
	peer_up();
	peer_gives(RING_SIZE + 1);
	CU_ASSERT_EQUAL(server.port.rx(server.port.rx_queue[0], pkts, 8), 0);
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_DISCONNECT);
	turned_away("a ring that makes no sense");

	peer_up();
	__atomic_store_n(&peer.to_client->head, (uint16_t)(RING_SIZE + 1), __ATOMIC_RELEASE);
	pkt = rig_frame(&server, 60, 1);
	CU_ASSERT_EQUAL(server.port.tx(server.port.tx_queue[0], &pkt, 1), 0);
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_DISCONNECT);
	turned_away("a ring that makes no sense");

	// A buffer of no length, and one outside: the packet stays ours, or is counted.
	peer_up();
	peer.to_client->desc[0].length = 0;
	__atomic_store_n(&peer.to_client->head, (uint16_t)4, __ATOMIC_RELEASE);
	CU_ASSERT_EQUAL(server.port.tx(server.port.tx_queue[0], &pkt, 1), 0);
	CU_ASSERT_EQUAL(peer_hear(), MEMIF_MSG_DISCONNECT);
	turned_away("a ring that makes no sense");
	rte_pktmbuf_free(pkt);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&server);
}

// The packets of a peer that is right in everything but unusual: the whole ring, and chains.
static void test_chain(void)
{
	struct rte_mbuf *pkt;

	server_open();
	peer_up();
	for (unsigned i = 0; i < 12; i++) {
		peer.to_server->desc[i].length = 1000;
		peer.to_server->desc[i].flags = i < 11 ? MEMIF_DESC_NEXT : 0;
	}
	peer_gives(12);
	pkt = rig_receive(&server);
	CU_ASSERT_FATAL(pkt != NULL);
	CU_ASSERT_EQUAL(pkt->pkt_len, 12000);
	rte_pktmbuf_free(pkt);
	CU_ASSERT_EQUAL(peer.to_server->tail, 12);
	peer_close();
	CU_ASSERT_EQUAL(faults, 0);
	rig_close(&server);
}

// A file that becomes shorter while the port works on it: all of it, or the buffers.
static void test_vanishing_files(void)
{
	server_open();
	for (unsigned n = 1; n <= 2; n++) {
		peer_up();
		peer.to_server->desc[0].length = 60;
		__atomic_store_n(&peer.to_server->head, 1, __ATOMIC_RELEASE);
		CU_ASSERT(!ftruncate(peer.memory, n == 1 ? 0 : BUFFERS_AT));
		for (unsigned tries = 0; tries < 5000 && faults < n; tries++) {
			struct rte_mbuf *pkts[8];
			uint16_t got = server.port.rx(server.port.rx_queue[0], pkts, 8);

			rte_pktmbuf_free_bulk(pkts, got);
			server.port.driver->tick(&server.port, tries);
		}
		CU_ASSERT_EQUAL(faults, n);
		peer_close();
	}
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&server);
}

static const CU_TestInfo cases[] = {
    {"messages out of place", test_words},
    {"regions and rings that are not there", test_places},
    {"descriptors that lead out of the memory", test_descriptors},
    {"indices that make no sense", test_indices},
    {"a chain of descriptors", test_chain},
    {"memory that goes away", test_vanishing_files},
    CU_TEST_INFO_NULL,
};
SUITE(memif_peer, cases, .eal = true)
