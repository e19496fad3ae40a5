// SPDX-License-Identifier: BSD-3-Clause
// What the loader compares before it believes anything else that a module or driver says.

#ifndef SLUICE_ABI_H
#define SLUICE_ABI_H

#include <stdint.h>

#include <rte_version.h>

#define ABI_MAGIC 0x534c5543u // "SLUC"
#define ABI_VERSION 1u

#if defined(__SANITIZE_ADDRESS__)
#define ABI_SANITIZER 1u
#elif defined(__SANITIZE_THREAD__)
#define ABI_SANITIZER 2u
#else
#define ABI_SANITIZER 0u
#endif

// The layout of this struct never changes.
struct abi {
	uint32_t magic;
	uint32_t version;
	uint32_t dpdk;
	uint32_t sanitizer;
	uint32_t type_size;  // of struct module_type or driver_type
	uint32_t ctx_size;   // of struct ctx or port
	uint32_t param_size; // of struct param
	uint32_t batch_max;
};

#define ABI_HERE(TYPE_SIZE, CTX_SIZE, BATCH)                                                       \
	{                                                                                          \
		.magic = ABI_MAGIC, .version = ABI_VERSION, .dpdk = RTE_VERSION,                   \
		.sanitizer = ABI_SANITIZER, .type_size = (TYPE_SIZE), .ctx_size = (CTX_SIZE),      \
		.param_size = sizeof(struct param), .batch_max = (BATCH),                          \
	}

#endif
