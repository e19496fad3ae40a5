// SPDX-License-Identifier: BSD-3-Clause
// memif's shared memory: the client lays it out, the server maps it, and both let their pollers in
// and out of it.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_mbuf.h>
#include <rte_memory.h>

#include "memif.h"

#define MEMIF_RING_BYTES(size) (sizeof(struct memif_ring) + (size) * sizeof(struct memif_desc))

static const char *memif_region_new(struct memif *memif, uint64_t size)
{
	struct memif_region *region = &memif->regions[memif->n_regions];

	*region = (struct memif_region){.size = size, .fd = -1};
	region->fd = memfd_create("sluice-memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (region->fd < 0)
		return "no file for shared memory";
	memif->n_regions++;
	if (ftruncate(region->fd, (off_t)size) || fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return "no room for shared memory";
	region->addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);
	if (region->addr != MAP_FAILED)
		return NULL;
	region->addr = NULL;
	return "no room for shared memory";
}

struct memif_lending {
	struct memif *memif;
	const char *why;
};

// Lends the peer the list of memory segments that a part of the pool lies in.
static void memif_lend(struct rte_mempool *pool, void *arg, struct rte_mempool_memhdr *part,
		       unsigned index)
{
	struct memif_lending *lending = arg;
	struct memif *memif = lending->memif;
	struct rte_memseg_list *list = rte_mem_virt2memseg_list(part->addr);
	struct rte_memseg *segment = list ? rte_mem_virt2memseg(part->addr, list) : NULL;
	struct memif_region *region = &memif->regions[memif->n_regions];
	struct stat info;
	int fd = segment ? rte_memseg_get_fd(segment) : -1;

	(void)pool;
	(void)index;
	for (unsigned i = 1; i < memif->n_regions; i++)
		if (list && memif->regions[i].addr == list->base_va)
			return;
	if (fd < 0 || fstat(fd, &info)) {
		lending->why = "the packet buffers are in memory that cannot be shared";
	} else if ((uint64_t)((uint8_t *)part->addr + part->len - (uint8_t *)list->base_va) >
		   UINT32_MAX) {
		lending->why = "the packet buffers reach beyond 4 GiB, which memif cannot express";
	} else if (memif->n_regions == MEMIF_REGIONS_MAX) {
		lending->why = "the packet buffers are in too many pieces of memory";
	} else {
		*region = (struct memif_region){
		    .addr = list->base_va, .size = (uint64_t)info.st_size, .fd = fd, .lent = true};
		memif->n_regions++;
	}
}

static void memif_ring_init(struct memif *memif, struct memif_place *place, uint16_t size,
			    uint64_t *at)
{
	struct memif_ring *ring = (struct memif_ring *)(memif->regions[0].addr + *at);

	*place = (struct memif_place){.offset = (uint32_t)*at, .size = size, .event = -1};
	place->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ring->cookie = MEMIF_COOKIE;
	*at += MEMIF_RING_BYTES(size);
}

static void memif_buffers_init(const struct memif *memif, const struct memif_place *place,
			       uint64_t *at)
{
	struct memif_ring *ring = (struct memif_ring *)(memif->regions[0].addr + place->offset);

	for (unsigned i = 0; i < place->size; i++) {
		ring->desc[i] = (struct memif_desc){.offset = (uint32_t)*at,
						    .length = memif->params->buffer_size};
		*at += memif->params->buffer_size;
	}
}

const char *memif_layout(struct memif *memif, uint16_t size)
{
	unsigned rings = memif->n_send + memif->n_receive;
	uint64_t bytes = rings * MEMIF_RING_BYTES(size);
	uint64_t at = 0;
	struct memif_lending lending = {.memif = memif};
	const char *why;

	if (!memif->params->zero_copy)
		bytes += (uint64_t)rings * size * memif->params->buffer_size;
	if (bytes > UINT32_MAX)
		return "the rings take more than 4 GiB, choose fewer, smaller rings or buffers";
	why = memif_region_new(memif, bytes);
	if (why)
		return why;
	for (unsigned i = 0; i < memif->n_send; i++)
		memif_ring_init(memif, &memif->send_at[i], size, &at);
	for (unsigned i = 0; i < memif->n_receive; i++)
		memif_ring_init(memif, &memif->receive_at[i], size, &at);
	if (memif->params->zero_copy) {
		rte_mempool_mem_iter(memif->port->pool, memif_lend, &lending);
		return lending.why;
	}
	for (unsigned i = 0; i < memif->n_send; i++)
		memif_buffers_init(memif, &memif->send_at[i], &at);
	for (unsigned i = 0; i < memif->n_receive; i++)
		memif_buffers_init(memif, &memif->receive_at[i], &at);
	return NULL;
}

static const char *memif_ring_check(const struct memif *memif, const struct memif_place *place)
{
	const struct memif_region *region;
	const struct memif_ring *ring;

	if (place->region >= memif->n_regions)
		return "a ring is not within its region";
	region = &memif->regions[place->region];
	if (place->offset % 8 || place->offset + MEMIF_RING_BYTES(place->size) > region->size)
		return "a ring is not within its region";
	ring = (const struct memif_ring *)(region->addr + place->offset);
	return ring->cookie == MEMIF_COOKIE ? NULL : "a ring has not the right cookie";
}

const char *memif_map(struct memif *memif)
{
	const char *why = NULL;

	for (unsigned i = 0; i < memif->n_regions; i++) {
		struct memif_region *region = &memif->regions[i];
		struct stat info;

		// Memory behind the end of the file would be fatal to touch.
		if (fstat(region->fd, &info) || (uint64_t)info.st_size < region->size)
			return "a region is larger than its file";
		region->addr =
		    mmap(NULL, region->size, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd, 0);
		if (region->addr == MAP_FAILED) {
			region->addr = NULL;
			return "a region cannot be mapped";
		}
		if (!port_guard(region->addr, region->size, &memif->gone))
			return "there are too many regions";
	}
	for (unsigned i = 0; i < PORT_QUEUES_MAX && !why; i++) {
		if (memif->receive_at[i].size)
			why = memif_ring_check(memif, &memif->receive_at[i]);
		if (!why && memif->send_at[i].size)
			why = memif_ring_check(memif, &memif->send_at[i]);
	}
	return why;
}

void memif_regions_free(struct memif *memif)
{
	port_unguard(&memif->gone);
	memif->gone = 0;
	for (unsigned i = 0; i < memif->n_regions; i++) {
		struct memif_region *region = &memif->regions[i];

		if (region->lent)
			continue;
		if (region->addr)
			munmap(region->addr, region->size);
		if (region->fd >= 0)
			close(region->fd);
	}
	memif->n_regions = 0;
}

static bool memif_queue_up(struct memif *memif, struct memif_queue *queue,
			   const struct memif_place *place, bool receives)
{
	bool client = memif->params->role.n == MEMIF_CLIENT;
	bool zero = memif->params->zero_copy;
	struct memif_ring *ring;

	if (!place->size)
		return true;
	ring = (struct memif_ring *)(memif->regions[place->region].addr + place->offset);
	queue->client = client;
	queue->size = place->size;
	queue->event = place->event;
	queue->ring = ring;
	queue->regions = memif->regions;
	queue->n_regions = memif->n_regions;
	queue->buffer_size = memif->params->buffer_size;
	queue->pool = memif->port->pool;
	queue->broken = 0;
	queue->at = client ? 0 : __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	queue->given = queue->at;
	if (zero) {
		queue->mbufs = calloc(queue->size, sizeof(struct rte_mbuf *));
		if (!queue->mbufs)
			return false;
	}
	if (client) {
		__atomic_store_n(&ring->tail, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->head, receives && !zero ? queue->size : 0,
				 __ATOMIC_RELEASE);
	}
	if (receives)
		__atomic_store_n(&ring->flags, MEMIF_RING_MASK_INT, __ATOMIC_RELAXED);
	__atomic_store_n(&queue->up, 1, __ATOMIC_RELEASE);
	return true;
}

bool memif_let_in(struct memif *memif)
{
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++)
		if (!memif_queue_up(memif, &memif->receive[i], &memif->receive_at[i], true) ||
		    !memif_queue_up(memif, &memif->send[i], &memif->send_at[i], false))
			return false;
	return true;
}

static void memif_queue_free(struct memif_queue *queue)
{
	memif_queue_empty(queue);
	free(queue->mbufs);
	queue->mbufs = NULL;
}

void memif_let_out(struct memif *memif)
{
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		__atomic_store_n(&memif->receive[i].up, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&memif->send[i].up, 0, __ATOMIC_RELEASE);
	}
	port_quiet();
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		memif_queue_free(&memif->receive[i]);
		memif_queue_free(&memif->send[i]);
	}
}
