// SPDX-License-Identifier: BSD-3-Clause
// What cores can do, whatever program runs on them: how fast they count, how far apart two of them
// are, and how many packets they can hand to and fro.

#include "lua/cores.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>

#include <rte_cycles.h>
#include <rte_memcpy.h>
#include <rte_pause.h>

static lua_Integer now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (lua_Integer)now.tv_sec * 1000000000 + now.tv_nsec;
}

#define HZ_NS 20000000

// Measured for 20 ms: DPDK's own measurement needs its EAL.
int cores_hz(lua_State *lua)
{
	lua_Integer begin_ns = now_ns(), end_ns;
	uint64_t begin = rte_rdtsc();

	do {
		end_ns = now_ns();
	} while (end_ns - begin_ns < HZ_NS);
	lua_pushnumber(lua, (lua_Number)(rte_rdtsc() - begin) * 1e9 / (double)(end_ns - begin_ns));
	return 1;
}

static bool pin(int core)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET(core, &cores);
	return !pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
}

// The caller on one core, a thread beside it on another, until `ended` is set.
struct beside {
	int ended;
	int core;    // the thread's
	bool pinned; // it could be
	pthread_t thread;
	cpu_set_t before; // the caller's cores
};

// The cores are the first two arguments of Lua. false: threads cannot run on them.
static bool beside_begin(struct beside *beside, lua_State *lua, void *(*other)(void *), void *arg)
{
	*beside = (struct beside){.core = (int)luaL_checkinteger(lua, 2), .pinned = true};
	if (pthread_getaffinity_np(pthread_self(), sizeof(beside->before), &beside->before) ||
	    !pin((int)luaL_checkinteger(lua, 1)))
		return false;
	if (!pthread_create(&beside->thread, NULL, other, arg))
		return true;
	pthread_setaffinity_np(pthread_self(), sizeof(beside->before), &beside->before);
	return false;
}

// Whether the thread ran where it should.
static bool beside_end(struct beside *beside)
{
	__atomic_store_n(&beside->ended, 1, __ATOMIC_RELAXED);
	pthread_join(beside->thread, NULL);
	pthread_setaffinity_np(pthread_self(), sizeof(beside->before), &beside->before);
	return beside->pinned;
}

// Two threads that hand a cache line to and fro.
struct probe {
	int turn __attribute__((aligned(64)));
	struct beside beside __attribute__((aligned(64)));
};

static void *probe_other(void *arg)
{
	struct probe *probe = arg;

	probe->beside.pinned = pin(probe->beside.core);
	while (!__atomic_load_n(&probe->beside.ended, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&probe->turn, __ATOMIC_ACQUIRE) == 1)
			__atomic_store_n(&probe->turn, 0, __ATOMIC_RELEASE);
		else
			rte_pause();
	}
	return NULL;
}

#define PROBE_TURNS 64 // a round, of which the fastest counts: a thread may be off its core
#define PROBE_NS 2000000
#define PROBE_MOST_NS 200000000 // until both threads run at once beside those who poll on the cores
#define PROBE_SURE_NS 2000	// a cache line never takes as long: then one of them did not run

static lua_Integer probe_round(struct probe *probe, lua_Integer end)
{
	lua_Integer begin = now_ns();

	for (unsigned i = 0; i < PROBE_TURNS; i++) {
		__atomic_store_n(&probe->turn, 1, __ATOMIC_RELEASE);
		// Where the other thread is not let run, this round says nothing.
		for (unsigned spins = 1; __atomic_load_n(&probe->turn, __ATOMIC_ACQUIRE); spins++) {
			rte_pause();
			if (spins % 1024 == 0 && now_ns() > end)
				return -1;
		}
	}
	return (now_ns() - begin) / PROBE_TURNS;
}

int cores_probe(lua_State *lua)
{
	struct probe *probe = aligned_alloc(64, sizeof(*probe));
	lua_Integer best = -1, begin = now_ns(), now;

	if (!probe)
		return 0;
	probe->turn = 0;
	if (!beside_begin(&probe->beside, lua, probe_other, probe)) {
		free(probe);
		return 0;
	}
	do {
		lua_Integer turn = probe_round(probe, begin + PROBE_MOST_NS);

		if (turn >= 0 && (best < 0 || turn < best))
			best = turn;
		now = now_ns() - begin;
	} while (now < PROBE_NS || (now < PROBE_MOST_NS && (best < 0 || best > PROBE_SURE_NS)));
	if (!beside_end(&probe->beside))
		best = -1;
	free(probe);
	if (best < 0)
		return 0;
	lua_pushinteger(lua, best);
	return 1;
}

#define COPY_SLOTS 256	 // as a virtio queue has by default
#define COPY_BATCH 32	 // packets that an index is moved by
#define COPY_STRIDE 2176 // from buffer to buffer, as DPDK's are: not a power of two
#define COPY_NS 20000000

// Packets that one core writes, the other copies, and the first reads again.
struct copy {
	uint64_t written __attribute__((aligned(64))); // packets, by the first core
	uint64_t sum;				       // of what it read
	uint64_t copied __attribute__((aligned(64)));  // packets, by the other
	uint64_t cycles;			       // that it took to copy
	struct beside beside __attribute__((aligned(64)));
	uint32_t size;
	uint8_t there[COPY_SLOTS][COPY_STRIDE] __attribute__((aligned(64)));
	uint8_t back[COPY_SLOTS][COPY_STRIDE] __attribute__((aligned(64)));
};

static void *copy_other(void *arg)
{
	struct copy *copy = arg;
	uint64_t done = 0;

	copy->beside.pinned = pin(copy->beside.core);
	while (!__atomic_load_n(&copy->beside.ended, __ATOMIC_RELAXED)) {
		uint64_t begin = rte_rdtsc();

		if (__atomic_load_n(&copy->written, __ATOMIC_ACQUIRE) == done) {
			rte_pause();
			continue;
		}
		for (uint64_t end = done + COPY_BATCH; done < end; done++)
			rte_memcpy(copy->back[done % COPY_SLOTS], copy->there[done % COPY_SLOTS],
				   copy->size);
		copy->cycles += rte_rdtsc() - begin;
		__atomic_store_n(&copy->copied, done, __ATOMIC_RELEASE);
	}
	return NULL;
}

// Writes and reads until the time is over.
static void copy_run(struct copy *copy, lua_Integer end_ns)
{
	uint64_t written = 0, read = 0, sum = 0;

	do {
		for (; read < __atomic_load_n(&copy->copied, __ATOMIC_ACQUIRE); read++)
			for (uint32_t at = 0; at < copy->size; at += 64)
				sum += copy->back[read % COPY_SLOTS][at];
		if (written - read > COPY_SLOTS - COPY_BATCH)
			continue;
		for (uint64_t end = written + COPY_BATCH; written < end; written++)
			memset(copy->there[written % COPY_SLOTS], (int)written, copy->size);
		__atomic_store_n(&copy->written, written, __ATOMIC_RELEASE);
	} while (now_ns() < end_ns);
	copy->sum = sum;
}

int cores_copy(lua_State *lua)
{
	uint32_t size = (uint32_t)luaL_checkinteger(lua, 3);
	struct copy *copy;
	lua_Integer begin;
	int values = 0;

	luaL_argcheck(lua, size >= 1 && size <= COPY_STRIDE, 3, "1 to 2176 bytes");
	copy = aligned_alloc(64, sizeof(*copy));
	if (!copy)
		return 0;
	memset(copy, 0, sizeof(*copy));
	copy->size = size;
	if (!beside_begin(&copy->beside, lua, copy_other, copy)) {
		free(copy);
		return 0;
	}
	begin = now_ns();
	copy_run(copy, begin + COPY_NS);
	begin = now_ns() - begin;
	if (beside_end(&copy->beside) && copy->copied) {
		lua_pushnumber(lua, (lua_Number)copy->copied * 1e9 / (lua_Number)begin);
		lua_pushnumber(lua, (lua_Number)copy->cycles / (lua_Number)copy->copied);
		values = 2;
	}
	free(copy);
	return values;
}
