-- SPDX-License-Identifier: BSD-3-Clause
-- Searches of several switches that take turns, the reference's ceiling, and what confirms a figure.

local rig = require "rig"
local confirm = require "sluice.bench.confirm"
local search = require "sluice.bench.search"
local simulated = require "simulated"
local turns = require "sluice.bench.turns"
local test, check, near, same = rig.test, rig.check, rig.near, rig.same

local max = 14.88e6

-- Searches of simulated switches that take turns; the line says whose trials came when.
local function search_all(kind, capacities)
  local list, line = {}, {}
  for i, capacity in ipairs(capacities) do
    list[i] = {name = tostring(i), search = search.new(kind, {max_pps = max, seconds = 1}),
               switch = simulated.new{seed = i, capacity = capacity, noise = 0.001}}
  end
  turns.run(list, function(one)
    local load = one.search.next()
    if not load then return false end
    line[#line + 1] = one.name
    one.search.tell(one.switch:run(load))
    return true
  end)
  return list, table.concat(line)
end

test("searches of many trials take turns, and find what each finds alone", function()
  for _, kind in ipairs{"mrr", "ndr", "pdr", "rfc2544"} do
    local list, line = search_all(kind, {5e6, 9e6, 2e6})
    check(line:find("^123123123123"), "%s: %s", kind, line)
    -- As long as all of them go on, nobody has two trials in a row.
    local least = math.min(list[1].search.trials, list[2].search.trials, list[3].search.trials)
    same(line:sub(1, 3 * least), ("123"):rep(least), kind)
    for i, one in ipairs(list) do
      local alone = simulated.new{seed = i, capacity = one.switch.what.capacity, noise = 0.001}
                             :search(kind, {max_pps = max, seconds = 1})
      same(one.search.result, alone.result, kind)
    end
  end
end)

test("one that fails leaves the others their turns", function()
  local n = {0, 0}
  turns.run({{k = 1}, {k = 2}}, function(one)
    n[one.k] = n[one.k] + 1
    return n[one.k] < (one.k == 1 and 2 or 6)
  end)
  same(n, {2, 6})
  turns.run({}, error)
end)

test("the ceiling is that of the same mode, of trials that count", function()
  local trials = {{rx_pps = 99, mode = "near", valid = true, warmup = true},
                  {rx_pps = 10, mode = "near", valid = true},
                  {rx_pps = 5, mode = "far", valid = true},
                  {rx_pps = 1, mode = "near", valid = false},
                  {rx_pps = 12, mode = "near", valid = true}}
  same({turns.ceiling(trials, "near"), turns.ceiling(trials, "far")}, {11, 5})
  same({turns.ceiling(trials), turns.ceiling({}, "near")}, {})
end)

-- A traffic process that takes c cycles a packet before a switch of so many packets a second.
local function rig_of(hz, c, capacity)
  return function(burn) return {value = math.min(capacity, hz / (c + (burn or 0))), mode = "near"} end
end

test("a figure that cycles in the traffic process move is not the switch's", function()
  local limit = {limited_by = "switch", why = "rings refuse"}
  -- The traffic could do 25 Mpps; the switch does 10.
  local said = confirm.run(rig_of(2.5e9, 100, 10e6), 2.5e9, 10e6)
  same({said.moved, said.ratio, said.n, said.cycles}, {false, 1, 3, 50})
  same(confirm.limit(limit, said),
       {limited_by = "switch", why = "rings refuse; burning 50 cycles a packet in the traffic "
                                     .. "process did not move it"})
  -- The switch could do 40 Mpps.
  said = confirm.run(rig_of(2.5e9, 100, 40e6), 2.5e9, 25e6)
  check(said.moved)
  near(said.ratio, 1.2)
  same(confirm.limit(limit, said),
       {limited_by = "generator",
        why = "burning 20 cycles a packet in the traffic process took 17 % off it"})
  said = confirm.run(function() return {value = 1, valid = false} end, 2.5e9, 1e6)
  same(said, nil)
  check(confirm.limit(limit, said).why:find("not confirmed", 1, true))
end)
