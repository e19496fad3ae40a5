// SPDX-License-Identifier: BSD-3-Clause
// Copies of frames, with the widest vectors that the processor has. Never a byte more than asked
// for is read or written: what lies behind a frame is nobody else's business.

#ifndef SLUICE_DRIVERS_VHOST_BYTES_H
#define SLUICE_DRIVERS_VHOST_BYTES_H

#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

// In the order of memory access that is written here: all loads of a step before its stores.
#define VHOST_MOVE(NAME, TYPE)                                                                     \
	static __rte_always_inline void NAME(uint8_t *to, const uint8_t *from, uint32_t n)         \
	{                                                                                          \
		TYPE first, last;                                                                  \
                                                                                                   \
		memcpy(&first, from, sizeof(TYPE));                                                \
		memcpy(&last, from + n - sizeof(TYPE), sizeof(TYPE));                              \
		memcpy(to, &first, sizeof(TYPE));                                                  \
		memcpy(to + n - sizeof(TYPE), &last, sizeof(TYPE));                                \
	}
typedef uint64_t vhost_16_bytes __attribute__((vector_size(16)));
typedef uint64_t vhost_32_bytes __attribute__((vector_size(32)));

// Each copies n bytes, of which there are as many as the name says at least and twice that at most.
VHOST_MOVE(vhost_move_2, uint16_t)
VHOST_MOVE(vhost_move_4, uint32_t)
VHOST_MOVE(vhost_move_8, uint64_t)
VHOST_MOVE(vhost_move_16, vhost_16_bytes)
VHOST_MOVE(vhost_move_32, vhost_32_bytes)
#undef VHOST_MOVE

static inline void vhost_move_few(uint8_t *to, const uint8_t *from, uint32_t n)
{
	if (n >= 16)
		vhost_move_16(to, from, n);
	else if (n >= 8)
		vhost_move_8(to, from, n);
	else if (n >= 4)
		vhost_move_4(to, from, n);
	else if (n >= 2)
		vhost_move_2(to, from, n);
	else if (n)
		*to = *from;
}

static __rte_always_inline void vhost_move_64(uint8_t *to, const uint8_t *from)
{
	vhost_32_bytes first, second;

	memcpy(&first, from, 32);
	memcpy(&second, from + 32, 32);
	memcpy(to, &first, 32);
	memcpy(to + 32, &second, 32);
}

static __rte_always_inline void vhost_move(uint8_t *to, const uint8_t *from, uint32_t n)
{
	uint32_t at = 0;

	if (likely(n - 32 <= 32)) {
		vhost_move_32(to, from, n);
		return;
	}
	if (unlikely(n < 32)) {
		vhost_move_few(to, from, n);
		return;
	}
	for (; at + 64 < n; at += 64)
		vhost_move_64(to + at, from + at);
	vhost_move_64(to + n - 64, from + n - 64);
}

#endif
