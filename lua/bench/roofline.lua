-- SPDX-License-Identifier: BSD-3-Clause
-- `bench roofline`: what two cores can move when they do nothing else. One writes packets, the other
-- copies each once, the first reads it again: what a switch with a core of its own can not pass.

local json = require "sluice.json"
local mode = require "sluice.bench.mode"
local native = require "sluice.bench.native"
local process = require "sluice.bench.process"
local stats = require "sluice.bench.stats"

local LINE = 64

-- Trials of a size, by the mode that the cores were in before and after; others do not count.
local function measure(cores, bytes, trials)
  local modes = {near = {pps = {}, cycles = {}}, far = {pps = {}, cycles = {}}}
  for _ = 1, trials do
    local before = mode.probe(cores.traffic, cores.switch)
    local pps, cycles = native.copy(cores.traffic, cores.switch, bytes)
    local kept = pps and before == mode.probe(cores.traffic, cores.switch) and modes[before]
    if kept then
      table.insert(kept.pps, pps)
      table.insert(kept.cycles, cycles)
    end
    process.wait(0)
  end
  return modes
end

return function(values)
  local cores = values.cores or {traffic = 0, switch = 1}
  local known = false
  if not values.json then
    print("size  mode  Mpps  min   max   Gbps   lines  cycles to copy  trials")
  end
  for _, size in ipairs(values.size) do
    local bytes = size - 4 -- no FCS is in memory
    local found = measure(cores, bytes, values.trials)
    for _, name in ipairs{"near", "far"} do
      local pps, cycles = stats.summary(found[name].pps), stats.median(found[name].cycles)
      local lines = 2 * ((bytes + LINE - 1) // LINE)
      if pps and values.json then
        print(json.encode{size = size, mode = name, value_pps = pps, cycles_per_packet = cycles,
                          lines_per_packet = lines})
      elseif pps then
        print(("%4d  %-4s %5.1f %5.1f %5.1f %6.1f %6d %15.0f %7d"):format(size, name,
              pps.median / 1e6, pps.min / 1e6, pps.max / 1e6, pps.median * bytes * 8 / 1e9, lines,
              cycles, pps.n))
      end
      known = known or pps ~= nil
    end
  end
  if not known then
    process.stop(3, "the cores %d and %d never did both work for as long as it takes", cores.traffic,
                 cores.switch)
  end
  return 0
end
