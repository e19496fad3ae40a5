// SPDX-License-Identifier: BSD-3-Clause
// The sending half of the driver `pcap`: the worker puts packets with their time into a ring, a
// thread writes and frees them. In a replay the worker's own thread writes.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_ring_elem.h>

#include "capture.h"
#include "pcap_port.h"

#define PCAP_TX_BURST 64
#define PCAP_TX_FLUSH 1024 // packets at most between two flushes
#define PCAP_TX_PAUSE_NS 200000
#define PCAP_TX_SETTLE_NS 1000000000u // without progress
#define PCAP_TX_READER_NS 10000000    // between two looks for a pipe's reader

struct pcap_sent {
	struct rte_mbuf *pkt;
	uint64_t time_ns;
};

struct pcap_tx {
	struct port *port;
	struct capture_out *out;
	int stop_fd;
	bool started;
	bool stopping; // nothing more will be sent
	pthread_t thread;
	struct rte_ring *ring;
	uint64_t epoch_ns; // from the graph's clock to the time since 1970

	// The writer's.
	uint64_t packets __rte_cache_aligned;
	uint64_t bytes;
	uint64_t errors;
	uint64_t dirty_packets; // written since the last flush
	uint64_t dirty_bytes;
	bool begun;  // there is somebody to write to
	bool failed; // for good
	bool told;
	bool told_long;
	uint32_t too_long;		  // the length of a packet that no capture can hold
	uint8_t line[CAPTURE_LENGTH_MAX]; // a packet of many segments in one piece

	// The worker's.
	uint64_t taken __rte_cache_aligned;
};

static void pcap_tx_lose(struct pcap_tx *tx, uint64_t n)
{
	pcap_count(&tx->errors, n);
}

// Makes what was written count as sent, or, after a fault, as lost.
static void pcap_tx_flush(struct pcap_tx *tx)
{
	if (!tx->dirty_packets)
		return;
	if (capture_out_flush(tx->out)) {
		tx->failed = true;
		pcap_tx_lose(tx, tx->dirty_packets);
	} else {
		pcap_count(&tx->bytes, tx->dirty_bytes);
		pcap_count(&tx->packets, tx->dirty_packets);
	}
	tx->dirty_packets = tx->dirty_bytes = 0;
}

// Writes one packet whole, whatever its segments.
static void pcap_tx_write(struct pcap_tx *tx, const struct rte_mbuf *pkt, uint64_t time_ns)
{
	const uint8_t *bytes;

	if (pkt->pkt_len > CAPTURE_LENGTH_MAX) {
		tx->too_long = pkt->pkt_len;
		pcap_tx_lose(tx, 1);
		return;
	}
	if (tx->failed) {
		pcap_tx_lose(tx, 1);
		return;
	}
	bytes = rte_pktmbuf_read(pkt, 0, pkt->pkt_len, tx->line);
	tx->dirty_packets++;
	tx->dirty_bytes += pkt->pkt_len;
	if (capture_out_write(tx->out, time_ns, bytes, pkt->pkt_len) ||
	    tx->dirty_packets >= PCAP_TX_FLUSH)
		pcap_tx_flush(tx);
}

// Reports faults, each once.
static void pcap_tx_tell(struct pcap_tx *tx)
{
	if (tx->failed && !tx->told) {
		tx->told = true;
		port_fault(tx->port, "tx: %s", capture_out_problem(tx->out)->text);
	}
	if (tx->too_long && !tx->told_long) {
		tx->told_long = true;
		port_fault(tx->port,
			   "tx: a packet of %u bytes is too long for a capture (at most %u)",
			   tx->too_long, CAPTURE_LENGTH_MAX);
	}
}

// Takes what is in the ring and writes it; returns how many packets.
static unsigned pcap_tx_drain(struct pcap_tx *tx)
{
	struct pcap_sent sent[PCAP_TX_BURST];
	struct rte_mbuf *pkts[PCAP_TX_BURST];
	unsigned n =
	    rte_ring_sc_dequeue_burst_elem(tx->ring, sent, sizeof(sent[0]), PCAP_TX_BURST, NULL);

	for (unsigned i = 0; i < n; i++) {
		pcap_tx_write(tx, sent[i].pkt, sent[i].time_ns);
		pkts[i] = sent[i].pkt;
	}
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

static bool pcap_tx_stopping(const struct pcap_tx *tx)
{
	return __atomic_load_n(&tx->stopping, __ATOMIC_ACQUIRE);
}

static void *pcap_tx_main(void *tx_)
{
	struct pcap_tx *tx = tx_;
	bool last = false;

	while (!capture_out_ready(tx->out)) {
		if (pcap_tx_stopping(tx)) {
			if (pcap_tx_unsent(tx))
				port_fault(tx->port, "tx: nobody came to read the pipe \"%s\"",
					   ((const struct pcap_params *)tx->port->params)->tx);
			return NULL;
		}
		pcap_pause(tx->stop_fd, PCAP_TX_READER_NS);
	}
	tx->failed = capture_out_flush(tx->out);
	__atomic_store_n(&tx->begun, true, __ATOMIC_RELAXED);
	for (;;) {
		if (pcap_tx_drain(tx))
			continue;
		pcap_tx_flush(tx);
		pcap_tx_tell(tx);
		if (last)
			break;
		// Once more after the flag was seen: what was sent before it is in the ring.
		last = pcap_tx_stopping(tx);
		if (!last)
			pcap_pause(tx->stop_fd, PCAP_TX_PAUSE_NS);
	}
	return NULL;
}

static uint16_t pcap_tx_burst(void *tx_, struct rte_mbuf **pkts, uint16_t n)
{
	struct pcap_tx *tx = tx_;
	uint64_t now = port_now_ns(tx->port) + tx->epoch_ns;
	uint16_t done = 0;

	while (done < n) {
		struct pcap_sent sent[PCAP_TX_BURST];
		unsigned part = RTE_MIN(n - done, PCAP_TX_BURST), got;

		for (unsigned i = 0; i < part; i++)
			sent[i] = (struct pcap_sent){.pkt = pkts[done + i], .time_ns = now};
		got = rte_ring_sp_enqueue_burst_elem(tx->ring, sent, sizeof(sent[0]), part, NULL);
		done += got;
		if (got < part)
			break;
	}
	pcap_count(&tx->taken, done);
	return done;
}

static uint16_t pcap_replay_send(void *tx_, struct rte_mbuf **pkts, uint16_t n)
{
	struct pcap_tx *tx = tx_;
	uint64_t now = port_now_ns(tx->port);

	for (unsigned i = 0; i < n; i++)
		pcap_tx_write(tx, pkts[i], now);
	pcap_tx_flush(tx);
	rte_pktmbuf_free_bulk(pkts, n);
	pcap_count(&tx->taken, n);
	return n;
}

void pcap_tx_settle(struct pcap_tx *tx)
{
	uint64_t unsent = pcap_tx_unsent(tx), before = 0;
	unsigned waited = 0;

	while (tx->started && __atomic_load_n(&tx->begun, __ATOMIC_RELAXED) && unsent) {
		waited = unsent == before ? waited + 1 : 0;
		if (waited * PCAP_TX_PAUSE_NS >= PCAP_TX_SETTLE_NS)
			break;
		pcap_pause(-1, PCAP_TX_PAUSE_NS);
		before = unsent;
		unsent = pcap_tx_unsent(tx);
	}
}

void pcap_tx_report(struct pcap_tx *tx)
{
	if (tx->port->replay)
		pcap_tx_tell(tx);
}

static int pcap_tx_memory(struct pcap_tx *tx, struct errors *errors)
{
	ssize_t bytes = rte_ring_get_memsize_elem(sizeof(struct pcap_sent), PCAP_TX_HOLDS);

	tx->stop_fd = eventfd(0, EFD_CLOEXEC);
	tx->ring = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(bytes));
	if (tx->stop_fd < 0 || !tx->ring) {
		error_machine(errors, "tx", "no memory or file descriptor for a ring");
		return -1;
	}
	rte_ring_init(tx->ring, "pcap_tx", PCAP_TX_HOLDS, RING_F_SP_ENQ | RING_F_SC_DEQ);
	return 0;
}

int pcap_tx_open(struct port *port, struct pcap_tx **tx_, struct errors *errors)
{
	const struct pcap_params *params = port->params;
	struct capture_problem problem;
	struct pcap_tx *tx = *tx_ = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*tx));
	struct timespec now;

	if (!tx) {
		error_machine(errors, "tx", "no memory");
		return -1;
	}
	memset(tx, 0, sizeof(*tx));
	tx->port = port;
	clock_gettime(CLOCK_REALTIME, &now);
	tx->epoch_ns = now.tv_sec * UINT64_C(1000000000) + now.tv_nsec - port_now_ns(port);
	if (pcap_tx_memory(tx, errors))
		return -1;
	tx->out = capture_out_open(params->tx, tx->stop_fd, &problem);
	if (!tx->out) {
		(problem.machine ? error_machine : error_input)(errors, "tx", "%s", problem.text);
		return -1;
	}
	if (port->replay && capture_out_is_stream(tx->out)) {
		error_input(errors, "tx", "\"%s\" is a pipe; a test writes files only", params->tx);
		return -1;
	}
	port->tx = port->replay ? pcap_replay_send : pcap_tx_burst;
	port->tx_queue[0] = tx;
	return 0;
}

int pcap_tx_start(struct pcap_tx *tx, struct errors *errors)
{
	if (pcap_thread_start(&tx->thread, pcap_tx_main, tx, "pcap-tx")) {
		error_machine(errors, "tx", "no thread to write it with");
		return -1;
	}
	tx->started = true;
	return 0;
}

void pcap_tx_close(struct pcap_tx *tx)
{
	struct pcap_sent sent;

	if (tx->started) {
		__atomic_store_n(&tx->stopping, true, __ATOMIC_RELEASE);
		pcap_wake(tx->stop_fd);
		pthread_join(tx->thread, NULL);
		while (!rte_ring_sc_dequeue_elem(tx->ring, &sent, sizeof(sent)))
			rte_pktmbuf_free(sent.pkt);
	}
	capture_out_close(tx->out);
	if (tx->stop_fd > 0)
		close(tx->stop_fd);
	free(tx->ring);
	free(tx);
}

void pcap_tx_counters(const struct pcap_tx *tx, struct port_counters *counters)
{
	counters->tx_packets = pcap_read(&tx->packets);
	counters->tx_bytes = pcap_read(&tx->bytes);
	counters->tx_errors = pcap_read(&tx->errors);
}

uint64_t pcap_tx_unsent(const struct pcap_tx *tx)
{
	// In this order: what leaves in between makes the answer too large, never negative.
	uint64_t left = pcap_read(&tx->packets) + pcap_read(&tx->errors);

	return pcap_read(&tx->taken) - left;
}
