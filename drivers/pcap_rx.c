// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of the driver `pcap`: the worker empties a ring that a thread fills (see
// pcap_reader.c). In a replay the worker's own thread reads, so that all is repeatable.

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pcap_rx.h"

#define PCAP_RX_RING 2048

unsigned pcap_segments(const struct pcap_rx *rx, uint32_t length)
{
	return length ? (length + rx->room - 1) / rx->room : 1;
}

struct rte_mbuf *pcap_chain(struct pcap_rx *rx, const struct capture_record *record,
			    struct rte_mbuf *(*buffer)(struct pcap_rx *))
{
	struct rte_mbuf *head = NULL, **end = &head;
	uint32_t at = 0;

	do {
		uint32_t part = RTE_MIN(record->captured - at, rx->room);
		struct rte_mbuf *segment = buffer(rx);

		if (!segment) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		if (part)
			memcpy(rte_pktmbuf_mtod(segment, uint8_t *), record->bytes + at, part);
		segment->data_len = part;
		at += part;
		*end = segment;
		end = &segment->next;
		if (segment != head)
			head->nb_segs++;
	} while (at < record->captured);
	head->pkt_len = record->captured;
	return head;
}

bool pcap_rx_fits(struct pcap_rx *rx, const struct capture_record *record)
{
	unsigned n = pcap_segments(rx, record->captured);

	if (n <= RTE_MBUF_MAX_NB_SEGS && n <= rx->port->pool->size)
		return true;
	pcap_count(&rx->bad, 1);
	return false;
}

bool pcap_rx_again(struct pcap_rx *rx)
{
	bool none = !capture_in_records(rx->in);

	__atomic_store_n(&rx->pass, rx->pass + 1, __ATOMIC_RELAXED);
	if (none || rx->pass == rx->passes)
		return false;
	capture_in_rewind(rx->in);
	return true;
}

void pcap_rx_tell(struct pcap_rx *rx)
{
	uint64_t shortened = capture_in_shortened(rx->in);

	if (rx->damaged)
		port_fault(rx->port, "rx: %s", capture_in_problem(rx->in)->text);
	if (rx->bad)
		port_fault(rx->port,
			   "rx: \"%s\": %llu packets need more than all %u packet buffers",
			   rx->path, (unsigned long long)rx->bad, rx->port->pool->size);
	if (shortened)
		port_note(rx->port,
			  "rx: \"%s\": %llu packets were captured in part only, and came so",
			  rx->path, (unsigned long long)shortened);
}

static uint16_t pcap_rx_burst(void *rx_, struct rte_mbuf **pkts, uint16_t n)
{
	struct pcap_rx *rx = rx_;
	bool out = __atomic_load_n(&rx->state, __ATOMIC_ACQUIRE) == PCAP_READ_OUT;
	unsigned got = rte_ring_sc_dequeue_burst(rx->ring, (void **)pkts, n, NULL);
	uint64_t segments = 0, bytes = 0;

	if (!got) {
		if (out)
			port_end(rx->port);
		return 0;
	}
	for (unsigned i = 0; i < got; i++) {
		segments += pkts[i]->nb_segs;
		bytes += pkts[i]->pkt_len;
	}
	__atomic_store_n(&rx->segments_taken, rx->segments_taken + segments, __ATOMIC_RELEASE);
	pcap_count(&rx->packets, got);
	pcap_count(&rx->bytes, bytes);
	return got;
}

static struct rte_mbuf *pcap_replay_buffer(struct pcap_rx *rx)
{
	return rte_pktmbuf_alloc(rx->port->pool);
}

// Reads up to the next record that can be received. false: there is none.
static bool pcap_replay_next(struct pcap_rx *rx)
{
	while (!rx->pending && rx->state == PCAP_READING) {
		enum capture_answer answer = capture_in_next(rx->in, &rx->record);

		if (answer == CAPTURE_RECORD)
			rx->pending = pcap_rx_fits(rx, &rx->record);
		else if (answer != CAPTURE_END || !pcap_rx_again(rx))
			rx->state = PCAP_READ_OUT;
		if (answer == CAPTURE_BAD)
			pcap_count(&rx->damaged, 1);
	}
	return rx->pending;
}

static uint16_t pcap_replay_burst(void *rx_, struct rte_mbuf **pkts, uint16_t n)
{
	struct pcap_rx *rx = rx_;
	uint16_t got = 0;

	while (got < n && pcap_replay_next(rx)) {
		struct rte_mbuf *pkt = pcap_chain(rx, &rx->record, pcap_replay_buffer);

		if (!pkt)
			break;
		rx->pending = false;
		pcap_count(&rx->packets, 1);
		pcap_count(&rx->bytes, pkt->pkt_len);
		pkts[got++] = pkt;
	}
	if (!got && rx->state == PCAP_READ_OUT)
		port_end(rx->port);
	return got;
}

void pcap_rx_report(struct pcap_rx *rx)
{
	if (!rx->port->replay || rx->told || rx->state != PCAP_READ_OUT)
		return;
	rx->told = true;
	pcap_rx_tell(rx);
}

// What can be asked of a pipe.
static int pcap_rx_stream(struct pcap_rx *rx, struct errors *errors)
{
	if (!capture_in_is_stream(rx->in))
		return 0;
	if (rx->passes != 1) {
		error_input(errors, "loop", "\"%s\" is a pipe, it can be read only once", rx->path);
		return -1;
	}
	if (rx->port->replay) {
		error_input(errors, "rx", "\"%s\" is a pipe; a test reads files only", rx->path);
		return -1;
	}
	return 0;
}

static int pcap_rx_memory(struct pcap_rx *rx, struct errors *errors)
{
	ssize_t bytes = rte_ring_get_memsize(PCAP_RX_RING);

	rx->stop_fd = eventfd(0, EFD_CLOEXEC);
	rx->ring = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(bytes));
	if (rx->stop_fd < 0 || !rx->ring) {
		error_machine(errors, "rx", "no memory or file descriptor for a ring");
		return -1;
	}
	rte_ring_init(rx->ring, "pcap_rx", PCAP_RX_RING, RING_F_SP_ENQ | RING_F_SC_DEQ);
	return 0;
}

int pcap_rx_open(struct port *port, struct pcap_rx **rx_, struct errors *errors)
{
	const struct pcap_params *params = port->params;
	uint32_t room = rte_pktmbuf_data_room_size(port->pool) - RTE_PKTMBUF_HEADROOM;
	struct capture_problem problem;
	struct pcap_rx *rx = *rx_ = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*rx));

	if (!rx) {
		error_machine(errors, "rx", "no memory");
		return -1;
	}
	memset(rx, 0, sizeof(*rx));
	rx->port = port;
	rx->path = params->rx;
	rx->room = RTE_MIN(room, UINT16_MAX);
	pcap_loop_parse(params->loop, &rx->passes);
	pcap_speed_parse(params->speed, &rx->speed);
	if (pcap_rx_memory(rx, errors))
		return -1;
	rx->in = capture_in_open(params->rx, rx->stop_fd, &problem);
	if (!rx->in) {
		(problem.machine ? error_machine : error_input)(errors, "rx", "%s", problem.text);
		return -1;
	}
	if (pcap_rx_stream(rx, errors))
		return -1;
	if (rx->passes != 1)
		capture_in_keep(rx->in);
	port->rx = port->replay ? pcap_replay_burst : pcap_rx_burst;
	port->rx_queue[0] = rx;
	port->finite = rx->passes;
	return 0;
}

int pcap_rx_start(struct pcap_rx *rx, struct errors *errors)
{
	if (pcap_thread_start(&rx->thread, pcap_reader_main, rx, "pcap-rx")) {
		error_machine(errors, "rx", "no thread to read it with");
		return -1;
	}
	rx->started = true;
	return 0;
}

void pcap_rx_stop(struct pcap_rx *rx)
{
	__atomic_store_n(&rx->stopping, true, __ATOMIC_RELAXED);
	pcap_wake(rx->stop_fd);
}

void pcap_rx_close(struct pcap_rx *rx)
{
	struct rte_mbuf *pkt;

	if (rx->started) {
		pcap_rx_stop(rx);
		pthread_join(rx->thread, NULL);
	}
	while (rx->started && !rte_ring_sc_dequeue(rx->ring, (void **)&pkt))
		rte_pktmbuf_free(pkt);
	rte_pktmbuf_free_bulk(rx->full, rx->n_full);
	rte_pktmbuf_free_bulk(rx->fresh, rx->n_fresh);
	capture_in_close(rx->in);
	if (rx->stop_fd > 0)
		close(rx->stop_fd);
	free(rx->ring);
	free(rx);
}

void pcap_rx_counters(const struct pcap_rx *rx, struct port_counters *counters)
{
	counters->rx_packets = pcap_read(&rx->packets);
	counters->rx_bytes = pcap_read(&rx->bytes);
	if (!rx->in) // it could not be opened
		return;
	counters->rx_errors =
	    capture_in_shortened(rx->in) + pcap_read(&rx->bad) + pcap_read(&rx->damaged);
}

double pcap_rx_progress(const struct pcap_rx *rx)
{
	double part = rx->in ? capture_in_progress(rx->in) : -1;
	uint64_t pass = pcap_read(&rx->pass);

	if (part < 0 || !rx->passes)
		return -1;
	// Passes after the first may come from memory, where the file's place says nothing.
	if (pass >= rx->passes)
		return 1;
	return (pass + (pass ? 0 : part)) / rx->passes;
}
