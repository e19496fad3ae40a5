// SPDX-License-Identifier: BSD-3-Clause
// Per-packet metadata: whoever reads a field must have a writer before it on every path.

#include <stdlib.h>
#include <string.h>

#include "graph/load.h"

#define FIELDS_MAX 64

struct fields {
	struct meta meta[FIELDS_MAX];
	unsigned n;
};

static const char *const type_names[] = {"u8", "u16", "u32", "u64"};

// The number of a field, new if need be; -1 when there are too many or its type differs from an
// earlier one.
static int field_find(struct draft *draft, struct fields *fields, const struct meta *meta,
		      const struct graph_node *node)
{
	for (unsigned i = 0; i < fields->n; i++) {
		if (strcmp(fields->meta[i].name, meta->name) != 0)
			continue;
		if (fields->meta[i].type == meta->type)
			return (int)i;
		error_at(draft->errors, node->place,
			 "%s '%s' has the metadata %s as %s, another node of this graph as %s",
			 node->type->name, node->name, meta->name, type_names[meta->type],
			 type_names[fields->meta[i].type]);
		return -1;
	}
	if (fields->n == FIELDS_MAX) {
		error_at(draft->errors, node->place, "the graph has more than %u kinds of metadata",
			 FIELDS_MAX);
		return -1;
	}
	fields->meta[fields->n] = *meta;
	return (int)fields->n++;
}

static uint64_t fields_mask(struct draft *draft, struct fields *fields, const struct meta *rows,
			    const struct graph_node *node)
{
	uint64_t mask = 0;

	for (const struct meta *row = rows; row && row->name; row++) {
		int field = field_find(draft, fields, row, node);

		if (field >= 0)
			mask |= 1ULL << field;
	}
	return mask;
}

// Follows links backwards from a reader, as long as the field is missing, to a source: "rx -> a ->
// reader".
static const char *path_without(struct graph *graph, const uint64_t *out, unsigned reader,
				uint64_t bit)
{
	const char *path = graph->nodes[reader].name;
	unsigned node = reader;

	for (unsigned steps = 0; steps <= graph->n_nodes; steps++) {
		unsigned i = 0;

		while (i < graph->n_links && (graph->links[i].to != node || graph->links[i].back ||
					      (out[graph->links[i].from] & bit)))
			i++;
		if (i == graph->n_links)
			break;
		node = graph->links[i].from;
		path = arena_printf(graph->arena, "%s -> %s", graph->nodes[node].name, path);
	}
	return path;
}

void meta_check(struct draft *draft)
{
	struct graph *graph = draft->graph;
	struct fields fields = {.n = 0};
	uint64_t *reads = memory_new(graph->n_nodes + 1, sizeof(*reads));
	uint64_t *writes = memory_new(graph->n_nodes + 1, sizeof(*writes));
	uint64_t *in = memory_new(graph->n_nodes + 1, sizeof(*in));
	uint64_t *out = memory_new(graph->n_nodes + 1, sizeof(*out));
	bool changed = true;

	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		reads[i] = fields_mask(draft, &fields, node->type->reads, node);
		writes[i] = fields_mask(draft, &fields, node->type->writes, node);
		in[i] = node->type->igates ? ~0ULL : 0;
		out[i] = in[i] | writes[i];
	}
	// The greatest fixed point: a field is there only if it is on every link that enters.
	while (fields.n && changed) {
		changed = false;
		for (unsigned i = 0; i < graph->n_links; i++) {
			const struct graph_link *link = &graph->links[i];
			uint64_t now = in[link->to] & out[link->from];

			changed |= now != in[link->to];
			in[link->to] = now;
			out[link->to] = now | writes[link->to];
		}
	}
	for (unsigned i = 0; i < graph->n_nodes; i++)
		for (unsigned f = 0; f < fields.n; f++)
			if (reads[i] & ~in[i] & 1ULL << f)
				error_at(draft->errors, graph->nodes[i].place,
					 "%s '%s' reads the metadata %s, which nothing writes on "
					 "the path %s",
					 graph->nodes[i].type->name, graph->nodes[i].name,
					 fields.meta[f].name,
					 path_without(graph, out, i, 1ULL << f));
	free(reads);
	free(writes);
	free(in);
	free(out);
}
