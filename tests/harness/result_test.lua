-- SPDX-License-Identifier: BSD-3-Clause
-- Results of trials: what counts, what limits, sums of all.

local rig = require "rig"
local made = require "made"
local record = require "sluice.bench.record"
local text = require "sluice.bench.report.text"
local result = require "sluice.bench.result"
local test, same, near = rig.test, rig.same, rig.near

local function trials(...)
  local list = {}
  for i, change in ipairs{...} do
    local one = made.one_of_each()[2]
    one.n, one.warmup, one.valid, one.why = i, false, true, nil
    one.verdict, one.hiccups = "switch", {n = 0, sum_us = 0, longest_us = 0}
    one.drops = {{hop = "switch to vnf 1", frames = 5}}
    for key, value in pairs(change) do one[key] = value end
    list[i] = one
  end
  return list
end

test("the median of the trials that count", function()
  local hiccup = {n = 1, sum_us = 50, longest_us = 50}
  local one = result.of(trials({rx_pps = 99e6, warmup = true}, {rx_pps = 10e6}, {rx_pps = 12e6},
                               {rx_pps = 1e6, valid = false, why = "a hiccup", hiccups = hiccup},
                               {rx_pps = 11e6}), {metric = "mrr"}, {command = "again"})
  same(record.check(one), {})
  same(one.value_pps, {median = 11e6, min = 10e6, max = 12e6, n = 3})
  same({one.trials, one.invalid, one.hiccups.longest_us, one.drops[1].frames}, {5, 1, 50, 25})
  same({one.limited_by, one.own, one.mode}, {"switch", true, "near"})
  near(one.l1_gbps, 11e6 * 84 * 8 / 1e9)
end)

test("what most trials say limits; modes that differ are mixed", function()
  local one = result.of(trials({verdict = "generator"}, {verdict = "switch", mode = "far"},
                               {verdict = "generator"}), {metric = "mrr"}, {command = "again"})
  same({one.limited_by, one.own, one.mode}, {"generator", false, "mixed"})
  same(one.cycles_per_packet, nil)
end)

test("of a search, the load and the trials at it", function()
  local list = trials({rx_pps = 5e6, intended_pps = 5e6, verdict = "none"},
                      {rx_pps = 5e6, intended_pps = 5.05e6},
                      {rx_pps = 5e6, intended_pps = 5e6, verdict = "none"})
  local found = {metric = "ndr", pps = 5e6, lower_pps = 5e6, upper_pps = 5.05e6, loss_ratio = 0}
  local one = result.of(list, found, {command = "again"})
  same(record.check(one), {})
  same(one.value_pps, {median = 5e6, min = 5e6, max = 5e6, n = 2})
  same({one.limited_by, one.own, one.upper_pps}, {"none", true, 5.05e6})
  found.at_max, found.upper_pps = true, nil
  same(result.of(list, found, {command = "again"}).own, false, "no load was enough to limit it")
end)

test("curves and bursts", function()
  local list = trials({rx_pps = 1e6}, {rx_pps = 2e6})
  local curve = {{percent = 100, pps = 10e6, loss = 0.2}, {percent = 90, pps = 9e6, loss = 0}}
  local one = result.of(list, {metric = "loss", curve = curve}, {command = "again"})
  same(record.check(one), {})
  same(one.value_pps.median, 9e6)
  one = result.of(list, {metric = "b2b", max_pps = 10e6, implied_buffer_s = 256e-6,
                         corrected_buffer_s = 102.4e-6,
                         frames = {mean = 2560, min = 2560, max = 2560, n = 2}},
                             {command = "again"})
  same(record.check(one), {})
  rig.check(text.lines{one}[1]:find("b2b 2560 frames, 102 us", 1, true))
end)

test("no trial that counts", function()
  local one = result.of(trials{valid = false, why = "a flip"}, {metric = "mrr"},
                        {command = "again"})
  same(record.check(one), {})
  same({one.value_pps.n, one.limited_by, one.own}, {0, "noise", false})
end)
