// SPDX-License-Identifier: BSD-3-Clause
// The way into and out of ports of the driver `memory`, for tests: packets are given to a port as
// bytes, and what was sent is read back as bytes. Any thread may call it while the port is open.

#ifndef SLUICE_DRIVERS_MEMORY_H
#define SLUICE_DRIVERS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct port;
struct port_packet;

// Appends one packet to those that the port will receive; the bytes are copied.
void memory_feed(struct port *, const void *bytes, uint32_t length);

// No more will be fed: the port ends when all has been received.
void memory_end(struct port *);

// Packets that were fed and are not received yet.
unsigned memory_waiting(struct port *);

// Packets that were sent since the last clear, in the order in which they were sent.
unsigned memory_sent(struct port *);
struct port_packet memory_sent_packet(struct port *, unsigned i);
void memory_sent_clear(struct port *);

// Whether the port is one of this driver.
bool memory_is(const struct port *);

#endif
