// SPDX-License-Identifier: BSD-3-Clause
// A port without a graph, for the tests of drivers: opened from a driver's name and its parameters
// as a user writes them.

#ifndef SLUICE_TESTS_PORT_RIG_H
#define SLUICE_TESTS_PORT_RIG_H

#include "driver.h"
#include "value/value.h"

struct rig {
	struct port port;
	struct arena *arena;
	struct errors *errors;
	struct rte_mempool *pool; // shared by all rigs that are open
	char dpdk_name[32];
	struct rig *next; // of those that are open
};

// The parameters as a map in YAML, "{path: /tmp/x}". Queues for so many workers. False: refused,
// with the reason in rig->errors; rig_close() all the same.
bool rig_open(struct rig *, const char *driver, const char *params, unsigned queues);
void rig_close(struct rig *);

// Whether the errors hold this text.
bool rig_says(const struct rig *, const char *text);

// A frame of so many bytes, filled from `seed`; in several segments when it is longer than one
// holds.
struct rte_mbuf *rig_frame(struct rig *, unsigned length, unsigned seed);
// Whether a packet is such a frame, whole.
bool rig_is_frame(const struct rte_mbuf *, unsigned length, unsigned seed);

// Sends one frame, trying until the port takes it; false after 5 s.
bool rig_send(struct rig *, unsigned queue, struct rte_mbuf *);
// Receives one packet from any queue; NULL after 5 s.
struct rte_mbuf *rig_receive(struct rig *);

// Waits until the link is so; false after 5 s.
bool rig_wait_link(struct rig *, enum port_link);

// Packets of the shared pool that are somewhere else than in it.
unsigned rig_packets_out(void);

// Sends frames of many lengths from one to the other, and looks that each arrives whole.
bool rig_passes(struct rig *from, struct rig *to, unsigned longest);

// A folder for sockets, made for this process, removed at exit if it is empty.
const char *rig_folder(void);

#endif
