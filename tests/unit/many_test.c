// SPDX-License-Identifier: BSD-3-Clause
// Many graphs loaded, opened, run and closed in one process: no DPDK object is left, and the memory
// does not grow. LONG=1: 10,000 of them.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_memzone.h>
#include <rte_tailq.h>

#include "random_graph.h"

// DPDK's heap may be touched in other places than before, and the address sanitizer keeps what was
// freed for a while; a leak of each graph's size would be far more.
#ifdef __SANITIZE_ADDRESS__
#define MORE_KIB (1024 * 1024)
#else
#define MORE_KIB (64 * 1024)
#endif

// What DPDK knows of in this process.
struct objects {
	unsigned memzones;
	unsigned mempools;
	unsigned listed; // rings, hash tables and all else that has a list of its kind
	size_t heap_bytes;
};

static void memzone_count(const struct rte_memzone *zone, void *n)
{
	(void)zone;
	++*(unsigned *)n;
}

static void mempool_count(struct rte_mempool *pool, void *n)
{
	(void)pool;
	++*(unsigned *)n;
}

static unsigned listed_count(void)
{
	static const char *const lists[] = {"RTE_RING",	 "RTE_HASH",  "RTE_LPM",      "RTE_LPM6",
					    "RTE_STACK", "RTE_ACL",   "RTE_FBK_HASH", "RTE_MEMPOOL",
					    "RTE_EFD",	 "RTE_MEMBER"};
	unsigned n = 0;

	for (unsigned i = 0; i < RTE_DIM(lists); i++) {
		const struct rte_tailq_head *head = rte_eal_tailq_lookup(lists[i]);
		const struct rte_tailq_entry *entry;

		if (head)
			TAILQ_FOREACH(entry, &head->tailq_head, next)
		n++;
	}
	return n;
}

static struct objects objects_count(void)
{
	struct objects objects = {.listed = listed_count()};

	rte_memzone_walk(memzone_count, &objects.memzones);
	rte_mempool_walk(mempool_count, &objects.mempools);
	for (int i = 0; i < RTE_MAX_NUMA_NODES; i++) {
		struct rte_malloc_socket_stats stats;

		if (!rte_malloc_get_socket_stats(i, &stats))
			objects.heap_bytes += stats.heap_allocsz_bytes;
	}
	return objects;
}

static unsigned long resident_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "VmRSS:", 6))
			kib = strtoul(line + 6, NULL, 10);
	if (file)
		fclose(file);
	return kib;
}

static void one(struct random *random)
{
	char *text = random_graph(random);
	struct run *run = engine_replay(text);

	if (run) {
		engine_feed(run, "p0", 0, 50);
		engine_steps(run, 5);
		engine_finish(run);
	}
	free(text);
}

static void nothing_is_left(void)
{
	const char *is_long = getenv("LONG");
	unsigned n = is_long && *is_long ? 10000 : 500;
	struct random random = {2026};
	struct objects before, after;
	unsigned long resident;

	// The first ones fill what is kept for good.
	for (unsigned i = 0; i < 50; i++)
		one(&random);
	before = objects_count();
	resident = resident_kib();
	for (unsigned i = 0; i < n; i++)
		one(&random);
	after = objects_count();
	CU_ASSERT_EQUAL(after.memzones, before.memzones);
	CU_ASSERT_EQUAL(after.mempools, before.mempools);
	CU_ASSERT_EQUAL(after.listed, before.listed);
	CU_ASSERT_EQUAL(after.heap_bytes, before.heap_bytes);
	if (resident_kib() > resident + MORE_KIB)
		printf("\nresident: %lu KiB before, %lu KiB after\n", resident, resident_kib());
	CU_ASSERT_TRUE(resident_kib() <= resident + MORE_KIB);
}

// What fails to open leaves nothing either.
static void nothing_is_left_by_failures(void)
{
	static const struct run_options options = {.replay = true};
	struct objects before = {0}, after = {0};

	for (unsigned i = 0; i < 100; i++) {
		struct graph *graph =
		    engine_graph("ports: {left: memory}\n"
				 "nodes: {rx: {PortInc: {port: left}}, q: Queue, f: L2Fwd,\n"
				 "  k: {Keeper: {fails: true}}}\n"
				 "graph: [rx -> q -> f -> k]\n");
		struct errors *errors = errors_new();

		CU_ASSERT_FATAL(graph != NULL);
		CU_ASSERT_PTR_NULL(run_open(graph, &options, errors));
		errors_free(errors);
		if (i == 0)
			before = objects_count();
	}
	after = objects_count();
	CU_ASSERT_EQUAL(after.memzones, before.memzones);
	CU_ASSERT_EQUAL(after.mempools, before.mempools);
	CU_ASSERT_EQUAL(after.listed, before.listed);
	CU_ASSERT_EQUAL(after.heap_bytes, before.heap_bytes);
}

static const CU_TestInfo cases[] = {
    {"nothing is left of many graphs", nothing_is_left},
    {"nothing is left of those that fail", nothing_is_left_by_failures},
    CU_TEST_INFO_NULL,
};
SUITE(many_graphs, cases, .eal = true)
