// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: any bytes as one module with parameters of its table, commands and packets in any
// number of segments. The graph is walked in replay; then each packet must be accounted for.

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../drivers/memory.h"
#include "port/eal.h"
#include "run/run.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START_NS 1000000000000ull
#define PACKETS_MAX 96
#define FRAME_BYTES_MAX 2048
#define STEPS_MAX 8
#define COUNT_MAX 100000 // larger tables and frames take memory and find nothing

static const struct place nowhere = {.file = "fuzz"};

struct input {
	const uint8_t *at;
	const uint8_t *end;
	struct arena *arena;
};

static uint8_t take(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static uint64_t take_number(struct input *in, unsigned bytes)
{
	uint64_t n = 0;

	while (bytes--)
		n = n << 8 | take(in);
	return n;
}

static struct value *scalar(struct input *in, const char *text)
{
	return value_scalar(in->arena, nowhere, text);
}

static struct value *map_of(struct input *in, const struct param *table);

static struct value *list_of(struct input *in, const struct param *row)
{
	struct value *list = value_new(in->arena, VALUE_LIST, nowhere);
	unsigned n = take(in) % 6;

	for (unsigned i = 0; i < n; i++)
		value_append(in->arena, list, map_of(in, row->fields));
	return list;
}

// Any number of the row's range, small ones more often.
static uint64_t number_of(struct input *in, const struct param *row)
{
	uint64_t low = row->min > 0 ? (uint64_t)row->min : 0;
	uint64_t high = row->max && row->max - low < COUNT_MAX ? row->max : low + COUNT_MAX;
	uint8_t how = take(in);

	if (row->type == PARAM_U8 && high > UINT8_MAX)
		high = UINT8_MAX;
	if (row->type == PARAM_U16 && high > UINT16_MAX)
		high = UINT16_MAX;
	switch (how & 3) {
	case 0:
		return low;
	case 1:
		return high;
	case 2:
		return low + (how >> 2) % (high - low + 1);
	default:
		return low + take_number(in, 3) % (high - low + 1);
	}
}

static struct value *text_of(struct input *in)
{
	static const char *const words[] = {"ip",
					    "ip6",
					    "vlan and ip",
					    "udp port 53",
					    "tcp[tcpflags] & tcp-syn != 0",
					    "len > 100",
					    "ether[0] & 1 = 1",
					    "ipv4.src",
					    "ipv6.dst",
					    "vlan.id",
					    "udp.dport",
					    "ether.src"};
	uint8_t n = take(in);
	char *text;

	if (n < 128)
		return scalar(in, words[n % (sizeof(words) / sizeof(words[0]))]);
	n = n % 32 + 1;
	text = arena_alloc(in->arena, n + 1);
	for (unsigned i = 0; i < n; i++)
		text[i] = (char)(take(in) % 94 + 33);
	return scalar(in, text);
}

static struct value *frame_of(struct input *in)
{
	static const char *const words[] = {
	    "ether / ipv4 / udp dport=53 / pad 60", "ether / arp", "ether / ipv6 / udp",
	    "ether / vlan id=5 / ipv4 / tcp",	    "ether",	   "ether / ipv4 / udp / pad 1514"};

	return scalar(in, words[take(in) % (sizeof(words) / sizeof(words[0]))]);
}

static struct value *bytes_of(struct input *in)
{
	unsigned n = take(in) % 16 + 1;
	char *text = arena_alloc(in->arena, 2 * n + 1);

	for (unsigned i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", take(in));
	return scalar(in, text);
}

static struct value *value_of(struct input *in, const struct param *row)
{
	struct arena *arena = in->arena;
	unsigned n = 0;

	switch (row->type) {
	case PARAM_LIST:
		return list_of(in, row);
	case PARAM_BOOL:
		return scalar(in, take(in) & 1 ? "true" : "false");
	case PARAM_STRING:
		return text_of(in);
	case PARAM_FRAME:
		return frame_of(in);
	case PARAM_HEX:
		return bytes_of(in);
	case PARAM_PORT:
		return scalar(in, take(in) & 1 ? "left" : "right");
	case PARAM_GATE:
		return scalar(in, arena_printf(arena, "%u", take(in) % 8));
	case PARAM_CHOICE:
		while (row->choices[n])
			n++;
		return scalar(in, row->choices[take(in) % n]);
	case PARAM_MAC:
		return scalar(in, arena_printf(arena, "02:00:00:00:00:%02x", take(in)));
	case PARAM_IP4_NET:
		return scalar(in, arena_printf(arena, "10.%u.0.0/16", take(in)));
	case PARAM_IP6_NET:
		return scalar(in, arena_printf(arena, "2001:%x::/32", take(in)));
	case PARAM_DURATION:
		return scalar(in, arena_printf(arena, "%" PRIu64 "ms", number_of(in, row)));
	case PARAM_RATE:
		return scalar(in, arena_printf(arena, "%" PRIu64 "pps", number_of(in, row)));
	default:
		return scalar(in, arena_printf(arena, "%" PRIu64, number_of(in, row)));
	}
}

// Rows are left out, or given; what is wrong all the same is refused, which ends the input.
static struct value *map_of(struct input *in, const struct param *table)
{
	struct value *map = value_new(in->arena, VALUE_MAP, nowhere);

	for (; table && table->name; table++)
		if (!table->def || take(in) & 1)
			value_put(in->arena, map, table->name, nowhere, value_of(in, table));
	return map;
}

static void link_add(struct input *in, struct value *links, const char *text)
{
	value_append(in->arena, links, scalar(in, text));
}

static struct value *one(struct input *in, const char *key, struct value *value)
{
	struct value *map = value_new(in->arena, VALUE_MAP, nowhere);

	value_put(in->arena, map, key, nowhere, value);
	return map;
}

// rx feeds all input gates of the module, and tx, in turn; output gates go to tx, or are left open.
static struct value *links_of(struct input *in, const struct module_type *type)
{
	struct value *links = value_new(in->arena, VALUE_LIST, nowhere);
	unsigned igates = type->igates == GATES_ANY ? take(in) % 4 + 1 : type->igates;
	unsigned ogates = type->ogates == GATES_ANY ? take(in) % 6 : type->ogates;
	uint64_t open = take(in);

	link_add(in, links, "rx -> spread");
	for (unsigned i = 0; i < igates; i++)
		link_add(in, links, arena_printf(in->arena, "spread[%u] -> [%u]it", i, i));
	link_add(in, links, arena_printf(in->arena, "spread[%u] -> tx", igates));
	for (unsigned i = 0; i < ogates; i++)
		if (!(open >> i % 8 & 1))
			link_add(in, links, arena_printf(in->arena, "it[%u] -> tx", i));
	return links;
}

static struct graph *graph_make(struct input *in, const struct module_type *type,
				struct errors *errors)
{
	static const char *const segments[] = {"0", "1", "3", "14", "17", "64", "200", "0"};
	struct value *root = value_new(in->arena, VALUE_MAP, nowhere);
	struct value *ports = value_new(in->arena, VALUE_MAP, nowhere);
	struct value *nodes = value_new(in->arena, VALUE_MAP, nowhere);
	struct value *memory = value_new(in->arena, VALUE_MAP, nowhere);
	struct arena *arena = in->arena;

	value_put(arena, memory, "segments", nowhere, scalar(in, segments[take(in) % 8]));
	value_put(arena, memory, "open", nowhere, scalar(in, "true"));
	value_put(arena, ports, "left", nowhere, one(in, "memory", memory));
	value_put(arena, ports, "right", nowhere, one(in, "memory", memory));
	value_put(arena, nodes, "rx", nowhere,
		  one(in, "PortInc", one(in, "port", scalar(in, "left"))));
	value_put(arena, nodes, "tx", nowhere,
		  one(in, "PortOut", one(in, "port", scalar(in, "right"))));
	value_put(arena, nodes, "spread", nowhere, scalar(in, "RoundRobin"));
	value_put(arena, nodes, "it", nowhere, one(in, type->name, map_of(in, type->params)));
	value_put(arena, root, "ports", nowhere, ports);
	value_put(arena, root, "nodes", nowhere, nodes);
	value_put(arena, root, "graph", nowhere, links_of(in, type));
	return graph_from_value(arena, "fuzz", root, NULL, 0, errors);
}

// A packet: its bytes are the input's, then zeros.
static void feed(struct input *in, struct port *port)
{
	uint8_t bytes[FRAME_BYTES_MAX] = {0};
	unsigned given = take(in), length = given + (take(in) & 7) * 256;

	for (unsigned i = 0; i < given; i++)
		bytes[i] = take(in);
	memory_feed(port, bytes, length);
}

static void call(struct input *in, struct run *run, const struct module_type *type)
{
	struct errors *errors = errors_new();
	const struct command *command = type->commands;
	unsigned n = 0;

	while (command && command[n].name)
		n++;
	if (n) {
		command += take(in) % n;
		json_decref(
		    run_command(run, "it", command->name, map_of(in, command->args), errors));
	}
	errors_free(errors);
}

static unsigned drive(struct input *in, struct run *run, const struct module_type *type)
{
	struct port *port = run_port(run, (unsigned)graph_find_port(run_graph(run), "left"));
	uint64_t now_ns = START_NS;
	unsigned packets = 0;

	// Zeros pass without a step: they stand where another module has parameters.
	for (unsigned step = 0; step < STEPS_MAX && in->at < in->end; step++) {
		uint8_t what = take(in);

		while (!what && in->at < in->end)
			what = take(in);
		for (unsigned n = what % 16; n && packets < PACKETS_MAX; n--, packets++)
			feed(in, port);
		if (what & 16)
			call(in, run, type);
		if (what & 32)
			now_ns += 1000000000;
		run_set_time(run, now_ns);
		for (unsigned i = 0; i < 4; i++)
			run_step(run);
		run_tend(run);
	}
	return packets;
}

static void check_node(struct run *run, unsigned index)
{
	const struct graph_node *spec = &run_graph(run)->nodes[index];
	struct node_counts counts;
	uint64_t in, out;

	run_node_counts(run, index, &counts);
	in = counts.made;
	out = counts.consumed + counts.held;
	for (unsigned i = 0; i < GATES_MAX; i++) {
		in += counts.in[i];
		out += counts.out[i];
	}
	for (unsigned i = 0; i < reason_count(spec->type); i++)
		out += counts.dropped[i];
	if (in == out)
		return;
	fprintf(stderr, "%s %s: %" PRIu64 " came, %" PRIu64 " are accounted for\n",
		spec->type->name, spec->name, in, out);
	abort();
}

static void run_through(struct input *in, struct run *run, const struct module_type *type)
{
	struct port_counters left;
	unsigned fed = drive(in, run, type);

	// What is still waiting in a port was not received.
	run_port_counts(run, (unsigned)graph_find_port(run_graph(run), "left"), &left);
	if (left.rx_packets + left.rx_errors > fed)
		abort();
	run_stop(run);
	for (unsigned i = 0; i < run_graph(run)->n_nodes; i++)
		check_node(run, i);
	if (run_faults(run) || run_packets_out(run)) {
		fprintf(stderr, "%u faults, %u packets out\n", run_faults(run),
			run_packets_out(run));
		abort();
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct errors *errors = errors_new();
	struct eal_wishes wishes = {.memory_bytes = 256 << 20, .more = "--no-huge"};

	(void)argc;
	(void)argv;
	if (eal_start(&wishes, errors)) {
		errors_print(errors, stderr);
		exit(3);
	}
	errors_free(errors);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_options options = {.replay = true, .no_cores = true, .start_ns = START_NS};
	struct input in = {.at = data, .end = data + size, .arena = arena_new()};
	struct errors *errors = errors_new();
	const struct module_type **types, *type;
	unsigned n = module_list(&types);
	struct graph *graph;
	struct run *run = NULL;

	type = types[take(&in) % n];
	graph = graph_make(&in, type, errors);
	if (graph)
		run = run_open(graph, &options, errors);
	if (!run && !errors_count(errors)) // refused without a reason
		abort();
	// The arena has become the graph's, and holds what a command is given too.
	if (run) {
		run_through(&in, run, type);
		run_close(run);
	}
	errors_free(errors);
	return 0;
}
