-- SPDX-License-Identifier: BSD-3-Clause
-- Cells: what is measured, one by one. Words of the command line for them, what goes together, and
-- suites.

local rates = require "sluice.bench.rates"
local cells = {}

--- What each scenario has: directions that differ, and whether there are VNFs.
cells.scenarios = {
  p2p = {dirs = {uni = true, bi = true}, help = "two physical ports"},
  p2v = {dirs = {uni = true, rev = true, bi = true}, help = "a physical and a virtual port"},
  v2v = {dirs = {uni = true, bi = true}, help = "two virtual ports"},
  loopback = {dirs = {uni = true, bi = true}, chain = true,
              help = "two physical ports and a chain of N VNFs"},
}
cells.names = {"p2p", "p2v", "v2v", "loopback"}

-- DPDK's build has 32 ports: a chain of N needs 2 N + 2.
cells.vnfs_max = 15
cells.size_min, cells.size_max = 64, 9216

--- Scenarios of one word: p2p, loopback:3, loopback:1-5. nil, and what it should be, else.
---@param word string
---@return {scenario: string, vnfs: integer}[]?
---@return string? why
function cells.scenario_read(word)
  local name, rest = word:match("^([^:]*)(.*)$")
  local known = cells.scenarios[name]
  if not known then return nil, "p2p, p2v, v2v, loopback:N or loopback:1-5" end
  if not known.chain then
    if rest ~= "" then return nil, ("%s alone: it has no chain"):format(name) end
    return {{scenario = name, vnfs = 0}}
  end
  local first, last = rest:match("^:(%d+)$"), nil
  if first then last = first else first, last = rest:match("^:(%d+)%-(%d+)$") end
  first, last = math.tointeger(first), math.tointeger(last)
  if not first or first < 1 or last > cells.vnfs_max or first > last then
    return nil, ("loopback:N or loopback:1-5, with 1 to %d VNFs"):format(cells.vnfs_max)
  end
  local list = {}
  for n = first, last do list[#list + 1] = {scenario = name, vnfs = n} end
  return list
end

--- A size with FCS, or a mix by name: {size = bytes or mean, mix = name}; nil and what it should
--- be.
---@param word string
function cells.size_read(word)
  local mix = word:match("^imix:(.*)$")
  if mix and rates.mixes[mix] then return {size = rates.mix_mean(rates.mixes[mix]), mix = mix} end
  local size = word:find("^%d+$") and math.tointeger(word)
  if size and size >= cells.size_min and size <= cells.size_max then return {size = size} end
  local names = {}
  for name in pairs(rates.mixes) do names[#names + 1] = "imix:" .. name end
  table.sort(names)
  return nil, ("%d to %d bytes with FCS, or %s"):format(cells.size_min, cells.size_max,
                                                       table.concat(names, ", ")), names
end

--- All that goes together, switches innermost, so that trials of different switches are neighbours.
--- A direction that a scenario does not have is left out there. Wires are those of physical ports:
--- v2v has none, and is measured once.
---@param what {scenarios: table[], sizes: table[], dirs: string[], wires: string[], vnfs: string[],
---  switches: string[], vnf_in?: string, link_bps?: number}
---@return table[]
function cells.product(what)
  local list = {}
  for _, scenario in ipairs(what.scenarios) do
    local known = cells.scenarios[scenario.scenario]
    local wires = scenario.scenario == "v2v" and {"vhost"} or what.wires
    for _, size in ipairs(what.sizes) do
      for _, dir in ipairs(what.dirs) do
        for _, wire in ipairs(known.dirs[dir] and wires or {}) do
          for _, vnf in ipairs(known.chain and what.vnfs or {"none"}) do
            for _, switch in ipairs(what.switches) do
              list[#list + 1] = {scenario = scenario.scenario, vnfs = scenario.vnfs,
                                 size = size.size, mix = size.mix, dir = dir, wire = wire,
                                 vnf = vnf, vnf_in = what.vnf_in,
                                 link_bps = scenario.scenario ~= "v2v" and what.link_bps or nil,
                                 switch = {name = switch}}
            end
          end
        end
      end
    end
  end
  return list
end

local function chain(first, last)
  local list = {{scenario = "p2p", vnfs = 0}, {scenario = "p2v", vnfs = 0},
                {scenario = "v2v", vnfs = 0}}
  for n = first, last do list[#list + 1] = {scenario = "loopback", vnfs = n} end
  return list
end

local function sizes(...)
  local list = {}
  for i, size in ipairs{...} do list[i] = {size = size} end
  return list
end

--- Suites: what they measure of each switch, and how.
cells.suites = {
  quick = {help = "64 bytes, each scenario once, in less than a minute", search = "mrr", trials = 3,
           seconds = 0.5, scenarios = chain(1, 1), sizes = sizes(64), dirs = {"uni"}},
  paper = {help = "the 51 cells of the NFV comparison", search = "mrr", trials = 7, seconds = 1,
           scenarios = chain(1, 5), sizes = sizes(64, 256, 1024), dirs = {"uni", "rev", "bi"}},
  rfc2544 = {help = "throughput, loss curve and back-to-back at the sizes of RFC 2544, in p2p",
             search = "rfc2544", seconds = 60, scenarios = {{scenario = "p2p", vnfs = 0}},
             sizes = sizes(64, 128, 256, 512, 1024, 1280, 1518), dirs = {"uni", "bi"}},
}
--- What `bench iperf3` can send through.
cells.bridges = {"sluice", "bridge", "ovs", "ovs-dpdk"}

cells.suite_names = {"quick", "paper", "rfc2544"}

--- The cells of a suite.
---@param name string
---@param switches string[]
function cells.suite(name, switches)
  local suite = cells.suites[name]
  return cells.product{scenarios = suite.scenarios, sizes = suite.sizes, dirs = suite.dirs,
                       wires = {"memif"},
                       vnfs = {"io"}, switches = switches}
end

return cells
