// SPDX-License-Identifier: BSD-3-Clause
// A ring of bytes between one thread that writes and one that reads: no lock, no system call. Its
// memory is mapped twice in a row, so that what is written or read is never in two parts.

#ifndef SLUICE_CONTROL_RING_H
#define SLUICE_CONTROL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	uint8_t *bytes; // twice `size`; NULL: not made
	uint64_t size;
	uint64_t tail __attribute__((aligned(64))); // atomic: bytes written so far
	uint64_t head_seen;			    // the writer's: `head` when it looked last
	uint64_t head __attribute__((aligned(64))); // atomic: bytes read so far
} __attribute__((aligned(64)));

// `size` is a power of two and whole pages; all of them are there from now on. false: there is no
// memory.
bool ring_make(struct ring *, size_t size);
void ring_free(struct ring *); // also of one that is all zero

// The writer's: how many bytes it may write to ring_tail(); less than `wanted` only if there are
// not more.
static inline uint64_t ring_room(struct ring *ring, uint64_t wanted)
{
	uint64_t room = ring->size - (ring->tail - ring->head_seen);

	if (__builtin_expect(room >= wanted, 1))
		return room;
	ring->head_seen = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	return ring->size - (ring->tail - ring->head_seen);
}

static inline uint8_t *ring_tail(const struct ring *ring)
{
	return ring->bytes + (ring->tail & (ring->size - 1));
}

static inline void ring_push(struct ring *ring, uint64_t n)
{
	__atomic_store_n(&ring->tail, ring->tail + n, __ATOMIC_RELEASE);
}

// The reader's: `head` counts on, and all up to ring_filled() can be read at ring_at().
static inline uint64_t ring_filled(const struct ring *ring)
{
	return __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

static inline const uint8_t *ring_at(const struct ring *ring, uint64_t at)
{
	return ring->bytes + (at & (ring->size - 1));
}

static inline void ring_pop(struct ring *ring, uint64_t head)
{
	__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
}

#endif
