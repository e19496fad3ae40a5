// SPDX-License-Identifier: BSD-3-Clause
// Inside core/value: machine code for a filter.

#ifndef SLUICE_VALUE_FILTER_JIT_H
#define SLUICE_VALUE_FILTER_JIT_H

#include <stdint.h>

#include <pcap/pcap.h>

#include <rte_bpf.h>

// The program with machine code, or NULL: there can be none. To be freed with rte_bpf_destroy().
struct rte_bpf *filter_jit(const struct bpf_program *, uint64_t (**run)(void *));

#endif
