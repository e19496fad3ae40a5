// SPDX-License-Identifier: BSD-3-Clause
// Driving a graph that runs: each function once, in runs that the script itself checks.

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "lua_rig.h"

// What runs until the script ends it.
#define ENDLESS "chain(Source('s', {templates = {'ether / ipv4 / udp'}}), Sink('k'))\n"
#define WAITING "chain(port.memory('p', {open = true}), Sink('k'))\n"

static void test_start_and_stop(void)
{
	// What is begun first runs first; on.stop() sees final counters.
	lua_expect_run("local log = {}\n"
		       "chain(Source('s', {count = 1000}), Sink('k'))\n"
		       "on.start(function() log[#log + 1] = 'a' end)\n"
		       "on.start(function() log[#log + 1] = 'b' end)\n"
		       "on.stop(function() check(table.concat(log) == 'ab', 'order')\n"
		       "  check(node.k.stats.packets == 1000, 'packets') end)\n"
		       "on.stop(function() stop(42) end)\n");
	CU_ASSERT_EQUAL(lua_run(WAITING "on.start(function() stop() end)"), 0);
	CU_ASSERT_EQUAL(lua_run(WAITING "on.start(function() stop(7) error('further') end)"), 7);
	// The highest code counts.
	CU_ASSERT_EQUAL(
	    lua_run(WAITING "on.start(function() stop(7) end) on.stop(function() stop(3) end)"), 7);
	lua_expect_run(WAITING "on.start(function() for _, code in ipairs{-1, 256, 1.5, 'x'} do\n"
			       "check(not pcall(stop, code), code) end stop(42) end)");
}

static void test_times(void)
{
	lua_expect_run(WAITING "on.start(function()\n"
			       "local before = now() wait('3ms') check(now() - before >= 0.003)\n"
			       "before = now() wait(0.002) check(now() - before >= 0.002)\n"
			       "wait(0) for _, time in ipairs{'soon', -1, '1', 0/0, {}} do\n"
			       "check(not pcall(wait, time), tostring(time)) end\nstop(42) end)");
	lua_expect_run(WAITING "local n = 0\nevery('1ms', function() n = n + 1 end)\n"
			       "on.start(function() wait_until(function() return n >= 3 end)\n"
			       "check(n >= 3) stop(42) end)");
	lua_expect_run(WAITING "after('2ms', function() check(now() >= 0.002) stop(42) end)");
	// Calls that would come while one waits are left out.
	lua_expect_run(WAITING "local inside, n = 0, 0\nevery('1ms', function()\n"
			       "inside = inside + 1 check(inside == 1) wait('3ms')\n"
			       "inside = inside - 1 n = n + 1 if n == 2 then stop(42) end end)");
}

static void test_wait_until(void)
{
	lua_expect_run(WAITING
		       "on.start(function()\nlocal n = 0\n"
		       "local held = wait_until(function() n = n + 1 return n == 3 and 'yes' "
		       "end, '5s')\ncheck(held == 'yes' and n == 3)\n"
		       "check(wait_until(function() return 'now' end) == 'now')\n"
		       "local before = now()\n"
		       "check(wait_until(function() return false end, '2ms') == false)\n"
		       "check(now() - before >= 0.002)\n"
		       "check(not pcall(wait_until, 5)) check(not pcall(wait_until))\n"
		       "stop(42) end)");
}

static void test_tasks(void)
{
	// Beside each other, from wherever they are begun.
	lua_expect_run(WAITING
		       "local log = {}\non.start(function()\n"
		       "task(function() log[#log + 1] = 'a' wait('2ms') log[#log + 1] = 'c'\n"
		       "task(function() log[#log + 1] = 'd' end) end)\n"
		       "log[#log + 1] = 'b'\nwait_until(function() return #log == 4 end)\n"
		       "check(table.concat(log) == 'abcd', table.concat(log)) stop(42) end)");
	lua_expect_run(WAITING "local ran\ntask(function() ran = true wait('1ms') stop(42) end)\n"
			       "check(not ran)");
	// What is cancelled goes on to its next wait.
	lua_expect_run(
	    WAITING "on.start(function()\nlocal n, m, t = 0, 0, 0\n"
		    "local h = every('1ms', function() n = n + 1 end)\n"
		    "local later = after('2ms', function() m = m + 1 end)\n"
		    "local beside = task(function() while true do t = t + 1 wait('1ms') end end)\n"
		    "later:cancel() wait_until(function() return n == 2 and t > 1 end)\n"
		    "h:cancel() h:cancel() beside:cancel() local had = t\nwait('5ms')\n"
		    "check(n == 2 and m == 0 and t == had, n .. m .. t) stop(42) end)");
	lua_expect_run(WAITING
		       "local n = 0\nlocal h\nh = every('1ms', function() n = n + 1\n"
		       "h:cancel() after('3ms', function() check(n == 1) stop(42) end) end)");
	lua_expect_run(WAITING "local h = task(function() fail('cancelled before the start') end)\n"
			       "h:cancel() after('1ms', function() stop(42) end)");
	// Coroutines of the script's own are its own.
	lua_expect_run(WAITING "on.start(function()\nlocal co = coroutine.wrap(function()\n"
			       "check(not pcall(wait, '1ms')) coroutine.yield(1)\n"
			       "check(not pcall(wait_until, function() end)) return 2 end)\n"
			       "check(co() == 1) wait('1ms') check(co() == 2) stop(42) end)");
}

static void test_errors(void)
{
	CU_ASSERT_EQUAL(lua_run(WAITING "on.start(function() expect(true) expect(false, 'a test "
					"of expect()') stop() end)"),
			1);
	CU_ASSERT_EQUAL(lua_run(WAITING "on.start(function() fail('a test of fail()') "
					"error('further') end)"),
			1);
	lua_expect_run(WAITING "on.start(function() check(expect(5) == 5) stop(42) end)");
	CU_ASSERT_EQUAL(lua_run(WAITING "on.start(function() coroutine.yield() end)"), 2);
}

static void test_stats(void)
{
	lua_expect_run(
	    "local f = Filter('f', {expression = 'udp'})\n"
	    "chain(port.memory('p', {frames = {'ether / ipv4 / udp', 'ether / ipv4 / tcp', "
	    "'ether / ipv4 / udp'}}), f, parallel(Sink('yes'), chain(MACSwap('swap'), "
	    "port.memory('q', {}))))\n"
	    "on.stop(function()\nlocal s = node.f.stats\n"
	    "check(s.packets == 3 and s['in'][0] == 3 and s.out[0] == 2 and s.out[1] == 1, 'f')\n"
	    "check(s.made == 0 and s.consumed == 0 and s.held == 0 and s.module == 'Filter', 'g')\n"
	    "check(f.stats.packets == 3, 'the node that was made')\n"
	    "check(node.f.gates[0].packets == 2 and node.f.gates[1].packets == 1, 'gates')\n"
	    "check(node.f.inputs[0].packets == 3, 'inputs')\n"
	    "check(not pcall(function() return node.f.gates[2] end), 'no gate 2')\n"
	    "check(node.yes.stats.consumed == 2 and node.yes.name == 'yes', 'yes')\n"
	    "check(port.p.stats.rx_packets == 3 and port.q.stats.tx_packets == 1, 'ports')\n"
	    "check(port.q.stats.driver == 'memory' and port.q.name == 'q', 'driver')\n"
	    "check(not pcall(function() return node.none end), 'no node')\n"
	    "check(not pcall(function() return port.none end), 'no port')\n"
	    "local names = {} for name, n in pairs(node) do names[#names + 1] = name\n"
	    "check(n.name == name) end check(#names == 5, #names)\n"
	    "check(now() > 0, 'now')\nstop(42) end)");
}

static void test_workers(void)
{
	lua_expect_run(ENDLESS "on.start(function()\nwait_until(function() return "
			       "workers[1].busy_cycles > 0 end)\ncheck(#workers == 1)\n"
			       "local w = workers[1]\ncheck(w.polls > 0 and w.busy_cycles > 0)\n"
			       "check(w.cycles == w.busy_cycles + w.idle_cycles)\n"
			       "check(workers[2] == nil and workers.first == nil and workers[0] == "
			       "nil)\nstop(42) end)");
}

static void test_drops(void)
{
	lua_expect_run("chain(port.memory{frames = {'02', 'ether / ipv4'}}, MACSwap('m'))\n"
		       "chain('m', Filter{expression = 'tcp'})\n"
		       "on.stop(function()\ncheck(drops.runt == 1, 'runt')\n"
		       "check(drops.unconnected == 1, 'unconnected')\n"
		       "check(drops.total == 2 and drops.elephant == 0, 'total')\n"
		       "local n = 0 for reason, k in pairs(drops) do n = n + k end check(n == 4)\n"
		       "stop(42) end)");
}

static void test_commands(void)
{
	lua_expect_run(
	    "chain(port.memory{open = true}, L2Fwd('fwd', {}), Sink('k'))\n"
	    "on.start(function()\n"
	    "node.fwd:add{mac = '02:00:00:00:00:05', gate = 0}\n"
	    "local list = node.fwd:list()\ncheck(#list == 1, #list)\n"
	    "check(list[1].mac == '02:00:00:00:00:05' and list[1].gate == 0, 'list')\n"
	    "local ok, why = pcall(function()\nnode.fwd:add{mac = 'x', gate = 0}\nend)\n"
	    "check(why:find('t.lua:8: fwd add: mac: \"x\" is not a MAC address', 1, true), why)\n"
	    "ok, why = pcall(function() node.fwd:add{mac = print} end)\n"
	    "check(why:find('t.lua:11: fwd add: mac: a function is given', 1, true), why)\n"
	    "ok, why = pcall(function() node.fwd:add(5) end)\n"
	    "check(why:find('t.lua:13: add: the arguments are a table', 1, true), why)\n"
	    "ok, why = pcall(function() node.fwd:elephant{} end)\n"
	    "check(why:find('t.lua:15: L2Fwd \"fwd\" has no \"elephant\"', 1, true), why)\n"
	    "node.fwd:remove{mac = '02:00:00:00:00:05'}\n"
	    "check(#node.fwd:list{} == 0, 'deleted')\nstop(42) end)");
	// Texts go through as they are, numbers of 48 and 64 bits whole.
	lua_expect_run("chain(Source{count = 1}, Probe('p', {live = 5}), Sink())\n"
		       "on.start(function()\nlocal r = node.p:say{text = 'a$b$$', gate = 0}\n"
		       "check(r.text == 'a$b$$', r.text) check(r.said == true and r.gate == 0)\n"
		       "check(r.mac == '02:00:00:00:00:ab')\nstop(42) end)");
}

static void test_swap(void)
{
	lua_expect_run(
	    "local function build(with)\nreturn function()\n"
	    "chain(Source('s', {templates = {'ether / ipv4 / udp'}}), with('m'), Sink('k'))\nend "
	    "end\nbuild(MACSwap)()\n"
	    "on.start(function()\nwait_until(function() return node.k.stats.packets > 100 end)\n"
	    "local change = swap(build(Tee))\n"
	    "local nodes = change.nodes\n"
	    "check(#nodes.kept == 2 and #nodes.replaced == 0, 'kept')\n"
	    "check(nodes.new[1] == 'm' and nodes.removed[1] == 'm' and node.m.module == 'Tee', "
	    "'new')\n"
	    "check(change.parked_ns > 0, 'parked')\n"
	    "local before = node.k.stats.packets\n"
	    "wait_until(function() return node.k.stats.packets > before end)\n"
	    "change = swap(function() chain(Source('t', {templates = {'ether'}}), Sink('k')) end)\n"
	    "nodes = change.nodes\n"
	    "check(nodes.new[1] == 't' and nodes.kept[1] == 'k' and #nodes.removed == 2, 'new')\n"
	    "check(not pcall(function() return node.m end), 'm is gone')\n"
	    "wait_until(function() return node.t.stats.made > 0 end)\n"
	    "local own = graph(function() chain(Source('u'), Sink('k')) end)\n"
	    "swap(own) check(not pcall(swap, own), 'twice')\n"
	    "check(not pcall(swap, function() chain(Source{count = 'x'}, Sink()) end), 'faults')\n"
	    "check(not pcall(swap, function() error('no') end), 'error')\n"
	    "check(node.u.stats.packets >= 0)\nstop(42) end)");
	// A YAML file, and ports.
	lua_expect_run(WAITING "on.start(function()\n"
			       "local change = swap('graphs/generate.yaml', {allow_loss = true})\n"
			       "check(change.ports.removed[1] == 'p', 'removed') stop(42) end)");
	// What would lose state is refused.
	lua_expect_run(
	    "local function build(size) return function()\n"
	    "chain(Source('s'), L2Fwd('f', {size = size, entries = {{mac = "
	    "'02:00:00:00:00:01', gate = 0}}}), Sink('k')) end end\nbuild(1024)()\n"
	    "on.start(function()\nlocal change = swap(build(2048), {allow_loss = true})\n"
	    "check(change.nodes.replaced[1] == 'f')\nstop(42) end)");
}

static void test_many_trials(void)
{
	// Many swaps leave the memory of the script as it was. Where others use the cores, a worker
	// may not come to a stop in time; then the swap is tried again.
	lua_expect_run(
	    "local function steady(graph)\nfor _ = 1, 20 do\n"
	    "local ok, why = pcall(swap, graph)\nif ok then return end\n"
	    "if not tostring(why):find('did not come to a stop', 1, true) then error(why, 0) end\n"
	    "end end\n"
	    "local function build(i) return function() chain(Source('s', {templates = "
	    "{'ether'}}), MACSwap('m' .. i), Sink('k')) end end\nbuild(0)()\n"
	    "on.start(function()\nlocal first\nfor i = 1, 200 do\nsteady(build(i % 3))\n"
	    "collectgarbage() wait(0)\nif i == 20 then first = collectgarbage('count') end\n"
	    "end\ncheck(collectgarbage('count') < first + 20, 'memory')\nstop(42) end)");
}

static void test_programs(void)
{
	lua_expect_run(
	    WAITING
	    "on.start(function()\n"
	    "local p = spawn{'sh', '-c', 'echo ready; echo $NAME; pwd; exec sleep 100',\n"
	    "  ready = 'ready', env = {NAME = 'value'}, cwd = '/'}\n"
	    "check(p.running and p.pid > 0, 'runs')\n"
	    "wait_until(function() return p:output():find('/\\n') end)\n"
	    "check(p:output():find('ready\\nvalue\\n/\\n'), p:output())\n"
	    "p:kill()\nlocal code, signal = p:wait('5s')\ncheck(signal == 15, signal)\n"
	    "check(not p.running, 'ended')\n"
	    "local q = spawn('true')\ncheck(q:wait() == 0, 'true')\n"
	    "local ok, why = pcall(spawn, {'sh', '-c', 'echo no; exit 2', ready = 'never'})\n"
	    "check(not ok and why:find('sh ended with exit code 2 before it said \"never\"; it "
	    "said \"no\"', 1, "
	    "true), why)\n"
	    "ok, why = pcall(spawn, {'sleep', '100', ready = 'never', limit = '5ms'})\n"
	    "check(not ok and why:find('sleep took too long before it said', 1, true), why)\n"
	    "ok, why = pcall(spawn, {'true', cwd = '/none'})\n"
	    "check(not ok and why:find('cwd: there is no folder \"/none\"', 1, true), why)\n"
	    "ok, why = pcall(spawn, {'true', enviroment = {}})\n"
	    "check(not ok and why:find('spawn: there is no option \"enviroment\", but cwd, env, "
	    "limit and ready', 1, true), why)\n"
	    "ok, why = pcall(spawn, {'true', env = 'A=B'})\n"
	    "check(not ok and why:find('spawn: env is a string, it should be a table', 1, true), "
	    "why)\n"
	    "local slow = spawn{'sleep', '100'}\ncheck(slow:wait('1ms') == nil)\n"
	    "stop(42) end)");
}

// Whatever ends the run, no program stays.
static void test_programs_end(void)
{
	static const char *const ends[] = {
	    "stop(7)",
	    "error('a test of errors')",
	    "while true do end",
	    "on.stop(function() error('a test of on.stop()') end) stop(7)",
	    "on.stop(function() while true do end end) stop(7)",
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct engine_text text = {0};
		char path[] = "/tmp/sluice-test.XXXXXX";
		int fd = mkstemp(path), pid = 0;
		FILE *file = fdopen(fd, "r+");

		engine_put(&text,
			   WAITING
			   "on.start(function()\nlocal p = spawn{'sleep', '100'}\n"
			   "local f = io.open('%s', 'w') f:write(p.pid) f:close()\n%s\nend)",
			   path, ends[i]);
		CU_ASSERT(lua_run(text.text) > 0);
		CU_ASSERT_EQUAL(fscanf(file, "%d", &pid), 1);
		CU_ASSERT(pid > 0 && kill(pid, 0) != 0);
		fclose(file);
		unlink(path);
		free(text.text);
	}
}

static const CU_TestInfo cases[] = {
    {"start and stop", test_start_and_stop},
    {"times", test_times},
    {"wait_until", test_wait_until},
    {"tasks", test_tasks},
    {"errors", test_errors},
    {"stats", test_stats},
    {"workers", test_workers},
    {"drops", test_drops},
    {"commands", test_commands},
    {"swap", test_swap},
    {"many trials", test_many_trials},
    {"programs", test_programs},
    {"programs end", test_programs_end},
    CU_TEST_INFO_NULL,
};
SUITE(lua_drive, cases, .eal = true)
