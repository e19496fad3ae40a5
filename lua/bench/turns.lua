-- SPDX-License-Identifier: BSD-3-Clause
-- Trials of different switches take turns, whatever their searches are: what the machine does
-- meanwhile meets all of them alike. Pure.

local stats = require "sluice.bench.stats"
local turns = {}

--- Calls step(one) for each of a list in turn, until it gave false for each. Those that are over
--- are left out; the last one goes on alone.
---@param list table[]
---@param step fun(one: table): boolean whether it goes on
function turns.run(list, step)
  local going = list
  while #going > 0 do
    local left = {}
    for _, one in ipairs(going) do
      if step(one) then left[#left + 1] = one end
    end
    going = left
  end
end

--- What the reference forwarder has reached so far, for those that are measured beside it: the
--- median of its trials that count in a mode; nil: there is none.
---@param trials {rx_pps: number, mode?: string, valid: boolean, warmup?: boolean}[]
---@param mode? string
function turns.ceiling(trials, mode)
  local rates = {}
  for _, one in ipairs(trials) do
    if one.valid and not one.warmup and one.mode == mode then rates[#rates + 1] = one.rx_pps end
  end
  return stats.median(rates)
end

return turns
