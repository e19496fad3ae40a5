// SPDX-License-Identifier: BSD-3-Clause
// sluice test: what was expected against what came: packets and counters.

#include <stdlib.h>
#include <string.h>

#include "cli/test.h"
#include "value/table.h"

// More packets than these are only counted: the first ones tell what is wrong.
#define SHOWN 8

static void diff_bytes(FILE *out, const struct frame *a, const struct frame *b)
{
	unsigned n = a->n < b->n ? a->n : b->n, first = 0, last = n;

	while (first < n && a->bytes[first] == b->bytes[first])
		first++;
	while (last > first && a->bytes[last - 1] == b->bytes[last - 1])
		last--;
	if (a->n != b->n)
		fprintf(out, "%u bytes long, it should be %u", b->n, a->n);
	if (first < last)
		fprintf(out, "%sdiffers in byte%s %u", a->n != b->n ? ", and " : "",
			last - first > 1 ? "s" : "", first);
	if (last > first + 1)
		fprintf(out, " to %u", last - 1);
}

static void diff_packet(struct arena *arena, FILE *out, const char *port, unsigned i,
			const struct frame *expected, const struct frame *got)
{
	fprintf(out, "\n  %s, packet %u: ", port, i + 1);
	if (expected && got)
		diff_bytes(out, expected, got);
	else
		fputs(got ? "was not expected" : "did not come", out);
	if (expected)
		fprintf(out, "\n    - %s", frame_describe(arena, expected->bytes, expected->n));
	if (got)
		fprintf(out, "\n    + %s", frame_describe(arena, got->bytes, got->n));
}

const char *test_diff(struct arena *arena, const char *port, const struct frame *expected,
		      unsigned n_expected, const struct frame *got, unsigned n_got)
{
	unsigned n = n_expected > n_got ? n_expected : n_got, differing = 0;
	char *text = NULL;
	const char *diff;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "%s sent %u packet%s, it should send %u", port, n_got, n_got == 1 ? "" : "s",
		n_expected);
	for (unsigned i = 0; i < n; i++) {
		const struct frame *a = i < n_expected ? &expected[i] : NULL;
		const struct frame *b = i < n_got ? &got[i] : NULL;

		if (a && b && a->n == b->n && !memcmp(a->bytes, b->bytes, a->n))
			continue;
		if (differing++ < SHOWN)
			diff_packet(arena, out, port, i, a, b);
	}
	if (differing > SHOWN)
		fprintf(out, "\n  and %u packets more", differing - SHOWN);
	fclose(out);
	diff = differing ? arena_strdup(arena, text) : NULL;
	free(text);
	return diff;
}

static uint64_t sum(const uint64_t *counts, unsigned n)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < n; i++)
		all += counts[i];
	return all;
}

// "in" or "in[2]".
static bool gate_counter(const char *key, const char *side, const uint64_t *counts, unsigned n,
			 uint64_t *value)
{
	size_t length = strlen(side);
	unsigned long gate;
	char *end;

	if (strncmp(key, side, length) != 0)
		return false;
	if (!key[length]) {
		*value = sum(counts, n);
		return true;
	}
	if (key[length] != '[')
		return false;
	gate = strtoul(key + length + 1, &end, 10);
	if (end == key + length + 1 || strcmp(end, "]") != 0 || gate >= n)
		return false;
	*value = counts[gate];
	return true;
}

// "dropped" or "dropped.runt".
static bool drop_counter(const struct module_type *type, const char *key,
			 const struct node_counts *counts, uint64_t *value)
{
	if (!strcmp(key, "dropped")) {
		*value = sum(counts->dropped, reason_count(type));
		return true;
	}
	if (strncmp(key, "dropped.", 8) != 0)
		return false;
	for (unsigned i = 0; i < reason_count(type); i++) {
		if (!strcmp(key + 8, reason_name(type, (reason_t)i))) {
			*value = counts->dropped[i];
			return true;
		}
	}
	return false;
}

// A field of a struct of counters, by name.
struct field {
	const char *name;
	size_t offset;
};

static bool field_counter(const struct field *fields, const char *key, const void *counts,
			  uint64_t *value)
{
	for (; fields->name; fields++) {
		if (!strcmp(key, fields->name)) {
			memcpy(value, (const char *)counts + fields->offset, sizeof(*value));
			return true;
		}
	}
	return false;
}

static bool node_counter(struct run *run, unsigned index, const char *key, uint64_t *value)
{
	static const struct field fields[] = {
	    {"made", offsetof(struct node_counts, made)},
	    {"consumed", offsetof(struct node_counts, consumed)},
	    {"held", offsetof(struct node_counts, held)},
	    {"released", offsetof(struct node_counts, released)},
	    {"in_batches", offsetof(struct node_counts, in_batches)},
	    {"out_batches", offsetof(struct node_counts, out_batches)},
	    {NULL, 0},
	};
	const struct graph_node *node = &run_graph(run)->nodes[index];
	const struct counter *own = node->type->counters;
	struct node_counts counts = {0};

	run_node_counts(run, index, &counts);
	if (gate_counter(key, "in", counts.in, node->igates, value) ||
	    gate_counter(key, "out", counts.out, node->ogates, value) ||
	    drop_counter(node->type, key, &counts, value) ||
	    field_counter(fields, key, &counts, value))
		return true;
	for (unsigned i = 0; own && own[i].name; i++) {
		if (!strcmp(key, own[i].name)) {
			*value = counts.own[i];
			return true;
		}
	}
	return false;
}

static bool port_counter(struct run *run, unsigned index, const char *key, uint64_t *value)
{
	static const struct field fields[] = {
	    {"rx_packets", offsetof(struct port_counters, rx_packets)},
	    {"rx_bytes", offsetof(struct port_counters, rx_bytes)},
	    {"tx_packets", offsetof(struct port_counters, tx_packets)},
	    {"tx_bytes", offsetof(struct port_counters, tx_bytes)},
	    {"rx_errors", offsetof(struct port_counters, rx_errors)},
	    {"rx_missed", offsetof(struct port_counters, rx_missed)},
	    {"rx_no_memory", offsetof(struct port_counters, rx_no_memory)},
	    {"tx_errors", offsetof(struct port_counters, tx_errors)},
	    {NULL, 0},
	};
	struct port_counters counts = {0};

	run_port_counts(run, index, &counts);
	return field_counter(fields, key, &counts, value);
}

bool test_counter(struct run *run, const char *path, uint64_t *value)
{
	const char *dot = strchr(path, '.');
	char name[64];
	int node, port;

	if (!dot || (size_t)(dot - path) >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(dot - path), path);
	node = graph_find_node(run_graph(run), name);
	if (node >= 0 && node_counter(run, (unsigned)node, dot + 1, value))
		return true;
	port = graph_find_port(run_graph(run), name);
	return port >= 0 && port_counter(run, (unsigned)port, dot + 1, value);
}
