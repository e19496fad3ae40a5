-- SPDX-License-Identifier: BSD-3-Clause
-- What the NFV comparison published (Computer Networks; one core, 64 bytes, Gbps of layer 1),
-- beside what was measured here. Other hardware and other wires: only ratios and shapes can be
-- compared.

local report = require "sluice.bench.report"
local paper = {}

--- By scenario and direction, then switch.
paper.gbps = {
  ["p2p bi"] = {testpmd = 16, bess = 15.98, fastclick = 12.10, vpp = 10.79, ovs = 7.89,
                snabb = 9.15,
                vale = 5.62, t4p4s = 5.66},
  ["p2v bi"] = {bess = 11.38, fastclick = 7.97, vpp = 5.86, ovs = 5.27, snabb = 6.29, vale = 6.03,
                t4p4s = 3.83},
  ["v2v uni"] = {bess = 7.37, fastclick = 4.84, vpp = 4.54, ovs = 4.03, snabb = 6.42, vale = 10.50,
                 t4p4s = 3.14},
  ["v2v bi"] = {bess = 7.55, fastclick = 6.24, vpp = 4.29, ovs = 3.13, snabb = 5.59, vale = 5.91,
                t4p4s = 3.23},
  ["loopback 1 uni"] = {bess = 4.56, fastclick = 2.76, vpp = 3.13, ovs = 2.37, snabb = 2.91,
                        vale = 4.09, t4p4s = 2.06},
  ["loopback 3 uni"] = {bess = 1.69, fastclick = 1.14, vpp = 1.13, ovs = 0.83, snabb = 1.19,
                        vale = 3.06, t4p4s = 0.82},
  ["loopback 5 uni"] = {fastclick = 0.65, vpp = 0.70, ovs = 0.46, snabb = 0.17, vale = 2.29,
                        t4p4s = 0.50},
}

--- Fitted ns a VNF at 64 bytes.
paper.ns_a_vnf = {vale = 32, bess = 125, snabb = 167, vpp = 188, fastclick = 197, t4p4s = 250,
                  ovs = 298}

-- Ratios to OVS-DPDK, the greatest first: it is in every row. `cut`: what is at least that.
local function ratios(by_switch, cut)
  if not by_switch.ovs then return "(ovs was not measured)" end
  if cut.ovs then return "(what ovs does itself was not measured)" end
  local list = {}
  for name, value in pairs(by_switch) do
    if name ~= "ovs" then list[#list + 1] = {name, value / by_switch.ovs} end
  end
  table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  for i, pair in ipairs(list) do
    list[i] = ("%s %s%.2f"):format(pair[1], cut[pair[1]] and ">= " or "", pair[2])
  end
  return #list > 0 and table.concat(list, ", ") or "(ovs alone was measured)"
end

--- Lines that put what was measured beside what was published, both as ratios to OVS-DPDK.
---@param results table[] sorted
---@return string[]
function paper.lines(results)
  local here, cut, order = {}, {}, {}
  for _, one in ipairs(results) do
    local key = report.scenario(one) .. " " .. one.dir
    if one.size == 64 and one.metric == "mrr" and paper.gbps[key] then
      if not here[key] then order[#order + 1] = key end
      here[key], cut[key] = here[key] or {}, cut[key] or {}
      here[key][one.switch.name], cut[key][one.switch.name] = one.value_pps.median, not one.own
    end
  end
  local lines = {}
  for _, key in ipairs(order) do
    lines[#lines + 1] = ("%s, to ovs: here %s; published %s"):format(key,
        ratios(here[key], cut[key]), ratios(paper.gbps[key], {}))
  end
  for _, chain in ipairs(report.chains(results)) do
    local published = paper.ns_a_vnf[chain.switch]
    if chain.fit and published and chain.name:find("^64B uni") then
      lines[#lines + 1] = ("%s, ns a VNF: here %.0f; published %d"):format(chain.switch,
          chain.fit.b, published)
    end
  end
  return lines
end

return paper
