// SPDX-License-Identifier: BSD-3-Clause
// Opens what a graph needs: the packet pool, ports, nodes, the places of metadata.

#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "port/eal.h"
#include "run/inside.h"

#define FRAME_DEFAULT 1526 // MTU 1500, Ethernet header, two VLAN tags, FCS
#define POOL_CACHE 256
#define PACKETS_SPARE 1024 // for what is on its way besides rings and buffers
#define PACKETS_A_WORKER 1024
#define MEMORY_SPARE (24ULL << 20)

// Packets that can be somewhere at the same time.
static unsigned packets_wanted(const struct graph *graph)
{
	uint64_t n = PACKETS_SPARE + (uint64_t)graph->n_workers * PACKETS_A_WORKER;

	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct graph_port *port = &graph->ports[i];

		if (port->driver->holds)
			n += port->driver->holds(port->params, port->rx_queues, port->tx_queues);
	}
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].type->holds)
			n += graph->nodes[i].type->holds(graph->nodes[i].params);
	return n > 1U << 30 ? 1U << 30 : (unsigned)n;
}

static uint32_t room_wanted(const struct graph *graph)
{
	uint32_t room = FRAME_DEFAULT;

	for (unsigned i = 0; i < graph->n_ports; i++) {
		const struct graph_port *port = &graph->ports[i];
		uint32_t frame =
		    port->driver->frame_max ? port->driver->frame_max(port->params) : 0;

		room = frame > room ? frame : room;
	}
	room += RTE_PKTMBUF_HEADROOM;
	if (room < RTE_MBUF_DEFAULT_BUF_SIZE)
		return RTE_MBUF_DEFAULT_BUF_SIZE;
	return room > UINT16_MAX ? UINT16_MAX : RTE_ALIGN_CEIL(room, 64);
}

static uint64_t pool_bytes(unsigned n, uint32_t room)
{
	return (uint64_t)n * (RTE_ALIGN_CEIL(sizeof(struct rte_mbuf) + room, 64) + 64 + 64);
}

static bool ports_need_pci(const struct graph *graph)
{
	for (unsigned i = 0; i < graph->n_ports; i++)
		if (graph->ports[i].driver->needs_pci)
			return true;
	return false;
}

static int eal_need(const struct run *run, const struct graph *graph, unsigned packets,
		    uint32_t room, struct errors *errors)
{
	struct eal_wishes wishes = {
	    .memory_bytes = pool_bytes(packets, room) + MEMORY_SPARE,
	    .more = graph->settings.eal,
	    .pci = ports_need_pci(graph),
	    .telemetry = run->options.telemetry,
	};

	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].type->memory)
			wishes.memory_bytes += graph->nodes[i].type->memory(graph->nodes[i].params);
	for (unsigned i = 0; i < graph->n_ports; i++) {
		wishes.shared_memory |= graph->ports[i].driver->needs_shared_memory;
	}
	if (graph->settings.memory.bytes)
		wishes.memory_bytes = graph->settings.memory.bytes;
	return eal_start(&wishes, errors);
}

// As rte_pktmbuf_pool_create(), but without a device that reads physical memory packets need not
// lie within one page: with pages of 4 KiB each packet had one of its own, so that all their
// headers fell into the same few sets of the cache, and half of the memory was empty.
static struct rte_mempool *packets_create(const char *name, unsigned n, uint32_t room,
					  bool device_reads)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = (uint16_t)room};
	struct rte_mempool *pool;

	if (device_reads)
		return rte_pktmbuf_pool_create(name, n, POOL_CACHE, 0, (uint16_t)room,
					       SOCKET_ID_ANY);
	pool =
	    rte_mempool_create_empty(name, n, (unsigned)sizeof(struct rte_mbuf) + room, POOL_CACHE,
				     sizeof(private), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (!pool)
		return NULL;
	rte_pktmbuf_pool_init(pool, &private);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

// The pool of a graph; NULL after an error. A run keeps the one it has if it is large enough.
struct rte_mempool *pool_make(struct run *run, const struct graph *graph, struct errors *errors)
{
	static unsigned generation;
	unsigned packets = packets_wanted(graph);
	uint32_t room = room_wanted(graph);
	struct place place = {.file = graph->file};
	struct rte_mempool *pool;
	char name[32];

	if (run->n_pools && run->pool_size >= packets &&
	    rte_pktmbuf_data_room_size(run->pools[run->n_pools - 1]) >= room)
		return run->pools[run->n_pools - 1];
	if (eal_need(run, graph, packets, room, errors))
		return NULL;
	snprintf(name, sizeof(name), "packets%u", generation++);
	pool = packets_create(name, packets, room, ports_need_pci(graph));
	if (!pool) {
		error_machine_at(
		    errors, place,
		    "no memory for %u packets of %u bytes (%lu MiB): %s; free some, reserve "
		    "hugepages, or give the first graph more (memory: 512MiB)",
		    packets, room, pool_bytes(packets, room) >> 20, rte_strerror(rte_errno));
		return NULL;
	}
	run->pools = memory_grow(run->pools, run->n_pools + 1, sizeof(struct rte_mempool *));
	run->pools[run->n_pools++] = pool;
	run->pool_size = packets;
	return pool;
}

// Names of DPDK devices carry a generation: a new graph's ports stand beside the old one's.
struct run_port *port_make(struct run *run, const struct graph_port *spec, uint16_t burst)
{
	static unsigned generation;
	struct run_port *port = memory_new(1, sizeof(*port));

	snprintf(port->dpdk_name, sizeof(port->dpdk_name), "sluice%u", generation++);
	port->pub.name = strdup(spec->name);
	port->pub.driver = spec->driver;
	port->pub.params = spec->params;
	port->pub.state = memory_lines(spec->driver->state_size);
	port->pub.rx_queues = (uint16_t)spec->rx_queues;
	port->pub.tx_queues = (uint16_t)spec->tx_queues;
	port->pub.dpdk_name = port->dpdk_name;
	port->pub.burst = burst;
	port->pub.replay = run->options.replay;
	port->pub.clock = &run->clock;
	port->pub.faults = &run->faults;
	return port;
}

static void spec_subject(struct subject *subject, const char *type, struct place place,
			 const struct value *written)
{
	*subject = (struct subject){.type = type, .place = place, .written = written};
}

int port_open(struct run *run, struct run_port *port, const struct graph_port *spec,
	      struct errors *errors)
{
	struct subject subject;
	int status;

	port->pub.pool = run->pools[run->n_pools - 1];
	spec_subject(&subject, spec->driver->name, spec->place, spec->written);
	errors_about(errors, &subject);
	port->opened = true;
	status = spec->driver->open(&port->pub, errors);
	port->usable = !status;
	errors_about(errors, NULL);
	return status;
}

void port_close(struct run_port *port)
{
	if (!port->opened)
		return;
	if (port->usable && port->pub.driver->counters)
		port->pub.driver->counters(&port->pub, &port->last);
	if (port->pub.driver->close)
		port->pub.driver->close(&port->pub);
	port->opened = false;
	port->usable = false;
}

// Those that connect come after those that serve.
int ports_open(struct run *run, const struct graph *graph, struct run_port **ports,
	       struct errors *errors)
{
	int status = 0;

	for (int late = 0; late < 2; late++)
		for (unsigned i = 0; i < graph->n_ports; i++)
			if (graph->ports[i].driver->late == late && !ports[i]->opened &&
			    port_open(run, ports[i], &graph->ports[i], errors))
				status = -1;
	return status;
}

// Sets the `port` of each parameter that names one.
void ports_resolve(const struct graph_node *spec, const struct graph *graph,
		   struct run_port **ports)
{
	for (const struct param *row = spec->type->params; row && row->name; row++) {
		struct port_ref *ref = (void *)((char *)(uintptr_t)spec->params + row->offset);
		int port;

		if (row->type != PARAM_PORT || !ref->name)
			continue;
		port = graph_find_port(graph, ref->name);
		ref->port = port < 0 ? NULL : &ports[port]->pub;
	}
}

struct run_node *node_make(struct run *run, const struct graph *graph, unsigned index,
			   struct run_port **ports)
{
	const struct graph_node *spec = &graph->nodes[index];
	struct run_node *node = memory_new(1, sizeof(*node));

	ports_resolve(spec, graph, ports);
	node->spec = spec;
	node->pub.name = strdup(spec->name);
	node->pub.type = spec->type;
	node->pub.params = spec->params;
	node->pub.burst = (uint16_t)graph->settings.burst;
	node->pub.igates = spec->igates;
	node->pub.ogates = spec->ogates;
	node->pub.workers = (uint16_t)__builtin_popcountll(spec->workers);
	node->pub.pool = run->pools[run->n_pools - 1];
	node->pub.now_ns = clock_now(&run->clock);
	node->pub.state = aligned_alloc(64, RTE_ALIGN_CEIL(spec->type->state_size + 1, 64));
	if (node->pub.state)
		memset(node->pub.state, 0, RTE_ALIGN_CEIL(spec->type->state_size + 1, 64));
	node->n_locals = spec->type->local_size ? node->pub.workers : 0;
	node->locals = memory_new(node->n_locals + 1, sizeof(void *));
	for (unsigned i = 0; i < node->n_locals; i++) {
		size_t size = RTE_ALIGN_CEIL(spec->type->local_size, 64);

		node->locals[i] = aligned_alloc(64, size);
		if (node->locals[i])
			memset(node->locals[i], 0, size);
	}
	return node;
}

static bool node_complete(const struct run_node *node)
{
	for (unsigned i = 0; i < node->n_locals; i++)
		if (!node->locals[i])
			return false;
	return node->pub.state != NULL;
}

int node_open(struct run *run, struct run_node *node, struct errors *errors)
{
	struct subject subject;
	int status = 0;

	if (!node_complete(node)) {
		error_machine_at(errors, node->spec->place, "no memory for %s '%s'",
				 node->pub.type->name, node->pub.name);
		return -1;
	}
	node->pub.now_ns = clock_now(&run->clock);
	node->next_tick_ns = node->pub.now_ns + node->pub.type->tick_ns;
	spec_subject(&subject, node->pub.type->name, node->spec->place, node->spec->written);
	errors_about(errors, &subject);
	node->opened = 1;
	if (node->pub.type->open)
		status = node->pub.type->open(&node->pub, errors);
	errors_about(errors, NULL);
	return status;
}

void node_close(struct run *run, struct run_node *node)
{
	if (!node->opened)
		return;
	node->opened = 0;
	node->pub.now_ns = clock_now(&run->clock);
	if (node->pub.type->close)
		node->pub.type->close(&node->pub);
}

void node_free(struct run_node *node)
{
	for (unsigned i = 0; i < node->n_locals; i++)
		free(node->locals[i]);
	free(node->locals);
	free(node->meta);
	free(node->pub.state);
	free((void *)(uintptr_t)node->pub.name);
	free(node);
}

static int field_place(const struct meta *meta)
{
	static const uint8_t sizes[] = {1, 2, 4, 8};
	struct rte_mbuf_dynfield field = {.size = sizes[meta->type], .align = sizes[meta->type]};

	snprintf(field.name, sizeof(field.name), "sluice_%s_%zu", meta->name, field.size);
	return rte_mbuf_dynfield_register(&field);
}

// Gives each row of .reads and .writes its place in the packet. A field once placed stays so, and
// serves every later graph that names it.
int meta_lay_out(struct run *run, const struct graph *graph, struct run_node **nodes,
		 struct errors *errors)
{
	(void)run;
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct module_type *type = graph->nodes[i].type;
		const struct meta *const tables[] = {type->reads, type->writes};
		unsigned n = 0;

		if (nodes[i]->meta)
			continue;
		for (int t = 0; t < 2; t++)
			for (const struct meta *row = tables[t]; row && row->name; row++)
				n++;
		nodes[i]->meta = memory_new(n + 1, sizeof(*nodes[i]->meta));
		n = 0;
		for (int t = 0; t < 2; t++)
			for (const struct meta *row = tables[t]; row && row->name; row++) {
				int place = field_place(row);

				if (place < 0) {
					error_machine_at(errors, graph->nodes[i].place,
							 "%s '%s': no room in packets for the "
							 "metadata %s",
							 type->name, graph->nodes[i].name,
							 row->name);
					return -1;
				}
				nodes[i]->meta[n++] = (uint16_t)place;
			}
	}
	return 0;
}
