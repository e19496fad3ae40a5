// SPDX-License-Identifier: BSD-3-Clause
// POST /explain: the way that a packet would go, in one object.

#include <stdlib.h>
#include <string.h>

#include "control/trace.h"
#include "control/trace_ways.h"
#include "value/table.h"

struct explain_request {
	const char *node;
	const char *gate;
	struct frame packet;
};

static const struct param explain_params[] = {
    PARAM(explain_request, node, .help = "the node that it comes to, or, of a source, comes from"),
    PARAM(explain_request, gate, .def = "0",
	  .help = "the input gate that it comes in by, by number or name"),
    PARAM(explain_request, packet, .example = "ether / ipv4 dst=10.0.0.2 / udp dport=53",
	  .help = "the packet, in words or hexadecimal"),
    PARAM_END,
};

// What the only packet gives.
struct explained {
	struct arena *arena;
	json_t *json;
};

static void explained(void *arg, struct ways_packet *packet, unsigned watches, bool whole)
{
	struct explained *to = arg;

	(void)watches;
	(void)whole;
	to->json = ways_json(to->arena, packet, 0);
}

static bool gate_read(const struct graph_node *node, const char *text, gate_t *gate,
		      struct errors *errors)
{
	const char *const *names = node->type->igate_names;
	gate_t gates = node->igates;
	uint64_t number;
	const char *why;

	if (!gates && !strcmp(text, "0")) {
		*gate = 0;
		return true;
	}
	for (gate_t i = 0; names && i < gates; i++)
		if (names[i] && !strcmp(names[i], text)) {
			*gate = i;
			return true;
		}
	if (parse_u64(text, &number, &why) && number < gates) {
		*gate = (gate_t)number;
		return true;
	}
	if (!gates)
		error_at(errors, (struct place){.file = "gate"},
			 "%s '%s' is a source and has no input gate", node->type->name, node->name);
	else
		error_at(errors, (struct place){.file = "gate"},
			 "\"%s\" is no input gate of %s '%s', it should be below %u", text,
			 node->type->name, node->name, gates);
	return false;
}

static int explain(const struct request *request, const struct explain_request *asked,
		   unsigned node, struct arena *arena, json_t **json, struct errors *errors)
{
	struct explain explain = {
	    .node = node, .bytes = asked->packet.bytes, .n = asked->packet.n, .arena = arena};
	struct explained to = {.arena = arena};
	struct ways *ways;
	uint64_t parked_ns;
	int status;

	if (!gate_read(&run_graph(request->run)->nodes[node], asked->gate, &explain.igate, errors))
		return -1;
	if (explain.n < 14) {
		error_at(errors, (struct place){.file = "packet"},
			 "a packet of %u bytes; it should have 14 or more", explain.n);
		return -1;
	}
	ways = ways_new(explained, &to);
	status = run_explain(request->run, &explain, ways_take, ways, &parked_ns, errors);
	ways_flush(ways, 1);
	ways_free(ways);
	if (!status) {
		*json = to.json;
		json_object_set_new(*json, "parked_ns", json_integer((json_int_t)parked_ns));
	}
	return status;
}

void serve_explain(const struct request *request, struct answer *answer)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	const struct explain_request *asked =
	    body_fill(arena, request, explain_params, "explain", errors);
	const struct graph_node *node = asked ? node_find(request->run, asked->node, answer) : NULL;

	// A node that is not there has been answered.
	if (asked &&
	    (!node || !explain(request, asked, (unsigned)(node - run_graph(request->run)->nodes),
			       arena, &answer->json, errors)))
		errors_free(errors);
	else
		answer_errors(answer, errors_exit_code(errors) == ERROR_MACHINE ? 503 : 400,
			      errors);
	arena_free(arena);
}
