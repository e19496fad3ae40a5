-- SPDX-License-Identifier: BSD-3-Clause
-- `bench list`: scenarios, wires, switches and suites; `bench schema`: what records of results have.

local cells = require "sluice.bench.cells"
local dut = require "sluice.bench.dut"
local json = require "sluice.json"
local schema = require "sluice.bench.schema"

local wires = {{name = "memif", help = "shared memory, the switch serves the socket"},
               {name = "vhost", help = "vhost-user at the switch, virtio-user at the traffic"},
               {name = "ring", help = "inside one process, with Sluice alone as the switch"},
               {name = "pci", help = "cards of your own, two a cable: pci:ADDRESS+ADDRESS"}}

local function gather(values)
  local paths, all = {}, {scenarios = {}, wires = wires, switches = {}, suites = {}}
  for _, pair in ipairs(values.switch_path or {}) do paths[pair.name] = pair.value end
  for i, name in ipairs(cells.names) do
    all.scenarios[i] = {name = cells.scenarios[name].chain and name .. ":N" or name,
                        help = cells.scenarios[name].help}
  end
  for i, name in ipairs(dut.names) do
    local found, why = dut.detect(name, paths[name])
    all.switches[i] = {name = name, help = dut.spec(name).title, found = found ~= nil,
                       version = found and found.version, path = found and found.path,
                       why = why}
  end
  for i, name in ipairs(cells.suite_names) do
    all.suites[i] = {name = name, help = cells.suites[name].help}
  end
  return all
end

return function(values)
  if values.command == "schema" then
    io.stdout:write(schema.text())
    return 0
  end
  local all = gather(values)
  if values.json then
    io.stdout:write(json.encode(all), "\n")
    return 0
  end
  for _, kind in ipairs{"scenarios", "wires", "switches", "suites"} do
    io.stdout:write(kind, "\n")
    for _, one in ipairs(all[kind]) do
      local state = one.why or one.version
      io.stdout:write(("  %-11s %s%s\n"):format(one.name, one.help, state and ": " .. state or ""))
    end
  end
  return 0
end
