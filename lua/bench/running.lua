-- SPDX-License-Identifier: BSD-3-Clause
-- What commands that measure have in common: what cannot be set up is said first; hugepages are
-- taken and given back, the environment is recorded, and the session ends whatever happens.

local cells = require "sluice.bench.cells"
local huge = require "sluice.bench.huge"
local pci = require "sluice.bench.pci"
local process = require "sluice.bench.process"
local session = require "sluice.bench.session"
local uv = require "luv"
local vm = require "sluice.bench.vm"

-- What this version cannot set up is said, not measured as something else.
local function check(values)
  for _, wire in ipairs(values.wire or {}) do
    local missing = pci.missing(wire, uv.fs_readlink, function(path)
      return uv.fs_stat(path) ~= nil
    end)
    if missing then process.stop(3, "%s", missing) end
  end
  for _, one in ipairs(values.vnf_in == "vm" and values.scenarios or {}) do
    if not cells.scenarios[one.scenario].chain then
      process.stop(3, "--vnf-in vm: %s cannot be measured: its generator or monitor is the VNF, "
                   .. "and frames are stamped and counted outside of virtual machines alone; "
                   .. "loopback:N can", one.scenario)
    end
  end
end

--- Calls measure(session); the exit code.
---@param values table of the command line; `switch`: the names of those that must be here
---@param measure fun(self: table)
return function(values, measure)
  check(values)
  local one = session.new(values)
  one.huge = huge.take(values.hugepages ~= "no")
  local good, code = xpcall(function()
    if values.vnf_in == "vm" then
      one.vm_cores = vm.cores(one.cores)
      one.guest = vm.find(values.guest, one.vm_cores)
      if one.guest.why then
        one:complain("VNFs run under emulation, for function alone: %s", one.guest.why)
      end
    end
    one:detect(values.switch or {})
    one:environment("before")
    measure(one)
    return one:close()
  end, process.traceback)
  one:stop()
  one.huge.give_back()
  if not good then error(code, 0) end
  return code
end
