-- SPDX-License-Identifier: BSD-3-Clause
-- The four scenarios: which ports the switch has, which of them it joins, and what stands at their
-- other ends. Ports are numbered from 0 in the order that the switch has them.
--
--   p2p         physical 0 - switch - physical 1
--   p2v         physical 0 - switch - virtual 1
--   v2v         virtual 0 - switch - virtual 1
--   loopback N  physical 0 - switch - virtual 1 | VNF 1 | virtual 2 - switch - ... - physical 2N+1
--
-- The switch joins 0 with 1, 2 with 3 and so on; VNF k joins port 2k-1 with port 2k.

local pci = require "sluice.bench.pci"
local scenario = {}

scenario.names = {
  {name = "p2p", help = "two physical ports"},
  {name = "p2v", help = "a physical port and a VNF's"},
  {name = "v2v", help = "two VNFs"},
  {name = "loopback:N", help = "a chain of N VNFs (1 to 5) between two physical ports"},
}
scenario.VNFS_MAX = 5

local kinds = {
  p2p = function() return {"physical", "physical"}, 0 end,
  p2v = function() return {"physical", "virtual"}, 0 end,
  v2v = function() return {"virtual", "virtual"}, 0 end,
  loopback = function(vnfs)
    local ports = {"physical"}
    for _ = 1, 2 * vnfs do ports[#ports + 1] = "virtual" end
    ports[#ports + 1] = "physical"
    return ports, vnfs
  end,
}

--- A scenario. `kind` is p2p, p2v, v2v or loopback, `direction` is uni (from port 0 to the last),
--- rev (back) or bi; `wire` stands for the physical ports: memif, vhost,
--- ring or pci:..., of which each has the addresses of both ends: `switch` and `traffic`.
function scenario.make(kind, vnfs, direction, wire)
  local ports, n = kinds[kind](vnfs)
  local self = {kind = kind, vnfs = n, direction = direction, ports = {}, pairs = {}, chain = {},
                flows = {}}
  local cables = pci.cables(wire)
  for i, what in ipairs(ports) do
    local one = {index = i - 1, kind = what, wire = what == "physical" and wire or "vhost"}
    local cable = what == "physical" and cables and table.remove(cables, 1)
    if cable then one.wire, one.switch, one.traffic = "pci", cable.switch, cable.traffic end
    self.ports[i] = one
  end
  for i = 0, #ports - 2, 2 do self.pairs[#self.pairs + 1] = {i, i + 1} end
  for k = 1, n do self.chain[k] = {2 * k - 1, 2 * k} end
  local last = #ports - 1
  if direction ~= "rev" then self.flows[1] = {from = 0, to = last} end
  if direction ~= "uni" then self.flows[#self.flows + 1] = {from = last, to = 0} end
  self.name = kind == "loopback" and "loopback:" .. n or kind
  return self
end

return scenario
