// SPDX-License-Identifier: BSD-3-Clause
// The part of L2Fwd that says what the user may set and what the node keeps: a hash table from
// (VLAN, address) to a gate, and beside it a slot for each station with what only ageing and
// commands need.

#ifndef SLUICE_L2FWD_TABLE_H
#define SLUICE_L2FWD_TABLE_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "module.h"

#define L2FWD_STALE 256u   // stations that one tick removes, at most: workers wait meanwhile
#define L2FWD_SLICE 65536u // slots that one tick looks at

struct l2fwd_entry {
	struct rte_ether_addr mac;
	struct gate gate;
	uint16_t vlan;
};

struct l2fwd_params {
	uint32_t size;
	struct duration ageing;
	bool vlan;
	uint32_t learn;
	struct param_list entries;
};

static const struct param l2fwd_entries[] = {
    PARAM(l2fwd_entry, mac, .example = "02:00:00:00:00:01", .help = "the station's address"),
    PARAM(l2fwd_entry, gate, .help = "the gate that it is behind"),
    PARAM(l2fwd_entry, vlan, .def = "0", .max = 4094,
	  .help = "the VLAN that it is in, if the node tells them apart; 0: none"),
    PARAM_END,
};

static const struct param l2fwd_params[] = {
    PARAM(l2fwd_params, size, .def = "4096", .min = 8, .max = 1 << 22,
	  .help = "stations that the table can hold"),
    PARAM(l2fwd_params, ageing, .def = "300s", .max = 1000000000000000, .live = true,
	  .help = "how long a silent station is kept; 0s: for ever"),
    PARAM(l2fwd_params, vlan, .def = "false",
	  .help = "whether the same address in another VLAN is another station"),
    PARAM(l2fwd_params, learn, .def = "200000", .max = 100000000, .live = true,
	  .help = "stations that a worker learns in a second, at most; 0: none"),
    PARAM(l2fwd_params, entries, .def = "", .max = 1 << 22, .fields = l2fwd_entries,
	  .example = "[{mac: \"02:00:00:00:00:01\", gate: 0}]",
	  .help = "static stations: they never age or move"),
    PARAM_END,
};

// A station's key is its address as it lies in a frame, with the VLAN in the two bytes above.
#define L2FWD_MAC 0xffffffffffffull
#define L2FWD_GROUP 1ull // the bit of multicast and broadcast addresses

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "keys are loaded eight bytes at once");

// What the hash table says of a station, in place of a pointer: slot << 16 | L2FWD_STATIC | gate.
#define L2FWD_STATIC 0x100u
#define L2FWD_USED 0x200u // of a slot's meta: there is a station in it

// A slot. Whoever may add stations writes it; the live commands read it at any time, `meta` first.
struct l2fwd_station {
	uint64_t key;
	uint64_t meta; // L2FWD_USED | L2FWD_STATIC | gate; 0: free
};

// Adding takes the node's lock where several workers may do it. Removing, and whatever else changes
// the table, is done while workers are parked. Workers look up at any time.
struct l2fwd_table {
	struct rte_hash *hash;
	struct l2fwd_station *stations;
	uint32_t *seen_ms; // by slot; apart from the rest, so that many fit in the cache
	uint32_t *free;	   // free slots, a stack
	uint32_t n_free;
	uint32_t size;
	bool concurrent; // workers look up while another one adds
};

static inline uint64_t l2fwd_key(const struct rte_ether_addr *mac, uint16_t vlan)
{
	uint64_t key = (uint64_t)vlan << 48;

	memcpy(&key, mac, sizeof(*mac));
	return key;
}

static inline struct rte_ether_addr l2fwd_mac(uint64_t key)
{
	struct rte_ether_addr mac;

	memcpy(&mac, &key, sizeof(mac));
	return mac;
}

static inline hash_sig_t l2fwd_signature(uint64_t key)
{
	return rte_hash_crc_8byte(key, 0);
}

static uint32_t l2fwd_hash(const void *key, uint32_t length, uint32_t init)
{
	uint64_t k;

	(void)length;
	(void)init;
	memcpy(&k, key, sizeof(k));
	return l2fwd_signature(k);
}

// The thread sanitizer does not see the atomics inside DPDK's library by which a key is published
// before it is compared.
__attribute__((no_sanitize("thread"))) static int l2fwd_differ(const void *a, const void *b,
							       size_t length)
{
	uint64_t x, y;

	(void)length;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x != y;
}

static inline unsigned l2fwd_slot(const void *data)
{
	return (unsigned)((uintptr_t)data >> 16);
}

static inline gate_t l2fwd_gate(const void *data)
{
	return (uintptr_t)data & 0xff;
}

static inline bool l2fwd_static(const void *data)
{
	return (uintptr_t)data & L2FWD_STATIC;
}

// Looks up n keys, up to BATCH_MAX; bit i of the result: data[i] is set.
static inline uint64_t l2fwd_find(const struct l2fwd_table *table, const uint64_t *keys, unsigned n,
				  void *data[])
{
	const void *at[BATCH_MAX];
	hash_sig_t signatures[BATCH_MAX];
	uint64_t hits = 0;

	for (unsigned i = 0; i < n; i++) {
		at[i] = &keys[i];
		signatures[i] = l2fwd_signature(keys[i]);
	}
	rte_hash_lookup_with_hash_bulk_data(table->hash, at, signatures, n, &hits, data);
	return hits;
}

static inline bool l2fwd_find_one(const struct l2fwd_table *table, uint64_t key, void **data)
{
	return rte_hash_lookup_with_hash_data(table->hash, &key, l2fwd_signature(key), data) >= 0;
}

static inline uint64_t l2fwd_meta(const struct l2fwd_table *table, unsigned slot)
{
	return __atomic_load_n(&table->stations[slot].meta, __ATOMIC_ACQUIRE);
}

static inline uint32_t l2fwd_seen(const struct l2fwd_table *table, unsigned slot)
{
	return __atomic_load_n(&table->seen_ms[slot], __ATOMIC_RELAXED);
}

static inline void l2fwd_see(struct l2fwd_table *table, unsigned slot, uint32_t now_ms)
{
	__atomic_store_n(&table->seen_ms[slot], now_ms, __ATOMIC_RELAXED);
}

// Adds a station, or changes one that is there. false: the table is full.
static bool l2fwd_put(struct l2fwd_table *table, uint64_t key, gate_t gate, bool is_static,
		      uint32_t now_ms)
{
	uint64_t meta = gate | (is_static ? L2FWD_STATIC : 0);
	struct l2fwd_station *station;
	unsigned slot;
	void *data;
	bool there = l2fwd_find_one(table, key, &data);

	if (!there && !table->n_free)
		return false;
	slot = there ? l2fwd_slot(data) : table->free[table->n_free - 1];
	data = (void *)((uintptr_t)slot << 16 | meta);
	l2fwd_see(table, slot, now_ms);
	if (rte_hash_add_key_with_hash_data(table->hash, &key, l2fwd_signature(key), data))
		return false;
	if (!there)
		table->n_free--;
	station = &table->stations[slot];
	__atomic_store_n(&station->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&station->meta, meta | L2FWD_USED, __ATOMIC_RELEASE);
	return true;
}

// With workers parked: the station of a slot in use goes.
static void l2fwd_remove(struct l2fwd_table *table, unsigned slot)
{
	struct l2fwd_station *station = &table->stations[slot];
	int32_t position = rte_hash_del_key(table->hash, &station->key);

	// A table with lock-free readers leaves that to whoever knows that none of them is there.
	if (table->concurrent && position >= 0)
		rte_hash_free_key_with_position(table->hash, position);
	station->meta = 0;
	table->free[table->n_free++] = slot;
}

// With workers parked: all stations go.
static void l2fwd_clear(struct l2fwd_table *table)
{
	rte_hash_reset(table->hash);
	memset(table->stations, 0, table->size * sizeof(*table->stations));
	for (uint32_t i = 0; i < table->size; i++)
		table->free[i] = table->size - 1 - i;
	table->n_free = table->size;
}

// A quarter more than asked for: a bucket table need not be full to refuse a key.
static inline uint32_t l2fwd_hash_entries(uint32_t size)
{
	return size + size / 4;
}

static inline uint64_t l2fwd_table_memory(uint32_t size)
{
	uint64_t entries = l2fwd_hash_entries(size);
	// Buckets of 64 bytes for eight keys; a key with its data; a ring of free key places.
	uint64_t hash = (uint64_t)rte_align32pow2(entries) * 8 + entries * 16 +
			(uint64_t)rte_align32pow2(entries + 2) * 4;

	return hash + size * (sizeof(struct l2fwd_station) + 8ull) + 65536;
}

static void l2fwd_table_close(struct l2fwd_table *table)
{
	rte_hash_free(table->hash);
	rte_free(table->stations);
	rte_free(table->seen_ms);
	rte_free(table->free);
	memset(table, 0, sizeof(*table));
}

// 0, or -1: there is no memory.
static int l2fwd_table_open(struct l2fwd_table *table, uint32_t size, bool concurrent)
{
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters parameters = {
	    .name = name,
	    .entries = l2fwd_hash_entries(size),
	    .key_len = sizeof(uint64_t),
	    .hash_func = l2fwd_hash,
	    .socket_id = (int)rte_socket_id(),
	    .extra_flag = concurrent ? RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF : 0,
	};

	table->size = size;
	table->concurrent = concurrent;
	table->stations = rte_malloc("l2fwd", size * sizeof(*table->stations), 64);
	table->seen_ms = rte_zmalloc("l2fwd", size * sizeof(*table->seen_ms), 64);
	table->free = rte_malloc("l2fwd", size * sizeof(*table->free), 64);
	if (!table->stations || !table->seen_ms || !table->free)
		return -1;
	// Another table has another address: DPDK wants names that differ. The stations stay when
	// tables change hands, the table itself does not.
	snprintf(name, sizeof(name), "l2fwd_%p", (void *)table->stations);
	table->hash = rte_hash_create(&parameters);
	if (!table->hash)
		return -1;
	rte_hash_set_cmp_func(table->hash, l2fwd_differ);
	l2fwd_clear(table);
	return 0;
}

struct l2fwd {
	struct l2fwd_table table;
	uint64_t aged; // the control thread's
	uint32_t cursor;
	uint32_t n_stale;
	uint32_t stale[L2FWD_STALE];
	// Written when a station is learned or moves, and read for each batch.
	uint64_t version __attribute__((aligned(64))); // of the table; never 0
	int lock; // guards adding, where several workers may; never waited for
};

#endif
