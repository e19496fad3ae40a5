// SPDX-License-Identifier: BSD-3-Clause
// Filter: tell packets apart by a pcap-filter expression. libpcap compiles it, DPDK turns it into
// machine code where that is known to be right; libpcap's interpreter runs the rest.

#include <pcap/pcap.h>

#include "filter_jit.h"
#include "module.h"

enum { FILTER_MATCH, FILTER_MISS };
enum { FILTER_JIT, FILTER_INTERPRETER };

#define FILTER_SNAPLEN 262144
#define FILTER_METADATA 0xfffff000u // from here on loads are not of the packet's bytes
#define FILTER_BYTES 65536	    // of a packet in several segments that the interpreter sees

struct filter_params {
	const char *expression;
	struct choice run;
};

struct filter {
	struct bpf_program program;
	struct rte_bpf *bpf;	    // NULL: there can be no machine code
	uint64_t (*run)(void *pkt); // NULL: interpreted
};

static const char *const filter_runs[] = {"jit", "interpreter", NULL};

static const struct param filter_params[] = {
    PARAM(filter_params, expression, .min = 1, .example = "udp and dst port 53",
	  .help = "what matches, as tcpdump takes it (see pcap-filter(7))"),
    PARAM(filter_params, run, .def = "jit", .choices = filter_runs,
	  .help = "as machine code where that can be made, or always by libpcap's interpreter"),
    PARAM_END,
};

// Where a packet is in several segments, its bytes are copied for the interpreter.
static __rte_noinline bool filter_interpret(const struct bpf_insn *program,
					    const struct rte_mbuf *pkt)
{
	uint8_t copy[FILTER_BYTES];
	uint32_t length = rte_pktmbuf_pkt_len(pkt);
	uint32_t n = RTE_MIN(length, sizeof(copy));

	if (pkt->nb_segs == 1)
		return bpf_filter(program, rte_pktmbuf_mtod(pkt, uint8_t *), length, length);
	return bpf_filter(program, rte_pktmbuf_read(pkt, 0, n, copy), length, n);
}

static void filter_process(struct ctx *ctx, struct batch *in)
{
	const struct filter *filter = ctx->state;
	const struct bpf_insn *program = filter->program.bf_insns;
	uint64_t (*run)(void *) = filter->run;
	gate_t gates[BATCH_MAX], *gate = gates;

	if (likely(run))
		batch_foreach (in, pkt)
			*gate++ = run(pkt) ? FILTER_MATCH : FILTER_MISS;
	else
		batch_foreach (in, pkt)
			*gate++ = filter_interpret(program, pkt) ? FILTER_MATCH : FILTER_MISS;
	emit_each(ctx, in, gates);
}

// The expression as classic BPF, to be freed with pcap_freecode(), or -1 with the reason in errors.
static int filter_compile(const char *expression, struct bpf_program *program,
			  struct errors *errors)
{
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, FILTER_SNAPLEN);
	int status = -1;

	if (!pcap) {
		error_machine(errors, "expression", "no memory to compile it");
		return -1;
	}
	if (pcap_compile(pcap, program, expression, 1, PCAP_NETMASK_UNKNOWN))
		error_input(errors, "expression", "\"%s\" is no pcap-filter expression: %s",
			    expression, pcap_geterr(pcap));
	else
		status = 0;
	pcap_close(pcap);
	return status;
}

static void filter_check(const void *given, struct errors *errors)
{
	const struct filter_params *params = given;
	struct bpf_program program;
	bool metadata = false;

	if (filter_compile(params->expression, &program, errors))
		return;
	for (unsigned i = 0; i < program.bf_len; i++) {
		const struct bpf_insn *insn = &program.bf_insns[i];

		metadata |= BPF_CLASS(insn->code) == BPF_LD && BPF_MODE(insn->code) == BPF_ABS &&
			    insn->k >= FILTER_METADATA;
	}
	if (metadata)
		error_input(errors, "expression",
			    "\"%s\" asks for what is not in a packet's bytes (the direction or the "
			    "interface it came by), it should ask for bytes only",
			    params->expression);
	pcap_freecode(&program);
}

static int filter_open(struct node *node, struct errors *errors)
{
	const struct filter_params *params = node->params;
	struct filter *filter = node->state;

	if (filter_compile(params->expression, &filter->program, errors))
		return -1;
	if (params->run.n == FILTER_JIT)
		filter->bpf = filter_jit(&filter->program, &filter->run);
	return 0;
}

static void filter_close(struct node *node)
{
	struct filter *filter = node->state;

	rte_bpf_destroy(filter->bpf);
	pcap_freecode(&filter->program);
}

static struct module_type filter = {
    .name = "Filter",
    .help = "tells packets apart by a pcap-filter expression, as tcpdump takes it",
    .details =
	"The expression runs as machine code, in some 25 cycles a packet for `udp and dst port "
	"53`. Long ones with many alternatives, those that compute where to look "
	"(`ip[ip[2:2]]`) and `protochain` are interpreted, at more than twice that. As in "
	"tcpdump, `vlan` and `mpls` shift what is looked at behind them, and `udp` alone does not "
	"look behind a tag: `udp or (vlan and udp)`. Names of hosts are looked up when the graph "
	"is checked and loaded. `inbound`, `ifindex` and the like, which ask for more than a "
	"packet's bytes, are refused.",
    .example = "nodes:\n"
	       "  dns: {Filter: {expression: \"udp and port 53\"}}\n"
	       "graph:\n"
	       "  - rx -> dns -> tx\n"
	       "  - dns[miss] -> Discard\n",
    .igates = 1,
    .ogates = 2,
    .ogate_names = (const char *const[]){"match", "miss"},
    .params = filter_params,
    .state_size = sizeof(struct filter),
    .shared = true,
    .check = filter_check,
    .open = filter_open,
    .close = filter_close,
    .process = filter_process,
};
MODULE(filter)
