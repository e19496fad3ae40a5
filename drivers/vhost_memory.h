// SPDX-License-Identifier: BSD-3-Clause
// Where the peer's addresses are in our memory.

#ifndef SLUICE_DRIVERS_VHOST_MEMORY_H
#define SLUICE_DRIVERS_VHOST_MEMORY_H

#include <rte_branch_prediction.h>

#include "vhost.h"

// Where the bytes from an address on are, and in *length how many of as many as are asked for lie
// there in one piece; NULL: not in the peer's memory.
static inline uint8_t *vhost_locate(struct vhost_queue *queue, uint64_t address, uint32_t *length)
{
	const struct vhost_map *memory = queue->memory;
	unsigned i = queue->region;

	for (unsigned tries = 0; tries < memory->n; tries++) {
		uint64_t distance = address - memory->regions[i].guest;

		if (likely(distance < memory->regions[i].size)) {
			uint64_t there = memory->regions[i].size - distance;

			queue->region = i;
			if (unlikely(*length > there))
				*length = (uint32_t)there;
			return memory->regions[i].host + distance;
		}
		i = i + 1 < memory->n ? i + 1 : 0;
	}
	return NULL;
}

// The same for bytes that must lie in one piece.
static inline uint8_t *vhost_locate_whole(struct vhost_queue *queue, uint64_t address,
					  uint32_t length)
{
	uint32_t there = length;
	uint8_t *at = vhost_locate(queue, address, &there);

	return there == length ? at : NULL;
}

#endif
