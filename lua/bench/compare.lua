-- SPDX-License-Identifier: BSD-3-Clause
-- `bench compare A B`: two switches or builds in a scenario, or two graphs (or builds with one
-- graph) by their cycles a packet, in adjacent pairs, each trial with a fresh start.

local adjacent = require "sluice.bench.adjacent"
local cells = require "sluice.bench.cells"
local intrinsic = require "sluice.bench.intrinsic"
local native = require "sluice.bench.native"
local process = require "sluice.bench.process"
local record = require "sluice.bench.record"
local running = require "sluice.bench.running"
local subject = require "sluice.bench.subject"
local text = require "sluice.bench.report.text"
local verdict = require "sluice.bench.verdict"

local AGAIN = 5 -- times that a trial which does not count is run

local function copy(from, more)
  local one = {}
  for key, value in pairs(from) do one[key] = value end
  for key, value in pairs(more) do one[key] = value end
  return one
end

-- A trial of a cell: what the order is told, and what limited it.
local function trial_of(self, cell, n)
  local one
  for _ = 1, AGAIN do
    self:stop()
    one = self:trial(cell, {seconds = self.options.time or 1}, "compare", n)
    if one.valid then break end
  end
  return {value = one.rx_pps, mode = one.mode, valid = one.valid},
         {limited_by = one.verdict, why = one.verdict_why, own = one.verdict == "switch"}
end

-- Runs pairs to their end; run(which, n) is a trial. The limits of each side, too.
local function pairs_run(self, name, run)
  local order, limits, n = adjacent.new(self.options.pairs), {a = {}, b = {}}, 0
  for which in order.next do
    n = n + 1
    self:progress(("%s: trial %d of %d or more"):format(name, n, 2 * self.options.pairs))
    local told, limit = run(which, n)
    limits[which][#limits[which] + 1] = limit
    order.tell(told)
  end
  return order.result, limits
end

local function done(self, both, test, metric, found, limits)
  self:progress(nil)
  local one = adjacent.compare(found)
  if not one then
    process.stop(1, "none of %d pairs counts: modes differed, or trials were invalid", found.tried)
  end
  one.a, one.b, one.test, one.metric = both[1].name, both[2].name, test, metric
  one.command = self.options.command_line
  local a, b = verdict.together(limits.a), verdict.together(limits.b)
  one.a_limited_by, one.b_limited_by = a and a.limited_by, b and b.limited_by
  if a and not (a.own and b.own) then self.limited[#self.limited + 1] = one end
  one = self:write("compare", one)
  self.measured = self.measured + 1
  self:say("%s", self.options.json and record.line(one) or text.compare(one))
end

-- The switches of a cell; those that are not here are said once, at the start.
local function scenario(self, both, cell)
  local each = {}
  for i, one in ipairs(both) do
    local switch = one.kind == "build" and {name = "sluice", label = one.name} or {name = one.name}
    if not self.versions[one.name] then return end
    each[i] = copy(cell, {switch = switch})
  end
  local test = record.test(copy(cell, {switch = {name = ""}})):gsub("/$", "")
  self:attempt_as(test, function()
    local found, limits = pairs_run(self, test, function(which, n)
      return trial_of(self, which == "a" and each[1] or each[2], n)
    end)
    done(self, both, test, "mrr", found, limits)
  end)
  self:stop()
end

local function graphs(self, both)
  local values = self.options
  local each = {}
  for i, one in ipairs(both) do
    each[i] = {program = one.kind == "build" and one.name or nil,
               graph = values.graph or one.name, set = values.set}
  end
  local test = values.graph or "graphs"
  self:attempt_as(test, function()
    local found, limits = pairs_run(self, test, function(which)
      local one = intrinsic.cycles(self, each[which == "a" and 1 or 2], values.time or 1)
      -- One core's time alone: how far the cores are from each other does not matter.
      return {value = native.hz() / one.cycles_per_packet}, nil
    end)
    done(self, both, test, "pps of one core", found, limits)
  end)
end

return function(values)
  local both, how = subject.both(values.a, values.b, values.graph)
  if not both then process.stop(2, "%s", how) end
  values.search = "compare"
  values.switch, values.builds = {}, {}
  for i, one in ipairs(how == "scenario" and both or {}) do
    values.builds[one.name] = one.kind == "build" and one.name or nil
    if i == 1 or one.name ~= both[1].name then table.insert(values.switch, one.name) end
  end
  return running(values, function(self)
    if how == "intrinsic" then return graphs(self, both) end
    for _, cell in ipairs(cells.product{scenarios = values.scenario, sizes = values.size,
                                        dirs = values.dir, wires = values.wire, vnfs = values.vnf,
                                        switches = {""}, link_bps = values.link}) do
      scenario(self, both, cell)
    end
  end)
end
