-- SPDX-License-Identifier: BSD-3-Clause
-- Whether a switch that burns k cycles a packet more moved from hz / c to hz / (c + k), by trials of
-- both in turn. Pure.

local stats = require "sluice.bench.stats"
local burn = {}

burn.limits = {
  busy = 0.95,    -- of the switch's core: else it waited for packets, and c is not its own
  least = 0.03,   -- how well Burn's own measure of a cycle holds, and what the rest of the switch takes
  wide = 0.15,    -- of the ratio: half of an interval that is wider tells nothing
}

-- Cycles a packet of a trial, of the time that the scheduler gave the switch, by its own count of
-- packets: what the monitor receives comes later where that is let wait. nil and why it does not count.
local function cycles(hz, one)
  local busy = one.busy and one.busy.switch or 0
  if not one.valid then return nil, one.why end
  if not one.switch_core_ns then return nil, "nothing was received" end
  if busy < burn.limits.busy then
    return nil, ("the switch was %.0f %% busy: it waited for packets"):format(100 * busy)
  end
  return hz * one.switch_core_ns / 1e9
end

--- Whether it moved: true or false with what was seen in words; nil where the host let it not be told.
--- What a cycle lasts differs with what else the host does (another clock, a hypervisor that takes
--- time and does not say so), so each trial is compared with its neighbours alone: their ratio is to
--- be c / (c + k). Allowed is the interval of the median of these ratios.
---@param hz number of the time stamp counter
---@param trials table[] with c, with c + k, with c, ...
---@param c number
---@param k number
function burn.judge(hz, trials, c, k)
  local of, ratios, last, why = {{}, {}}, {}, nil, nil
  for i, one in ipairs(trials) do
    local now, fault = cycles(hz, one)
    local odd = i % 2 == 1
    if now then table.insert(of[odd and 1 or 2], now) end
    why = why or fault
    if now and last then ratios[#ratios + 1] = odd and now / last or last / now end
    last = now
  end
  local low, high = stats.median_interval(ratios)
  if not low then
    return nil, ("only %d of %d trials have a neighbour to compare with: %s"):format(
        #ratios, #trials - 1, why or "they are too few")
  end
  local expected, middle, half = c / (c + k), stats.median(ratios), (high - low) / 2
  local text = ("R+ fell to %.3f of itself [%.3f..%.3f], expected %.3f (%.0f cycles a packet became "
                .. "%.0f, n=%d)"):format(middle, low, high, expected, stats.median(of[1]),
                                         stats.median(of[2]), #ratios)
  if half > burn.limits.wide * math.max(expected, middle) then return nil, "the trials differ too much: " .. text end
  return math.abs(middle - expected) <= half + burn.limits.least * expected, text
end

return burn
