// SPDX-License-Identifier: BSD-3-Clause
// vhost's own data path and a peer that speaks the protocol well enough to be let in, and then lies
// in its rings: it is disconnected and named, and nothing else happens.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include "port_rig.h"
#include "suite.h"

#define MEMORY_BYTES (1u << 20)
#define RING_SIZE 256
#define RINGS_AT(ring) ((ring)*32768u) // descriptors, then what is beside them
#define AVAIL_AT(ring) (RINGS_AT(ring) + 8192)
#define USED_AT(ring) (RINGS_AT(ring) + 16384)
#define BUFFERS_AT 65536u
#define GUEST_AT 0x100000u // where the peer says its memory begins

static struct rig host;
static unsigned faults;

static struct {
	int fd;
	int memory;
	uint8_t *bytes;
	int stop;
	uint64_t seed;
} peer;

struct words {
	uint32_t request;
	uint32_t flags;
	uint32_t size;
	uint64_t words[5];
} __attribute__((packed));

// Says something with so many words of 64 bits, and a file if it is not negative.
static bool say(uint32_t request, const uint64_t *words, unsigned n, int fd)
{
	struct words message = {.request = request, .flags = 1, .size = n * 8};
	char room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &message, .iov_len = 12 + n * 8};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (n)
		memcpy(message.words, words, n * sizeof(*words));
	if (fd >= 0) {
		struct cmsghdr *extra;

		header.msg_control = room;
		header.msg_controllen = sizeof(room);
		extra = CMSG_FIRSTHDR(&header);
		extra->cmsg_level = SOL_SOCKET;
		extra->cmsg_type = SCM_RIGHTS;
		extra->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(extra), &fd, sizeof(fd));
	}
	return sendmsg(peer.fd, &header, MSG_NOSIGNAL) == (ssize_t)part.iov_len;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static bool say_ring(uint32_t ring, uint32_t size, uint32_t base, uint64_t shift)
{
	uint64_t at = GUEST_AT + RINGS_AT(ring) + shift;
	uint64_t place[] = {pair(ring, 0), at, at + 16384, at + 8192, 0};
	int call = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	bool said = say(8, (uint64_t[]){pair(ring, size)}, 1, -1) &&
		    say(10, (uint64_t[]){pair(ring, base)}, 1, -1) && say(9, place, 5, -1) &&
		    say(13, (uint64_t[]){ring}, 1, call) && say(12, (uint64_t[]){ring}, 1, kick);

	close(call);
	close(kick);
	return said;
}

// Says how large its memory is, and shares a file of so many bytes.
static bool say_memory(uint64_t said_bytes, uint64_t bytes)
{
	uint64_t table[] = {1, GUEST_AT, said_bytes, GUEST_AT, 0};
	int memory = memfd_create("liar", MFD_CLOEXEC);
	bool said = !ftruncate(memory, (off_t)bytes) && say(5, table, 5, memory);

	if (peer.memory >= 0)
		close(peer.memory);
	peer.memory = memory;
	return said;
}

static void peer_call(bool packed, uint64_t memory_bytes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t features = 1ull << VIRTIO_F_VERSION_1 | 1ull << VIRTIO_NET_F_MRG_RXBUF |
			    (packed ? 1ull << VIRTIO_F_RING_PACKED : 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/liar", rig_folder());
	peer.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	peer.memory = -1;
	CU_ASSERT_FATAL(!connect(peer.fd, (struct sockaddr *)&address, sizeof(address)));
	CU_ASSERT(say(3, NULL, 0, -1));
	CU_ASSERT(say(2, &features, 1, -1));
	CU_ASSERT(say_memory(MEMORY_BYTES, memory_bytes));
	peer.bytes = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, peer.memory, 0);
	CU_ASSERT_FATAL(peer.bytes != MAP_FAILED);
}

static void peer_open(bool packed, uint64_t shift)
{
	uint32_t base = packed ? 0x8000 : 0;

	peer_call(packed, MEMORY_BYTES);
	CU_ASSERT(say_ring(0, RING_SIZE, base, shift));
	CU_ASSERT(say_ring(1, RING_SIZE, base, shift));
	CU_ASSERT(rig_wait_link(&host, PORT_UP));
}

static void peer_close(void)
{
	close(peer.fd);
	CU_ASSERT(rig_wait_link(&host, PORT_DOWN));
	munmap(peer.bytes, MEMORY_BYTES);
	close(peer.memory);
}

static void host_open(void)
{
	char params[256];

	snprintf(params, sizeof(params), "{path: %s/liar, via: own}", rig_folder());
	CU_ASSERT_FATAL(rig_open(&host, "vhost", params, 1));
	faults = 0;
	host.port.faults = &faults;
}

static void chain_put(unsigned ring, unsigned i, struct vring_desc desc)
{
	((struct vring_desc *)(peer.bytes + RINGS_AT(ring)))[i] = desc;
}

static void heads_put(unsigned ring, uint16_t first, uint16_t second, uint16_t n)
{
	struct vring_avail *avail = (struct vring_avail *)(peer.bytes + AVAIL_AT(ring));

	avail->ring[0] = first;
	avail->ring[1] = second;
	__atomic_store_n(&avail->idx, n, __ATOMIC_RELEASE);
}

// One good packet first: it arrives, whatever comes behind it.
static void liar(struct vring_desc desc, uint16_t head, uint16_t n)
{
	struct rte_mbuf *pkts[8];
	uint16_t got;

	peer_open(false, 0);
	chain_put(1, 0, (struct vring_desc){.addr = GUEST_AT + BUFFERS_AT, .len = 72});
	chain_put(1, 1, desc);
	heads_put(1, 0, head, n);
	got = host.port.rx(host.port.rx_queue[0], pkts, 8);
	CU_ASSERT_EQUAL(got, n > RING_SIZE ? 0 : 1);
	rte_pktmbuf_free_bulk(pkts, got);
	CU_ASSERT(rig_wait_link(&host, PORT_DOWN));
	peer_close();
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
}

static void test_lies(void)
{
	uint64_t good = GUEST_AT + BUFFERS_AT;
	uint64_t end = GUEST_AT + MEMORY_BYTES;

	host_open();
	liar((struct vring_desc){.addr = good, .len = 72}, RING_SIZE, 2);
	liar((struct vring_desc){.addr = good, .len = 72}, 1, RING_SIZE + 1);
	liar((struct vring_desc){.addr = end - 71, .len = 72}, 1, 2);
	liar((struct vring_desc){.addr = GUEST_AT - 1, .len = 72}, 1, 2);
	liar((struct vring_desc){.addr = UINT64_MAX, .len = UINT32_MAX}, 1, 2);
	liar((struct vring_desc){.addr = good, .len = 11}, 1, 2);
	liar((struct vring_desc){.addr = good, .len = 65548}, 1, 2);
	liar((struct vring_desc){.addr = good, .len = 72, .flags = VRING_DESC_F_WRITE}, 1, 2);
	liar((struct vring_desc){.addr = good, .len = 16, .flags = VRING_DESC_F_INDIRECT}, 1, 2);
	liar((struct vring_desc){.addr = good, .len = 1, .flags = 1, .next = 1}, 1, 2);
	liar((struct vring_desc){.addr = good, .len = 0, .flags = 1, .next = 1}, 1, 2);
	liar((struct vring_desc){.addr = good, .len = 72, .flags = 1, .next = RING_SIZE}, 1, 2);
	CU_ASSERT_EQUAL(faults, 12);
	rig_close(&host);
}

// A frame in one descriptor of every length, and in many.
static void test_lengths(void)
{
	static const unsigned lengths[] = {0,	 1,    13,   60,    1514, 1908,
					   1909, 2048, 4095, 65534, 65535};
	struct rte_mbuf *pkt;

	host_open();
	peer_open(false, 0);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct vring_avail *avail = (struct vring_avail *)(peer.bytes + AVAIL_AT(1));

		chain_put(
		    1, i,
		    (struct vring_desc){.addr = GUEST_AT + BUFFERS_AT, .len = 12 + lengths[i]});
		avail->ring[i] = (uint16_t)i;
		__atomic_store_n(&avail->idx, (uint16_t)(i + 1), __ATOMIC_RELEASE);
		pkt = rig_receive(&host);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT_EQUAL(pkt->pkt_len, lengths[i]);
		rte_pktmbuf_free(pkt);
	}
	peer_close();
	CU_ASSERT_EQUAL(faults, 0);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&host);
}

static uint64_t dice(void)
{
	peer.seed ^= peer.seed << 13;
	peer.seed ^= peer.seed >> 7;
	peer.seed ^= peer.seed << 17;
	return peer.seed;
}

static struct vring_desc dice_desc(unsigned ring)
{
	struct vring_desc desc = {.addr = GUEST_AT + BUFFERS_AT + dice() % (MEMORY_BYTES / 2),
				  .len = 12 + (uint32_t)(dice() % 3000),
				  .flags = (dice() % 4 ? 0 : VRING_DESC_F_NEXT) |
					   (ring ? 0 : VRING_DESC_F_WRITE),
				  .next = (uint16_t)(dice() % RING_SIZE)};

	if (dice() % 1000 == 0)
		desc.addr = dice();
	if (dice() % 1000 == 0)
		desc.len = (uint32_t)dice();
	if (dice() % 1000 == 0)
		desc.flags = (uint16_t)dice();
	if (dice() % 1000 == 0)
		desc.next = (uint16_t)dice();
	return desc;
}

// Writes what is nearly right, and now and then anything at all, while the port works on it.
static void *scribble(void *packed)
{
	while (!__atomic_load_n(&peer.stop, __ATOMIC_RELAXED)) {
		unsigned ring = dice() % 2;
		unsigned slot = dice() % RING_SIZE;
		volatile struct vring_desc *desc =
		    (struct vring_desc *)(peer.bytes + RINGS_AT(ring)) + slot;
		volatile struct vring_avail *avail =
		    (struct vring_avail *)(peer.bytes + AVAIL_AT(ring));
		volatile struct vring_used *used =
		    (struct vring_used *)(peer.bytes + USED_AT(ring));
		struct vring_desc value = dice_desc(ring);

		if (packed) { // flags and id lie the other way round
			uint16_t flags =
			    value.flags | (uint16_t)((dice() & 1) << 7 | (dice() & 1) << 15);

			value.flags = (uint16_t)dice();
			value.next = flags;
		}
		desc->addr = value.addr;
		desc->len = value.len;
		desc->flags = value.flags;
		desc->next = value.next;
		avail->ring[slot] = (uint16_t)(dice() % (dice() % 1000 ? RING_SIZE : 65536));
		avail->flags = (uint16_t)dice();
		avail->idx = used->idx + (uint16_t)(dice() % (dice() % 10000 ? RING_SIZE : 65536));
	}
	return NULL;
}

// Polls until the port has had enough of the peer, or for so many polls.
static void suffer(bool packed)
{
	pthread_t thread;

	peer_open(packed, 0);
	peer.stop = 0;
	CU_ASSERT_FATAL(!pthread_create(&thread, NULL, scribble, packed ? &peer : NULL));
	for (unsigned i = 0; i < 20000 && host.port.driver->link(&host.port) == PORT_UP; i++) {
		struct rte_mbuf *pkts[64];
		uint16_t got = host.port.rx(host.port.rx_queue[0], pkts, 64);
		uint16_t sent = host.port.tx(host.port.tx_queue[0], pkts, got);

		rte_pktmbuf_free_bulk(pkts + sent, got - sent);
		if (i % 64 == 0)
			host.port.driver->tick(&host.port, i);
	}
	__atomic_store_n(&peer.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	peer_close();
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
}

static void test_scribbler(void)
{
	struct port_counters counters;
	const char *more = getenv("SLUICE_HOSTILE_PEERS");
	unsigned peers = more ? (unsigned)atoi(more) : 40;

	host_open();
	peer.seed = 88172645463325252ull;
	for (unsigned i = 0; i < peers || (!faults && i < 50 * peers); i++)
		suffer(i % 2);
	CU_ASSERT(faults > 0);
	host.port.driver->counters(&host.port, &counters);
	CU_ASSERT(counters.rx_packets > 0 && counters.tx_packets > 0);
	rig_close(&host);
}

// Polls until the port has named so many peers.
static bool named(unsigned n)
{
	for (unsigned i = 0; i < 5000 && faults < n; i++) {
		struct rte_mbuf *pkts[64];
		uint16_t got = host.port.rx(host.port.rx_queue[0], pkts, 64);
		uint16_t sent = host.port.tx(host.port.tx_queue[0], pkts, got);

		rte_pktmbuf_free_bulk(pkts + sent, got - sent);
		host.port.driver->tick(&host.port, i);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return faults == n;
}

// Memory that the peer's table has and its file has not: the rings themselves, or what is in them.
static void test_short_files(void)
{
	static const uint32_t bytes[] = {0, 4096, 32768, BUFFERS_AT, MEMORY_BYTES - 4096};
	unsigned n = sizeof(bytes) / sizeof(bytes[0]);

	host_open();
	for (unsigned i = 0; i < 2 * n; i++) {
		uint32_t base = i % 2 ? 0x8000 : 0;

		peer_call(i % 2, bytes[i / 2]);
		for (uint32_t ring = 0; ring < 2 && say_ring(ring, RING_SIZE, base, 0); ring++)
			;
		CU_ASSERT(named(i + 1));
		peer_close();
	}
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&host);
}

// A file that becomes shorter while the port works on it, and a second table with such a file.
static void test_vanishing_files(void)
{
	unsigned n = 0;
	bool done;

	host_open();
	for (unsigned way = 0; way < 6; way++) {
		peer_open(way % 2, 0);
		chain_put(1, 0, (struct vring_desc){.addr = GUEST_AT + BUFFERS_AT, .len = 72});
		if (way % 2 == 0)
			heads_put(1, 0, 0, 1);
		done = way >= 4 ? say_memory(2 * MEMORY_BYTES, 0)
				: !ftruncate(peer.memory, way < 2 ? 0 : BUFFERS_AT);
		CU_ASSERT(done);
		// Who is never asked for what is behind the end is told by nothing.
		if (way != 3) {
			n++;
			CU_ASSERT(named(n));
		}
		peer_close();
	}
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	peer_open(false, 0); // an honest one
	peer_close();
	CU_ASSERT_EQUAL(faults, n);
	rig_close(&host);
}

static const CU_TestInfo cases[] = {
    {"descriptors and indices that make no sense", test_lies},
    {"frames of 0 to 65,535 bytes", test_lengths},
    {"rings that change at random while they are read", test_scribbler},
    {"memory that never was there", test_short_files},
    {"memory that goes away", test_vanishing_files},
    CU_TEST_INFO_NULL,
};
SUITE(vhost_peer, cases, .eal = true)
