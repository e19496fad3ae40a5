// SPDX-License-Identifier: BSD-3-Clause
// Filter: tell packets apart by a pcap-filter expression. libpcap compiles it, DPDK turns it into
// machine code where that is known to be right; libpcap's interpreter runs the rest.

#include "filter.h"
#include "module.h"

enum { FILTER_MATCH, FILTER_MISS };
enum { FILTER_JIT, FILTER_INTERPRETER };

struct filter_params {
	const char *expression;
	struct choice run;
};

static const char *const filter_runs[] = {"jit", "interpreter", NULL};

static const struct param filter_params[] = {
    PARAM(filter_params, expression, .min = 1, .example = "udp and dst port 53",
	  .help = "what matches, as tcpdump takes it (see pcap-filter(7))"),
    PARAM(filter_params, run, .def = "jit", .choices = filter_runs,
	  .help = "as machine code where that can be made, or always by libpcap's interpreter"),
    PARAM_END,
};

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

// 0, or -1 with the reason in errors.
static int filter_make(const struct filter_params *params, struct filter *filter,
		       struct errors *errors)
{
	char why[FILTER_WHY];

	switch (filter_compile(params->expression, filter, why)) {
	case FILTER_COMPILED:
		return 0;
	case FILTER_WRONG:
		error_input(errors, "expression", "%s", why);
		return -1;
	default:
		error_machine(errors, "expression", "%s", why);
		return -1;
	}
}

static void filter_check(const void *given, struct errors *errors)
{
	struct filter filter = {0};

	if (!filter_make(given, &filter, errors))
		filter_free(&filter);
}

static int filter_open(struct node *node, struct errors *errors)
{
	const struct filter_params *params = node->params;

	if (filter_make(params, node->state, errors))
		return -1;
	if (params->run.n == FILTER_JIT)
		filter_translate(node->state);
	return 0;
}

static void filter_close(struct node *node)
{
	filter_free(node->state);
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
    .explain = filter_process,
};
MODULE(filter)
