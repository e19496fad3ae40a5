-- SPDX-License-Identifier: BSD-3-Clause
-- Sluice as the switch in the same process as its traffic, with rings between them: two workers of
-- one graph. Each side sees its own part under the names that it gave. The first two are pure.

local inside = {}

local PREFIX = "dut_"

-- A link with the names of its nodes under the prefix.
local function link_named(link)
  local names = {}
  for name in (link .. " -> "):gmatch("(.-) %-> ") do names[#names + 1] = PREFIX .. name end
  return table.concat(names, " -> ")
end

--- The graph of traffic and switch together. Ports of the switch and their far ends are two.
---@param switch table the switch's graph, as instance.start() takes one
---@param traffic table the traffic's
function inside.merge(switch, traffic)
  local both = {ports = {}, nodes = {}, graph = {}, workers = {}, idle = "spin", eal = traffic.eal}
  for name, port in pairs(traffic.ports) do both.ports[name] = port end
  for name, node in pairs(traffic.nodes) do both.nodes[name] = node end
  for i, link in ipairs(traffic.graph) do both.graph[i] = link end
  for name, port in pairs(switch.ports) do both.ports[PREFIX .. name] = port end
  for name, node in pairs(switch.nodes) do
    local kind, params = next(node)
    local copy = {}
    for key, value in pairs(params) do copy[key] = key == "port" and PREFIX .. value or value end
    both.nodes[PREFIX .. name] = {[kind] = copy}
  end
  for _, link in ipairs(switch.graph) do both.graph[#both.graph + 1] = link_named(link) end
  local sources = {}
  for i, name in ipairs(switch.workers[1].sources) do sources[i] = PREFIX .. name end
  both.workers = {traffic.workers[1], {core = switch.workers[1].core, sources = sources}}
  return both
end

--- The part of /stats that is one side's.
---@param stats table
---@param side "switch"|"traffic"
function inside.part(stats, side)
  local part = {ports = {}, nodes = {}, workers = {stats.workers[side == "switch" and 2 or 1]}}
  for _, kind in ipairs{"ports", "nodes"} do
    for name, value in pairs(stats[kind]) do
      local own = name:sub(1, #PREFIX) == PREFIX
      if own and side == "switch" then part[kind][name:sub(#PREFIX + 1)] = value
      elseif not own and side == "traffic" then part[kind][name] = value end
    end
  end
  return part
end

local Part = {}

-- What is not its own is the instance's that runs for both.
function Part.__index(self, key)
  if Part[key] then return Part[key] end
  local one = rawget(self, "whole") and self.whole.one
  local value = one and one[key]
  if type(value) ~= "function" then return value end
  return function(_, ...) return value(one, ...) end
end

function Part:stats() return inside.part(self.whole.one:stats(), self.side) end

function Part:stop()
  if self.whole.one and self.whole.one.program.running then self.whole.one:stop() end
end

--- The switch's side, before it runs: its graph waits for the traffic's.
function inside.switch(graph)
  return setmetatable({whole = {graph = graph}, side = "switch"}, Part)
end

--- Starts both; the traffic's side.
function inside.start(switch, traffic, folder, options)
  local instance = require "sluice.bench.instance"
  switch.whole.one = instance.start("traffic", inside.merge(switch.whole.graph, traffic), folder,
                                    options)
  return setmetatable({whole = switch.whole, side = "traffic"}, Part)
end

return inside
