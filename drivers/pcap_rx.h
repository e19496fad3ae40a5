// SPDX-License-Identifier: BSD-3-Clause
// The inside of the receiving half of the driver `pcap`: what its worker's part (pcap_rx.c) and its
// reader's part (pcap_reader.c) share.

#ifndef SLUICE_DRIVERS_PCAP_RX_H
#define SLUICE_DRIVERS_PCAP_RX_H

#include <pthread.h>

#include <rte_ring.h>

#include "capture.h"
#include "pcap_port.h"

#define PCAP_RX_BURST 32

enum { PCAP_READING, PCAP_READ_OUT };

struct pcap_rx {
	struct port *port;
	struct capture_in *in;
	const char *path;
	int stop_fd;
	bool started;
	bool stopping;
	pthread_t thread;
	uint64_t passes; // 0: without end
	double speed;	 // 0: as fast as can be
	uint32_t room;	 // bytes that one buffer takes
	struct rte_ring *ring;
	int state; // PCAP_READ_OUT: nothing more comes into the ring

	// The reader's.
	struct rte_mbuf *fresh[PCAP_RX_BURST]; // buffers without a packet
	unsigned n_fresh;
	struct rte_mbuf *full[PCAP_RX_BURST]; // packets that are not in the ring yet
	unsigned n_full;
	uint64_t segments_made; // put into the ring
	uint64_t pass;		// passes done
	uint64_t due_ns;	// when the last packet was due, on the monotonic clock
	uint64_t last_ns;	// its time in the capture
	uint64_t bad;		// could not be received at all
	uint64_t damaged;	// 1: reading ended there

	// A replay's, which reads on the worker's thread.
	struct capture_record record;
	bool pending; // `record` waits for buffers
	bool told;

	// The worker's.
	uint64_t segments_taken __rte_cache_aligned;
	uint64_t packets;
	uint64_t bytes;
};

void *pcap_reader_main(void *rx);

// The buffers that a record of so many bytes takes.
unsigned pcap_segments(const struct pcap_rx *, uint32_t length);
// Whether any chain of buffers can hold the record; counted if not.
bool pcap_rx_fits(struct pcap_rx *, const struct capture_record *);
// A record as a chain of buffers; NULL: there was none left for it.
struct rte_mbuf *pcap_chain(struct pcap_rx *, const struct capture_record *,
			    struct rte_mbuf *(*buffer)(struct pcap_rx *));
// After the last record of a pass: whether there is another.
bool pcap_rx_again(struct pcap_rx *);
// Says what is worth it once all is read.
void pcap_rx_tell(struct pcap_rx *);

#endif
