// SPDX-License-Identifier: BSD-3-Clause
// memory: a port whose packets come from a list and go into one, for tests. Its lists are behind a
// lock and grow by allocation, which no other driver's may: it is made to be exact, not fast.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "memory.h"

struct memory_frame {
	struct frame frame;
};

struct memory_params {
	struct param_list frames;
	uint32_t segments;
	uint32_t keep;
	bool open;
};

struct memory_item {
	struct memory_item *next;
	uint32_t length;
	uint16_t segments;
	uint8_t bytes[];
};

// The lock guards all of it.
struct memory_state {
	pthread_mutex_t lock;
	bool ready; // the lock is there
	bool open;  // more may be fed
	uint16_t room;
	struct memory_item *waiting; // the next to be received
	struct memory_item **waiting_end;
	unsigned n_waiting;
	struct memory_item **sent;
	unsigned n_sent;
	unsigned sent_room;
	struct port_counters counters;
};

static const struct param memory_frame[] = {
    PARAM(memory_frame, frame, .help = "a packet in words or in hexadecimal",
	  .example = "ether / ipv4 / udp dport=53"),
    PARAM_END,
};

static const struct param memory_params[] = {
    PARAM(memory_params, frames, .def = "", .fields = memory_frame,
	  .example = "[ether / ipv4 / udp dport=53]",
	  .help = "packets to be received, each once, in this order"),
    PARAM(memory_params, segments, .def = "0", .max = 9216, .example = "64",
	  .help = "packets are received in segments of so many bytes; 0: in as few as can be"),
    PARAM(memory_params, keep, .def = "65536", .min = 1, .max = 1 << 24,
	  .help = "packets sent that are kept; more are refused"),
    PARAM(memory_params, open, .def = "false",
	  .help = "whether the port goes on after `frames`, for packets that a test feeds later"),
    PARAM_END,
};

// NULL without memory.
static struct memory_item *memory_item_new(uint32_t length)
{
	struct memory_item *item = malloc(sizeof(*item) + length);

	if (!item)
		return NULL;
	item->next = NULL;
	item->length = length;
	item->segments = 1;
	return item;
}

static bool memory_append(struct memory_state *state, const void *bytes, uint32_t length)
{
	struct memory_item *item = memory_item_new(length);

	if (!item)
		return false;
	if (length)
		memcpy(item->bytes, bytes, length);
	*state->waiting_end = item;
	state->waiting_end = &item->next;
	state->n_waiting++;
	return true;
}

static uint32_t memory_segments(const struct memory_state *state, uint32_t length)
{
	return length ? (length + state->room - 1) / state->room : 1;
}

// The item's bytes as a chain of buffers, or NULL when the pool has not enough of them.
static struct rte_mbuf *memory_chain(struct port *port, const struct memory_item *item)
{
	struct memory_state *state = port->state;
	struct rte_mbuf *head = NULL, **end = &head;
	uint32_t at = 0;

	do {
		uint32_t part = RTE_MIN(item->length - at, state->room);
		struct rte_mbuf *segment = rte_pktmbuf_alloc(port->pool);

		if (!segment) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		if (part)
			memcpy(rte_pktmbuf_mtod(segment, uint8_t *), item->bytes + at, part);
		segment->data_len = part;
		at += part;
		*end = segment;
		end = &segment->next;
		if (segment != head)
			head->nb_segs++;
	} while (at < item->length);
	head->pkt_len = item->length;
	return head;
}

static void memory_end_maybe(struct port *port)
{
	struct memory_state *state = port->state;

	if (!state->open && !state->waiting)
		port_end(port);
}

static uint16_t memory_rx(void *port_, struct rte_mbuf **pkts, uint16_t n)
{
	struct port *port = port_;
	struct memory_state *state = port->state;
	uint16_t got = 0;

	pthread_mutex_lock(&state->lock);
	while (got < n && state->waiting) {
		struct memory_item *item = state->waiting;
		uint32_t segments = memory_segments(state, item->length);
		struct rte_mbuf *pkt = NULL;

		if (segments <= RTE_MBUF_MAX_NB_SEGS && segments <= port->pool->size) {
			pkt = memory_chain(port, item);
			if (!pkt) { // it stays the next
				state->counters.rx_no_memory++;
				break;
			}
			state->counters.rx_packets++;
			state->counters.rx_bytes += item->length;
			pkts[got++] = pkt;
		} else {
			state->counters.rx_errors++;
		}
		state->waiting = item->next;
		state->n_waiting--;
		free(item);
	}
	if (!state->waiting)
		state->waiting_end = &state->waiting;
	memory_end_maybe(port);
	pthread_mutex_unlock(&state->lock);
	return got;
}

static struct memory_item *memory_copy(const struct rte_mbuf *pkt)
{
	struct memory_item *item = memory_item_new(pkt->pkt_len);
	uint32_t at = 0;

	if (!item)
		return NULL;
	item->segments = pkt->nb_segs;
	for (const struct rte_mbuf *segment = pkt; segment; segment = segment->next) {
		memcpy(item->bytes + at, rte_pktmbuf_mtod(segment, uint8_t *), segment->data_len);
		at += segment->data_len;
	}
	return item;
}

// Makes room for up to n more; returns for how many there is.
static uint16_t memory_sent_room(struct memory_state *state, uint16_t n)
{
	unsigned room = RTE_MAX(2 * state->sent_room, state->n_sent + n);
	struct memory_item **sent;

	if (state->n_sent + n <= state->sent_room)
		return n;
	sent = realloc(state->sent, room * sizeof(*sent));
	if (!sent)
		return (uint16_t)(state->sent_room - state->n_sent);
	state->sent = sent;
	state->sent_room = room;
	return n;
}

// What there is no memory for is not taken.
static uint16_t memory_tx(void *port_, struct rte_mbuf **pkts, uint16_t n)
{
	struct port *port = port_;
	const struct memory_params *params = port->params;
	struct memory_state *state = port->state;
	uint16_t done = 0;

	pthread_mutex_lock(&state->lock);
	n = memory_sent_room(state, RTE_MIN(n, params->keep - state->n_sent));
	while (done < n) {
		struct memory_item *item = memory_copy(pkts[done]);

		if (!item)
			break;
		state->sent[state->n_sent++] = item;
		state->counters.tx_packets++;
		state->counters.tx_bytes += pkts[done++]->pkt_len;
	}
	pthread_mutex_unlock(&state->lock);
	rte_pktmbuf_free_bulk(pkts, done);
	return done;
}

static void memory_caps(const void *params, struct driver_caps *caps)
{
	(void)params;
	*caps = (struct driver_caps){
	    .rx_queues = PORT_QUEUES_MAX, .tx_queues = PORT_QUEUES_MAX, .rss = true};
}

static int memory_open(struct port *port, struct errors *errors)
{
	const struct memory_params *params = port->params;
	struct memory_state *state = port->state;
	uint32_t room = rte_pktmbuf_data_room_size(port->pool);

	room = room > RTE_PKTMBUF_HEADROOM ? room - RTE_PKTMBUF_HEADROOM : 0;
	if (!room || params->segments > room) {
		error_input(errors, "segments", "%u does not fit into a packet buffer of %u bytes",
			    params->segments, room);
		return -1;
	}
	state->room = params->segments ? params->segments : RTE_MIN(room, UINT16_MAX);
	pthread_mutex_init(&state->lock, NULL);
	state->ready = true;
	state->open = params->open;
	state->waiting_end = &state->waiting;
	for (unsigned i = 0; i < params->frames.n; i++) {
		const struct frame *frame = &param_item(memory_frame, params->frames, i)->frame;

		if (!memory_append(state, frame->bytes, frame->n)) {
			error_machine(errors, "frames", "no memory for %u packets",
				      params->frames.n);
			return -1;
		}
	}
	for (unsigned i = 0; i < port->rx_queues; i++)
		port->rx_queue[i] = port;
	for (unsigned i = 0; i < port->tx_queues; i++)
		port->tx_queue[i] = port;
	port->rx = memory_rx;
	port->tx = memory_tx;
	port->finite = true;
	memory_end_maybe(port);
	return 0;
}

static void memory_close(struct port *port)
{
	struct memory_state *state = port->state;

	if (!state->ready)
		return;
	memory_sent_clear(port);
	free(state->sent);
	while (state->waiting) {
		struct memory_item *item = state->waiting;

		state->waiting = item->next;
		free(item);
	}
	pthread_mutex_destroy(&state->lock);
	state->ready = false;
}

static void memory_counters(struct port *port, struct port_counters *counters)
{
	struct memory_state *state = port->state;

	if (!state->ready)
		return;
	pthread_mutex_lock(&state->lock);
	*counters = state->counters;
	pthread_mutex_unlock(&state->lock);
}

void memory_feed(struct port *port, const void *bytes, uint32_t length)
{
	struct memory_state *state = port->state;

	pthread_mutex_lock(&state->lock);
	if (!memory_append(state, bytes, length))
		state->counters.rx_missed++;
	pthread_mutex_unlock(&state->lock);
}

void memory_end(struct port *port)
{
	struct memory_state *state = port->state;

	pthread_mutex_lock(&state->lock);
	state->open = false;
	memory_end_maybe(port);
	pthread_mutex_unlock(&state->lock);
}

unsigned memory_waiting(struct port *port)
{
	struct memory_state *state = port->state;
	unsigned n;

	pthread_mutex_lock(&state->lock);
	n = state->n_waiting;
	pthread_mutex_unlock(&state->lock);
	return n;
}

unsigned memory_sent(struct port *port)
{
	struct memory_state *state = port->state;
	unsigned n;

	pthread_mutex_lock(&state->lock);
	n = state->n_sent;
	pthread_mutex_unlock(&state->lock);
	return n;
}

struct port_packet memory_sent_packet(struct port *port, unsigned i)
{
	struct memory_state *state = port->state;
	struct port_packet packet = {0};

	pthread_mutex_lock(&state->lock);
	if (i < state->n_sent)
		packet = (struct port_packet){.bytes = state->sent[i]->bytes,
					      .length = state->sent[i]->length,
					      .segments = state->sent[i]->segments};
	pthread_mutex_unlock(&state->lock);
	return packet;
}

void memory_sent_clear(struct port *port)
{
	struct memory_state *state = port->state;

	pthread_mutex_lock(&state->lock);
	for (unsigned i = 0; i < state->n_sent; i++)
		free(state->sent[i]);
	state->n_sent = 0;
	pthread_mutex_unlock(&state->lock);
}

static const struct driver_tester memory_tester = {
    .params = "{open: true}",
    .feed = memory_feed,
    .end = memory_end,
    .waiting = memory_waiting,
    .sent = memory_sent,
    .sent_packet = memory_sent_packet,
    .sent_clear = memory_sent_clear,
};

static const struct driver_type memory = {
    .name = "memory",
    .help = "receives packets that are written in the graph, and keeps what is sent, for tests",
    .details =
	"`sluice test` puts such ports in the place of those that a test names. In a graph of its "
	"own it is a small source of packets that need no capture. What is sent is copied and "
	"kept up to `keep` packets, beyond which it is refused. All queues share one list.",
    .example = "ports:\n"
	       "  left:  {memory: {frames: [ether / ipv4 / udp dport=53, ether / arp]}}\n"
	       "  right: memory\n",
    .params = memory_params,
    .state_size = sizeof(struct memory_state),
    .tester = &memory_tester,
    .caps = memory_caps,
    .open = memory_open,
    .close = memory_close,
    .counters = memory_counters,
};
DRIVER(memory)

bool memory_is(const struct port *port)
{
	return port->driver == &memory;
}
