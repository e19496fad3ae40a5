// SPDX-License-Identifier: BSD-3-Clause
// Which events are of which packet, when all of them have come, and what way they make.

#include <stdlib.h>
#include <string.h>

#include "control/trace_ways.h"
#include "value/value.h"

#define BUCKETS 4096
#define EVENTS_MAX 16384 // of a packet; one that has more is given up
#define AGE_MAX 500	 // drains after which what never began is forgotten: an older trace's

struct noted {
	struct trace_event event;
	const struct trace_node *node;
};

struct ways_packet {
	uint32_t number;
	unsigned watches;
	struct noted *events;
	unsigned n, room;
	int on_way;   // times that it left for a node, less calls
	int held;     // times that it was held, less those that it was let go
	unsigned age; // in drains
	unsigned n_quiet;
	struct ways_packet *in_bucket;
	struct ways_packet *next, *previous; // in the order they began
};

struct ways {
	ways_done *done;
	void *arg;
	struct ways_packet *buckets[BUCKETS];
	struct ways_packet *first, *last;
};

struct ways *ways_new(ways_done *done, void *arg)
{
	struct ways *ways = memory_new(1, sizeof(*ways));

	ways->done = done;
	ways->arg = arg;
	return ways;
}

static struct ways_packet **bucket_of(struct ways *ways, uint32_t number)
{
	return &ways->buckets[number % BUCKETS];
}

static struct ways_packet *packet_find(struct ways *ways, uint32_t number)
{
	struct ways_packet **bucket = bucket_of(ways, number), *packet = *bucket;

	while (packet && packet->number != number)
		packet = packet->in_bucket;
	if (packet)
		return packet;
	packet = memory_new(1, sizeof(*packet));
	packet->number = number;
	packet->in_bucket = *bucket;
	*bucket = packet;
	packet->previous = ways->last;
	*(ways->last ? &ways->last->next : &ways->first) = packet;
	ways->last = packet;
	return packet;
}

static void packet_forget(struct ways *ways, struct ways_packet *packet)
{
	struct ways_packet **at = bucket_of(ways, packet->number);

	while (*at != packet)
		at = &(*at)->in_bucket;
	*at = packet->in_bucket;
	*(packet->previous ? &packet->previous->next : &ways->first) = packet->next;
	*(packet->next ? &packet->next->previous : &ways->last) = packet->previous;
	free(packet->events);
	free(packet);
}

static void packet_end(struct ways *ways, struct ways_packet *packet, bool whole)
{
	if (packet->watches)
		ways->done(ways->arg, packet, packet->watches, whole);
	packet_forget(ways, packet);
}

void ways_free(struct ways *ways)
{
	while (ways->first)
		packet_forget(ways, ways->first);
	free(ways);
}

// What is on its way is called by some node; what is held leaves that some time.
static void event_count(struct ways_packet *packet, const struct trace_event *event,
			const struct trace_node *node)
{
	switch (event->kind) {
	case TRACE_BEGINS:
		packet->on_way += event->fresh;
		break;
	case TRACE_LEAVES:
		packet->on_way += event->end == TRACE_LEFT;
		packet->held -= event->released;
		break;
	default:
		packet->on_way--;
		packet->held += event->end == TRACE_HELD && !node->last && !node->port;
	}
}

void ways_take(void *to, const struct trace_event *event, const struct trace_node *node)
{
	struct ways_packet *packet = packet_find(to, event->packet);

	if (packet->n == packet->room) {
		packet->room = packet->room ? packet->room * 2 : 16;
		packet->events = memory_grow(packet->events, packet->room, sizeof(struct noted));
	}
	packet->events[packet->n++] = (struct noted){*event, node};
	packet->watches |= event->watches;
	event_count(packet, event, node);
	if (packet->n == EVENTS_MAX)
		packet_end(to, packet, false);
}

// Where nothing is on its way or held, an event that makes it so may still be missing, if what
// followed from it was read first. It was written before that, and so is read by the next time.
void ways_settle(struct ways *ways)
{
	struct ways_packet *next;

	for (struct ways_packet *packet = ways->first; packet; packet = next) {
		next = packet->next;
		packet->age++;
		if (!packet->watches && packet->age > AGE_MAX) {
			packet_forget(ways, packet);
		} else if (packet->watches && !packet->on_way && !packet->held) {
			if (packet->n_quiet == packet->n)
				packet_end(ways, packet, true);
			else
				packet->n_quiet = packet->n;
		}
	}
}

void ways_flush(struct ways *ways, unsigned watches)
{
	struct ways_packet *next;

	for (struct ways_packet *packet = ways->first; packet; packet = next) {
		next = packet->next;
		if (!(packet->watches & watches))
			continue;
		ways->done(ways->arg, packet, packet->watches & watches, false);
		packet->watches &= ~watches;
		if (!packet->watches)
			packet_forget(ways, packet);
	}
}

static int events_compare(const void *a, const void *b)
{
	const struct trace_event *x = &((const struct noted *)a)->event;
	const struct trace_event *y = &((const struct noted *)b)->event;

	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

// The ways while they are made.
struct making {
	struct arena *arena;
	struct way *ways;
	unsigned n;
};

// Grows in an arena: what was there stays where it was.
static void *grown(struct arena *arena, void *from, unsigned n, size_t size)
{
	void *to;

	if (n & (n - 1))
		return from;
	to = arena_alloc(arena, (n ? 2 * n : 1) * size);
	if (from)
		memcpy(to, from, n * size);
	return to;
}

static struct way *way_add(struct making *making, uint32_t branch)
{
	struct way *way;

	making->ways = grown(making->arena, making->ways, making->n, sizeof(struct way));
	way = &making->ways[making->n++];
	*way = (struct way){.branch = branch, .from = -1};
	return way;
}

static struct way *way_find(const struct making *making, uint32_t branch)
{
	for (unsigned i = 0; i < making->n; i++)
		if (making->ways[i].branch == branch)
			return &making->ways[i];
	return NULL;
}

static struct way_step *step_add(struct making *making, struct way *way,
				 const struct trace_node *node)
{
	struct way_step *step;

	way->steps = grown(making->arena, way->steps, way->n_steps, sizeof(struct way_step));
	step = &way->steps[way->n_steps++];
	*step = (struct way_step){.node = node, .before = way->now};
	return step;
}

static void copy_leaves(struct making *making, const struct trace_event *event)
{
	struct way *parent = way_find(making, event->parent), *way;
	unsigned from;

	if (!parent || !parent->n_steps)
		return;
	from = (unsigned)(parent - making->ways);
	way = way_add(making, event->branch);
	parent = &making->ways[from];
	way->from = (int)from;
	way->from_step = parent->n_steps - 1;
	way->copied_before = parent->before;
	way->copied = event;
	way->now = event;
	if (event->end != TRACE_LEFT)
		way->dropped = event;
}

static void packet_leaves(struct making *making, struct way *way, const struct noted *noted)
{
	const struct trace_event *event = &noted->event;
	struct way_step *step = way->n_steps ? &way->steps[way->n_steps - 1] : NULL;

	if (!step || step->leaves || step->node != noted->node)
		step = step_add(making, way, noted->node);
	step->leaves = event;
	if (event->released)
		step->released = event;
	if (event->end != TRACE_LEFT)
		way->dropped = event;
	way->now = event;
}

static void event_add(struct making *making, const struct noted *noted)
{
	const struct trace_event *event = &noted->event;
	struct way *way = way_find(making, event->branch);

	if (event->parent) {
		copy_leaves(making, event);
		return;
	}
	if (!way)
		return;
	switch (event->kind) {
	case TRACE_BEGINS:
		if (!way->now)
			way->now = event;
		break;
	case TRACE_LEAVES:
		packet_leaves(making, way, noted);
		break;
	default:
		way->before = way->now;
		step_add(making, way, noted->node)->call = event;
	}
}

unsigned ways_make(struct arena *arena, const struct ways_packet *packet, unsigned watch,
		   struct way **ways)
{
	struct making making = {.arena = arena};
	unsigned i = 0;

	qsort(packet->events, packet->n, sizeof(*packet->events), events_compare);
	while (i < packet->n && !(packet->events[i].event.watches >> watch & 1))
		i++;
	if (i < packet->n)
		way_add(&making, packet->events[i].event.branch);
	for (; i < packet->n; i++)
		event_add(&making, &packet->events[i]);
	*ways = making.ways;
	return making.n;
}
