// SPDX-License-Identifier: BSD-3-Clause
// Opens a port by itself, without a graph: the struct that the core would fill is filled by hand,
// and what the driver reports is kept for the test to look at.

#ifndef SLUICE_TESTS_PORTS_H
#define SLUICE_TESTS_PORTS_H

#include <pthread.h>

#include "driver.h"
#include "value/errors.h"

struct test_port {
	struct port port;
	struct arena *arena;
	struct errors *errors;
	struct test_port *next;
	char *text; // of the last errors

	// Set by any thread of the driver, under the lock.
	unsigned n_faults;
	unsigned n_notes;
	char fault[1024];
	char note[1024];
};

// The pool that all test ports share: TEST_BUFFERS buffers with room for 2,048 bytes.
#define TEST_BUFFERS 8191
struct rte_mempool *test_pool(void);
// Buffers that are not in the pool; 0 when all ports are closed and all packets freed.
unsigned test_pool_out(void);

// Opens a port of the driver with parameters as in a graph file ("{rx: a.pcap}"). queues_rx and
// queues_tx 0 or more. false: see test_port_errors(). Close it in either case.
bool test_port_open(struct test_port *, const char *driver, const char *params, unsigned rx_queues,
		    unsigned tx_queues, bool replay);
// The same with a name of the port's own.
bool test_port_open_as(struct test_port *, const char *name, const char *driver, const char *params,
		       unsigned rx_queues, unsigned tx_queues);
void test_port_close(struct test_port *);
const char *test_port_errors(struct test_port *); // "" when there are none

// Fills the parameters and calls the driver's check() alone. Close it too.
bool test_port_check(struct test_port *, const char *driver, const char *params);

// Receives from queue 0 until there are n packets, or the port has ended, or a generous time is
// over. Returns how many.
unsigned test_port_receive(struct test_port *, struct rte_mbuf **pkts, unsigned n);

// A packet of so many bytes, in segments of at most `segment`, filled from `seed` on.
struct rte_mbuf *test_packet(uint32_t length, uint32_t segment, uint8_t seed);
// Whether a packet is whole, of this length, and filled from `seed` on.
bool test_packet_is(const struct rte_mbuf *, uint32_t length, uint8_t seed);

// Waits until the condition holds, or a generous time is over; returns whether it holds.
bool test_wait(bool (*holds)(void *), void *);

// While the driver's threads may still report.
unsigned test_port_faults(const struct test_port *);

struct port_counters test_port_counters(struct test_port *);

#endif
