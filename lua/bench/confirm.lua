-- SPDX-License-Identifier: BSD-3-Clause
-- Confirms that a figure is the switch's own: what takes more of the traffic process's core must
-- not move it. If that core were the limit, wasting a fifth of its time a packet would take a sixth
-- off.

local adjacent = require "sluice.bench.adjacent"
local stats = require "sluice.bench.stats"
local confirm = {}

confirm.share = 0.2 -- of a packet's time, wasted in the traffic process
confirm.pairs = 3   -- with and without

--- Cycles to waste on each packet.
---@param hz number cycles a second
---@param pps number what is received
function confirm.burn(hz, pps) return math.max(1, math.floor(confirm.share * hz / pps + 0.5)) end

--- What pairs say: {moved, ratio = without / with, n}; nil: there are none that count. It has moved
--- if it went at least half as far as it would if the traffic were the limit.
---@param found table an adjacent controller's `result`, a: without, b: with
function confirm.judge(found)
  local pair = stats.pair_ratio(found.a, found.b)
  return pair and {moved = pair.ratio > 1 + confirm.share / 2, ratio = pair.ratio, n = pair.n}
end

--- Runs the pairs. `trial(cycles)` gives a trial with so many wasted (nil: none), as an adjacent
--- controller takes it. What judge() gave, with `cycles`.
function confirm.run(trial, hz, pps)
  local order, cycles = adjacent.new(confirm.pairs), confirm.burn(hz, pps)
  for which in order.next do order.tell(trial(which == "b" and cycles or nil)) end
  local said = confirm.judge(order.result)
  if said then said.cycles = cycles end
  return said
end

--- The limit of a figure that was called the switch's own, when this is known.
---@param limit {limited_by: string, why: string}
---@param said table? what run() gave
function confirm.limit(limit, said)
  if not said then
    return {limited_by = limit.limited_by,
            why = limit.why .. "; not confirmed: no pair of trials counts"}
  end
  local burning = ("burning %d cycles a packet in the traffic process"):format(said.cycles)
  if said.moved then
    return {limited_by = "generator",
            why = ("%s took %.0f %% off it"):format(burning, 100 * (1 - 1 / said.ratio))}
  end
  return {limited_by = limit.limited_by,
          why = ("%s; %s did not move it"):format(limit.why, burning)}
end

return confirm
