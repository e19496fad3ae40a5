-- SPDX-License-Identifier: BSD-3-Clause
-- A world without processes and with a clock of its own: a generator, a switch and a monitor of known
-- speeds, each with a ring before it, in place of what lua/bench starts. Trials run in it as they
-- run on machines, and the same happens every time. What goes wrong is what a test sets.

local world = {}

local RING = 1024
local HZ = 1e9 -- cycles a second of both cores
local STEP = 0.0001 -- no ring fills in it

-- now: seconds. offered: of the generator at full load; capacity, monitor: of the others; packets a
-- second. pause(now): whether nothing reaches the monitor at that time. lose: frames that vanish in
-- the switch. modes: what the probe says, one after the other. hiccups: what the generator says.
local state

local function counter() return {frames = 0, rest = 0} end

-- So many whole packets at a rate, with what is left over kept for the next step.
local function share(of, rate, seconds)
  of.rest = of.rest + rate * seconds
  local n = math.floor(of.rest + 1e-6)
  of.rest = of.rest - n
  return n
end

local function generate(s, seconds)
  if not s.load then return end
  local rate, n = s.load.pps or s.offered, nil
  n = share(s.making, rate, seconds)
  if s.load.count then n = math.min(n, s.load.count - s.load.sent) end
  s.load.sent = s.load.sent + n
  local taken = math.min(n, RING - s.ring)
  s.ring = s.ring + taken
  s.attempted, s.refused, s.accepted = s.attempted + n, s.refused + n - taken, s.accepted + taken
  if s.load.count == s.load.sent or s.now >= s.load.ends then s.load = nil end
end

local function step(seconds)
  local s = state
  generate(s, seconds)
  local able = share(s.switching, s.capacity, seconds)
  local moved = math.min(able, s.ring)
  s.ring, s.rx = s.ring - moved, s.rx + moved
  s.busy = s.busy + HZ * seconds * (able > 0 and moved / able or 0)
  s.idle = s.idle + HZ * seconds * (able > 0 and 1 - moved / able or 1)
  local lost = math.min(moved, s.lose)
  s.lose = s.lose - lost
  moved = moved - lost
  local room = RING - s.back
  s.dropped, s.back = s.dropped + math.max(0, moved - room), s.back + math.min(moved, room)
  if not (s.pause and s.pause(s.now)) then
    local got = math.min(share(s.taking, s.monitor, seconds), s.back)
    s.back, s.received = s.back - got, s.received + got
    if s.window and s.now < s.window.ends then s.window.received = s.window.received + got end
  end
  s.now = s.now + seconds
end

local function advance(seconds)
  local ends = state.now + seconds
  while state.now < ends - 1e-9 do step(math.min(STEP, ends - state.now)) end
end

local function stats()
  local s = state
  local function node(n, more)
    local one = {["in"] = {n}, out = {}, dropped = {}, cycles = n * 10, cycles_sampled = n, counters = {}}
    for name, value in pairs(more or {}) do one[name] = value end
    return one
  end
  return {
    ports = {port0 = {tx_packets = s.accepted}, port1 = {tx_packets = 0}},
    workers = {{busy_cycles = HZ * s.now * s.traffic_busy, idle_cycles = HZ * s.now * (1 - s.traffic_busy)}},
    nodes = {
      gen1 = node(s.attempted, {counters = {intended = s.attempted, attempted = s.attempted, unsent = 0}}),
      to_0 = node(s.attempted, {dropped = {full = s.refused}}),
      from_1 = node(s.received),
      meter1 = node(s.received, {counters = {received = s.received, duplicates = 0, old = 0,
                                             reordered = 0, damaged = 0, foreign = 0}}),
    }}
end

local commands = {}

function commands.start(_, args)
  local pps = args.rate and tonumber(args.rate:match("^(%d+)pps$"))
  local us = args.duration and tonumber(args.duration:match("^(%d+)us$"))
  state.load = {pps = pps, count = args.count, sent = 0, ends = us and state.now + us / 1e6 or math.huge}
end

function commands.stop() state.load = nil end
function commands.status() return {running = state.load ~= nil} end
function commands.gaps() return {hiccups = state.hiccups.n, sum_ns = state.hiccups.sum_ns,
                                 long_ns = state.hiccups.sum_ns,
                                 longest_ns = state.hiccups.longest_ns} end

function commands.reset() state.window, state.reset = nil, state.received end

function commands.window(_, args)
  state.window = {ends = state.now + tonumber(args.duration:match("^(%d+)us$")) / 1e6, received = 0}
end

function commands.look()
  return {window = state.window and (state.now < state.window.ends and "open" or "done") or "none"}
end

function commands.read()
  local n = state.window and state.window.received or state.received - (state.reset or 0)
  return {received = n, duplicates = 0, old = 0, reordered = 0, timed = 0}
end

--- Puts the world under lua/bench: to be called before anything of it is required.
function world.install()
  package.loaded["sluice.bench.native"] = {
    now = function() return math.floor(state.now * 1e9) end, hz = function() return HZ end,
    probe = function()
      return #state.modes > 1 and table.remove(state.modes, 1) or state.modes[1]
    end}
  local process = {}
  function process.wait_until(condition, seconds, by)
    local limit, held = state.now + seconds, condition()
    while not held and state.now < limit - 1e-9 do
      advance(by or 0.005)
      held = condition()
    end
    return held or nil
  end
  function process.wait(seconds) advance(seconds) end
  function process.stop(code, format, ...)
    error(setmetatable({code = code, text = format:format(...)}, process), 0)
  end
  process.__tostring = function(stop) return stop.text end
  package.loaded["sluice.bench.process"] = process
  package.loaded["sluice.bench.instance"] = {start = function()
    return {stats = stats, stop = function() end, program = {},
            call = function(_, node, command, args)
              -- To ask takes a moment.
              advance(0.0005)
              return commands[command](node, args or {}) or {}
            end}
  end}
end

--- A new world; what is given replaces what is usual. Runs a trial in it: what trial.run() gives.
function world.trial(load, more)
  state = {now = 0, offered = 5e6, capacity = 3e6, monitor = 1e9, modes = {60}, lose = 0, ring = 0,
           back = 0, attempted = 0, refused = 0, accepted = 0, rx = 0, dropped = 0, received = 0,
           busy = 0, idle = 0, traffic_busy = 0.5, making = counter(), switching = counter(),
           taking = counter(), hiccups = {n = 0, sum_ns = 0, longest_ns = 0},
           waits = {traffic = {}, switch = {}}}
  for name, value in pairs(more or {}) do state[name] = value end
  local scenario = require "sluice.bench.scenario"
  local process = require "sluice.bench.process"
  local dut = {spec = {scenario = scenario.make("p2p", 0, "uni", "memif"), switch = "simulated", core = 1,
                       main_core = 0, size = 64}}
  dut.traffic = require("sluice.bench.traffic").start{
    scenario = dut.spec.scenario, switch = {}, folder = "/none", size = 64, core = 0}
  function dut.counters()
    return {rx = state.rx, tx_dropped = {[1] = state.dropped}, busy_cycles = math.floor(state.busy),
            idle_cycles = math.floor(state.idle)}
  end
  dut.counters_live = dut.counters
  function dut.check_alive() end
  function dut.alive(_, work, ...) return work(...) end
  function dut.wait_until(_, ...) return process.wait_until(...) end
  function dut.wait(_, seconds) process.wait(seconds) end
  function dut.waits()
    -- Each reading is later than the one before by what the test says.
    local now = {}
    for role, one in pairs(state.waits) do
      now[role] = one.run_s and {worker = {run_s = one.run_s * state.now, wait_s = one.wait_s * state.now,
                                           slices = math.floor(one.slices * state.now)}} or {}
    end
    return now
  end
  return require("sluice.bench.trial").run(dut, load), state
end

return world
