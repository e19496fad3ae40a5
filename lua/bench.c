// SPDX-License-Identifier: BSD-3-Clause
// What lua/bench asks of the program: requests to instances, time, and how far apart two
// cores are. Everything else it does with libuv.

#include "lua/bench.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "control/client.h"
#include "lua/convert.h"
#include "lua/inside.h"

static lua_Integer now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (lua_Integer)now.tv_sec * 1000000000 + now.tv_nsec;
}

// A request, and what must be freed whatever Lua says.
struct asked {
	struct errors *errors;
	struct client *client;
	struct client_reply reply;
	char *text;
};

static int asked_push(lua_State *lua)
{
	const struct asked *asked = lua_touserdata(lua, 1);

	if (asked->text) {
		lua_pushnil(lua);
		lua_pushstring(lua, asked->text);
		return 2;
	}
	if (asked->reply.json)
		convert_json(lua, asked->reply.json);
	else
		lua_pushstring(lua, asked->reply.text);
	return 1;
}

// ask(socket, method, path, body): what the instance that listens there answers, as a table if it
// is JSON; or nil and what is wrong, a line for each fault
static int bench_ask(lua_State *lua)
{
	struct instance instance = {.name = "bench"};
	struct client_request request = {.method = luaL_checkstring(lua, 2),
					 .path = luaL_checkstring(lua, 3),
					 .fault_file = "sluice"};
	struct asked asked = {.errors = errors_new()};
	int status, top = lua_gettop(lua);

	snprintf(instance.path, sizeof(instance.path), "%s", luaL_checkstring(lua, 1));
	if (!lua_isnoneornil(lua, 4))
		request.body = luaL_checklstring(lua, 4, &request.n_body);
	asked.client = client_to(&instance, asked.errors);
	if (!asked.client || !client_ask(asked.client, &request, &asked.reply, asked.errors))
		asked.text = errors_text(asked.errors);
	lua_pushcfunction(lua, asked_push);
	lua_pushlightuserdata(lua, &asked);
	status = lua_pcall(lua, 1, LUA_MULTRET, 0);
	client_reply_free(&asked.reply);
	client_close(asked.client);
	errors_free(asked.errors);
	free(asked.text);
	return status == LUA_OK ? lua_gettop(lua) - top : lua_error(lua);
}

#define HZ_NS 20000000

// hz(): cycles of the time stamp counter in a second, measured for 20 ms (DPDK's own measurement
// needs its EAL)
static int bench_hz(lua_State *lua)
{
	lua_Integer begin_ns = now_ns(), end_ns;
	uint64_t begin = rte_rdtsc();

	do {
		end_ns = now_ns();
	} while (end_ns - begin_ns < HZ_NS);
	lua_pushnumber(lua, (lua_Number)(rte_rdtsc() - begin) * 1e9 / (double)(end_ns - begin_ns));
	return 1;
}

// Two threads that hand a cache line to and fro.
struct probe {
	int turn __attribute__((aligned(64)));
	int ended;
	int core;
	bool pinned;
};

static bool pin(int core)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET(core, &cores);
	return !pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
}

static void *probe_other(void *arg)
{
	struct probe *probe = arg;

	probe->pinned = pin(probe->core);
	while (!__atomic_load_n(&probe->ended, __ATOMIC_RELAXED)) {
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

// probe(core, other): nanoseconds that a cache line takes there and back between two cores, or nil
// where threads cannot run on them
static int bench_probe(lua_State *lua)
{
	struct probe *probe = aligned_alloc(64, sizeof(*probe));
	lua_Integer best = -1, begin = now_ns(), now;
	cpu_set_t before;
	pthread_t thread;

	if (!probe)
		return 0;
	*probe = (struct probe){.core = (int)luaL_checkinteger(lua, 2), .pinned = true};
	if (pthread_getaffinity_np(pthread_self(), sizeof(before), &before) ||
	    !pin((int)luaL_checkinteger(lua, 1)) ||
	    pthread_create(&thread, NULL, probe_other, probe)) {
		free(probe);
		return 0;
	}
	do {
		lua_Integer turn = probe_round(probe, begin + PROBE_MOST_NS);

		if (turn >= 0 && (best < 0 || turn < best))
			best = turn;
		now = now_ns() - begin;
	} while (now < PROBE_NS || (now < PROBE_MOST_NS && (best < 0 || best > PROBE_SURE_NS)));
	__atomic_store_n(&probe->ended, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
	if (!probe->pinned)
		best = -1;
	free(probe);
	if (best < 0)
		return 0;
	lua_pushinteger(lua, best);
	return 1;
}

static const luaL_Reg functions[] = {
    {"now", native_now}, {"hz", bench_hz}, {"ask", bench_ask}, {"probe", bench_probe}, {NULL, NULL},
};

// sluice.bench.main with the arguments; what it returns is the exit code.
static int main_call(lua_State *lua)
{
	char **argv = lua_touserdata(lua, 1);

	state_path(lua, "");
	luaL_getsubtable(lua, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	luaL_newlib(lua, functions);
	lua_setfield(lua, -2, "sluice.bench.native");
	lua_getglobal(lua, "require");
	lua_pushliteral(lua, "sluice.bench.main");
	lua_call(lua, 1, 1);
	lua_newtable(lua);
	for (int i = 1; argv[i]; i++) {
		lua_pushstring(lua, argv[i]);
		lua_rawseti(lua, -2, i);
	}
	lua_call(lua, 1, 1);
	return 1;
}

int bench_main(int argc, char **argv)
{
	lua_State *lua = state_new((struct state_limits){0});
	int code = ERROR_MACHINE;

	(void)argc;
	signal(SIGPIPE, SIG_IGN);
	if (!lua) {
		fputs("sluice bench: error: there is no memory\n", stderr);
		return code;
	}
	lua_pushcfunction(lua, main_call);
	lua_pushlightuserdata(lua, argv);
	if (state_call(lua, 1, 1))
		code = (int)lua_tointeger(lua, -1);
	else
		fprintf(stderr, "sluice bench: error: %s\n", lua_tostring(lua, -1));
	state_close(lua);
	return code;
}
