// SPDX-License-Identifier: BSD-3-Clause
// ring inside: wires, which join two ports.

#ifndef SLUICE_DRIVERS_RING_WIRE_H
#define SLUICE_DRIVERS_RING_WIRE_H

#include "driver.h"

struct ring_params {
	const char *name;
	uint32_t size;
};

// One end: the ring that it receives from.
struct ring_end {
	char *port;	 // the name of the port here; NULL: free
	unsigned claims; // ports open here: two while a graph change replaces one
	struct rte_ring *ring;
};

struct ring_wire {
	uint32_t size;
	struct ring_end ends[2];
};

struct ring_state {
	struct ring_wire *wire;
	struct ring_end *end;
	struct ring_end *peer;	   // a loop's own end
	struct ring_queue *queues; // the receive queue, then the transmit queues
};

// Makes the port an end of its wire, and fills its state but for the queues. 0 or -1.
int ring_wire_join(struct port *, struct errors *);
void ring_wire_leave(struct port *);

#endif
