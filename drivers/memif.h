// SPDX-License-Identifier: BSD-3-Clause
// memif inside: what is in shared memory, and what the control side and the burst functions share.

#ifndef SLUICE_DRIVERS_MEMIF_H
#define SLUICE_DRIVERS_MEMIF_H

#include "driver.h"

#define MEMIF_COOKIE 0x3e31f20u
#define MEMIF_REGIONS_MAX 64
#define MEMIF_RING_LOG2_MAX 14

// Shared memory, as the protocol (version 2.0) lays it down. The producer of the direction client
// to server moves head and the consumer tail; in the other direction the client gives empty buffers
// by moving head, and the server fills them by moving tail.
struct memif_desc {
	uint16_t flags;
	uint16_t region;
	uint32_t length;
	uint32_t offset;
	uint32_t metadata;
};
enum { MEMIF_DESC_NEXT = 1 }; // the packet goes on in the next descriptor

struct memif_ring {
	uint32_t cookie;
	uint16_t flags;
	uint16_t head;
	uint8_t space1[56];
	uint16_t tail;
	uint8_t space2[62];
	struct memif_desc desc[];
};
enum { MEMIF_RING_MASK_INT = 1 }; // the consumer polls and wants no event

_Static_assert(sizeof(struct memif_desc) == 16 && offsetof(struct memif_ring, tail) == 64 &&
		   offsetof(struct memif_ring, desc) == 128,
	       "the layout is the protocol's");

struct memif_region {
	uint8_t *addr;
	uint64_t size;
	int fd;	   // -1: none
	bool lent; // DPDK's memory: neither mapped nor opened here
};

// Where a ring lies, and the event that goes with it.
struct memif_place {
	uint16_t region;
	uint32_t offset;
	uint16_t size; // descriptors; 0: there is no such ring
	int event;     // -1: none
};

// One ring as its poller sees it. Filled while it is down; `up` is released last.
struct memif_queue {
	int up;
	bool client; // this side laid out the memory and owns the buffers in the ring
	uint16_t size;
	uint16_t at;	// the next slot to look at: our own, whatever the peer writes
	uint16_t given; // zero copy: slots that hold a buffer of ours
	int event;	// tells the consumer, unless it polls; -1: none
	struct memif_ring *ring;
	const struct memif_region *regions;
	unsigned n_regions;
	uint32_t buffer_size; // of buffers that this side owns
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs; // zero copy: the buffer in each slot
	int broken;		 // the peer broke the protocol: the control side looks

	// Counters, written by the poller; they stay when the peer goes.
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors;
	uint64_t no_memory;
} __attribute__((aligned(64)));

// A worker's rings: first, first + step, ... below `end`.
struct memif_share {
	struct memif_queue *queues;
	uint16_t first;
	uint16_t step;
	uint16_t end;
	uint16_t at;
};

uint16_t memif_rx(void *share, struct rte_mbuf **, uint16_t);
uint16_t memif_tx(void *queue, struct rte_mbuf **, uint16_t);
uint16_t memif_rx_zero(void *share, struct rte_mbuf **, uint16_t);
uint16_t memif_tx_zero(void *queue, struct rte_mbuf **, uint16_t);

// Zero copy: frees the packets in a ring that is down.
void memif_queue_empty(struct memif_queue *);

struct memif_params {
	const char *path;
	struct choice role;
	uint32_t id;
	bool abstract;
	bool zero_copy;
	uint16_t queues;
	uint16_t ring_size;
	uint16_t buffer_size;
	const char *secret;
};
enum { MEMIF_CLIENT, MEMIF_SERVER };

enum memif_state {
	MEMIF_DOWN,    // no peer
	MEMIF_TALKING, // a peer, no agreement yet
	MEMIF_UP,
};

struct memif {
	struct port *port;
	const struct memif_params *params;
	uint16_t pairs; // rings in each direction that this side offers
	int listener;
	int fd; // of the peer
	enum memif_state state;
	uint64_t since_ns; // of this state, or of the last try
	unsigned step;	   // client: which message is next
	uint16_t n_send;   // rings that the peer and we agreed on
	uint16_t n_receive;
	struct memif_region regions[MEMIF_REGIONS_MAX];
	unsigned n_regions;
	int gone; // memory of a region was not there; any thread
	struct memif_place receive_at[PORT_QUEUES_MAX];
	struct memif_place send_at[PORT_QUEUES_MAX];
	struct memif_queue receive[PORT_QUEUES_MAX];
	struct memif_queue send[PORT_QUEUES_MAX];
	struct memif_share shares[PORT_QUEUES_MAX];
	char told[128];	    // why the peer left, as it says
	uint64_t bad_tries; // peers that were turned away in a row
};

// The control side (memif_link.c). memif_talk() does what can be done now, and never blocks.
int memif_listen(struct memif *, struct errors *);
void memif_talk(struct memif *, uint64_t now_ns);
// Lets go of the peer, if there is one; it is told the reason, if there is one.
void memif_hang_up(struct memif *, const char *reason);
void memif_hang_up_listener(struct memif *);

// The shared memory (memif_memory.c). A client lays out n_send and n_receive rings of so many
// descriptors; NULL, or why it cannot.
const char *memif_layout(struct memif *, uint16_t size);
// A server maps what the client has laid out; NULL, or what is wrong with it.
const char *memif_map(struct memif *);
void memif_regions_free(struct memif *);
// Lets the pollers in; takes them out, and waits until they have left.
bool memif_let_in(struct memif *);
void memif_let_out(struct memif *);

#endif
