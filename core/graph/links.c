// SPDX-License-Identifier: BSD-3-Clause
// Links: arrow strings as in Click, `cls[miss] -> [1]nat -> out`.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph/load.h"

// Where we are in one arrow string.
struct arrows {
	struct draft *draft;
	const char *text;
	const char *at;
	struct place place; // of the text's first character
	bool failed;
};

// One place in a chain: `[in]name[out]`; gate texts are NULL when not written.
struct stop {
	const char *name;
	const char *in;
	const char *out;
	struct place place;
	struct place in_place;
	struct place out_place;
};

static struct place place_here(const struct arrows *arrows, const char *at)
{
	struct place place = arrows->place;

	// A script's links have no columns.
	if (place.col)
		place.col += (unsigned)(at - arrows->text);
	return place;
}

static void blanks_skip(struct arrows *arrows)
{
	while (isspace((unsigned char)*arrows->at))
		arrows->at++;
}

static bool name_char(const char *at)
{
	return isalnum((unsigned char)*at) || *at == '_' || *at == '#' || *at == '.' ||
	       (*at == '-' && at[1] != '>');
}

// What stands at the present place, for messages: a word or a single character.
static void unexpected(struct arrows *arrows, const char *wanted)
{
	int n = 1;

	if (!*arrows->at)
		error_at(arrows->draft->errors, place_here(arrows, arrows->at),
			 "the link \"%s\" ends where %s should be", arrows->text, wanted);
	else {
		while (name_char(arrows->at) && name_char(arrows->at + n))
			n++;
		error_at(arrows->draft->errors, place_here(arrows, arrows->at),
			 "\"%.*s\" in a link, it should be %s", n, arrows->at, wanted);
	}
	arrows->failed = true;
}

// `[gate]`, if there is one.
static const char *gate_read(struct arrows *arrows, struct place *place)
{
	const char *start, *end;

	blanks_skip(arrows);
	if (*arrows->at != '[')
		return NULL;
	arrows->at++;
	blanks_skip(arrows);
	start = arrows->at;
	*place = place_here(arrows, start);
	while (name_char(arrows->at))
		arrows->at++;
	end = arrows->at;
	blanks_skip(arrows);
	if (end == start) {
		unexpected(arrows, "the number or name of a gate");
		return NULL;
	}
	if (*arrows->at != ']') {
		unexpected(arrows, "a closing ]");
		return NULL;
	}
	arrows->at++;
	return arena_strndup(arrows->draft->graph->arena, start, (size_t)(end - start));
}

static bool stop_read(struct arrows *arrows, struct stop *stop)
{
	const char *start;

	*stop = (struct stop){0};
	stop->in = gate_read(arrows, &stop->in_place);
	if (arrows->failed)
		return false;
	blanks_skip(arrows);
	start = arrows->at;
	stop->place = place_here(arrows, start);
	while (name_char(arrows->at))
		arrows->at++;
	if (arrows->at == start) {
		unexpected(arrows, "the name of a node or module");
		return false;
	}
	stop->name =
	    arena_strndup(arrows->draft->graph->arena, start, (size_t)(arrows->at - start));
	stop->out = gate_read(arrows, &stop->out_place);
	return !arrows->failed;
}

static void node_unknown(struct draft *draft, const struct stop *stop)
{
	const struct module_type **list;
	unsigned n_modules = module_list(&list);
	unsigned n_nodes = draft->n_by_name;
	const char **names = memory_new(n_modules + n_nodes + 1, sizeof(*names));
	const char *near;

	for (unsigned i = 0; i < n_nodes; i++)
		names[i] = draft->graph->nodes[i].name;
	for (unsigned i = 0; i < n_modules; i++)
		names[n_nodes + i] = list[i]->name;
	near = suggest(stop->name, names, n_nodes + n_modules);
	error_at(draft->errors, stop->place, "no node or module \"%s\"%s%s%s", stop->name,
		 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	free(names);
}

// Index of a node of the section `nodes`, or -1.
static int named_find(const struct draft *draft, const char *name)
{
	unsigned low = 0, high = draft->n_by_name;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		unsigned index = draft->by_name[middle];
		int order = strcmp(name, draft->graph->nodes[index].name);

		if (!order)
			return (int)index;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return -1;
}

// An unnamed node: TYPE#N, N counting the unnamed nodes of the type in file order. A graph that was
// written out has names of this kind among the named ones.
static int node_unnamed(struct draft *draft, const struct stop *stop,
			const struct module_type *type)
{
	struct graph *graph = draft->graph;
	unsigned long n = 1;
	size_t length = strlen(type->name);
	const char *name;

	for (unsigned i = graph->n_nodes; i-- > draft->n_by_name;) {
		const struct graph_node *other = &graph->nodes[i];

		if (!strncmp(other->name, type->name, length) && other->name[length] == '#') {
			n = strtoul(other->name + length + 1, NULL, 10) + 1;
			break;
		}
	}
	do {
		name = arena_printf(graph->arena, "%s#%lu", type->name, n++);
	} while (named_find(draft, name) >= 0);
	node_add(draft, name, stop->place, type, NULL)->unnamed = true;
	return (int)graph->n_nodes - 1;
}

static int node_find(struct draft *draft, const struct stop *stop)
{
	int index = named_find(draft, stop->name);
	const struct module_type *type;

	if (index >= 0)
		return index;
	type = module_find(stop->name);
	if (type)
		return node_unnamed(draft, stop, type);
	node_unknown(draft, stop);
	return -1;
}

static const char *gates_text(struct draft *draft, unsigned n, const char *const *names)
{
	struct arena *arena = draft->graph->arena;
	const char *text = "";

	if (n == 0)
		return "none";
	if (!names)
		return n == 1 ? "0" : arena_printf(arena, "0 to %u", n - 1);
	for (unsigned i = 0; i < n; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", names[i]);
	return text;
}

// A gate's text to its number; false after an error. Grows the count of nodes with any number of
// gates.
static bool gate_find(struct draft *draft, struct graph_node *node, bool output, const char *text,
		      struct place place, gate_t *gate)
{
	const char *side = output ? "output" : "input";
	gate_t has = output ? node->type->ogates : node->type->igates;
	const char *const *names = output ? node->type->ogate_names : node->type->igate_names;
	gate_t *count = output ? &node->ogates : &node->igates;
	unsigned long number = 0;
	char *end = NULL;

	for (unsigned i = 0; text && names && has != GATES_ANY && i < has; i++)
		if (!strcmp(names[i], text)) {
			*gate = (gate_t)i;
			return true;
		}
	if (text)
		number = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : ULONG_MAX;
	if (has == 0) {
		error_at(draft->errors, place, "%s '%s' has no %s gates, so no link can %s it",
			 node->type->name, node->name, side, output ? "leave" : "enter");
		return false;
	}
	if ((end && *end) || number >= (has == GATES_ANY ? GATES_MAX : has)) {
		const char *near = names && has != GATES_ANY ? suggest(text, names, has) : NULL;

		if (near) {
			error_at(draft->errors, place,
				 "%s '%s' has no %s gate %s; did you mean \"%s\"?",
				 node->type->name, node->name, side, text, near);
			return false;
		}
		error_at(draft->errors, place, "%s '%s' has no %s gate %s, it has %s",
			 node->type->name, node->name, side, text,
			 gates_text(draft, has == GATES_ANY ? GATES_MAX : has,
				    has == GATES_ANY ? NULL : names));
		return false;
	}
	*gate = (gate_t)number;
	if (has == GATES_ANY && number >= *count)
		*count = (gate_t)(number + 1);
	return true;
}

static void link_add(struct draft *draft, unsigned from, gate_t ogate, unsigned to, gate_t igate,
		     struct place place)
{
	struct graph *graph = draft->graph;

	if (graph->n_links == draft->links_room) {
		struct graph_link *old = graph->links;

		draft->links_room = draft->links_room ? 2 * draft->links_room : 64;
		graph->links = arena_alloc(graph->arena, draft->links_room * sizeof(*old));
		if (old)
			memcpy(graph->links, old, graph->n_links * sizeof(*old));
	}
	graph->links[graph->n_links++] = (struct graph_link){
	    .from = from, .ogate = ogate, .to = to, .igate = igate, .place = place};
}

static void chain_read(struct draft *draft, struct arrows *arrows)
{
	struct stop stop, before = {0};
	int node, last = -1;
	unsigned n = 0;

	for (;;) {
		gate_t out = 0, in = 0;
		bool sound;

		if (!stop_read(arrows, &stop))
			return;
		node = node_find(draft, &stop);
		sound = node >= 0 && draft->graph->nodes[node].type;
		if (n == 0 && stop.in)
			error_at(draft->errors, stop.in_place,
				 "the link begins with an input gate, it should begin with a node");
		if (n > 0 && sound)
			sound = gate_find(draft, &draft->graph->nodes[node], false, stop.in,
					  stop.in ? stop.in_place : stop.place, &in);
		if (n > 0 && last >= 0 && draft->graph->nodes[last].type &&
		    gate_find(draft, &draft->graph->nodes[last], true, before.out,
			      before.out ? before.out_place : before.place, &out) &&
		    sound)
			link_add(draft, (unsigned)last, out, (unsigned)node, in, stop.place);
		n++;
		last = node;
		before = stop;
		blanks_skip(arrows);
		if (!*arrows->at)
			break;
		if (strncmp(arrows->at, "->", 2) != 0) {
			unexpected(arrows, "an arrow (->)");
			return;
		}
		arrows->at += 2;
	}
	if (n == 1)
		error_at(draft->errors, arrows->place,
			 "\"%s\" is no link, it should be like a -> b", arrows->text);
	else if (stop.out)
		error_at(draft->errors, stop.out_place,
			 "the link ends with an output gate, it should end with a node");
}

static int link_compare(const void *a, const void *b, void *arg)
{
	const struct graph_link *links = arg;
	const struct graph_link *x = &links[*(const unsigned *)a],
				*y = &links[*(const unsigned *)b];

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->ogate != y->ogate)
		return x->ogate < y->ogate ? -1 : 1;
	return *(const unsigned *)a < *(const unsigned *)b ? -1 : 1;
}

// One link leaves an output gate.
static void links_check(struct draft *draft)
{
	struct graph *graph = draft->graph;
	unsigned *sorted = memory_new(graph->n_links + 1, sizeof(*sorted));

	for (unsigned i = 0; i < graph->n_links; i++)
		sorted[i] = i;
	qsort_r(sorted, graph->n_links, sizeof(*sorted), link_compare, graph->links);
	for (unsigned i = 1; i < graph->n_links; i++) {
		const struct graph_link *one = &graph->links[sorted[i - 1]];
		const struct graph_link *two = &graph->links[sorted[i]];

		if (one->from == two->from && one->ogate == two->ogate)
			error_at(draft->errors, two->place,
				 "output gate %s is linked already (line %u); one link leaves a "
				 "gate, a Tee copies packets to several",
				 graph_gate_text(graph->arena, &graph->nodes[two->from], true,
						 two->ogate),
				 one->place.line);
	}
	free(sorted);
}

void links_read(struct draft *draft, const struct value *links)
{
	struct arena *arena = draft->graph->arena;

	if (!links || links->faulty || links->kind == VALUE_NULL)
		return;
	if (links->kind != VALUE_LIST) {
		error_at(draft->errors, links->place,
			 "graph is %s, it should be a list of links (- a -> b)",
			 value_describe(arena, links));
		return;
	}
	for (size_t i = 0; i < links->n; i++) {
		const struct value *item = links->items[i];
		struct arrows arrows = {.draft = draft, .place = item->place};

		if (item->faulty)
			continue;
		if (item->kind != VALUE_SCALAR) {
			error_at(draft->errors, item->place,
				 "%s is no link, it should be a text like a -> b",
				 value_describe(arena, item));
			continue;
		}
		arrows.text = item->text;
		arrows.at = item->text;
		arrows.place.col += item->quoted ? 1 : 0;
		chain_read(draft, &arrows);
	}
	links_check(draft);
}
