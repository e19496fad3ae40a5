// SPDX-License-Identifier: BSD-3-Clause
// The part of L2Fwd that runs on the control thread: ageing, opening, and what a new graph takes
// over.

#ifndef SLUICE_L2FWD_CONTROL_H
#define SLUICE_L2FWD_CONTROL_H

#include <stdlib.h>

#include "l2fwd_table.h"

static inline uint32_t l2fwd_ms(uint64_t ns)
{
	return (uint32_t)(ns / 1000000);
}

// After each change: what workers remember of the table is out of date.
static inline void l2fwd_changed(struct l2fwd *state)
{
	__atomic_store_n(&state->version, state->version + 1, __ATOMIC_RELEASE);
}

// Adds static stations until one does not fit; returns how many did.
static unsigned l2fwd_add_all(struct l2fwd *state, const struct param_list *entries,
			      uint64_t now_ns)
{
	for (unsigned i = 0; i < entries->n; i++) {
		const struct l2fwd_entry *entry = param_item(l2fwd_entry, *entries, i);

		if (!l2fwd_put(&state->table, l2fwd_key(&entry->mac, entry->vlan), entry->gate.n,
			       true, l2fwd_ms(now_ns)))
			return i;
	}
	l2fwd_changed(state);
	return entries->n;
}

static bool l2fwd_is_stale(const struct node *node, unsigned slot, uint32_t now_ms)
{
	const struct l2fwd_params *params = node->params;
	const struct l2fwd *state = node->state;
	uint64_t meta = l2fwd_meta(&state->table, slot);
	int32_t age_ms = (int32_t)(now_ms - l2fwd_seen(&state->table, slot));

	return meta && !(meta & L2FWD_STATIC) && age_ms >= 0 &&
	       (uint32_t)age_ms >= params->ageing.ns / 1000000;
}

// Beside the workers: collects stations to remove, from a part of the table.
static void l2fwd_tick(struct node *node, uint64_t now_ns)
{
	const struct l2fwd_params *params = node->params;
	struct l2fwd *state = node->state;
	uint32_t look = RTE_MIN(state->table.size, L2FWD_SLICE);

	state->n_stale = 0;
	if (!params->ageing.ns)
		return;
	for (; look && state->n_stale < L2FWD_STALE; look--) {
		if (l2fwd_is_stale(node, state->cursor, l2fwd_ms(now_ns)))
			state->stale[state->n_stale++] = state->cursor;
		if (++state->cursor == state->table.size)
			state->cursor = 0;
	}
}

// With workers parked: removes them, but for those that were heard of since.
static void l2fwd_tick_parked(struct node *node, uint64_t now_ns)
{
	struct l2fwd *state = node->state;
	uint64_t aged = state->aged;

	for (unsigned i = 0; i < state->n_stale; i++) {
		if (!l2fwd_is_stale(node, state->stale[i], l2fwd_ms(now_ns)))
			continue;
		l2fwd_remove(&state->table, state->stale[i]);
		state->aged++;
	}
	if (state->aged != aged)
		l2fwd_changed(state);
	state->n_stale = 0;
}

// Moves stations one by one to a table of another size or kind. false: some did not fit.
static bool l2fwd_take_each(struct l2fwd_table *table, const struct l2fwd_table *old)
{
	bool all = true;

	for (unsigned i = 0; i < old->size; i++) {
		const struct l2fwd_station *station = &old->stations[i];

		if (station->meta)
			all &= l2fwd_put(table, station->key, station->meta & 0xff,
					 station->meta & L2FWD_STATIC, old->seen_ms[i]);
	}
	return all;
}

// The graph file's word on static stations is the new one's; what commands added stays.
static bool l2fwd_take_entries(struct node *node, const struct node *old)
{
	const struct l2fwd_params *params = node->params, *old_params = old->params;
	struct l2fwd *state = node->state;
	struct l2fwd_table *table = &state->table;
	void *data;

	for (unsigned i = 0; i < old_params->entries.n; i++) {
		const struct l2fwd_entry *entry = param_item(l2fwd_entry, old_params->entries, i);

		if (l2fwd_find_one(table, l2fwd_key(&entry->mac, entry->vlan), &data) &&
		    l2fwd_static(data))
			l2fwd_remove(table, l2fwd_slot(data));
	}
	for (unsigned i = 0; node->ogates < old->ogates && i < table->size; i++) {
		if (table->stations[i].meta && (table->stations[i].meta & 0xff) >= node->ogates)
			l2fwd_remove(table, i);
	}
	return l2fwd_add_all(state, &params->entries, node->now_ns) == params->entries.n;
}

static const char *l2fwd_loses(const void *params, const void *old_params)
{
	const struct l2fwd_params *a = params, *b = old_params;

	return a->vlan == b->vlan ? NULL : "all stations, because `vlan` changes";
}

// A table of the same size and kind changes hands whole.
static const char *l2fwd_take(struct node *node, struct node *old)
{
	struct l2fwd *state = node->state, *from = old->state;
	const char *lost = l2fwd_loses(node->params, old->params);
	bool all = true;

	if (lost)
		return lost;
	state->aged = from->aged;
	if (state->table.size == from->table.size &&
	    state->table.concurrent == from->table.concurrent) {
		struct l2fwd_table table = state->table;

		state->table = from->table;
		from->table = table;
	} else {
		all = l2fwd_take_each(&state->table, &from->table);
	}
	all &= l2fwd_take_entries(node, old);
	return all ? NULL : "stations for which the new table has no room";
}

static int l2fwd_entry_order(const void *a, const void *b)
{
	const struct l2fwd_entry *x = *(const struct l2fwd_entry *const *)a;
	const struct l2fwd_entry *y = *(const struct l2fwd_entry *const *)b;
	uint64_t p = l2fwd_key(&x->mac, x->vlan), q = l2fwd_key(&y->mac, y->vlan);

	if (p != q)
		return p < q ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void l2fwd_check_doubles(const struct l2fwd_params *params, struct errors *errors)
{
	const struct l2fwd_entry *first = params->entries.items, **sorted;
	unsigned n = params->entries.n;
	char where[40];

	sorted = malloc((n + 1) * sizeof(*sorted));
	if (!sorted)
		return;
	for (unsigned i = 0; i < n; i++)
		sorted[i] = &first[i];
	qsort(sorted, n, sizeof(*sorted), l2fwd_entry_order);
	for (unsigned i = 1; i < n; i++) {
		if (l2fwd_key(&sorted[i]->mac, sorted[i]->vlan) !=
		    l2fwd_key(&sorted[i - 1]->mac, sorted[i - 1]->vlan))
			continue;
		snprintf(where, sizeof(where), "entries[%u]", (unsigned)(sorted[i] - first));
		error_input(errors, where, "the same station as entry %u",
			    (unsigned)(sorted[i - 1] - first));
	}
	free(sorted);
}

static void l2fwd_check(const void *p, struct errors *errors)
{
	const struct l2fwd_params *params = p;
	char where[40];

	if (params->ageing.ns && params->ageing.ns < 1000000000)
		error_input(errors, "ageing", "too short; it should be 0s or 1s and more");
	if (params->entries.n > params->size)
		error_input(errors, "entries", "%u stations do not fit in a table of %u",
			    params->entries.n, params->size);
	for (unsigned i = 0; i < params->entries.n && !params->vlan; i++) {
		if (!param_item(l2fwd_entry, params->entries, i)->vlan)
			continue;
		snprintf(where, sizeof(where), "entries[%u].vlan", i);
		error_input(errors, where,
			    "VLANs are not told apart; say `vlan: true`, or leave it "
			    "out here");
	}
	l2fwd_check_doubles(params, errors);
}

static uint64_t l2fwd_memory(const void *params)
{
	return l2fwd_table_memory(((const struct l2fwd_params *)params)->size);
}

static int l2fwd_open(struct node *node, struct errors *errors)
{
	const struct l2fwd_params *params = node->params;
	struct l2fwd *state = node->state;

	state->version = 1;
	if (l2fwd_table_open(&state->table, params->size, node->workers > 1)) {
		error_machine(errors, "size", "no memory for a table of %u stations", params->size);
		return -1;
	}
	if (l2fwd_add_all(state, &params->entries, node->now_ns) != params->entries.n) {
		error_machine(errors, "entries", "they do not fit in the table");
		return -1;
	}
	return 0;
}

static void l2fwd_close(struct node *node)
{
	l2fwd_table_close(&((struct l2fwd *)node->state)->table);
}

#endif
