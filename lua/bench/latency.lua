-- SPDX-License-Identifier: BSD-3-Clause
-- `bench latency`: R+ first, then what frames take at shares of it, switch by switch, with the
-- reference forwarder beside them.

local cells = require "sluice.bench.cells"
local histogram = require "sluice.bench.histogram"
local process = require "sluice.bench.process"
local rates = require "sluice.bench.rates"
local record = require "sluice.bench.record"
local running = require "sluice.bench.running"
local stats = require "sluice.bench.stats"
local text = require "sluice.bench.report.text"

local RPLUS_TRIALS = 3

local function rplus(self, cell, seconds)
  local list = {}
  for i = 1, RPLUS_TRIALS do
    list[i] = self:trial(cell, {seconds = seconds}, "latency", i).rx_pps
  end
  return stats.median(list)
end

-- The load, again while the trial does not count, a bounded number of times; then the one that lost
-- least, and noise is named as its limit.
local function at_load(self, cell, pps, seconds, n)
  local best
  for _ = 1, 8 do
    local one = self:trial(cell, {pps = pps, seconds = seconds, histogram = true}, "latency", n)
    if one.valid then return one end
    if one.residual == 0 and (not best or one.received > best.received) then best = one end
    if not best then process.stop(1, "%s", one.why) end
  end
  best.verdict = "noise"
  return best
end

local function latency_record(self, cell, share, full, one)
  local lists, least, greatest, timed = {}, math.huge, 0, 0
  for i, read in ipairs(one.reads) do
    lists[i] = histogram.read(read.histogram)
    timed = timed + read.timed
    if read.timed > 0 then
      least, greatest = math.min(least, read.min_ns), math.max(greatest, read.max_ns)
    end
  end
  local all = histogram.add(lists)
  local values = self:cell_fields(cell)
  local more = {
    load = share, rplus_pps = full, offered_pps = one.intended_pps, seconds = one.seconds,
    sent = one.attempted, received = one.received, matched = timed, histogram = all,
    percentiles_ns = histogram.percentiles(all, timed > 0 and least or 0, greatest),
    baseline = cell.switch.name == "testpmd", queueing = share >= 0.99, mode = one.mode,
    hiccups = one.hiccups, limited_by = one.verdict, command = self.options.command_line}
  for key, value in pairs(more) do values[key] = value end
  return self:write("latency", values)
end

return function(values)
  local list = cells.product{scenarios = values.scenarios, sizes = values.size, dirs = values.dir,
                             wires = values.wire, vnfs = values.vnf, vnf_in = values.vnf_in, switches = values.switch,
                             link_bps = values.link}
  values.search = "latency"
  return running(values, function(self)
    local seconds, records = values.time or 1, {}
    for _, cell in ipairs(list) do
      cell.udp = true
      self:attempt(cell, function()
        local full = rplus(self, cell, seconds)
        if full <= 0 then process.stop(1, "nothing was received") end
        for i, share in ipairs(values.load) do
          local one = at_load(self, cell, share * full, seconds, RPLUS_TRIALS + i)
          if not one.valid then
            self:complain("%s at %g R+: no trial counts, the best is shown: %s", record.test(cell),
                          share, one.why)
          end
          records[#records + 1] = latency_record(self, cell, share, full, one)
          self.measured = self.measured + 1
          if values.json then self:say("%s", record.line(records[#records])) end
        end
        if not values.json then
          self:say("%s: R+ %s", record.test(cell), rates.text(full, "pps"))
        end
      end)
      self:stop()
    end
    if not values.json and #records > 0 then
      for _, line in ipairs(text.latency(records)) do self:say("%s", line) end
    end
  end)
end
