// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver inside: what its own data path's protocol side and burst functions share.

#ifndef SLUICE_DRIVERS_VHOST_H
#define SLUICE_DRIVERS_VHOST_H

#include <pthread.h>

#include "driver.h"

#define VHOST_REGIONS_MAX 16
#define VHOST_RINGS_MAX (2 * PORT_QUEUES_MAX)

struct vhost_params {
	const char *path;
	bool client;
	uint16_t queues;
	struct choice via;
};
enum { VHOST_VIA_ETHDEV, VHOST_VIA_OWN };

// The peer's memory as it is mapped here. It changes only while all queues are down.
struct vhost_map {
	unsigned n;
	struct vhost_region {
		uint64_t guest; // address as the peer's descriptors have it
		uint64_t size;
		uint8_t *host;
	} regions[VHOST_REGIONS_MAX];
};

struct vring_avail;
struct vring_desc;
struct vring_packed_desc;
struct vring_used;

// A part of a packet in the peer's memory.
struct vhost_piece {
	uint8_t *at;
	uint32_t length;
};
#define VHOST_PIECES_MAX 2048

// What is given back to the peer of one chain.
struct vhost_done {
	uint32_t length; // bytes that were written
	uint16_t id;
	uint16_t slots; // packed: that it lies in; split: 1
};
#define VHOST_DONE_MAX (VHOST_PIECES_MAX + 128)

// One ring as its poller sees it. Filled while it is down; `up` is released last.
struct vhost_queue {
	int up;
	bool packed;
	bool mergeable;
	bool in_order;	  // buffers are given back in the order in which they came
	uint8_t header;	  // bytes before each packet
	bool wrap;	  // packed: of the next descriptor to look at
	uint16_t size;	  // descriptors; of a split ring a power of two
	uint16_t at;	  // the next slot to look at: our own, whatever the peer writes
	uint16_t used_at; // split: the next slot to give back; packed: the same as `at`
	uint16_t seen;	  // split: the end of the filled slots when it was last looked at
	uint16_t room;	  // for a frame in a fresh packet
	unsigned region;  // of the memory where the last address was found
	volatile struct vring_desc *desc;
	volatile struct vring_packed_desc *desc_packed;
	volatile struct vring_avail *avail;
	struct vring_used *used;
	volatile uint16_t *quiet; // packed: 1: the peer wants no notification
	int call;		  // tells the peer; -1: it is not to be told
	const struct vhost_map *memory;
	struct rte_mempool *pool;
	int broken; // the peer broke the rules: the control side looks

	// Counters, written by the poller; they stay when the peer goes.
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors;
	uint64_t no_memory;

	// The poller's room to work in.
	struct vhost_piece pieces[VHOST_PIECES_MAX];
	struct vhost_done done[VHOST_DONE_MAX];
} __attribute__((aligned(64)));

// A worker's rings: first, first + step, ... below *end, which goes up and down with them.
struct vhost_share {
	struct vhost_queue *queues;
	const uint16_t *end;
	uint16_t first;
	uint16_t step;
	uint16_t at;
};

uint16_t vhost_own_rx(void *share, struct rte_mbuf **, uint16_t);
uint16_t vhost_own_tx(void *queue, struct rte_mbuf **, uint16_t);

// One ring of each kind, for n packets.
uint16_t vhost_split_rx(struct vhost_queue *, struct rte_mbuf **, uint16_t n);
uint16_t vhost_split_tx(struct vhost_queue *, struct rte_mbuf **, uint16_t n);
uint16_t vhost_packed_rx(struct vhost_queue *, struct rte_mbuf **, uint16_t n);
uint16_t vhost_packed_tx(struct vhost_queue *, struct rte_mbuf **, uint16_t n);

// The protocol side (vhost_link.c).
struct vhost_link {
	struct port *port;
	const char *path;
	bool registered;      // with the library; control thread
	uint64_t until_ns;    // do not register before; control thread
	pthread_mutex_t lock; // of all up to `memory`
	int vid;	      // the library's number for the connection; -1: none
	bool running;	      // the library says so
	bool ready[VHOST_RINGS_MAX];
	bool seen[VHOST_RINGS_MAX]; // it has been let in since the peer connected
	bool lost;		    // a ring's place is not known, the port is to say so
	bool table;		    // the peer has said where its memory is
	int gone;		    // memory of the peer's was not there; any thread
	const char *bad;	    // how the peer broke the rules; NULL: it did not
	int bad_vid;
	struct vhost_map memory;     // written while all rings are down
	int up;			     // what the port shows
	uint16_t end;		     // one more than the last ring to receive from
	struct vhost_queue *receive; // the peer's rings 1, 3, ...
	struct vhost_queue *send;    // the peer's rings 0, 2, ...
	struct vhost_share shares[PORT_QUEUES_MAX];
	struct vhost_link *next;
};

int vhost_link_open(struct port *, struct vhost_link **, struct errors *);
void vhost_link_close(struct vhost_link *);
void vhost_link_counters(struct vhost_link *, struct port_counters *);
bool vhost_link_up(struct vhost_link *);
// Ends the connection of a peer that broke the rules.
void vhost_link_tick(struct vhost_link *, uint64_t now_ns);

// Rings and memory (vhost_rings.c). The link is locked.
struct vhost_queue *vhost_ring(struct vhost_link *, unsigned ring);
void vhost_blame(struct vhost_link *, const char *how);
// Reads and checks the peer's table of memory, and guards what is there. false: there is none that
// could be used.
bool vhost_memory_load(struct vhost_link *);
// Lets pollers into one ring, or all, where all that it takes is there.
void vhost_let_in(struct vhost_link *, unsigned i);
void vhost_let_all_in(struct vhost_link *);
// Takes pollers out of the rings from `first` to before `end`, and waits until they have left.
void vhost_let_out(struct vhost_link *, unsigned first, unsigned end);
// The peer runs no more.
void vhost_end(struct vhost_link *);

#endif
