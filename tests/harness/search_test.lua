-- SPDX-License-Identifier: BSD-3-Clause
-- The searches against simulated switches: they end, within their width, and never above the
-- smallest load with high loss, for thousands of seeds.

local rig = require "rig"
local simulated = require "simulated"
local search = require "sluice.bench.search"
local mlr = require "sluice.bench.search.mlr"
local rfc2544 = require "sluice.bench.search.rfc2544"
local random = require "sluice.bench.random"
local test, check, near, same = rig.test, rig.check, rig.near, rig.same

local max = 14.88e6
local ndr = {loss = 0, seconds = 1, duration_sum = 7, exceed = 0.5}
local pdr = {loss = 0.005, seconds = 1, duration_sum = 7, exceed = 0.5}

local function trials(losses, seconds)
  local list = {}
  for i, loss in ipairs(losses) do list[i] = {loss = loss, seconds = seconds or 1} end
  return list
end

test("a load is classified by all trials at it", function()
  same(mlr.classify({}, ndr), nil)
  same(mlr.classify(trials{0, 0, 0}, ndr), nil)
  same(mlr.classify(trials{0, 0, 0, 0}, ndr), "lower", "half of 7 s are good")
  same(mlr.classify(trials{1, 1, 1}, ndr), nil)
  same(mlr.classify(trials{1, 1, 1, 1}, ndr), "upper")
  same(mlr.classify(trials{1, 0, 1, 0, 1, 0, 0}, ndr), "lower")
  same(mlr.classify(trials{0.004, 0.005, 0, 0.001}, pdr), "lower")
  same(mlr.classify(trials{0.006, 0.006, 0.1, 0.006}, pdr), "upper")
  -- Short trials: good ones balance bad ones, but never make a lower bound.
  same(mlr.classify(trials({1, 1, 1, 1}, 0.9), ndr), "upper")
  same(mlr.classify(trials({0, 0, 0, 0, 0, 0, 0, 0, 0}, 0.9), ndr), nil)
  same(mlr.classify(trials({1, 1, 1, 1, 0, 0}, 0.9), ndr), nil)
  local tenths = {}
  for i = 1, 7 do tenths[i] = {loss = i <= 3 and 1 or 0, seconds = 0.1} end
  same(mlr.classify(tenths, {loss = 0, seconds = 0.1, duration_sum = 0.7, exceed = 0.5}), "lower",
       "sums of 0.1 s")
end)

test("conditional throughput is that of the trial at the quantile", function()
  near(mlr.conditional(100, trials{0, 0, 0, 0}, ndr), 100)
  near(mlr.conditional(100, trials{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}, ndr), 60)
  near(mlr.conditional(100, trials{0, 0, 0}, ndr), 0, nil, "what was not run counts as lost")
end)

test("without noise each search finds the true rate", function()
  local all = search.new("pdr", {max_pps = max})
  local switch = simulated.new{capacity = 6.1e6}
  for trial in all.next do all.tell(switch:run(trial)) end
  for _, goal in ipairs(all.result.goals) do
    local truth = goal.metric == "ndr" and 6.1e6 or 6.1e6 / 0.995
    check(goal.lower_pps <= truth + 1 and goal.upper_pps >= truth - 1, "%s", goal.metric)
    check(goal.upper_pps - goal.lower_pps <= 0.01 * goal.upper_pps, "its width")
  end
  check(all.trials < 60, "%d trials", all.trials)
  local through = simulated.new{capacity = 6.1e6}:search("rfc2544", {max_pps = max})
  near(through.result.pps, 6.1e6, 0.011)
  same(through.seconds % 60, 0)
end)

-- What must hold of every goal whatever the switch does.
local function hold(goal, switch, width, where)
  local rule = goal.metric == "ndr" and ndr or pdr
  local by_load, least_bad = {}, math.huge
  for _, trial in ipairs(switch.trials) do
    by_load[trial.pps] = by_load[trial.pps] or {}
    table.insert(by_load[trial.pps], trial)
  end
  for pps, list in pairs(by_load) do
    if mlr.classify(list, rule) == "upper" then least_bad = math.min(least_bad, pps) end
  end
  check(goal.pps <= goal.lower_pps and goal.lower_pps < least_bad,
        "%s: above a load with high loss",
        where)
  if goal.lower_pps > 0 and goal.upper_pps then
    same(mlr.classify(by_load[goal.lower_pps], rule), "lower", where)
    same(mlr.classify(by_load[goal.upper_pps], rule), "upper", where)
    check((goal.upper_pps - goal.lower_pps) / goal.upper_pps <= width, "%s: too wide", where)
  end
end

test("2,000 noisy switches with spikes and flips: the search ends as it should", function()
  for seed = 1, 2000 do
    local draw = random.new(seed)
    local what = {seed = seed, capacity = max * (0.002 + 1.1 * draw:number()),
                  noise = 0.02 * draw:number(),
                  spike = 0.2 * draw:number(), flip = seed % 3 == 0 and 0.05 or 0,
                  slow = 0.5, told = seed % 2 == 0, floor = seed % 7 == 0 and 0.003 or 0}
    local switch = simulated.new(what)
    local found = switch:search("pdr", {max_pps = max})
    check(found.result, "seed %d: %s", seed, found.failed)
    for _, goal in ipairs(found.result.goals) do hold(goal, switch, 0.01, "seed " .. seed) end
  end
end)

test("with little noise and few spikes the rate is the true one", function()
  for seed = 1, 300 do
    local capacity = max * (0.05 + 0.9 * random.new(seed):number())
    local switch = simulated.new{seed = seed, capacity = capacity, noise = 0.001, spike = 0.05}
    local found = switch:search("ndr", {max_pps = max})
    near(found.result.lower_pps, capacity, 0.015, "seed " .. seed)
  end
end)

test("flips that are told are run again, and do not move the rate", function()
  for seed = 1, 100 do
    local switch = simulated.new{seed = seed, capacity = 8e6, flip = 0.02, slow = 1, told = true}
    near(switch:search("ndr", {max_pps = max}).result.lower_pps, 8e6, 0.011)
  end
end)

test("ends of the range", function()
  local all = simulated.new{capacity = 2 * max}:search("ndr", {max_pps = max}).result
  check(all.at_max and all.pps == max and not all.upper_pps)
  local none = simulated.new{capacity = max, floor = 0.1}:search("ndr", {max_pps = max}).result
  check(none.pps == 0 and none.upper_pps == max / 1000 and none.why)
  check(simulated.new{capacity = 2 * max}:search("rfc2544", {max_pps = max}).result.at_max)
  same(simulated.new{capacity = max, floor = 0.1}:search("rfc2544", {max_pps = max}).result.pps, 0)
end)

test("mrr: a trial to warm up, then the summary", function()
  local switch = simulated.new{capacity = 5e6, noise = 0.01, seed = 3}
  local found = switch:search("mrr", {seconds = 0.5})
  same(#switch.trials, 8)
  same(found.result.value_pps.n, 7)
  check(found.result.value_pps.min <= found.result.value_pps.median)
end)

test("the loss curve stops after two loads without loss", function()
  local switch = simulated.new{capacity = 0.55 * max}
  local found = switch:search("loss", {max_pps = max, seconds = 1})
  local percents = {}
  for i, point in ipairs(found.result.curve) do percents[i] = point.percent end
  same(percents, {100, 90, 80, 70, 60, 50, 40})
  near(found.result.curve[1].loss, 0.45, 1e-6)
  same(found.result.curve[7].loss, 0)
  same(#simulated.new{capacity = 0}:search("loss", {max_pps = max, seconds = 1}).result.curve, 10)
end)

test("back-to-back: the buffer's true time", function()
  -- 1,024 frames at 10 Mpps while 6 Mpps are forwarded: 102.4 us of buffer, which bursts of 2,560
  -- frames fill.
  local switch = simulated.new{capacity = 6e6, buffer = 1024}
  local options = {max_pps = 10e6, throughput_pps = 6e6, repeats = 3}
  local found = switch:search("b2b", options).result
  near(found.frames.mean, 2560, 0.001)
  near(found.implied_buffer_s, 256e-6, 0.001)
  near(found.corrected_buffer_s, 102.4e-6, 0.001)
  same(found.frames.deviation, 0)
  local fast = simulated.new{capacity = 20e6, buffer = 1024}:search("b2b", options).result
  check(fast.at_max and not fast.corrected_buffer_s)
  check(simulated.new{capacity = 1e6, buffer = 10}:search("b2b", {max_pps = 1e7}).failed)
  near(select(2, rfc2544.buffer_times(1000, 1e6, 0.25e6)), 750e-6)
end)

test("trials grow shorter where a host's hiccups never spare a long one", function()
  for _, name in ipairs{"ndr", "pdr"} do
    local found, switch = search.new(name, {max_pps = max}), simulated.new{capacity = 6.1e6}
    local counted = 0
    for trial in found.next do
      local one = switch:run(trial)
      if trial.seconds > 0.1 then
        check(trial.seconds == 1 or counted == 0, "none is long again")
        one.valid, one.why = false, "a hiccup of 3 ms"
      else
        counted = counted + 1
      end
      found.tell(one)
    end
    check(found.result, "%s", found.failed)
    same(found.result.seconds, 1 / 16)
    for _, goal in ipairs(found.result.goals) do
      near(goal.lower_pps, 6.1e6 / (1 - mlr.losses[goal.metric]), 0.011)
      same(goal.trials_at_bound, 4, "half of 7 in full")
    end
  end
end)

test("a search gives up on trials that stay invalid", function()
  local one = search.new("ndr", {max_pps = max})
  local n = 0
  for trial in one.next do
    n = n + 1
    if n == 21 then same(trial.seconds, 1 / 32, "the shortest") end
    one.tell{intended = trial.pps, received = trial.pps, valid = false, why = "a hiccup of 3 ms"}
  end
  same(n, 21)
  same(one.failed, "21 trials in a row were invalid, the last one: a hiccup of 3 ms")
  one = search.new("rfc2544", {max_pps = max})
  for trial in one.next do one.tell{intended = trial.pps, received = trial.pps, valid = false} end
  same(one.failed, "21 trials in a row were invalid; shorter ones (--time) may be spared")
  one = search.new("ndr", {max_pps = max, trials_most = 3})
  for trial in one.next do one.tell{intended = trial.pps, received = 0} end
  same(one.failed, "no end after 3 trials")
end)

test("wrong use is told", function()
  rig.raises('there is no search "fast"', search.new, "fast", {})
  rig.raises("needs max_pps", search.new, "ndr", {})
  local one = search.new("mrr", {})
  rig.raises("no trial was asked for", one.tell, {})
  one.next()
  rig.raises("no number `received`", one.tell, {intended = 5})
  rig.raises("intended no frames", one.tell, {intended = 0, received = 0})
end)
