-- SPDX-License-Identifier: BSD-3-Clause
-- A result of its trials: the median of those that count, with what limited most of them, hiccups
-- and drops of all of them. Pure.

local confirm = require "sluice.bench.confirm"
local rates = require "sluice.bench.rates"
local record = require "sluice.bench.record"
local stats = require "sluice.bench.stats"
local verdict = require "sluice.bench.verdict"
local result = {}

local cell_fields = {"session", "test", "suite", "scenario", "vnfs", "dir", "size", "mix", "wire",
                     "vnf", "vnf_in", "vm", "switch", "link_bps"}

-- The trials that count: valid, not for warming up. Of a search, those at its lower bound.
local function counted(trials, found)
  local list = {}
  for _, one in ipairs(trials) do
    if one.valid and not one.warmup
       and (not found.lower_pps or one.intended_pps == found.lower_pps) then
      list[#list + 1] = one
    end
  end
  return list
end

local function mode_of(list)
  local mode = list[1] and list[1].mode
  for _, one in ipairs(list) do
    if one.mode ~= mode then return "mixed" end
  end
  return mode
end

-- Hiccups and drops of all trials together.
local function sums(trials)
  local hiccups, drops, at = {n = 0, sum_us = 0, longest_us = 0}, {}, {}
  local invalid = 0
  for _, one in ipairs(trials) do
    hiccups.n = hiccups.n + one.hiccups.n
    hiccups.sum_us = hiccups.sum_us + one.hiccups.sum_us
    hiccups.longest_us = math.max(hiccups.longest_us, one.hiccups.longest_us)
    invalid = invalid + (one.valid and 0 or 1)
    for _, drop in ipairs(one.drops) do
      if not at[drop.hop] then
        at[drop.hop] = {hop = drop.hop, frames = 0}
        drops[#drops + 1] = at[drop.hop]
      end
      at[drop.hop].frames = at[drop.hop].frames + drop.frames
    end
  end
  return hiccups, drops, invalid
end

-- The load that a search has found, or nil: of a curve the greatest one without loss, of bursts the
-- rate within them.
local function load_of(found)
  if not found.curve then return found.pps or found.frames and found.max_pps end
  local most = 0
  for _, point in ipairs(found.curve) do
    if point.loss <= 0 then most = math.max(most, point.pps) end
  end
  return most
end

--- A `result` record.
---@param trials table[] `trial` records of one search, in order; not empty
---@param found table what the search's `result` is
---@param more {command: string, ratio_to_testpmd?: number, memory?: {rss: integer,
---  hugepages: integer}, confirm?: {said?: table}} confirm: what confirm.run() gave of a figure that
---  is the switch's own
function result.of(trials, found, more)
  local list, values, verdicts = counted(trials, found), {}, {}
  for i, one in ipairs(list) do
    values[i] = one.rx_pps
    verdicts[i] = {limited_by = one.verdict, why = one.verdict_why, own = one.verdict == "switch"}
  end
  local summary = stats.summary(values) or {median = 0, min = 0, max = 0, n = 0}
  -- What was searched for is the load, of which the trials are the proof; it has no spread.
  local load = load_of(found)
  if load then summary = {median = load, min = load, max = load, n = #list} end
  local hiccups, drops, invalid = sums(trials)
  local limit = verdict.together(verdicts) or {limited_by = "noise", why = "no trial counts"}
  local said = more.confirm and more.confirm.said
  if more.confirm then limit = confirm.limit(limit, said) end
  -- A load that is carried, with one above it that is not, is a limit that the search has found.
  local own = limit.limited_by == "switch" or limit.limited_by == "none" and not found.at_max
  local memory = more.memory
  local one = {
    metric = found.metric, value_pps = summary,
    l1_gbps = rates.l1_bps(summary.median, trials[1].size) / 1e9,
    l2_gbps = rates.l2_bps(summary.median, trials[1].size) / 1e9,
    limited_by = limit.limited_by, limited_why = limit.why, own = own,
    confirmed = said and not said.moved,
    cycles_per_packet = own and stats.median_of(list, "switch_cycles_per_packet") or nil,
    ratio_to_testpmd = more.ratio_to_testpmd, memory_bytes = memory and memory.rss + memory.hugepages,
    hugepage_bytes = memory and memory.hugepages,
    mode = mode_of(list), loss_ratio = found.loss_ratio, upper_pps = found.upper_pps,
    trial_seconds = found.seconds,
    curve = found.curve, burst = found.frames and {
      frames = found.frames, implied_buffer_s = found.implied_buffer_s,
      corrected_buffer_s = found.corrected_buffer_s},
    trials = #trials, invalid = invalid, hiccups = hiccups, drops = drops, command = more.command,
  }
  for _, name in ipairs(cell_fields) do one[name] = trials[1][name] end
  return record.new("result", one)
end

return result
