// SPDX-License-Identifier: BSD-3-Clause
// Between the files that start DPDK's environment: memory.

#ifndef SLUICE_PORT_EAL_MEMORY_H
#define SLUICE_PORT_EAL_MEMORY_H

#include <stdint.h>

#define MIB (UINT64_C(1) << 20)
#define EAL_OWN_BYTES (32 * MIB) // what EAL itself takes

// What to start EAL with, for so many bytes of ours.
uint64_t eal_with_room(uint64_t bytes);

// Bytes of hugepages that nobody uses and nobody was promised, all sizes together.
uint64_t eal_hugepages_free(void);

// Bytes without hugepages; UINT64_MAX: not known.
uint64_t eal_memory_available(void);

#endif
