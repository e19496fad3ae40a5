// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver's own data path: where the peer's rings and memory are, checked once, and
// letting pollers in and out of them.

#include <stdlib.h>
#include <sys/stat.h>

#include <rte_vhost.h>

#include "vhost.h"

struct vhost_queue *vhost_ring(struct vhost_link *link, unsigned ring)
{
	return ring % 2 ? &link->receive[ring / 2] : &link->send[ring / 2];
}

void vhost_blame(struct vhost_link *link, const char *how)
{
	// Rings are read as zeroes then: that is no fault of theirs.
	if (__atomic_load_n(&link->gone, __ATOMIC_RELAXED))
		how = "memory that it shared is not there any more";
	if (!link->bad)
		link->bad = how;
	link->bad_vid = link->vid;
}

static bool vhost_inside(const struct vhost_link *link, const volatile void *at, uint64_t bytes)
{
	for (unsigned i = 0; i < link->memory.n; i++) {
		uint64_t distance =
		    (uint64_t)((uintptr_t)at - (uintptr_t)link->memory.regions[i].host);

		if (distance < link->memory.regions[i].size)
			return bytes <= link->memory.regions[i].size - distance;
	}
	return false;
}

// Whether the ring lies where it can be read and written.
static bool vhost_ring_fits(const struct vhost_link *link, const struct rte_vhost_vring *ring,
			    bool packed)
{
	uint64_t n = ring->size;
	uint64_t first = packed ? 4 : 6 + 2 * n;
	uint64_t second = packed ? 4 : 6 + 8 * n;

	if (!n || n > 32768 || (!packed && n & (n - 1)))
		return false;
	if ((uintptr_t)ring->desc % 16 || (uintptr_t)ring->avail % 2 || (uintptr_t)ring->used % 4)
		return false;
	return vhost_inside(link, ring->desc, 16 * n) && vhost_inside(link, ring->avail, first) &&
	       vhost_inside(link, ring->used, second);
}

static void vhost_ring_fill(struct vhost_link *link, struct vhost_queue *queue,
			    const struct rte_vhost_vring *ring, uint64_t features)
{
	queue->packed = features >> VIRTIO_F_RING_PACKED & 1;
	queue->mergeable = features >> VIRTIO_NET_F_MRG_RXBUF & 1;
	queue->in_order = features >> VIRTIO_F_IN_ORDER & 1;
	queue->header = queue->mergeable || features >> VIRTIO_F_VERSION_1 & 1 ? 12 : 10;
	queue->size = ring->size;
	queue->region = 0;
	queue->call = ring->callfd < 0 ? -1 : ring->callfd;
	queue->memory = &link->memory;
	queue->pool = link->port->pool;
	queue->room = rte_pktmbuf_data_room_size(queue->pool) - RTE_PKTMBUF_HEADROOM;
	queue->broken = 0;
	// We poll: no notification is needed.
	if (queue->packed) {
		queue->desc_packed = ring->desc_packed;
		queue->quiet = &ring->driver_event->flags;
		__atomic_store_n(&ring->device_event->flags, VRING_PACKED_EVENT_FLAG_DISABLE,
				 __ATOMIC_RELAXED);
	} else {
		queue->desc = ring->desc;
		queue->avail = ring->avail;
		queue->used = ring->used;
		__atomic_store_n(&ring->used->flags, VRING_USED_F_NO_NOTIFY, __ATOMIC_RELAXED);
	}
}

// Whether a packed ring has been used, though it is said to stand at its beginning. Of a split ring
// the used index tells where it stands; of a packed one nothing does: when a process like ours was
// killed, QEMU gives the next one the place where the ring was when it was started.
static bool vhost_ring_lost(const struct vhost_queue *queue)
{
	if (!queue->packed || queue->at || !queue->wrap)
		return false;
	for (uint16_t i = 0; i < queue->size; i++)
		if (queue->desc_packed[i].flags & 1 << VRING_PACKED_DESC_F_USED)
			return true;
	return false;
}

void vhost_let_in(struct vhost_link *link, unsigned i)
{
	struct vhost_queue *queue = vhost_ring(link, i);
	struct rte_vhost_vring ring;
	uint64_t features;
	uint16_t at, used_at;

	if (!link->running || !link->ready[i] || (link->bad && link->bad_vid == link->vid) ||
	    queue->up || rte_vhost_get_vhost_vring(link->vid, (uint16_t)i, &ring) ||
	    rte_vhost_get_negotiated_features(link->vid, &features) ||
	    rte_vhost_get_vring_base(link->vid, (uint16_t)i, &at, &used_at) || !ring.desc ||
	    !ring.avail || !ring.used)
		return;
	if (!vhost_ring_fits(link, &ring, features >> VIRTIO_F_RING_PACKED & 1)) {
		vhost_blame(link, "a ring is not where its memory is");
		return;
	}
	vhost_ring_fill(link, queue, &ring, features);
	queue->at = queue->packed ? at & 0x7fff : at;
	queue->wrap = at >> 15;
	queue->seen = queue->at;
	queue->used_at = used_at;
	if (queue->packed && queue->at >= queue->size) {
		vhost_blame(link, "a ring begins behind its end");
		return;
	}
	if (!link->seen[i] && vhost_ring_lost(queue))
		link->lost = true;
	link->seen[i] = true;
	if (i % 2 && link->end < i / 2 + 1)
		__atomic_store_n(&link->end, (uint16_t)(i / 2 + 1), __ATOMIC_RELAXED);
	__atomic_store_n(&queue->up, 1, __ATOMIC_RELEASE);
}

void vhost_let_out(struct vhost_link *link, unsigned first, unsigned end)
{
	bool was_up[VHOST_RINGS_MAX] = {false};
	bool any = false;

	for (unsigned i = first; i < end; i++) {
		was_up[i] = vhost_ring(link, i)->up;
		any |= was_up[i];
		__atomic_store_n(&vhost_ring(link, i)->up, 0, __ATOMIC_RELEASE);
	}
	if (!any)
		return;
	port_quiet();
	for (unsigned i = first; i < end; i++) {
		struct vhost_queue *queue = vhost_ring(link, i);
		uint16_t wrap = queue->packed ? (uint16_t)(queue->wrap << 15) : 0;

		if (!was_up[i])
			continue;
		// What the library tells the peer, or ourselves when we are let in again.
		rte_vhost_set_vring_base(link->vid, (uint16_t)i, queue->at | wrap,
					 queue->packed ? queue->at | wrap : queue->used_at);
		if (__atomic_load_n(&queue->broken, __ATOMIC_RELAXED))
			vhost_blame(link, "a ring makes no sense");
		queue->broken = 0;
	}
}

bool vhost_memory_load(struct vhost_link *link)
{
	struct rte_vhost_memory *table = NULL;
	bool fits = true;

	link->memory.n = 0;
	port_unguard(&link->gone);
	if (!link->table || rte_vhost_get_mem_table(link->vid, &table) || !table)
		return false;
	if (table->nregions > VHOST_REGIONS_MAX)
		fits = false;
	for (uint32_t i = 0; fits && i < table->nregions; i++) {
		const struct rte_vhost_mem_region *region = &table->regions[i];
		uint64_t before = region->host_user_addr - (uintptr_t)region->mmap_addr;
		struct stat info;

		// All of it is guarded: the library touches it whatever we think of it.
		if (!port_guard(region->mmap_addr, region->mmap_size, &link->gone) ||
		    fstat(region->fd, &info) || (uint64_t)info.st_size < before + region->size)
			fits = false;
		link->memory.regions[i].guest = region->guest_phys_addr;
		link->memory.regions[i].size = region->size;
		link->memory.regions[i].host = (uint8_t *)(uintptr_t)region->host_user_addr;
	}
	if (fits)
		link->memory.n = table->nregions;
	else
		vhost_blame(link, "a region of memory is larger than its file");
	free(table);
	return fits;
}

void vhost_let_all_in(struct vhost_link *link)
{
	if (!vhost_memory_load(link) || !link->running)
		return;
	for (unsigned i = 0; i < VHOST_RINGS_MAX; i++)
		vhost_let_in(link, i);
}

void vhost_end(struct vhost_link *link)
{
	vhost_let_out(link, 0, VHOST_RINGS_MAX);
	port_unguard(&link->gone);
	link->running = false;
	__atomic_store_n(&link->end, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&link->up, 0, __ATOMIC_RELAXED);
}
