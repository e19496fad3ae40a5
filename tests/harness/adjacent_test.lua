-- SPDX-License-Identifier: BSD-3-Clause
-- Comparisons in adjacent pairs, of simulated things that differ by a known share: the order, what
-- counts as a pair, drifts, and what is said.

local rig = require "rig"
local adjacent = require "sluice.bench.adjacent"
local random = require "sluice.bench.random"
local record = require "sluice.bench.record"
local text = require "sluice.bench.report.text"
local test, check, near, same = rig.test, rig.check, rig.near, rig.same

-- Runs pairs; trial(which, n) gives what a trial did, or its value.
local function run(n, trial)
  local order, line = adjacent.new(n), {}
  for which in order.next do
    line[#line + 1] = which
    local one = trial(which, #line)
    order.tell(type(one) == "table" and one or {value = one})
  end
  return order.result, table.concat(line)
end

test("pairs turn around, so that a thing is beside itself too", function()
  local found, line = run(4, function(which, n) return which == "a" and 200 + n or 100 + n end)
  same(line, "abbaabba")
  same({found.a, found.b}, {{201, 204, 205, 208}, {102, 103, 106, 107}})
  same({found.one, found.again}, {{102, 204, 106}, {103, 205, 107}})
  same(found.tried, 4)
end)

test("a drift of the machine is no difference", function()
  -- Each trial is 2 % slower than the one before.
  local found = run(7, function(_, n) return 1e7 * 0.98 ^ n end)
  local said = adjacent.compare(found)
  same(said.verdict, "same")
  check(said.floor > 0.019 and said.detectable >= said.floor, "floor %g", said.floor)
end)

test("pairs of two modes, and of trials that do not count, are run again, so many at most", function()
  local found, line = run(6, function(which, n)
    return {value = which == "a" and 3 or 2, mode = n < 4 and "near" or "far",
            valid = n ~= 7 and n ~= 9}
  end)
  -- The second pair is of both modes, the fourth and the fifth have a trial that does not count.
  same({#found.a, found.tried, #line, found.mode}, {6, 9, 18, "mixed"})
  near(adjacent.compare(found).ratio, 1.5)
  found, line = run(6, function() return {value = 1, valid = false} end)
  same({#found.a, found.tried, #line}, {0, 12, 24})
  same(adjacent.compare(found), nil)
  found = run(6, function(_, n) return {value = n == 1 and 0 or 1, mode = "near"} end)
  same({#found.a, found.tried, found.mode}, {6, 7, "near"})
end)

test("what is seen is what there is, with few false alarms", function()
  local wrong, missed = 0, 0
  for seed = 1, 400 do
    local draw = random.new(seed)
    local function noisy(factor)
      return function(which)
        return (which == "a" and factor or 1) * 1e7 * (1 + 0.01 * draw:normal())
      end
    end
    if adjacent.compare((run(7, noisy(1)))).verdict ~= "same" then wrong = wrong + 1 end
    if adjacent.compare((run(7, noisy(1.1)))).verdict ~= "faster" then missed = missed + 1 end
    check(adjacent.compare((run(7, noisy(0.5)))).verdict == "slower", "half of it")
  end
  check(wrong <= 8, "%d of 400 comparisons of a thing with itself see a difference", wrong)
  check(missed <= 8, "%d of 400 differences of 10 %% are not seen", missed)
end)

test("the record and its line", function()
  local one = record.new("compare", adjacent.compare((run(7, function(which, n)
    return {value = which == "a" and 2e7 or 1e7 + n, mode = "near"}
  end))))
  one.session, one.a, one.b, one.test, one.metric = "s", "new", "old", "p2p/uni/64/memif", "mrr"
  same(record.check(one), {})
  check(text.compare(one):find("new / old = 2.000 [2.000..2.000] n=7, A/A floor 0.0 %: "
                               .. "new is faster", 1, true), "%s", text.compare(one))
  one.a_limited_by = "generator"
  check(text.compare(one):find("new is faster; at least: new is limited by generator", 1, true),
        "%s", text.compare(one))
  one.a_limited_by, one.b_limited_by = "switch", "vnf 1"
  check(text.compare(one):find("at most: old is limited by vnf 1", 1, true))
  one.a_limited_by = "noise"
  check(text.compare(one):find("says little: new is limited by noise, old by vnf 1", 1, true))
end)

test("wrong use is told", function()
  local order = adjacent.new(2)
  order.next()
  rig.raises("no number `value`", order.tell, {})
end)
