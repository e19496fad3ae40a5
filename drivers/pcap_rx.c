// SPDX-License-Identifier: BSD-3-Clause
// The receiving half of the driver `pcap`: a thread reads the capture, paces it, and fills packet
// buffers into a ring that the worker empties. In a replay the worker's own thread reads.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_ring.h>

#include "capture.h"
#include "pcap_port.h"

#define PCAP_RX_RING 2048
#define PCAP_RX_BURST 32
#define PCAP_RX_SEGMENTS_MAX (PCAP_RX_HOLDS - 2 * PCAP_RX_BURST) // in the ring
#define PCAP_RX_PAUSE_NS 50000

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

static uint64_t pcap_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static bool pcap_rx_stopping(const struct pcap_rx *rx)
{
	return __atomic_load_n(&rx->stopping, __ATOMIC_RELAXED);
}

static unsigned pcap_segments(const struct pcap_rx *rx, uint32_t length)
{
	return length ? (length + rx->room - 1) / rx->room : 1;
}

// A record as a chain of buffers; NULL: there was none left for it.
static struct rte_mbuf *pcap_chain(struct pcap_rx *rx, const struct capture_record *record,
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

// Whether a chain of buffers can hold the record.
static bool pcap_rx_fits(struct pcap_rx *rx, const struct capture_record *record)
{
	unsigned n = pcap_segments(rx, record->captured);

	if (n <= RTE_MBUF_MAX_NB_SEGS && n <= rx->port->pool->size)
		return true;
	pcap_count(&rx->bad, 1);
	return false;
}

// Hands the packets that are ready to the worker. false: asked to stop.
static bool pcap_rx_flush(struct pcap_rx *rx)
{
	unsigned done = 0;

	while (done < rx->n_full) {
		done += rte_ring_sp_enqueue_burst(rx->ring, (void **)rx->full + done,
						  rx->n_full - done, NULL);
		if (done < rx->n_full && pcap_pause(rx->stop_fd, PCAP_RX_PAUSE_NS)) {
			memmove(rx->full, rx->full + done,
				(rx->n_full - done) * sizeof(rx->full[0]));
			rx->n_full -= done;
			return false;
		}
	}
	rx->n_full = 0;
	return true;
}

// Waits until so many more buffers may be in the ring: what was promised by PCAP_RX_HOLDS holds for
// long packets too. One that is longer than all of it goes alone.
static bool pcap_rx_admit(struct pcap_rx *rx, unsigned n)
{
	for (;;) {
		uint64_t taken = __atomic_load_n(&rx->segments_taken, __ATOMIC_ACQUIRE);
		uint64_t inside = rx->segments_made - taken;

		if (!inside || inside + n <= PCAP_RX_SEGMENTS_MAX) {
			rx->segments_made += n;
			return true;
		}
		if (!pcap_rx_flush(rx) || pcap_pause(rx->stop_fd, PCAP_RX_PAUSE_NS))
			return false;
	}
}

// One fresh buffer; waits for the graph to free some. NULL: asked to stop.
static struct rte_mbuf *pcap_rx_buffer(struct pcap_rx *rx)
{
	while (!rx->n_fresh) {
		if (!rte_pktmbuf_alloc_bulk(rx->port->pool, rx->fresh, PCAP_RX_BURST))
			rx->n_fresh = PCAP_RX_BURST;
		else if ((rx->fresh[0] = rte_pktmbuf_alloc(rx->port->pool)))
			rx->n_fresh = 1;
		else if (!pcap_rx_flush(rx) || pcap_pause(rx->stop_fd, PCAP_RX_PAUSE_NS))
			return NULL;
	}
	return rx->fresh[--rx->n_fresh];
}

// Turns a record into a packet among those that are ready. false: asked to stop.
static bool pcap_rx_take(struct pcap_rx *rx, const struct capture_record *record)
{
	struct rte_mbuf *pkt = NULL;

	if (pcap_rx_admit(rx, pcap_segments(rx, record->captured)))
		pkt = pcap_chain(rx, record, pcap_rx_buffer);
	if (pkt)
		rx->full[rx->n_full++] = pkt;
	return pkt;
}

// Waits until the worker has taken all that is in the ring. false: asked to stop.
static bool pcap_rx_drained(struct pcap_rx *rx)
{
	if (!pcap_rx_flush(rx))
		return false;
	while (!rte_ring_empty(rx->ring))
		if (pcap_pause(rx->stop_fd, PCAP_RX_PAUSE_NS))
			return false;
	return true;
}

// Sleeps until the record is due. The clock starts when the first packet was received, and each gap
// between two records is kept, so that a clock that once jumped back costs no more than its own
// gap. false: asked to stop.
static bool pcap_rx_pace(struct pcap_rx *rx, const struct capture_record *record)
{
	uint64_t gap_ns = record->time_ns > rx->last_ns ? record->time_ns - rx->last_ns : 0;
	bool first = capture_in_records(rx->in) == 1;
	uint64_t now;

	rx->last_ns = record->time_ns;
	if (first && !rx->pass)
		return true;
	if (!rx->due_ns) {
		if (!pcap_rx_drained(rx))
			return false;
		rx->due_ns = pcap_monotonic_ns();
	}
	if (!first)
		rx->due_ns += (uint64_t)RTE_MIN(gap_ns / rx->speed, 1e18);
	while ((now = pcap_monotonic_ns()) < rx->due_ns)
		if (!pcap_rx_flush(rx) || pcap_pause(rx->stop_fd, rx->due_ns - now))
			return false;
	return true;
}

// After the last record of a pass: whether there is another.
static bool pcap_rx_again(struct pcap_rx *rx)
{
	bool none = !capture_in_records(rx->in);

	__atomic_store_n(&rx->pass, rx->pass + 1, __ATOMIC_RELAXED);
	if (none || rx->pass == rx->passes)
		return false;
	capture_in_rewind(rx->in);
	return true;
}

// Reads until the end, damage or a stop; returns which. What was read is in the ring.
static enum capture_answer pcap_rx_read(struct pcap_rx *rx)
{
	bool stream = capture_in_is_stream(rx->in);
	enum capture_answer answer = CAPTURE_STOPPED;
	struct capture_record record;

	while (!pcap_rx_stopping(rx)) {
		answer = capture_in_next(rx->in, &record);
		if (answer == CAPTURE_END && pcap_rx_again(rx))
			continue;
		if (answer != CAPTURE_RECORD)
			break;
		answer = CAPTURE_STOPPED;
		if (!pcap_rx_fits(rx, &record))
			continue;
		if (rx->speed > 0 && !pcap_rx_pace(rx, &record))
			break;
		if (!pcap_rx_take(rx, &record))
			break;
		// Whoever feeds a pipe may not go on before this packet is answered.
		if ((rx->n_full == PCAP_RX_BURST || stream) && !pcap_rx_flush(rx))
			break;
	}
	if (!pcap_rx_flush(rx))
		answer = CAPTURE_STOPPED;
	return answer;
}

// Says what is worth it once all is read.
static void pcap_rx_tell(struct pcap_rx *rx)
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

static void *pcap_rx_main(void *rx_)
{
	struct pcap_rx *rx = rx_;
	enum capture_answer answer = pcap_rx_read(rx);

	if (answer == CAPTURE_BAD)
		pcap_count(&rx->damaged, 1);
	// A fault is told when all that was good has been received.
	if (answer != CAPTURE_STOPPED)
		pcap_rx_drained(rx);
	pcap_rx_tell(rx);
	__atomic_store_n(&rx->state, PCAP_READ_OUT, __ATOMIC_RELEASE);
	return NULL;
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
	if (pcap_thread_start(&rx->thread, pcap_rx_main, rx, "pcap-rx")) {
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
	counters->rx_errors =
	    capture_in_shortened(rx->in) + pcap_read(&rx->bad) + pcap_read(&rx->damaged);
}

double pcap_rx_progress(const struct pcap_rx *rx)
{
	double part = capture_in_progress(rx->in);
	uint64_t pass = pcap_read(&rx->pass);

	if (part < 0 || !rx->passes)
		return -1;
	// Passes after the first may come from memory, where the file's place says nothing.
	if (pass >= rx->passes)
		return 1;
	return (pass + (pass ? 0 : part)) / rx->passes;
}
