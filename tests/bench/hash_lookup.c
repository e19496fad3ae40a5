// SPDX-License-Identifier: BSD-3-Clause
// The bare lookup in rte_hash, with the keys, the sizes and the hash function of L2Fwd: what a
// bridge costs at the least. Prints one JSON object: hash_lookup SECONDS STATIONS EAL-ARGUMENT...

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#define BURST 32u

static hash_sig_t key_signature(uint64_t key)
{
	return rte_hash_crc_8byte(key, 0);
}

static uint32_t key_hash(const void *key, uint32_t length, uint32_t init)
{
	uint64_t k;

	(void)length;
	(void)init;
	memcpy(&k, key, sizeof(k));
	return key_signature(k);
}

static int key_differ(const void *a, const void *b, size_t length)
{
	(void)length;
	return memcmp(a, b, sizeof(uint64_t));
}

// The address of station i as it lies in a frame: 02:0S:xx:xx:xx:xx, half of them on each side.
static uint64_t station_key(uint32_t i, uint32_t stations)
{
	uint32_t half = stations / 2, side = half && i >= half;
	uint32_t number = rte_cpu_to_be_32(i - side * half);
	uint64_t key = 0x02 | (uint64_t)side << 8;

	memcpy((uint8_t *)&key + 2, &number, sizeof(number));
	return key;
}

static struct rte_hash *table_fill(uint32_t stations)
{
	struct rte_hash_parameters parameters = {
	    .name = "stations",
	    .entries = RTE_MAX(stations, 4096u) + RTE_MAX(stations, 4096u) / 4,
	    .key_len = sizeof(uint64_t),
	    .hash_func = key_hash,
	    .socket_id = (int)rte_socket_id(),
	};
	struct rte_hash *table = rte_hash_create(&parameters);

	if (!table)
		return NULL;
	rte_hash_set_cmp_func(table, key_differ);
	for (uint32_t i = 0; i < stations; i++) {
		uint64_t key = station_key(i, stations);

		if (rte_hash_add_key_data(table, &key, (void *)((uintptr_t)i << 16)))
			return NULL;
	}
	return table;
}

// All keys once, in random order, or the only one again and again.
static uint64_t *keys_shuffled(uint32_t stations, uint32_t n)
{
	uint64_t *keys = rte_malloc("keys", n * sizeof(*keys), 64);
	uint64_t random = 88172645463325252;

	for (uint32_t i = 0; keys && i < n; i++)
		keys[i] = station_key(i % stations, stations);
	for (uint32_t i = n - 1; keys && i; i--) {
		uint64_t key = keys[i];
		uint32_t j;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		j = (uint32_t)(random % (i + 1));
		keys[i] = keys[j];
		keys[j] = key;
	}
	return keys;
}

static unsigned lookup_burst(const struct rte_hash *table, const uint64_t *keys)
{
	const void *at[BURST];
	void *data[BURST];
	hash_sig_t signatures[BURST];
	uint64_t hits = 0;

	for (unsigned i = 0; i < BURST; i++) {
		at[i] = &keys[i];
		signatures[i] = key_signature(keys[i]);
	}
	rte_hash_lookup_with_hash_bulk_data(table, at, signatures, BURST, &hits, data);
	return (unsigned)__builtin_popcountll(hits);
}

// How long this thread could have run, and did not.
static double seconds_waited(void)
{
	uint64_t run_ns = 0, waited_ns = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64 " %" SCNu64, &run_ns, &waited_ns) != 2)
		waited_ns = 0;
	fclose(file);
	return (double)waited_ns / 1e9;
}

static void measure(const struct rte_hash *table, const uint64_t *keys, uint32_t n, double seconds)
{
	uint64_t begin = rte_rdtsc(), now, lookups = 0, hits = 0;
	uint64_t end = begin + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	double waited = seconds_waited();
	uint32_t at = 0;

	do {
		for (unsigned i = 0; i < 64; i++) {
			hits += lookup_burst(table, keys + at);
			at = at + BURST < n ? at + BURST : 0;
		}
		lookups += 64 * BURST;
		now = rte_rdtsc();
	} while (now < end);
	printf("{\"lookups\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"cycles\": %" PRIu64
	       ", \"waited_seconds\": %.6f, ",
	       lookups, hits, now - begin, seconds_waited() - waited);
}

int main(int argc, char **argv)
{
	uint64_t begin = rte_rdtsc(), started;
	struct rte_hash *table;
	uint32_t stations, n;
	uint64_t *keys;

	if (argc < 4) {
		fprintf(stderr, "usage: hash_lookup SECONDS STATIONS EAL-ARGUMENT...\n");
		return 2;
	}
	stations = (uint32_t)strtoul(argv[2], NULL, 10);
	n = RTE_ALIGN_CEIL(RTE_MAX(stations, 4096u), BURST);
	if (rte_eal_init(argc - 2, argv + 2) < 0)
		return 3;
	started = rte_rdtsc() - begin;
	table = table_fill(stations);
	keys = keys_shuffled(stations, n);
	if (!table || !keys) {
		fprintf(stderr, "hash_lookup: no memory for %u stations\n", stations);
		return 3;
	}
	measure(table, keys, n, strtod(argv[1], NULL));
	printf("\"eal_seconds\": %.4f}\n", (double)started / (double)rte_get_tsc_hz());
	rte_free(keys);
	rte_hash_free(table);
	rte_eal_cleanup();
	return 0;
}
