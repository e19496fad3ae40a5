// SPDX-License-Identifier: BSD-3-Clause
// The reader thread of the driver `pcap`: takes records from the capture, waits until they are due,
// and puts them as packets into the ring that the worker empties.

#include <time.h>

#include "pcap_rx.h"

#define PCAP_RX_SEGMENTS_MAX (PCAP_RX_HOLDS - 2 * PCAP_RX_BURST) // in the ring
#define PCAP_RX_PAUSE_NS 50000

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

// Hands the packets that are ready to the worker. false: asked to stop.
static bool pcap_rx_flush(struct pcap_rx *rx)
{
	unsigned done = 0;

	while (done < rx->n_full) {
		done += rte_ring_sp_enqueue_burst(rx->ring, (void **)rx->full + done,
						  rx->n_full - done, NULL);
		if (done < rx->n_full && pcap_pause(rx->stop_fd, PCAP_RX_PAUSE_NS)) {
			memmove(rx->full, rx->full + done, (rx->n_full - done) * sizeof(void *));
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
	while (rx->segments_made != __atomic_load_n(&rx->segments_taken, __ATOMIC_ACQUIRE))
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

void *pcap_reader_main(void *rx_)
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
