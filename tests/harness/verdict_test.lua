-- SPDX-License-Identifier: BSD-3-Clause
-- Each verdict is provoked, and each way in which frames may be unaccounted for.

local rig = require "rig"
local verdict = require "sluice.bench.verdict"
local test, same, check = rig.test, rig.same, rig.check

-- A trial in which the switch is the limit; each test changes what it is about.
local function trial(change)
  local one = {
    seconds = 1, rx_pps = 9e6, mode_before = "near", mode_after = "near",
    hiccups = {n = 2, long_s = 0.001}, lost_inside = 0, unsent = 0,
    roles = {
      {role = "generator", busy_cycles = 1.0e9, idle_cycles = 0, packets = 9e6, attempted = 12e6,
       refused = 3e6},
      {role = "switch", busy_cycles = 2.48e9, idle_cycles = 0.02e9, packets = 9e6, bursts = 3e5,
       full_bursts = 2.7e5},
      {role = "vnf", k = 1, busy_cycles = 0.4e9, idle_cycles = 0.1e9, packets = 9e6,
       attempted = 9e6, refused = 0},
      {role = "monitor", busy_cycles = 0.3e9, idle_cycles = 0.5e9, packets = 9e6},
    },
  }
  if change then change(one, one.roles[1], one.roles[2], one.roles[3], one.roles[4]) end
  return one
end

local function limit(wanted, why, change)
  local found = verdict.of(trial(change))
  same(found.limited_by, wanted, found.why)
  check(found.why:find(why, 1, true), "%s", found.why)
  same(found.own, wanted == "switch" or wanted == "none")
end

-- The switch idles half of its time and nothing is refused.
local function idle_switch(_, generator, switch)
  switch.busy_cycles, switch.idle_cycles, switch.full_bursts = 1.2e9, 1.3e9, 1000
  generator.attempted, generator.refused = 9e6, 0
end

test("switch: its core is full and work waits", function()
  limit("switch", "99 % busy and rings before it refuse", nil)
  limit("switch", "90 % of its bursts are full", function(_, generator)
    generator.attempted, generator.refused = 9e6, 0
  end)
end)

test("switch: it shows no counters", function()
  local function silent(one, generator, switch)
    switch.busy_cycles, switch.idle_cycles = nil, nil
    one.ceiling_pps = 14e6
  end
  limit("switch", "rings before it refuse", silent)
  limit("generator", "of the reference forwarder", function(one, generator, switch)
    silent(one, generator, switch)
    one.ceiling_pps = 9.2e6
  end)
end)

test("generator: a busy switch that takes all it gets is not the limit", function()
  limit("generator", "99 % busy", function(_, generator, switch, vnf, monitor)
    generator.attempted, generator.refused, switch.full_bursts = 9e6, 0, 1000
    generator.busy_cycles = 2e9
    vnf.idle_cycles, monitor.idle_cycles = 0.01e9, 0.01e9
  end)
end)

test("monitor and vnf: the one that takes most of their core", function()
  limit("monitor", "busy", function(one, generator, switch, vnf, monitor)
    idle_switch(one, generator, switch)
    monitor.busy_cycles, monitor.idle_cycles, vnf.idle_cycles = 2e9, 0.02e9, 0.01e9
  end)
  limit("vnf 1", "busy", function(one, generator, switch, vnf, monitor)
    idle_switch(one, generator, switch)
    vnf.busy_cycles, vnf.idle_cycles, monitor.idle_cycles = 2e9, 0.02e9, 0.01e9
  end)
end)

test("monitor and vnf: the ring towards it was full", function()
  limit("vnf 1", "the ring towards it was full: the switch dropped 22.2 %", function(one)
    one.dropped_to = {["vnf 1"] = 2e6, monitor = 1e5}
  end)
  limit("monitor", "ring towards it", function(one) one.dropped_to = {monitor = 1e5} end)
  limit("switch", "busy", function(one) one.dropped_to = {monitor = 100} end)
end)

test("wire: the pacing cap is reached", function()
  limit("wire", "100 %", function(one) one.wire_pps = 9.01e6 end)
  limit("switch", "busy", function(one) one.wire_pps = 10e6 end)
end)

test("window: idle time on both sides, yet frames were refused", function()
  limit("window", "idle time", function(one, generator, switch, vnf, monitor)
    idle_switch(one, generator, switch)
    generator.refused = 5000
    monitor.idle_cycles = 2e9
  end)
  limit("window", "the switch is 48 % busy, yet rings before it refuse 10.0 %",
        function(one, generator, switch, vnf, monitor)
    idle_switch(one, generator, switch)
    generator.refused, generator.busy_cycles = 1.8e6, 2.4e9
    vnf.idle_cycles, monitor.idle_cycles = 0, 0
  end)
end)

test("noise: the mode flipped, the host stalled, or nothing is full", function()
  limit("noise", "from near to far", function(one) one.mode_after = "far" end)
  limit("noise", "hiccups above 100 us took 8 %", function(one) one.hiccups.long_s = 0.08 end)
  limit("noise", "no core, ring or wire", function(one, generator, switch, _, monitor)
    idle_switch(one, generator, switch)
    monitor.idle_cycles = 2e9
  end)
end)

test("none: the load was carried whole", function()
  limit("none", "whole load", function(one, generator)
    one.intended_pps, generator.refused = 9e6, 0
  end)
  limit("switch", "busy", function(one) one.intended_pps = 12e6 end)
end)

test("several trials together", function()
  local function of(...)
    local list = {}
    for i, name in ipairs{...} do list[i] = {limited_by = name, own = name == "switch"} end
    return verdict.together(list).limited_by
  end
  same(of("switch", "switch", "noise"), "switch")
  same(of("switch", "generator"), "generator", "of equals not the switch")
  same(of("generator", "switch", "switch", "generator"), "generator")
  same(verdict.together{}, nil)
end)

local function frames(change)
  local all = {intended = 1000, attempted = 990, unsent = 10, accepted = 900, refused = 90,
               received = 880, lost_inside = 20, in_flight = 0, duplicates = 0, reordered = 0,
               damaged = 0}
  for name, n in pairs(change or {}) do all[name] = n end
  return all
end

test("loss that adds up", function()
  local balance = verdict.balance(frames())
  check(balance.whole)
  same(balance.lost, 120)
  same(balance.loss_ratio, 0.12)
  same(balance.residual, {generator = 0, wire = 0, inside = 0})
end)

test("loss that does not", function()
  for change, text in pairs{
    [{unsent = 9}] = "1 frames are unaccounted for (intended = attempted + unsent)",
    [{refused = 89}] = "1 frames are unaccounted for (attempted = accepted + refused)",
    [{lost_inside = 15}] = "5 frames are unaccounted for (accepted = received + lost inside + "
                           .. "in flight)",
    [{in_flight = 3}] = "-3 frames are unaccounted for (accepted = received + lost inside + "
                        .. "in flight)",
    [{duplicates = 2}] = "2 frames were doubled",
    [{reordered = 2}] = "2 frames were reordered",
    [{damaged = 1}] = "1 frames were damaged",
    [{received = 903, lost_inside = -3}] = "lost_inside is negative: -3",
  } do
    local balance = verdict.balance(frames(change))
    check(not balance.whole)
    same(balance.faults[1], text)
  end
  local more = verdict.balance{intended = 10, attempted = 10, accepted = 10, received = 11,
                               lost_inside = -1}
  same(#more.faults, 2)
  check(verdict.balance(frames{reordered = 5}, {reordered = true}).whole, "where it may happen")
end)
