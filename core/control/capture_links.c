// SPDX-License-Identifier: BSD-3-Clause
// Which links a capture is of, in this graph and in those that follow; and their names.

#include <string.h>

#include "control/capture.h"

static const char *const directions[] = {"out", "in", "both", NULL};

const struct param capture_params[] = {
    PARAM(capture_wish, gate, .def = "", .example = "0",
	  .help = "the gate, by number or name; all, if it is left out"),
    PARAM(capture_wish, direction, .def = "out", .choices = directions,
	  .help = "what leaves a node, what enters it, or both; what a port sends, receives, or "
		  "both, which is its default"),
    PARAM(capture_wish, filter, .def = "", .max = 4096, .example = "udp and port 53",
	  .help = "an expression of pcap-filter(7) that packets must match"),
    PARAM(capture_wish, snaplen, .def = "262144", .min = 14, .max = CAPTURE_SNAPLEN,
	  .help = "bytes that are taken of a packet"),
    PARAM(capture_wish, sample, .def = "1", .min = 1,
	  .help = "takes one packet in so many of those that match"),
    PARAM(capture_wish, count, .def = "0", .help = "ends after so many packets; 0: does not end"),
    PARAM_END,
};

static bool wants_out(const struct capture_wish *wish)
{
	return wish->direction.n != CAPTURE_IN;
}

static bool wants_in(const struct capture_wish *wish)
{
	return wish->direction.n != CAPTURE_OUT;
}

static const char *const *gate_names(const struct graph_node *node, bool output)
{
	return output ? node->type->ogate_names : node->type->igate_names;
}

static gate_t gate_count(const struct graph_node *node, bool output)
{
	return output ? node->ogates : node->igates;
}

// Whether a gate is the one that is meant, by number or name.
static bool gate_is(const struct graph_node *node, bool output, gate_t gate, const char *text)
{
	const char *const *names = gate_names(node, output);
	char number[8];

	if (!*text)
		return true;
	snprintf(number, sizeof(number), "%u", gate);
	return !strcmp(text, number) || (names && names[gate] && !strcmp(text, names[gate]));
}

static bool gate_there(const struct graph_node *node, bool output, const char *text)
{
	for (gate_t gate = 0; gate < gate_count(node, output); gate++)
		if (gate_is(node, output, gate, text))
			return true;
	return false;
}

// What goes into the graph from a port is inbound, what enters a node where both are captured too.
static bool link_in(const struct graph *graph, const struct capture_wish *wish,
		    const struct graph_link *link)
{
	const struct graph_node *from = &graph->nodes[link->from], *to = &graph->nodes[link->to];

	if (!wants_in(wish))
		return false;
	if (wish->port)
		return from->port >= 0 && from->receives &&
		       !strcmp(graph->ports[from->port].name, wish->name);
	return !strcmp(to->name, wish->name) && gate_is(to, false, link->igate, wish->gate);
}

static bool link_out(const struct graph *graph, const struct capture_wish *wish,
		     const struct graph_link *link)
{
	const struct graph_node *from = &graph->nodes[link->from], *to = &graph->nodes[link->to];

	if (!wants_out(wish))
		return false;
	if (wish->port)
		return to->port >= 0 && !to->receives &&
		       !strcmp(graph->ports[to->port].name, wish->name);
	return !strcmp(from->name, wish->name) && gate_is(from, true, link->ogate, wish->gate);
}

static const char *gate_text(struct arena *arena, const struct graph_node *node, bool output,
			     gate_t gate)
{
	const char *const *names = gate_names(node, output);

	return names && names[gate] ? names[gate] : arena_printf(arena, "%u", gate);
}

// The number of an interface for a link, from 1; made if there is none yet. 0: there is no room.
static unsigned link_number(struct capture *capture, const struct graph *graph,
			    const struct graph_link *link, enum pcapng_direction direction)
{
	const struct graph_node *from = &graph->nodes[link->from], *to = &graph->nodes[link->to];
	struct arena *arena = arena_new();
	const char *name =
	    arena_printf(arena, "%s[%s]", from->name, gate_text(arena, from, true, link->ogate));
	const char *description = arena_printf(arena, "%s -> [%s]%s", name,
					       gate_text(arena, to, false, link->igate), to->name);
	unsigned n = capture->n_links, i = 0;

	while (i < n && (strcmp(capture->links[i].description, description) != 0 ||
			 capture->links[i].direction != direction))
		i++;
	if (i == CAPTURE_LINKS_MAX) {
		capture->broken = "it has seen too many links";
	} else if (i == n) {
		capture->links[i].name = arena_strdup(capture->arena, name);
		capture->links[i].description = arena_strdup(capture->arena, description);
		capture->links[i].direction = direction;
		__atomic_store_n(&capture->n_links, n + 1, __ATOMIC_RELEASE);
	}
	arena_free(arena);
	return i < CAPTURE_LINKS_MAX ? i + 1 : 0;
}

// Each worker of the graph gets its lane before it can come by.
static void lanes_make(struct capture *capture, const struct graph *graph)
{
	for (unsigned i = 0; i < graph->n_workers; i++) {
		struct capture_lane **lane = &capture->by_core[graph->workers[i].core];

		if (*lane)
			continue;
		*lane = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(**lane), 64));
		if (*lane) {
			memset(*lane, 0, sizeof(**lane));
			(*lane)->in = capture->wish.sample;
		}
		if (!*lane || !ring_make(&(*lane)->ring, CAPTURE_LANE_BYTES)) {
			free(*lane);
			*lane = NULL;
			capture->broken = "there is no memory for its packets";
			continue;
		}
		(*lane)->next = capture->lanes;
		__atomic_store_n(&capture->lanes, *lane, __ATOMIC_RELEASE);
	}
}

// Two numbers in one: of the interface for what goes out, and of that for what comes in.
unsigned capture_wants(const struct tap *tap, const struct graph *graph,
		       const struct graph_link *link)
{
	struct capture *capture = (struct capture *)(uintptr_t)tap;
	const struct capture_wish *wish = &capture->wish;
	bool flags = wish->port || wish->direction.n == CAPTURE_BOTH, in, out;
	unsigned number = 0;

	in = link_in(graph, wish, link);
	out = link_out(graph, wish, link);
	if (in || out)
		lanes_make(capture, graph);
	if (out)
		number =
		    link_number(capture, graph, link, flags ? PCAPNG_OUTBOUND : PCAPNG_UNKNOWN);
	if (in)
		number |= link_number(capture, graph, link, flags ? PCAPNG_INBOUND : PCAPNG_UNKNOWN)
			  << 16;
	return number;
}

bool capture_target_there(const struct graph *graph, const struct capture_wish *wish)
{
	return (wish->port ? graph_find_port(graph, wish->name)
			   : graph_find_node(graph, wish->name)) >= 0;
}

static void gate_missing(const struct graph_node *node, const struct capture_wish *wish,
			 struct errors *errors)
{
	bool output = wants_out(wish);
	const char *const *names = gate_names(node, output);
	gate_t n = gate_count(node, output);
	const char *side = output ? "output" : "input";
	const char *near = names ? suggest(wish->gate, names, n) : NULL;

	if (!n)
		error_input(errors, "gate", "%s \"%s\" has no %s gates", node->type->name,
			    node->name, side);
	else if (near)
		error_input(errors, "gate", "%s \"%s\" has no %s gate \"%s\"; did you mean \"%s\"?",
			    node->type->name, node->name, side, wish->gate, near);
	else if (n == 1)
		error_input(errors, "gate", "%s \"%s\" has no %s gate \"%s\", only gate 0",
			    node->type->name, node->name, side, wish->gate);
	else
		error_input(errors, "gate", "%s \"%s\" has no %s gate \"%s\", only gates 0 to %u",
			    node->type->name, node->name, side, wish->gate, n - 1u);
}

static void no_link(const struct capture_wish *wish, struct errors *errors)
{
	static const char *const of_node[] = {"nothing leaves", "nothing enters",
					      "nothing enters or leaves"};
	static const char *const of_port[] = {"no node sends to", "no node receives from",
					      "no node receives from or sends to"};

	if (wish->port)
		error_input(errors, NULL, "%s port \"%s\"", of_port[wish->direction.n], wish->name);
	else if (*wish->gate)
		error_input(errors, "gate", "%s \"%s\" by gate %s: it leads nowhere",
			    of_node[wish->direction.n], wish->name, wish->gate);
	else
		error_input(errors, NULL, "%s \"%s\": its gates lead nowhere",
			    of_node[wish->direction.n], wish->name);
}

bool capture_possible(const struct graph *graph, const struct capture_wish *wish,
		      struct errors *errors)
{
	if (wish->port && *wish->gate) {
		error_input(errors, "gate", "port \"%s\" has no gates", wish->name);
		return false;
	}
	if (*wish->gate) {
		const struct graph_node *node = &graph->nodes[graph_find_node(graph, wish->name)];

		if (!(wants_out(wish) && gate_there(node, true, wish->gate)) &&
		    !(wants_in(wish) && gate_there(node, false, wish->gate))) {
			gate_missing(node, wish, errors);
			return false;
		}
	}
	for (unsigned i = 0; i < graph->n_links; i++)
		if (link_in(graph, wish, &graph->links[i]) ||
		    link_out(graph, wish, &graph->links[i]))
			return true;
	no_link(wish, errors);
	return false;
}
