-- SPDX-License-Identifier: BSD-3-Clause
-- Searches as controllers that measure nothing themselves: next() is the trial to run, tell() takes
-- what came of it, until next() is nil; then `result` is there, or `failed` says why there is none.
--
--   local search = require("sluice.bench.search").new("ndr", {max_pps = 14.88e6})
--   for trial in search.next do search.tell(run(trial)) end
--
-- A trial: {pps = load, or nil: as fast as it goes; seconds; frames: a burst of so many instead of
-- seconds; warmup: its result is not looked at; again: how often it was invalid so far; shortest:
-- it may become as short as that, in seconds, where it is invalid time after time: hiccups of a
-- host spare a short trial sooner}.
-- A result: {intended = frames that should have been sent in the window, unsent ones too; received;
-- rx_pps; valid = false: run it again}.

local stats = require "sluice.bench.stats"
local search = {}

-- Name of a search: the part that does it, and what it is told beside the user's options.
search.kinds = {
  mrr = {"mrr"}, ndr = {"mlr", goals = {"ndr"}}, pdr = {"mlr", goals = {"ndr", "pdr"}},
  rfc2544 = {"rfc2544", "throughput"}, loss = {"rfc2544", "loss"}, b2b = {"rfc2544", "b2b"},
}

-- How often an invalid trial is run again before the search gives up, and how many trials are too
-- many: no search comes near, so one that does is told from one that goes on.
search.again_most, search.trials_most = 20, 2000
local HALVE_AT = 3 -- invalid trials in a row, after which the next one is half as long

--- The share of the frames that were lost: what was not sent in time counts.
function search.loss(result) return (result.intended - result.received) / result.intended end

local function check(result)
  for _, name in ipairs{"intended", "received"} do
    if type(result[name]) ~= "number" then
      error(("the result of a trial has no number `%s`"):format(name), 3)
    end
  end
  if result.intended <= 0 then error("a trial that intended no frames says nothing", 3) end
end

--- A controller of a function that calls measure(trial) as it goes and returns its result.
---@param run fun(measure: fun(trial: table): table): table
---@param options? {again_most?: integer, trials_most?: integer}
function search.wrap(run, options)
  options = options or {}
  local again_most = options.again_most or search.again_most
  local trials_most = options.trials_most or search.trials_most
  local self = {trials = 0, seconds = 0}
  local pending
  local thread = coroutine.create(function() return run(coroutine.yield) end)

  local function fail(text) self.failed, pending, thread = text, nil, nil end

  local function step(result)
    local ok, got = coroutine.resume(thread, result)
    if not ok then error(got, 0) end
    if coroutine.status(thread) ~= "dead" then
      pending = got
    elseif got.failed then
      fail(got.failed)
    else
      self.result, pending, thread = got, nil, nil
    end
  end

  function self.next()
    if thread and not pending then step() end
    if pending and self.trials >= trials_most then
      fail(("no end after %d trials"):format(self.trials))
    end
    return pending
  end

  function self.tell(result)
    local trial = pending
    if not trial then error("no trial was asked for", 2) end
    self.trials = self.trials + 1
    self.seconds = self.seconds + (trial.seconds or 0)
    if result.valid ~= false then
      check(result)
      pending = nil
      return step(result)
    end
    trial.again = (trial.again or 0) + 1
    if trial.again > again_most then
      fail(("%d trials in a row were invalid%s%s"):format(trial.again,
           result.why and (", the last one: " .. result.why) or "",
           trial.seconds and not trial.shortest and "; shorter ones (--time) may be spared" or ""))
    elseif trial.shortest and trial.again % HALVE_AT == 0 then
      trial.seconds = math.max(trial.shortest, trial.seconds / 2)
    end
  end

  return self
end

--- The controller of a search by name.
---@param name string mrr, ndr, pdr, rfc2544, loss or b2b
---@param options table max_pps (all but mrr need it), seconds, and what the search's own file says
function search.new(name, options)
  local kind = search.kinds[name]
  if not kind then error(('there is no search "%s"'):format(tostring(name)), 2) end
  if name ~= "mrr" and not (type(options.max_pps) == "number" and options.max_pps > 0) then
    error(("the search %s needs max_pps, the greatest load it may offer"):format(name), 2)
  end
  local part = require("sluice.bench.search." .. kind[1])
  local own = setmetatable({goals = kind.goals}, {__index = options})
  return search.wrap(function(measure)
    return (kind[2] and part[kind[2]] or part.run)(measure, own)
  end, options)
end

--- {median, min, max, n} of what was received, over results of trials.
function search.received(results)
  local rates = {}
  for i, result in ipairs(results) do rates[i] = result.rx_pps end
  return stats.summary(rates)
end

return search
