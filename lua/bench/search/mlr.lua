-- SPDX-License-Identifier: BSD-3-Clause
-- Multiple Loss Ratio search (IETF bmwg, draft-ietf-bmwg-mlrsearch-15): the greatest load at which
-- most of several short trials lose no more than a goal allows. A load is classified by all trials
-- at it together, so that one hiccup decides nothing, and a search ends between a lower and an
-- upper bound that are no more than the goal's width apart.

local mlr = {}

-- What loss ratio each goal allows.
mlr.losses = {ndr = 0, pdr = 0.005}

local epsilon = 1e-9 -- sums of durations as 0.1 s are not exact

--- Whether a load with these trials is a lower or an upper bound for a goal, or nil: more trials.
---@param trials {seconds: number, loss: number}[]
---@param goal {loss: number, seconds: number, duration_sum: number, exceed: number} `seconds`: of a
---  trial that counts in full
---@return "lower"|"upper"|nil
function mlr.classify(trials, goal)
  local full_low, full_high, short_low, short_high = 0, 0, 0, 0
  for _, trial in ipairs(trials) do
    local full, low = trial.seconds >= goal.seconds - epsilon, trial.loss <= goal.loss
    if full and low then full_low = full_low + trial.seconds
    elseif full then full_high = full_high + trial.seconds
    elseif low then short_low = short_low + trial.seconds
    else short_high = short_high + trial.seconds end
  end
  local balance = short_low * goal.exceed / (1 - goal.exceed)
  local excess = math.max(0, short_high - balance)
  local high = full_high + excess
  local whole = math.max(full_low + high, goal.duration_sum)
  local quantile = whole * goal.exceed
  if whole - full_low <= quantile + epsilon then return "lower" end
  if high > quantile + epsilon then return "upper" end
end

--- What is forwarded at a lower bound: the load less the loss of the trial that stands at the
--- goal's quantile, when the best come first. Trials that were never run count as lost.
function mlr.conditional(load, trials, goal)
  local list, sum = {}, 0
  for _, trial in ipairs(trials) do
    if trial.seconds >= goal.seconds - epsilon then
      list[#list + 1] = trial
      sum = sum + trial.seconds
    end
  end
  table.sort(list, function(a, b) return a.loss < b.loss end)
  local left, loss = math.max(sum, goal.duration_sum) * (1 - goal.exceed), 1
  for _, trial in ipairs(list) do
    if left <= epsilon then break end
    loss, left = trial.loss, left - trial.seconds
  end
  return load * (1 - (left > epsilon and 1 or loss))
end

-- All that was measured: a list of loads, each with its trials, shared by the goals.
local function load_find(loads, pps)
  for _, load in ipairs(loads) do
    if load.pps == pps then return load end
  end
  loads[#loads + 1] = {pps = pps, trials = {}, class = {}}
  return loads[#loads]
end

local function class_of(load, goal)
  local known = load.class[goal]
  if not known or known.n ~= #load.trials or known.seconds ~= goal.seconds then
    known = {n = #load.trials, seconds = goal.seconds, class = mlr.classify(load.trials, goal)}
    load.class[goal] = known
  end
  return known.class
end

-- The relevant bounds: the smallest upper one, and the greatest lower one below that.
local function bounds(loads, goal)
  local lower, upper
  for _, load in ipairs(loads) do
    if class_of(load, goal) == "upper" and (not upper or load.pps < upper.pps) then upper = load end
  end
  for _, load in ipairs(loads) do
    if class_of(load, goal) == "lower" and (not upper or load.pps < upper.pps)
       and (not lower or load.pps > lower.pps) then
      lower = load
    end
  end
  return lower, upper
end

-- The next load to classify, or nil when the bounds are narrow enough. Loads that are likely to be
-- bounds come first; then steps out of what is known, each twice the one before; then halves.
local function candidate(at, goal, lower, upper)
  local low, high = lower and lower.pps or 0, upper and upper.pps or math.huge
  if low >= at.max or high <= at.min then return nil end
  if lower and upper and (high - low) / high <= goal.width then return nil end
  while at.hints[1] do
    local hint = table.remove(at.hints, 1)
    if hint > low and hint < high then return hint end
  end
  if lower and upper then return math.sqrt(low * high) end
  local share = math.min(0.5, goal.width * at.stride)
  at.stride = at.stride * 2
  if upper then return math.max(at.min, high * (1 - share)) end
  if lower then return math.min(at.max, low / (1 - share)) end
  return at.max
end

-- Trials of a goal are no longer than one was that counted at last: the goal's durations shrink alike.
local function shorten(at, goal)
  if goal.seconds <= at.longest + epsilon then return end
  goal.duration_sum = goal.duration_sum * at.longest / goal.seconds
  goal.seconds = at.longest
end

-- One trial at a load, as long as the goal's or as short as it had to be.
local function try(measure, at, goal, pps)
  local trial = {pps = pps, seconds = goal.seconds, shortest = at.shortest}
  local result = measure(trial)
  if trial.seconds < goal.seconds then at.longest = trial.seconds end
  shorten(at, goal)
  return {seconds = trial.seconds, loss = (result.intended - result.received) / result.intended},
         result
end

-- Narrows the bounds of one goal.
local function narrow(measure, at, goal)
  at.stride = 1
  while true do
    local lower, upper = bounds(at.loads, goal)
    local pps = candidate(at, goal, lower, upper)
    if not pps then return lower, upper end
    local load = load_find(at.loads, pps)
    repeat
      load.trials[#load.trials + 1] = try(measure, at, goal, pps)
    until class_of(load, goal)
  end
end

local function goal_result(name, goal, at, lower, upper)
  local one = {metric = name, loss_ratio = goal.loss, upper_pps = upper and upper.pps,
               seconds = goal.seconds}
  if not lower then
    one.pps, one.lower_pps, one.why = 0, 0, "even the smallest load loses more"
    return one
  end
  one.lower_pps = lower.pps
  one.pps = mlr.conditional(lower.pps, lower.trials, goal)
  one.trials_at_bound = #lower.trials
  if not upper then one.at_max, one.why = true, "the greatest load loses no more" end
  at.hints = {lower.pps, upper and upper.pps}
  return one
end

local function goal_make(at, name, options, width, duration_sum, seconds)
  local goal = {name = name, loss = options.loss_ratio or mlr.losses[name],
                exceed = options.exceed or 0.5,
                width = width, duration_sum = duration_sum, seconds = seconds}
  shorten(at, goal)
  return goal
end

--- Options: max_pps, min_pps (max / 1000), goals ({"ndr"}), width (0.01), seconds (1), duration_sum
--- (7 s), exceed (0.5), coarse_seconds: of trials while the bounds are far apart (`seconds`),
--- loss_ratio: instead of the goal's; shortest: of trials, where longer ones stay invalid
--- (`seconds` / 32). The result is that of the last goal; `goals` has all of them; `seconds`: how
--- long its trials were at the end.
function mlr.run(measure, options)
  local width, seconds = options.width or 0.01, options.seconds or 1
  local coarse = math.min(seconds, options.coarse_seconds or seconds)
  local at = {loads = {}, max = options.max_pps, min = options.min_pps or options.max_pps / 1000,
              longest = math.huge, shortest = options.shortest or seconds / 32}
  local trial, first = try(measure, at, {seconds = coarse, duration_sum = coarse}, at.max)
  load_find(at.loads, at.max).trials[1] = trial
  -- What comes through at the greatest load is near what can come through at all.
  local share = first.received / first.intended
  at.hints = {math.max(at.min, math.min(at.max, at.max * share))}
  local all = {}
  for i, name in ipairs(options.goals or {"ndr"}) do
    local rough = goal_make(at, name, options, 4 * width, coarse, coarse)
    local lower, upper = narrow(measure, at, rough)
    at.hints = {lower and lower.pps or at.min, upper and upper.pps or at.max}
    local goal = goal_make(at, name, options, width, options.duration_sum or 7, seconds)
    lower, upper = narrow(measure, at, goal)
    all[i] = goal_result(name, goal, at, lower, upper)
  end
  local last = {goals = all}
  for key, value in pairs(all[#all]) do last[key] = value end
  return last
end

return mlr
