-- SPDX-License-Identifier: BSD-3-Clause
-- `bench doctor`: what this machine can measure, each problem with its fix.

local dut = require "sluice.bench.dut"
local env = require "sluice.bench.env"
local json = require "sluice.json"
local mode = require "sluice.bench.mode"
local uv = require "luv"

local function gather(values)
  local list = {}
  local function add(state, what, text, fix)
    list[#list + 1] = {state = state, what = what, text = text, fix = fix}
  end
  local n = uv.available_parallelism()
  add(n >= 2 and "ok" or "missing", "cores", ("%d may be used"):format(n),
      n < 2 and "two are needed: one for the switch, one for the traffic" or nil)
  local cores = values.cores or {traffic = 0, switch = 1}
  local found, ns = mode.probe(cores.traffic, cores.switch)
  add(found and "ok" or "note", "core to core",
      ns and ("%d ns: %s"):format(ns, found or "not known") or "no thread could run on both cores",
      not found and "let nothing else run while it is measured, or pick others by --cores" or nil)
  local load = uv.loadavg()
  add(load < 0.5 and "ok" or "note", "load", ("%.2f"):format(load),
      load >= 0.5 and "something else runs: figures will say noise" or nil)
  local free = tonumber(env.read("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") or "")
  local enough = free and free >= 640 or uv.getuid() == 0
  add(enough and "ok" or "note", "hugepages", ("%d of 2 MiB are free"):format(free or 0),
      not enough and "sysctl vm.nr_hugepages=640, as root; without, rates are lower" or nil)
  local paths = {}
  for _, pair in ipairs(values.switch_path or {}) do paths[pair.name] = pair.value end
  for _, name in ipairs(dut.names) do
    local one, why = dut.detect(name, paths[name])
    add(one and "ok" or "note", name, one and one.version or why)
  end
  return list
end

return function(values)
  local code = 0
  for _, one in ipairs(gather(values)) do
    if one.state == "missing" then code = 3 end
    if values.json then
      io.stdout:write(json.encode(one), "\n")
    else
      io.stdout:write(("%-8s %-13s %s\n"):format(one.state, one.what, one.text))
      if one.fix then io.stdout:write((" "):rep(23), one.fix, "\n") end
    end
  end
  return code
end
