// SPDX-License-Identifier: BSD-3-Clause
// What a driver author needs: what a port is, and the table that describes a driver. Drivers
// include this and nothing else of the core.

#ifndef SLUICE_DRIVER_H
#define SLUICE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "abi.h"
#include "param.h"

#define PORT_QUEUES_MAX 16

// Takes up to n packets from, or gives them to, one queue; returns how many. Never blocks. What tx
// takes it owns; the rest stays the caller's. One thread at a time per queue.
typedef uint16_t (*port_burst_fn)(void *queue, struct rte_mbuf **pkts, uint16_t n);

struct port_counters {
	uint64_t rx_packets;
	uint64_t rx_bytes; // without FCS
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t rx_errors; // came, but could not be received whole
	uint64_t rx_missed; // the device had no room
	uint64_t rx_no_memory;
	uint64_t tx_errors; // taken, but not sent
};

// A port of the graph. The core fills the first part before open(); the driver the second in
// open().
struct port {
	const char *name;
	const struct driver_type *driver;
	const void *params;
	void *state;	    // .state_size bytes, zeroed
	uint16_t rx_queues; // wanted
	uint16_t tx_queues;
	uint16_t burst;
	uint32_t mtu; // wanted, of the packet behind the Ethernet header; 0: the driver's default
	struct rte_mempool *pool; // for what is received
	const char *dpdk_name; // a name for a DPDK device, unique in this process, at most 32 bytes
	const struct clock *clock; // NULL: the monotonic clock
	unsigned *faults;	   // counts what port_fault() was told; may be NULL
	bool replay; // time is set by a test, and all must be repeatable: no helper threads, no
		     // pacing

	port_burst_fn rx;
	port_burst_fn tx;
	void *rx_queue[PORT_QUEUES_MAX];
	void *tx_queue[PORT_QUEUES_MAX];
	bool whole_headers; // the first segment always holds 14 bytes or more
	bool finite;	    // ended() can become true

	int ended; // nothing more will be received; the driver sets it with port_end()
};

// Any thread of the driver may call it. No packet may be received after it was seen.
static inline void port_end(struct port *port)
{
	__atomic_store_n(&port->ended, 1, __ATOMIC_RELEASE);
}

static inline bool port_ended(const struct port *port)
{
	return __atomic_load_n(&port->ended, __ATOMIC_ACQUIRE);
}

// A fault while running (a damaged capture, a peer that broke the protocol): it is shown, and the
// run ends with code 1. Any thread; never from rx or tx.
void port_fault(struct port *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Something worth a line in the log: a peer came or went. Any thread; never from rx or tx.
void port_note(struct port *, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum port_link { PORT_DOWN, PORT_UP };

struct driver_caps {
	uint16_t rx_queues; // the most it can have; 0: it cannot receive
	uint16_t tx_queues; // 0: it cannot send
	bool rss;	    // spreads flows over receive queues
};

// One packet that was sent through a port.
struct port_packet {
	const uint8_t *bytes; // the port's, until sent_clear() or the port is closed
	uint32_t length;
	uint16_t segments; // that it had when it was sent
};

// What `sluice test` needs of a driver that can take the place of any port: packets are given to
// it as bytes, and what was sent is read back. Any thread, while the port is open.
struct driver_tester {
	const char *params; // as a user would write them: the port goes on until end()
	void (*feed)(struct port *, const void *bytes, uint32_t length); // the bytes are copied
	void (*end)(struct port *);					 // no more will be fed
	unsigned (*waiting)(struct port *); // packets that were fed and are not received yet
	unsigned (*sent)(struct port *);    // since the last clear
	struct port_packet (*sent_packet)(struct port *, unsigned i);
	void (*sent_clear)(struct port *);
};

struct driver_type {
	const char *name; // snake_case
	const char *help;
	const char *details;
	const char *example;
	const struct param *params;
	size_t state_size;
	bool needs_pci;		  // EAL must scan the PCI bus
	bool needs_shared_memory; // a peer maps our packets: one file descriptor a memory segment
	const struct driver_tester *tester; // NULL: it cannot stand in for others in tests
	bool patient; // what it refuses now it takes soon, for no peer need be there: a file
	bool late; // opened after all ports that are not (it connects to a socket that one of them
		   // serves)

	// Pure: no EAL, no device.
	void (*check)(const void *params, struct errors *);
	void (*caps)(const void *params, struct driver_caps *);
	// Packets that its rings and buffers may hold, for `rx` and `tx` queues.
	unsigned (*holds)(const void *params, unsigned rx_queues, unsigned tx_queues);
	// The longest frame in bytes, with Ethernet header, without FCS, that comes in one piece;
	// 0: the default (MTU 1500).
	uint32_t (*frame_max)(const void *params);

	// Opens and starts the device: 0, or -1 with the reason in errors. close() is called after
	// a failed open() too. Control thread.
	int (*open)(struct port *, struct errors *);
	void (*close)(struct port *);
	// Before workers stop polling for good: let go of the peer. NULL: nothing to do.
	void (*stop)(struct port *);

	void (*counters)(struct port *, struct port_counters *);
	enum port_link (*link)(struct port *);
	// Frames taken by tx that have not left yet (a writer's buffer); NULL: none ever.
	uint64_t (*unsent)(struct port *);
	// For captures: how far it is, 0 to 1; negative: not known. NULL: no such thing.
	double (*progress)(struct port *);
	// Every ms or so at first, every 10 ms of a run that goes on, on the control thread, beside
	// the workers. NULL: nothing to do.
	void (*tick)(struct port *, uint64_t now_ns);
};

struct driver_entry {
	struct abi abi;
	const struct driver_type *type;
	struct driver_entry *next;
};

void driver_register(struct driver_entry *); // only appends to a list

#define DRIVER(VAR)                                                                                \
	static struct driver_entry VAR##_entry = {                                                 \
	    .abi = ABI_HERE(sizeof(struct driver_type), sizeof(struct port), 0),                   \
	    .type = &(VAR),                                                                        \
	};                                                                                         \
	__attribute__((constructor)) static void VAR##_register(void)                              \
	{                                                                                          \
		driver_register(&VAR##_entry);                                                     \
	}

// The way to a DPDK device for the drivers that wrap one: creates it by EAL's name and arguments,
// finds it by name, compares what is wanted with what it can, configures, starts. 0 or -1.
struct ethdev;
struct ethdev_options {
	const char *devargs;	 // "net_tap0,iface=x"; the part before the comma names the device
	uint16_t rx_descriptors; // 0: the device's own choice
	uint16_t tx_descriptors;
	uint16_t queues;  // pairs that it has, each polled by some worker; 0: as many as wanted
	uint32_t mtu;	  // 0: the device's own; a device that cannot is refused
	bool any_length;  // carries any frame, whatever MTU it reports: `mtu` is not told it
	bool rss;	  // several receive queues are of use only if it spreads flows over them
	bool promiscuous; // where it can
	// A device that needs a peer at this socket (NULL: none): a helper thread creates it, which
	// may block, and again whenever the peer has gone. The port opens at once; until the peer
	// is there nothing is received or sent.
	const char *socket;
	bool server;	      // the device serves the socket, the peer connects
	unsigned patience_ms; // how long opening waits for a peer whose socket is there
};
int ethdev_open(struct port *, struct ethdev **, const struct ethdev_options *, struct errors *);
void ethdev_close(struct port *, struct ethdev *);
void ethdev_counters(struct ethdev *, struct port_counters *);
enum port_link ethdev_link(struct ethdev *);
uint16_t ethdev_port_id(const struct ethdev *);

// Guards memory that a peer shares by a file, which it can make shorter at any time: to touch what
// is behind the file's end would end the process (SIGBUS). Where memory is guarded, zeroes of our
// own take the place of the page, and *gone becomes 1: the peer is then to be disconnected. Costs
// nothing until it happens. Not from rx or tx. false: there are too many guards.
bool port_guard(const void *at, size_t size, int *gone);
// Ends the guards with that `gone`: before the memory is unmapped and before `gone` is freed.
void port_unguard(const int *gone);
// All that this thread touches is guarded from now on: for a library's thread that maps a peer's
// memory by itself.
void port_guard_thread(int *gone);

// Waits until every rx() and tx() that had begun has returned, so that what they used can be freed.
// The control thread or a helper; never from rx or tx.
void port_quiet(void);

// A Unix socket that this process will serve: removes a stale one (nobody answers), with a note;
// a live one, or a path that is too long or in no folder, is an error. 0 or -1.
int socket_claim(const struct port *, const char *path, struct errors *);

// Nanoseconds of the graph's clock.
uint64_t port_now_ns(const struct port *);

#endif
