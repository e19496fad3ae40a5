// SPDX-License-Identifier: BSD-3-Clause
// The wires of ring ports: made by the first port that names one, gone with the last.

#include <stdlib.h>
#include <string.h>

#include <rte_memzone.h>
#include <rte_ring.h>

#include "ring_wire.h"

// What finds the wire of a name: it lies in a named zone of DPDK's, which is the process's own
// directory, so that drivers need none. Control thread only.
struct ring_entry {
	struct ring_wire *newest;
	unsigned wires;
};

static struct rte_ring *ring_new(uint32_t size)
{
	uint32_t slots = rte_align32pow2(size + 1);
	ssize_t bytes = rte_ring_get_memsize(slots);
	struct rte_ring *ring = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(bytes));

	if (ring)
		rte_ring_init(ring, "ring", size, RING_F_EXACT_SZ);
	return ring;
}

static void ring_free(struct rte_ring *ring)
{
	struct rte_mbuf *pkt;

	while (ring && !rte_ring_sc_dequeue(ring, (void **)&pkt))
		rte_pktmbuf_free(pkt);
	free(ring);
}

static void ring_wire_free(struct ring_wire *wire)
{
	for (unsigned i = 0; i < 2; i++) {
		ring_free(wire->ends[i].ring);
		free(wire->ends[i].port);
	}
	free(wire);
}

static struct ring_wire *ring_wire_new(uint32_t size)
{
	struct ring_wire *wire = calloc(1, sizeof(*wire));

	if (!wire)
		return NULL;
	wire->size = size;
	wire->ends[0].ring = ring_new(size);
	wire->ends[1].ring = ring_new(size);
	if (wire->ends[0].ring && wire->ends[1].ring)
		return wire;
	ring_wire_free(wire);
	return NULL;
}

static void ring_zone_name(char *text, const char *name)
{
	snprintf(text, RTE_MEMZONE_NAMESIZE, "sluice_wire_%s", name);
}

// The entry of a name, made if there is none. NULL: no memory.
static struct ring_entry *ring_entry_find(const char *name)
{
	char text[RTE_MEMZONE_NAMESIZE];
	const struct rte_memzone *zone;

	ring_zone_name(text, name);
	zone = rte_memzone_lookup(text);
	if (zone)
		return zone->addr;
	zone = rte_memzone_reserve(text, sizeof(struct ring_entry), SOCKET_ID_ANY, 0);
	if (zone)
		memset(zone->addr, 0, sizeof(struct ring_entry));
	return zone ? zone->addr : NULL;
}

static void ring_entry_drop(const char *name)
{
	char text[RTE_MEMZONE_NAMESIZE];
	const struct rte_memzone *zone;
	struct ring_entry *entry;

	ring_zone_name(text, name);
	zone = rte_memzone_lookup(text);
	entry = zone ? zone->addr : NULL;
	if (entry && !entry->wires)
		rte_memzone_free(zone);
}

static bool ring_is_end(const struct ring_end *end, const char *port)
{
	return end->port && !strcmp(end->port, port);
}

// The end of a wire for this port: its own, if a graph change replaces it, or a free one.
static struct ring_end *ring_end_find(struct ring_wire *wire, const char *port)
{
	for (unsigned i = 0; i < 2; i++)
		if (ring_is_end(&wire->ends[i], port))
			return &wire->ends[i];
	for (unsigned i = 0; i < 2; i++)
		if (!wire->ends[i].port)
			return &wire->ends[i];
	return NULL;
}

// The wire that a port belongs to. NULL: an error was reported.
static struct ring_wire *ring_wire_find(struct port *port, struct errors *errors)
{
	const struct ring_params *params = port->params;
	struct ring_entry *entry = ring_entry_find(params->name);
	struct ring_wire *wire = entry ? entry->newest : NULL;
	bool replaces = wire && (ring_is_end(&wire->ends[0], port->name) ||
				 ring_is_end(&wire->ends[1], port->name));

	// A port that comes back with another size is part of a graph change, and so will be the
	// other end: they meet on a new wire.
	if (!wire || (replaces && wire->size != params->size)) {
		wire = ring_wire_new(params->size);
		if (!entry || !wire) {
			error_machine(errors, "size", "no memory for a ring of %u packets",
				      params->size);
			if (wire)
				ring_wire_free(wire);
			return NULL;
		}
		entry->newest = wire;
		entry->wires++;
		return wire;
	}
	if (!ring_end_find(wire, port->name)) {
		error_input(errors, "name", "the wire \"%s\" joins '%s' and '%s' already",
			    params->name, wire->ends[0].port, wire->ends[1].port);
		return NULL;
	}
	if (wire->size != params->size) {
		error_input(errors, "size", "%u, but the other end of \"%s\" has %u", params->size,
			    params->name, wire->size);
		return NULL;
	}
	return wire;
}

int ring_wire_join(struct port *port, struct errors *errors)
{
	const struct ring_params *params = port->params;
	struct ring_state *state = port->state;

	if (!*params->name) {
		state->wire = ring_wire_new(params->size);
		if (!state->wire) {
			error_machine(errors, "size", "no memory for a ring of %u packets",
				      params->size);
			return -1;
		}
		state->end = state->peer = &state->wire->ends[0];
	} else {
		struct ring_wire *wire = ring_wire_find(port, errors);

		if (!wire) {
			ring_entry_drop(params->name);
			return -1;
		}
		state->wire = wire;
		state->end = ring_end_find(wire, port->name);
		state->peer = &wire->ends[state->end == &wire->ends[0]];
	}
	if (!state->end->claims++)
		state->end->port = strdup(port->name);
	return 0;
}

void ring_wire_leave(struct port *port)
{
	const struct ring_params *params = port->params;
	struct ring_state *state = port->state;

	if (!state->wire)
		return;
	if (!--state->end->claims) {
		free(state->end->port);
		state->end->port = NULL;
	}
	if (!state->end->claims && !state->peer->claims) {
		struct ring_entry *entry = *params->name ? ring_entry_find(params->name) : NULL;

		if (entry && entry->newest == state->wire)
			entry->newest = NULL;
		if (entry)
			entry->wires--;
		ring_wire_free(state->wire);
		if (entry)
			ring_entry_drop(params->name);
	}
	state->wire = NULL;
}
