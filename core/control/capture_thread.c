// SPDX-License-Identifier: BSD-3-Clause
// A capture's thread: takes packets out of the lanes, the older ones first, and writes them as
// pcapng for the server to send. Where there is no room, because the client is slow, it waits;
// lanes then fill up, and the workers count what they drop.

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <time.h>

#include <rte_cycles.h>

#include "control/capture.h"

#define ROUND_BYTES (128u << 10)	   // of a lane, before the worker and the server are told
#define ROOM_BYTES (CAPTURE_OUT_BYTES / 2) // that is waited for; more than the longest block
#define NAP_MIN_NS 50000
#define NAP_MAX_NS 2000000
#define HUNGRY_NS 50000000 // for the client
// What a worker spends on a capture is what is taken out of its lane: with 25 ns a packet no more
// than a twelfth of its time. The lanes hold what comes in bursts.
#define SLOT_NS 2000000
#define SLOT_PACKETS 6000
#define CLOCKS_NS 1000000000 // how often the wall clock is looked at

struct writer {
	struct capture *capture;
	unsigned n_links;   // whose interfaces are written
	uint64_t written;   // packets
	uint64_t most;	    // that may be written by the end of this slot
	uint64_t slot_ns;   // when that began, of the graph's clock
	uint64_t offset_ns; // from the graph's clock to the time since 1970
	uint64_t offset_at; // when that was so, of the graph's clock
	bool finishing;	    // what the lanes hold is all there will be
};

uint64_t capture_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void capture_wake(struct capture *capture)
{
	eventfd_write(capture->event, 1);
}

static enum capture_order order_of(const struct capture *capture)
{
	return (enum capture_order)__atomic_load_n(&capture->order, __ATOMIC_ACQUIRE);
}

static void nap(struct capture *capture, uint64_t ns)
{
	struct pollfd event = {.fd = capture->event, .events = POLLIN};
	struct timespec time = {.tv_nsec = (long)ns};
	eventfd_t n;

	if (ppoll(&event, 1, &time, NULL) > 0)
		eventfd_read(capture->event, &n);
}

// Until there is room for a block of any kind. false: nobody will make any.
static bool room_wait(struct capture *capture, uint64_t size)
{
	while (ring_room(&capture->out, size) < size) {
		if (order_of(capture) == CAPTURE_GIVE_UP)
			return false;
		waker_wake(capture->waker);
		__atomic_store_n(&capture->hungry, 1, __ATOMIC_SEQ_CST);
		if (ring_room(&capture->out, size) < size)
			nap(capture, HUNGRY_NS);
		__atomic_store_n(&capture->hungry, 0, __ATOMIC_RELAXED);
	}
	return true;
}

static bool section_write(struct capture *capture)
{
	const struct capture_wish *wish = &capture->wish;
	struct utsname system;
	struct arena *arena = arena_new();
	struct pcapng_section section = {.application = "Sluice"};

	if (!uname(&system)) {
		section.os = arena_printf(arena, "%s %s", system.sysname, system.release);
		section.hardware = system.machine;
	}
	section.comment = arena_printf(
	    arena, "%s \"%s\" of %s%s%s%s", wish->port ? "port" : "node", wish->name,
	    capture->graph_file, *wish->filter ? ", filter: " : "", wish->filter,
	    wish->sample > 1 ? arena_printf(arena, ", one packet in %u", wish->sample) : "");
	if (!room_wait(capture, PCAPNG_BLOCK_MAX)) {
		arena_free(arena);
		return false;
	}
	ring_push(&capture->out, pcapng_section(ring_tail(&capture->out), &section));
	arena_free(arena);
	return true;
}

// Those that have come since the last time. A packet of theirs is seen after this number is.
static bool interfaces_write(struct writer *writer)
{
	struct capture *capture = writer->capture;
	unsigned n = __atomic_load_n(&capture->n_links, __ATOMIC_ACQUIRE);

	for (; writer->n_links < n; writer->n_links++) {
		const struct capture_link *link = &capture->links[writer->n_links];
		const struct pcapng_interface interface = {
		    .name = link->name,
		    .description = link->description,
		    .filter = capture->filters ? capture->wish.filter : NULL,
		    .snaplen = capture->wish.snaplen};

		if (!room_wait(capture, PCAPNG_BLOCK_MAX))
			return false;
		ring_push(&capture->out, pcapng_interface(ring_tail(&capture->out), &interface));
	}
	return true;
}

// What this clock shows when the other one does is looked at again and again: they drift.
static void clocks_compare(struct writer *writer)
{
	uint64_t now = clock_now(writer->capture->clock);

	if (writer->offset_at && now - writer->offset_at < CLOCKS_NS)
		return;
	writer->offset_ns = capture_wall_ns() - now;
	writer->offset_at = now;
}

// The lane whose next packet is the oldest; *until: how old that of any other is.
static struct capture_lane *lane_next(const struct capture *capture, uint64_t *until)
{
	struct capture_lane *next = NULL;
	uint64_t oldest = UINT64_MAX;

	*until = UINT64_MAX;
	for (struct capture_lane *lane = __atomic_load_n(&capture->lanes, __ATOMIC_ACQUIRE); lane;
	     lane = lane->next) {
		const struct capture_record *record = (const void *)ring_at(&lane->ring, lane->at);

		if (lane->at == lane->end)
			continue;
		if (!next || record->time_ns < oldest) {
			*until = oldest;
			oldest = record->time_ns;
			next = lane;
		} else if (record->time_ns < *until) {
			*until = record->time_ns;
		}
	}
	return next;
}

// Writes packets of a lane up to that time, as long as there is room. Returns how many bytes of it
// were read.
static uint64_t lane_write(struct writer *writer, struct capture_lane *lane, uint64_t until)
{
	struct capture *capture = writer->capture;
	uint64_t begin = lane->at;
	uint8_t *out = ring_tail(&capture->out), *at = out;

	while (lane->at != lane->end && lane->at - begin < ROUND_BYTES &&
	       writer->written < writer->most) {
		const struct capture_record *record = (const void *)ring_at(&lane->ring, lane->at);
		struct capture_link *link = &capture->links[record->link];
		size_t size = pcapng_packet_size(record->captured, link->direction);
		const struct pcapng_packet packet = {.interface = record->link,
						     .time_ns = record->time_ns + writer->offset_ns,
						     .captured = record->captured,
						     .length = record->length,
						     .direction = link->direction,
						     .bytes = (const uint8_t *)(record + 1)};

		if (record->time_ns > until ||
		    ring_room(&capture->out, (uint64_t)(at - out) + size) <
			(uint64_t)(at - out) + size)
			break;
		at += pcapng_packet(at, &packet);
		lane->at += record->size;
		writer->written++;
		counter_add(&link->written, 1);
	}
	ring_push(&capture->out, (uint64_t)(at - out));
	ring_pop(&lane->ring, lane->at);
	return lane->at - begin;
}

static void lanes_look(const struct capture *capture)
{
	for (struct capture_lane *lane = __atomic_load_n(&capture->lanes, __ATOMIC_ACQUIRE); lane;
	     lane = lane->next)
		lane->end = ring_filled(&lane->ring);
}

static bool lanes_empty(const struct capture *capture)
{
	uint64_t until;

	return !lane_next(capture, &until);
}

// Until nothing is left of what lanes_look() has seen, or there is no room. Returns how many bytes
// were read.
static uint64_t packets_write(struct writer *writer)
{
	uint64_t moved = 0, part, until;

	do {
		struct capture_lane *lane = lane_next(writer->capture, &until);

		part = lane ? lane_write(writer, lane, until) : 0;
		moved += part;
		if (part)
			waker_wake(writer->capture->waker);
	} while (part);
	return moved;
}

struct capture_tally capture_tally(const struct capture *capture, unsigned link)
{
	struct capture_tally sum = {0};

	for (const struct capture_lane *lane = __atomic_load_n(&capture->lanes, __ATOMIC_ACQUIRE);
	     lane; lane = lane->next) {
		sum.seen += counter_read(&lane->tallies[link].seen);
		sum.accepted += counter_read(&lane->tallies[link].accepted);
		sum.dropped += counter_read(&lane->tallies[link].dropped);
	}
	return sum;
}

// How many packets may have been written by the end of this slot.
static void slot_begin(struct writer *writer)
{
	uint64_t now = clock_now(writer->capture->clock), count = writer->capture->wish.count;

	if (now - writer->slot_ns >= SLOT_NS) {
		writer->slot_ns = now;
		writer->most = writer->written + SLOT_PACKETS;
	}
	if (writer->finishing)
		writer->most = UINT64_MAX;
	if (count && writer->most > count)
		writer->most = count;
}

static void slot_wait(const struct writer *writer)
{
	uint64_t passed = clock_now(writer->capture->clock) - writer->slot_ns;

	if (passed < SLOT_NS)
		nap(writer->capture, SLOT_NS - passed);
}

static void statistics_write(const struct writer *writer)
{
	struct capture *capture = writer->capture;

	for (unsigned i = 0; i < writer->n_links; i++) {
		const struct capture_tally tally = capture_tally(capture, i);
		const struct pcapng_statistics statistics = {
		    .interface = i,
		    .time_ns = capture_wall_ns(),
		    .start_ns = capture->begun_ns,
		    .end_ns = capture_wall_ns(),
		    .received = tally.seen,
		    .accepted = tally.accepted,
		    .dropped = tally.dropped,
		    .delivered = counter_read(&capture->links[i].written),
		    .comment = order_of(capture) == CAPTURE_FINISH ? capture->reason : NULL};

		if (!room_wait(capture, PCAPNG_BLOCK_MAX))
			return;
		ring_push(&capture->out, pcapng_statistics(ring_tail(&capture->out), &statistics));
	}
}

// Writes what comes until it is told to finish, or has as many as are wanted. false: gave up.
static bool capture_write(struct writer *writer)
{
	struct capture *capture = writer->capture;
	uint64_t nap_ns = NAP_MIN_NS;

	for (;;) {
		enum capture_order order = order_of(capture);
		uint64_t moved;

		if (order == CAPTURE_GIVE_UP)
			return false;
		// What comes later is not waited for: it might never end.
		if (!writer->finishing)
			lanes_look(capture);
		writer->finishing = order == CAPTURE_FINISH;
		clocks_compare(writer);
		slot_begin(writer);
		if (!interfaces_write(writer))
			return false;
		moved = packets_write(writer);
		if (capture->wish.count && writer->written == capture->wish.count)
			return true;
		if (writer->written == writer->most) {
			slot_wait(writer);
			continue;
		}
		if (!lanes_empty(capture)) {
			if (!room_wait(capture, ROOM_BYTES))
				return false;
			continue;
		}
		if (order == CAPTURE_FINISH)
			return true;
		nap_ns = moved ? NAP_MIN_NS : RTE_MIN(nap_ns * 2, (uint64_t)NAP_MAX_NS);
		if (moved < ROUND_BYTES)
			nap(capture, nap_ns);
	}
}

void *capture_thread(void *arg)
{
	struct capture *capture = arg;
	struct writer writer = {.capture = capture};

	if (section_write(capture) && capture_write(&writer))
		statistics_write(&writer);
	__atomic_store_n(&capture->ended, 1, __ATOMIC_RELEASE);
	waker_wake(capture->waker);
	return NULL;
}
