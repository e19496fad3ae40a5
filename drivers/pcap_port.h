// SPDX-License-Identifier: BSD-3-Clause
// The parts of the driver `pcap`: a receiving half with its reader thread, a sending half with its
// writer thread.

#ifndef SLUICE_DRIVERS_PCAP_PORT_H
#define SLUICE_DRIVERS_PCAP_PORT_H

#include <pthread.h>

#include "driver.h"

struct pcap_params {
	const char *rx;
	const char *tx;
	const char *loop;
	const char *speed;
};

// How many passes `loop` means (0: without end), how fast `speed` is (0: as fast as can be). false:
// the text is neither.
bool pcap_loop_parse(const char *text, uint64_t *passes);
bool pcap_speed_parse(const char *text, double *speed);

struct pcap_rx;
struct pcap_tx;

struct pcap_state {
	struct pcap_rx *rx; // NULL: does not receive
	struct pcap_tx *tx; // NULL: does not send
};

// Packets that a half may hold in buffers.
#define PCAP_RX_HOLDS 2048
#define PCAP_TX_HOLDS 4096

// 0, or -1 with the reason in errors; what was opened until then is closed with _close().
int pcap_rx_open(struct port *, struct pcap_rx **, struct errors *);
int pcap_rx_start(struct pcap_rx *, struct errors *); // its thread
void pcap_rx_stop(struct pcap_rx *);
void pcap_rx_close(struct pcap_rx *);
void pcap_rx_counters(const struct pcap_rx *, struct port_counters *);
double pcap_rx_progress(const struct pcap_rx *);
void pcap_rx_report(struct pcap_rx *); // faults of a replay, which has no thread

int pcap_tx_open(struct port *, struct pcap_tx **, struct errors *);
int pcap_tx_start(struct pcap_tx *, struct errors *);
void pcap_tx_settle(struct pcap_tx *); // waits until what was sent is written, or nothing moves
void pcap_tx_close(struct pcap_tx *);
void pcap_tx_counters(const struct pcap_tx *, struct port_counters *);
uint64_t pcap_tx_unsent(const struct pcap_tx *);
void pcap_tx_report(struct pcap_tx *);

// Threads beside the workers: no signals; they sleep where they wait.
int pcap_thread_start(pthread_t *, void *(*)(void *), void *, const char *name);
// Sleeps; true: stop_fd became readable meanwhile.
bool pcap_pause(int stop_fd, uint64_t ns);
void pcap_wake(int stop_fd);

static inline void pcap_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline uint64_t pcap_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
