-- SPDX-License-Identifier: BSD-3-Clause
-- The order of trials that compares two things, as a controller that measures nothing itself:
-- A B, B A, A B, ... Each two that follow each other are a pair: of the two things, or, where
-- pairs meet, of a thing with itself, which shows how far that strays (the A/A floor) in the same
-- run and at the same distance in time. A drift of the machine is in favour of each as often as of
-- the other.
--
--   local order = adjacent.new(7)
--   for which in order.next do order.tell(run(which)) end
--
-- A trial's result: {value = what is compared, mode = of the cores, valid = false: it does not
-- count}.

local stats = require "sluice.bench.stats"
local adjacent = {}

-- Two neighbours that may be compared: both count, and were taken in the same mode.
local function fits(one, other)
  return one.valid ~= false and other.valid ~= false and one.mode == other.mode
         and one.value > 0 and other.value > 0
end

--- A controller of n pairs. Those that do not count are run again, n of them (or five) at most.
--- Then `result` is {a, b = values of the pairs, one, again = of a thing with itself, mode, tried},
--- with fewer pairs if there was no more to have.
---@param n integer
function adjacent.new(n)
  local self = {trials = 0}
  local found = {a = {}, b = {}, one = {}, again = {}, tried = 0}
  local last

  local function which(place)
    local turn, second = (place - 1) // 2, (place - 1) % 2 == 1
    return (turn % 2 == 1) ~= second and "b" or "a"
  end

  function self.next()
    local place = self.trials + 1
    if place % 2 == 1 and (#found.a >= n or found.tried >= n + math.max(n, 5)) then
      self.result = found
      return nil
    end
    return which(place)
  end

  -- A pair whose modes differ from those of others is of both.
  local function mode_add(mode)
    mode = mode or "unknown"
    found.mode = (found.mode == nil or found.mode == mode) and mode or "mixed"
  end

  function self.tell(one)
    self.trials = self.trials + 1
    local place = self.trials
    if type(one.value) ~= "number" then error("the result of a trial has no number `value`", 2) end
    if place % 2 == 1 then
      if last and fits(last, one) then
        table.insert(found.one, last.value)
        table.insert(found.again, one.value)
      end
    else
      found.tried = found.tried + 1
      if fits(last, one) then
        local a, b = last, one
        if which(place) == "a" then a, b = one, last end
        table.insert(found.a, a.value)
        table.insert(found.b, b.value)
        mode_add(one.mode)
      end
    end
    last = one
  end

  return self
end

--- What the pairs say, as a `compare` record has it; nil where there are none.
---@param found table a controller's `result`
function adjacent.compare(found)
  local said = stats.compare(found.a, found.b, stats.floor(found.one, found.again))
  if not said then return nil end
  said.mode = found.mode ~= "unknown" and found.mode or nil
  said.pairs = {}
  for i, value in ipairs(found.a) do said.pairs[i] = {value, found.b[i]} end
  return said
end

return adjacent
