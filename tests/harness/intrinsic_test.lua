-- SPDX-License-Identifier: BSD-3-Clause
-- What counters and callgrind's files say of a packet's cost; what words of `compare` mean.

local rig = require "rig"
require("world").install()
local callgrind = require "sluice.bench.callgrind"
local counted = require "sluice.bench.counted"
local subject = require "sluice.bench.subject"
local text = require "sluice.bench.report.text"
local waits = require "sluice.bench.waits"
local test, check, near, same = rig.test, rig.check, rig.near, rig.same

local function line(made, busy, sampled, cycles)
  return {workers = {{busy_cycles = busy}},
          nodes = {gen = {module = "Source", made = made, ["in"] = {}, out = {made},
                          cycles = cycles, cycles_sampled = sampled},
                   half = {module = "Sink", made = 0, ["in"] = {made // 2}, out = {}, cycles = cycles,
                           cycles_sampled = sampled}}}
end

test("cycles are those between the first line with packets and the last one", function()
  local found = counted.window{line(0, 500, 0, 0), line(1000, 99500, 10, 900),
                                 line(5000, 299500, 50, 2900), line(9000, 499500, 90, 4900)}
  same({found.packets, found.cycles_per_packet}, {8000, 50})
  near(found.nodes.gen.cycles, 50)
  near(found.nodes.half.cycles, 25, nil, "of each packet that was made")
end)

test("a graph that ends at once is taken whole; others say nothing", function()
  same(counted.window{line(1000, 20000, 0, 0)}.cycles_per_packet, 20)
  same(counted.window{line(1000, 9000, 0, 0), line(1000, 20000, 0, 0)}.cycles_per_packet, 20)
  same({counted.window{line(0, 10, 0, 0)}}, {nil, "no packets were made"})
  same({counted.window{}}, {nil, "it has said nothing"})
  local two = line(10, 10, 0, 0)
  two.workers[2] = {busy_cycles = 1}
  same(select(2, counted.window{two}), "the graph has 2 workers: one core is measured")
end)

-- As callgrind writes it: names in full once, costs of calls on the line behind.
local function file(source, swap, watched, total)
  return ([[
# callgrind format
version: 1
events: Ir
summary: %d

ob=(1) /usr/bin/sluice
fl=(2) core/run/walk.c
fn=(10) worker_main
70 5
cfn=(11) walk_poll
calls=3 0
72 9999

fn=(11)
12 40
fi=(3) core/batch.h
+3 2
cfi=(4) modules/source.c
cfn=(12) source_poll
calls=3 50
+4 %d
cfn=(13) macswap_process
calls=2 8
* %d
fn=(14) walk_watched
90 7
cfn=(13)
calls=1 8
* %d

totals: %d
]]):format(total, source, swap, watched, total)
end

test("callgrind's file: totals, and functions with what they call", function()
  local found = callgrind.read(file(300, 90, 10, 1234))
  same(found.total, 1234)
  same({found.inclusive.source_poll, found.inclusive.macswap_process, found.inclusive.walk_poll},
       {300, 100, 9999})
  same(callgrind.read("").total, 0)
end)

test("instructions a packet are the difference of two counts", function()
  local function counted(packets, ...)
    local one = callgrind.read(file(...))
    one.packets = packets
    one.nodes = {gen = {module = "Source", packets = packets},
                 swap = {module = "MACSwap", packets = packets},
                 swap2 = {module = "MACSwap", packets = packets // 2},
                 odd = {module = "Lua", packets = packets}}
    return one
  end
  local less, more = counted(100, 1300, 400, 0, 5000), counted(300, 3300, 900, 100, 11000)
  same(callgrind.per_packet(less, more), 30)
  local each = callgrind.by_node(less, more)
  same({each.gen, each.swap, each.swap2, each.odd}, {10, 2, 1})
  same(callgrind.per_packet(less, less), nil)
  same(callgrind.by_node(less, less), {})
end)

test("what valgrind does not know is said with what to do", function()
  local said = "==1== Process terminating with default action of signal 4 (SIGILL)"
  check(callgrind.why(said, "build/out/sluice"):find("make VARIANT=portable", 1, true))
  check(callgrind.why("vex amd64->IR: unhandled instruction bytes: 0x62", "x"):find("--sluice PATH",
                                                                                     1, true))
  same(callgrind.why("graph.yaml:1:1: error: no", "x"), nil)
end)

test("what a thread waited is a share of its time", function()
  local before = {["7"] = {run_s = 1000, wait_s = 200, slices = 1}}
  same(waits.between(before, {["7"] = {run_s = 1900, wait_s = 300, slices = 2}}).share, 0.1)
  same(waits.between(before, before), nil)
end)

test("the line of a record, and its nodes", function()
  local one = {test = "g.yaml", cycles_per_packet = {median = 20.25, min = 20, max = 21, n = 3},
               instructions_per_packet = 31.5,
               by_node = {{node = "gen", cycles = 15, instructions = 20}, {node = "out", cycles = 4.5}}}
  local lines = text.intrinsic(one)
  same(lines[1], "g.yaml  20.2 cyc/pkt [20..21] n=3  31.50 instructions")
  same(#lines, 3)
  check(lines[2]:find("^  gen +15.0 cyc/pkt  +20.00 instructions"), "%s", lines[2])
  check(lines[3]:find("^  out +4.5 cyc/pkt$"), "%s", lines[3])
end)

test("words of compare: switches, builds, graphs", function()
  local folder = os.getenv("HARNESS_TMP") or "."
  local graph, program, other = folder .. "/one.yaml", folder .. "/program", folder .. "/other"
  for _, path in ipairs{graph, program, other} do io.open(path, "w"):close() end
  require("luv").fs_chmod(program, tonumber("755", 8))
  same({subject.read("testpmd").kind, subject.read(graph).kind, subject.read(program).kind},
       {"switch", "graph", "build"})
  same({subject.read(other)}, {nil, other .. " is neither a program nor a graph file"})
  same({subject.read("testpmt")},
       {nil, 'there is no switch and no file testpmt; did you mean "testpmd"?'})
  same(select(2, subject.both("sluice", program)), "scenario")
  same(select(2, subject.both(graph, graph)), "intrinsic")
  same(select(2, subject.both("sluice", program, graph)), "intrinsic")
  check(select(2, subject.both(graph, "sluice")):find("a graph goes with a graph", 1, true))
  check(select(2, subject.both("ovs", program, graph)):find("--graph is for builds", 1, true))
end)
