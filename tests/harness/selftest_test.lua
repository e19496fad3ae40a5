-- SPDX-License-Identifier: BSD-3-Clause
-- What the self-test says of trials in turn: moved as it should, not moved, cannot be told.

local rig = require "rig"
local burn = require "sluice.bench.selftest_burn"
local random = require "sluice.bench.random"
local test, same, check = rig.test, rig.same, rig.check

local HZ, C, K = 2.5e9, 50000, 50000

-- A trial of a switch that takes so many cycles a packet.
local function trial(cycles, busy)
  return {valid = true, busy = {switch = busy or 1}, switch_core_ns = cycles / HZ * 1e9}
end

-- 20 trials on a host that drifts and has a little noise.
-- `change` may put another in the place of one.
local function judge(k, noise, change)
  local draw, list = random.new(7), {}
  for i = 1, 20 do
    local drift = 1 + 0.3 * math.sin(i / 3)
    local cycles = (C + (i % 2 == 0 and k or 0)) * drift * (1 + noise * draw:normal())
    list[i] = change and change(i) or trial(cycles)
  end
  return burn.judge(HZ, list, C, K)
end

test("a switch that moves by k, whatever the host does", function()
  local held, text = judge(K, 0.01)
  check(held, "%s", text)
  check(text:find("expected 0.500", 1, true), "%s", text)
end)

test("one that does not move, too little or too much", function()
  for _, k in ipairs{0, 0.7 * K, 1.4 * K} do
    local held, text = judge(k, 0.01)
    same(held, false, text)
  end
end)

test("a few trials that do not count take nothing away", function()
  local held, text = judge(K, 0.01, function(i) return i == 5 and trial(9e4, 0.5) end)
  check(held, "%s", text)
  check(text:find("n=17", 1, true), "%s", text)
end)

test("trials in which it waited, was invalid or got nothing do not count", function()
  for why, bad in pairs{["it waited for packets"] = trial(1e5, 0.9),
                        ["a frame too many"] = {valid = false, why = "a frame too many"},
                        ["nothing was received"] = {valid = true, busy = {switch = 1}}} do
    local held, text = judge(K, 0.01, function() return bad end)
    same(held, nil)
    check(text:find("only 0 of 19 trials", 1, true) and text:find(why, 1, true), "%s", text)
  end
end)

test("trials that differ too much tell nothing", function()
  local held, text = judge(K, 1.5, nil)
  same(held, nil)
  check(text:find("differ too much", 1, true), "%s", text)
end)
