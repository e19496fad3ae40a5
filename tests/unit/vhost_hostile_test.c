// SPDX-License-Identifier: BSD-3-Clause
// Peers of a vhost port that are processes which write anything at all into their rings, and cut
// their memory, while the port works on it. `make hostile` lets them do so for ten minutes under
// the address sanitizer.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "vhost_liar.h"

#define PEERS 40
#define PEERS_MOST 2000
#define POLLS 20000
#define SEED 88172645463325252ull

static uint64_t seed;

static uint64_t dice(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct vring_desc dice_desc(unsigned ring)
{
	struct vring_desc desc = {
	    .addr = LIAR_GUEST_AT + LIAR_BUFFERS_AT + dice() % (LIAR_BYTES / 2),
	    .len = 12 + (uint32_t)(dice() % 3000),
	    .flags = (dice() % 4 ? 0 : VRING_DESC_F_NEXT) | (ring ? 0 : VRING_DESC_F_WRITE),
	    .next = (uint16_t)(dice() % LIAR_RING_SIZE)};

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

// What is nearly right, and now and then anything at all.
static void scribble(bool packed)
{
	unsigned ring = dice() % 2, slot = dice() % LIAR_RING_SIZE;
	volatile struct vring_desc *desc =
	    (struct vring_desc *)(liar.bytes + LIAR_RINGS_AT(ring)) + slot;
	volatile struct vring_avail *avail =
	    (struct vring_avail *)(liar.bytes + LIAR_AVAIL_AT(ring));
	volatile struct vring_used *used = (struct vring_used *)(liar.bytes + LIAR_USED_AT(ring));
	struct vring_desc value = dice_desc(ring);

	if (packed) { // flags and id lie the other way round
		uint16_t flags = value.flags | (uint16_t)((dice() & 1) << 7 | (dice() & 1) << 15);

		value.flags = (uint16_t)dice();
		value.next = flags;
	}
	desc->addr = value.addr;
	desc->len = value.len;
	desc->flags = value.flags;
	desc->next = value.next;
	avail->ring[slot] = (uint16_t)(dice() % (dice() % 1000 ? LIAR_RING_SIZE : 65536));
	avail->flags = (uint16_t)dice();
	avail->idx = used->idx + (uint16_t)(dice() % (dice() % 10000 ? LIAR_RING_SIZE : 65536));
	if (dice() % 1000000 == 0 && ftruncate(liar.memory, (off_t)(dice() % LIAR_BYTES)))
		_exit(1);
}

// The peer's process: it goes when it is killed, or touches what it has cut off.
static pid_t scribbler(bool packed)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGBUS, SIG_DFL);
	__atomic_store_n(&liar.bytes[LIAR_BYTES - 1], 1, __ATOMIC_RELAXED);
	for (;;)
		scribble(packed);
}

// Polls until the port has had enough of the peer, or for so many polls.
static void suffer(bool packed)
{
	unsigned before = rig_packets_out();
	pid_t pid;

	liar_open(packed, 0);
	pid = scribbler(packed);
	CU_ASSERT_FATAL(pid > 0);
	while (!__atomic_load_n(&liar.bytes[LIAR_BYTES - 1], __ATOMIC_RELAXED) &&
	       !waitpid(pid, NULL, WNOHANG))
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	for (unsigned i = 0; i < POLLS && liar.host.port.driver->link(&liar.host.port) == PORT_UP;
	     i++) {
		struct rte_mbuf *pkts[64];
		uint16_t got = liar.host.port.rx(liar.host.port.rx_queue[0], pkts, 64);
		uint16_t sent = liar.host.port.tx(liar.host.port.tx_queue[0], pkts, got);

		rte_pktmbuf_free_bulk(pkts + sent, got - sent);
		if (i % 64 == 0)
			liar.host.port.driver->tick(&liar.host.port, i);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	liar_close();
	CU_ASSERT_EQUAL(rig_packets_out(), before);
}

// How long the environment wants it to last, in seconds; 0: as many peers as are enough.
static long seconds_wanted(void)
{
	const char *seconds = getenv("HOSTILE_SECONDS"), *wanted = getenv("HOSTILE_SEED");

	seed = wanted ? strtoull(wanted, NULL, 10) : SEED;
	if (!seed)
		seed = SEED;
	if (seconds)
		printf("HOSTILE_SEED=%llu\n", (unsigned long long)seed);
	return seconds ? strtol(seconds, NULL, 10) : 0;
}

static void test_scribblers(void)
{
	struct port_counters counters;
	time_t end = time(NULL) + seconds_wanted();
	struct rig host, guest;
	char params[256];
	unsigned n = 0;

	liar_host_open();
	snprintf(params, sizeof(params), "{path: %s/honest}", rig_folder());
	CU_ASSERT_FATAL(rig_open(&host, "vhost", params, 1));
	CU_ASSERT_FATAL(rig_open(&guest, "virtio_user", params, 1));
	CU_ASSERT(rig_wait_link(&host, PORT_UP) && rig_wait_link(&guest, PORT_UP));
	while (n < PEERS || time(NULL) < end || (!liar.faults && n < PEERS_MOST)) {
		struct rte_mbuf *pkt;

		suffer(n % 2);
		// The honest one beside it is served as ever.
		CU_ASSERT(rig_send(&guest, 0, rig_frame(&guest, 60 + n % 1000, n)));
		pkt = rig_receive(&host);
		CU_ASSERT_FATAL(pkt != NULL);
		CU_ASSERT(rig_is_frame(pkt, 60 + n % 1000, n));
		rte_pktmbuf_free(pkt);
		n++;
	}
	CU_ASSERT(liar.faults > 0);
	liar.host.port.driver->counters(&liar.host.port, &counters);
	CU_ASSERT(counters.rx_packets > 0 && counters.tx_packets > 0);
	if (getenv("HOSTILE_SECONDS"))
		printf("%u peers, %u of them named, %llu packets received and %llu sent\n", n,
		       liar.faults, (unsigned long long)counters.rx_packets,
		       (unsigned long long)counters.tx_packets);
	rig_close(&guest);
	rig_close(&host);
	rig_close(&liar.host);
}

static const CU_TestInfo cases[] = {
    {"rings that change at random while they are read", test_scribblers},
    CU_TEST_INFO_NULL,
};
SUITE(vhost_hostile, cases, .eal = true)
