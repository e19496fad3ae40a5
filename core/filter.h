// SPDX-License-Identifier: BSD-3-Clause
// A pcap-filter expression made ready to run on packets: for Filter, and for whatever else asks of
// packets what an expression says.

#ifndef SLUICE_FILTER_H
#define SLUICE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <pcap/pcap.h>

#include <rte_mbuf.h>

#define FILTER_WHY 1024 // bytes of a text that says what is wrong

struct filter {
	struct bpf_program program;
	struct rte_bpf *bpf;	    // NULL: there can be no machine code
	uint64_t (*run)(void *pkt); // NULL: interpreted
};

enum filter_result { FILTER_COMPILED, FILTER_WRONG, FILTER_NO_MEMORY };

// The expression as classic BPF, to be freed with filter_free() (which may be called twice), or
// why it is none. Needs no EAL.
enum filter_result filter_compile(const char *expression, struct filter *, char why[FILTER_WHY]);

// Makes machine code of it, where there can be some.
void filter_translate(struct filter *);
void filter_free(struct filter *);

// What libpcap's interpreter says of a packet.
bool filter_interpret(const struct bpf_insn *, const struct rte_mbuf *);

static inline bool filter_matches(const struct filter *filter, struct rte_mbuf *pkt)
{
	return filter->run ? filter->run(pkt) != 0
			   : filter_interpret(filter->program.bf_insns, pkt);
}

#endif
