// SPDX-License-Identifier: BSD-3-Clause
// What lua/bench asks of the program: requests to instances, time, and what two cores can do.
// Everything else it does with libuv.

#include "lua/bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "control/client.h"
#include "lua/convert.h"
#include "lua/cores.h"
#include "lua/inside.h"

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

static const luaL_Reg functions[] = {
    {"now", native_now},    {"hz", cores_hz},	  {"ask", bench_ask},
    {"probe", cores_probe}, {"copy", cores_copy}, {NULL, NULL},
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
