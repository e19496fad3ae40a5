// SPDX-License-Identifier: BSD-3-Clause
// Ways are told apart by a hash of their nodes, gates and ends. The shape is kept as JSON, with the
// cycles of its steps summed up beside it.

#include <stdlib.h>

#include "control/trace_summary.h"
#include "value/value.h"

#define WAYS_MAX 1000

struct entry {
	uint64_t hash;
	uint64_t count;
	uint64_t cycles;
	uint64_t *step_cycles; // of all steps of all its ways, in order
	json_t *shape;
};

struct summary {
	struct entry entries[WAYS_MAX];
	unsigned n;
	uint64_t others;
};

struct summary *summary_new(void)
{
	return memory_new(1, sizeof(struct summary));
}

void summary_free(struct summary *summary)
{
	for (unsigned i = 0; summary && i < summary->n; i++) {
		free(summary->entries[i].step_cycles);
		json_decref(summary->entries[i].shape);
	}
	free(summary);
}

// FNV-1a, a word at a time.
static uint64_t hash_add(uint64_t hash, uint64_t word)
{
	for (unsigned i = 0; i < 8; i++, word >>= 8)
		hash = (hash ^ (word & 0xff)) * 0x100000001b3;
	return hash;
}

static uint64_t event_hash(uint64_t hash, const struct trace_event *event)
{
	if (!event)
		return hash_add(hash, UINT64_MAX);
	return hash_add(hash,
			(uint64_t)event->gate << 32 | (uint64_t)event->reason << 8 | event->end);
}

static uint64_t ways_hash(const struct way *ways, unsigned n)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (unsigned i = 0; i < n; i++) {
		const struct way *way = &ways[i];

		hash = hash_add(hash, (uint64_t)way->from << 32 | way->from_step);
		hash = event_hash(hash, way->copied);
		hash = event_hash(hash, way->dropped);
		for (unsigned k = 0; k < way->n_steps; k++) {
			hash = hash_add(hash, (uintptr_t)way->steps[k].node);
			hash = event_hash(hash, way->steps[k].call);
			hash = event_hash(hash, way->steps[k].leaves);
		}
	}
	return hash;
}

static unsigned steps_count(const struct way *ways, unsigned n)
{
	unsigned steps = 0;

	for (unsigned i = 0; i < n; i++)
		steps += ways[i].n_steps;
	return steps;
}

static struct entry *entry_find(struct summary *summary, uint64_t hash)
{
	for (unsigned i = 0; i < summary->n; i++)
		if (summary->entries[i].hash == hash)
			return &summary->entries[i];
	return NULL;
}

void summary_add(struct summary *summary, const struct ways_packet *packet, unsigned watch)
{
	struct arena *arena = arena_new();
	struct way *ways;
	unsigned n = ways_make(arena, packet, watch, &ways), at = 0;
	uint64_t hash = ways_hash(ways, n);
	struct entry *entry = entry_find(summary, hash);

	if (!entry && summary->n < WAYS_MAX) {
		entry = &summary->entries[summary->n++];
		entry->hash = hash;
		entry->step_cycles = memory_new(steps_count(ways, n) + 1, sizeof(uint64_t));
		entry->shape = ways_shape_json(arena, ways, n);
	}
	if (entry)
		entry->count++;
	else
		summary->others++;
	for (unsigned i = 0; entry && i < n; i++)
		for (unsigned k = 0; k < ways[i].n_steps; k++, at++) {
			const struct trace_event *call = ways[i].steps[k].call;

			entry->step_cycles[at] += call ? call->cycles : 0;
			entry->cycles += call ? call->cycles : 0;
		}
	arena_free(arena);
}

static int entries_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->count > y->count ? -1 : x->count < y->count;
}

static json_t *entry_json(const struct entry *entry)
{
	json_t *way, *step;
	unsigned at = 0;
	size_t i, k;

	json_array_foreach (entry->shape, i, way)
		json_array_foreach (json_object_get(way, "steps"), k, step) {
			uint64_t cycles = entry->step_cycles[at++] / entry->count;

			if (json_object_get(step, "in"))
				json_object_set_new(step, "cycles",
						    json_integer((json_int_t)cycles));
		}
	return json_pack("{s:I, s:I, s:O}", "count", (json_int_t)entry->count, "cycles",
			 (json_int_t)(entry->cycles / entry->count), "ways", entry->shape);
}

json_t *summary_json(struct summary *summary)
{
	json_t *list = json_array();

	qsort(summary->entries, summary->n, sizeof(struct entry), entries_compare);
	for (unsigned i = 0; i < summary->n; i++)
		json_array_append_new(list, entry_json(&summary->entries[i]));
	if (summary->others)
		json_array_append_new(list, json_pack("{s:I, s:b}", "count",
						      (json_int_t)summary->others, "others", true));
	return list;
}
