// SPDX-License-Identifier: BSD-3-Clause
// The part of L2Fwd that answers commands, on the control thread.

#ifndef SLUICE_L2FWD_COMMANDS_H
#define SLUICE_L2FWD_COMMANDS_H

#include <stdlib.h>

#include "l2fwd_control.h"

static bool l2fwd_vlan_known(const struct node *node, uint16_t vlan, struct errors *errors)
{
	const struct l2fwd_params *params = node->params;

	if (vlan && !params->vlan) {
		error_input(errors, "vlan", "the node does not tell VLANs apart (vlan: false)");
		return false;
	}
	return true;
}

static int l2fwd_add(struct node *node, const void *args, struct reply *reply,
		     struct errors *errors)
{
	const struct l2fwd_entry *entry = args;
	const struct param_list one = {.items = (void *)(uintptr_t)entry, .n = 1};
	struct l2fwd *state = node->state;

	(void)reply;
	if (!l2fwd_vlan_known(node, entry->vlan, errors))
		return -1;
	if (entry->gate.n >= node->ogates) {
		error_input(errors, "gate", "there is no output gate %u; the last one is %u",
			    entry->gate.n, node->ogates - 1);
		return -1;
	}
	if (!l2fwd_add_all(state, &one, node->now_ns)) {
		error_machine(errors, NULL, "the table is full (%u stations)", state->table.size);
		return -1;
	}
	return 0;
}

struct l2fwd_remove_args {
	struct rte_ether_addr mac;
	uint16_t vlan;
};

static const struct param l2fwd_remove_args[] = {
    PARAM(l2fwd_remove_args, mac, .example = "02:00:00:00:00:01", .help = "the station's address"),
    PARAM(l2fwd_remove_args, vlan, .def = "0", .max = 4094, .help = "the VLAN that it is in"),
    PARAM_END,
};

static int l2fwd_remove_run(struct node *node, const void *args, struct reply *reply,
			    struct errors *errors)
{
	const struct l2fwd_remove_args *remove = args;
	struct l2fwd *state = node->state;
	void *data;

	(void)reply;
	if (!l2fwd_vlan_known(node, remove->vlan, errors))
		return -1;
	if (!l2fwd_find_one(&state->table, l2fwd_key(&remove->mac, remove->vlan), &data)) {
		error_input(errors, "mac", "there is no such station");
		return -1;
	}
	l2fwd_remove(&state->table, l2fwd_slot(data));
	l2fwd_changed(state);
	return 0;
}

struct l2fwd_flush_args {
	bool statics;
};

static const struct param l2fwd_flush_args[] = {
    PARAM_NAMED(l2fwd_flush_args, statics, "static", .def = "false",
		.help = "static stations go too"),
    PARAM_END,
};

// Emptying the table and putting back what stays takes no longer for a full table than for another.
static int l2fwd_flush(struct node *node, const void *args, struct reply *reply,
		       struct errors *errors)
{
	bool statics = ((const struct l2fwd_flush_args *)args)->statics;
	struct l2fwd *state = node->state;
	struct l2fwd_table *table = &state->table;
	struct l2fwd_station *kept = NULL;
	unsigned n = 0;

	(void)reply;
	for (unsigned i = 0; i < table->size; i++)
		n += !statics && (table->stations[i].meta & L2FWD_STATIC);
	kept = calloc(n + 1, sizeof(*kept));
	if (!kept) {
		error_machine(errors, NULL, "no memory for the static stations");
		return -1;
	}
	n = 0;
	for (unsigned i = 0; i < table->size; i++) {
		if (!statics && (table->stations[i].meta & L2FWD_STATIC))
			kept[n++] = table->stations[i];
	}
	l2fwd_clear(table);
	for (unsigned i = 0; i < n; i++)
		l2fwd_put(table, kept[i].key, kept[i].meta & 0xff, true, l2fwd_ms(node->now_ns));
	l2fwd_changed(state);
	free(kept);
	return 0;
}

struct l2fwd_list_args {
	uint32_t limit;
};

static const struct param l2fwd_list_args[] = {
    PARAM(l2fwd_list_args, limit, .def = "0", .help = "stations to show, at most; 0: all"),
    PARAM_END,
};

static int l2fwd_list(struct node *node, const void *args, struct reply *reply,
		      struct errors *errors)
{
	const struct l2fwd_params *params = node->params;
	const struct l2fwd *state = node->state;
	const struct l2fwd_table *table = &state->table;
	uint32_t limit = ((const struct l2fwd_list_args *)args)->limit, n = 0;

	(void)errors;
	for (unsigned i = 0; i < table->size && (!limit || n < limit); i++) {
		uint64_t meta = l2fwd_meta(table, i), key;
		struct rte_ether_addr mac;

		if (!meta)
			continue;
		key = __atomic_load_n(&table->stations[i].key, __ATOMIC_RELAXED);
		mac = l2fwd_mac(key);
		n++;
		reply_item(reply);
		reply_mac(reply, "mac", &mac);
		if (params->vlan)
			reply_u64(reply, "vlan", key >> 48);
		reply_u64(reply, "gate", meta & 0xff);
		reply_bool(reply, "static", meta & L2FWD_STATIC);
		if (!(meta & L2FWD_STATIC))
			reply_u64(reply, "age_s",
				  (l2fwd_ms(node->now_ns) - l2fwd_seen(table, i)) / 1000);
	}
	return 0;
}

static int l2fwd_info(struct node *node, const void *args, struct reply *reply,
		      struct errors *errors)
{
	const struct l2fwd *state = node->state;
	uint64_t n = 0, n_static = 0;

	(void)args;
	(void)errors;
	for (unsigned i = 0; i < state->table.size; i++) {
		uint64_t meta = l2fwd_meta(&state->table, i);

		n += meta != 0;
		n_static += (meta & L2FWD_STATIC) != 0;
	}
	reply_u64(reply, "stations", n);
	reply_u64(reply, "static", n_static);
	reply_u64(reply, "size", state->table.size);
	reply_u64(reply, "aged", state->aged);
	return 0;
}

// Stations in an order that does not depend on when they came.
static int l2fwd_save_order(const void *a, const void *b)
{
	const struct l2fwd_entry *x = a, *y = b;

	if (x->vlan != y->vlan)
		return x->vlan < y->vlan ? -1 : 1;
	return memcmp(&x->mac, &y->mac, sizeof(x->mac));
}

// The stations of the table, in that order; learned ones too, if they are asked for and are behind
// an output gate. Workers may add some meanwhile: no more than there is room for.
static struct param_list l2fwd_save_stations(const struct node *node, struct save *save)
{
	const struct l2fwd *state = node->state;
	const struct l2fwd_table *table = &state->table;
	uint64_t wanted = save_learned(save) ? L2FWD_USED : L2FWD_STATIC;
	struct l2fwd_entry *stations;
	unsigned room = 0, n = 0;

	for (unsigned i = 0; i < table->size; i++)
		room += (l2fwd_meta(table, i) & wanted) != 0;
	stations = save_memory(save, room, sizeof(*stations));
	for (unsigned i = 0; i < table->size && n < room; i++) {
		uint64_t meta = l2fwd_meta(table, i);
		uint64_t key = __atomic_load_n(&table->stations[i].key, __ATOMIC_RELAXED);

		if (!(meta & wanted) || (meta & 0xff) >= node->ogates)
			continue;
		stations[n++] = (struct l2fwd_entry){
		    .mac = l2fwd_mac(key), .gate = {meta & 0xff}, .vlan = (uint16_t)(key >> 48)};
	}
	qsort(stations, n, sizeof(*stations), l2fwd_save_order);
	return (struct param_list){.items = stations, .n = n};
}

// Those that the parameters have keep their places there, the others follow.
static void l2fwd_save(const struct node *node, void *p, struct save *save)
{
	struct l2fwd_params *params = p;
	struct param_list now = l2fwd_save_stations(node, save);
	struct l2fwd_entry *entries = save_memory(save, now.n, sizeof(*entries));
	bool *placed = save_memory(save, now.n, sizeof(*placed));
	unsigned n = 0;

	for (unsigned i = 0; i < params->entries.n; i++) {
		const struct l2fwd_entry *found =
		    bsearch(param_item(l2fwd_entry, params->entries, i), now.items, now.n,
			    sizeof(*found), l2fwd_save_order);

		if (!found)
			continue;
		placed[found - (const struct l2fwd_entry *)now.items] = true;
		entries[n++] = *found;
	}
	for (unsigned i = 0; i < now.n; i++)
		if (!placed[i])
			entries[n++] = *param_item(l2fwd_entry, now, i);
	params->entries = (struct param_list){.items = entries, .n = n};
}

static const struct command l2fwd_commands[] = {
    {"list", "lists the stations", l2fwd_list_args, l2fwd_list, .live = true},
    {"info", "counts the stations, and those that aged so far", NULL, l2fwd_info, .live = true},
    {"add", "adds a static station, or makes one that was learned static", l2fwd_entries,
     l2fwd_add},
    {"remove", "removes a station", l2fwd_remove_args, l2fwd_remove_run},
    {"flush",
     "removes what was learned; a table of a million takes tens of milliseconds, in which "
     "nothing is forwarded",
     l2fwd_flush_args, l2fwd_flush},
    {.name = NULL},
};

#endif
