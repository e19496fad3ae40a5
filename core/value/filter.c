// SPDX-License-Identifier: BSD-3-Clause
// Compiles pcap-filter expressions by libpcap, and runs those that have no machine code.

#include "filter.h"

#include <stdio.h>

#include <rte_bpf.h>

#include "value/filter_jit.h"

#define FILTER_SNAPLEN 262144
#define FILTER_METADATA 0xfffff000u // from here on loads are not of the packet's bytes
#define FILTER_BYTES 65536	    // of a packet in several segments that the interpreter sees

static bool filter_metadata(const struct bpf_program *program)
{
	for (unsigned i = 0; i < program->bf_len; i++) {
		const struct bpf_insn *insn = &program->bf_insns[i];

		if (BPF_CLASS(insn->code) == BPF_LD && BPF_MODE(insn->code) == BPF_ABS &&
		    insn->k >= FILTER_METADATA)
			return true;
	}
	return false;
}

enum filter_result filter_compile(const char *expression, struct filter *filter,
				  char why[FILTER_WHY])
{
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, FILTER_SNAPLEN);
	enum filter_result result = FILTER_WRONG;

	*filter = (struct filter){0};
	if (!pcap) {
		snprintf(why, FILTER_WHY, "no memory to compile it");
		return FILTER_NO_MEMORY;
	}
	if (pcap_compile(pcap, &filter->program, expression, 1, PCAP_NETMASK_UNKNOWN)) {
		snprintf(why, FILTER_WHY, "\"%.500s\" is no pcap-filter expression: %s", expression,
			 pcap_geterr(pcap));
	} else if (filter_metadata(&filter->program)) {
		snprintf(why, FILTER_WHY,
			 "\"%.500s\" asks for what is not in a packet's bytes (the direction or "
			 "the interface it came by), it should ask for bytes only",
			 expression);
		pcap_freecode(&filter->program);
	} else {
		result = FILTER_COMPILED;
	}
	pcap_close(pcap);
	return result;
}

void filter_translate(struct filter *filter)
{
	filter->bpf = filter_jit(&filter->program, &filter->run);
}

void filter_free(struct filter *filter)
{
	rte_bpf_destroy(filter->bpf);
	pcap_freecode(&filter->program);
	*filter = (struct filter){0};
}

// Where a packet is in several segments, its bytes are copied for the interpreter.
bool filter_interpret(const struct bpf_insn *program, const struct rte_mbuf *pkt)
{
	uint8_t copy[FILTER_BYTES];
	uint32_t length = rte_pktmbuf_pkt_len(pkt);
	uint32_t n = RTE_MIN(length, sizeof(copy));

	if (pkt->nb_segs == 1)
		return bpf_filter(program, rte_pktmbuf_mtod(pkt, uint8_t *), length, length);
	return bpf_filter(program, rte_pktmbuf_read(pkt, 0, n, copy), length, n);
}
