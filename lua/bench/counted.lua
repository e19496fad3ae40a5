-- SPDX-License-Identifier: BSD-3-Clause
-- Cycles a packet by the counters of a graph that runs alone: what lines of `sluice run --json`
-- say. Pure.

local json = require "sluice.json"
local counted = {}

local function packets(node)
  local n = node.made
  for _, side in ipairs{"in", "out"} do
    local sum = 0
    for _, part in ipairs(node[side]) do sum = sum + part end
    n = math.max(n, sum)
  end
  return n
end

--- Packets that all sources have made.
function counted.made(line)
  local n = 0
  for _, node in pairs(line.nodes) do n = n + node.made end
  return n
end

--- What lines of `sluice run --json` say of a window: from the first one in which packets were made
--- to the last one, or, of a graph that ended before there were two, all of it. {packets,
--- cycles_per_packet, nodes = {[name] = {module, packets, cycles}}}; nil and why it says nothing.
---@param lines table[]
function counted.window(lines)
  local last = lines[#lines]
  if not last then return nil, "it has said nothing" end
  if #last.workers ~= 1 then
    return nil, ("the graph has %d workers: one core is measured"):format(#last.workers)
  end
  local made = counted.made
  local first = {nodes = {}, workers = {{busy_cycles = 0}}}
  for i = 1, #lines - 1 do
    if made(lines[i]) > 0 then
      if made(last) > made(lines[i]) then first = lines[i] end
      break
    end
  end
  local n = made(last) - made(first)
  if n <= 0 then return nil, "no packets were made" end
  local found = {packets = n, nodes = {},
                 cycles_per_packet = (last.workers[1].busy_cycles
                                      - first.workers[1].busy_cycles) / n}
  for name, node in pairs(last.nodes) do
    local before = first.nodes[name] or {made = 0, ["in"] = {}, out = {}, cycles = 0,
                                         cycles_sampled = 0}
    local through = packets(node) - packets(before)
    local sampled = node.cycles_sampled - before.cycles_sampled
    local each = sampled > 0 and (node.cycles - before.cycles) / sampled or 0
    found.nodes[name] = {module = node.module, packets = through, cycles = each * through / n}
  end
  return found
end

--- A line of what it says, if it is one of counters.
---@param line string
function counted.line(line)
  local value = line:sub(1, 1) == "{" and json.decode(line)
  return type(value) == "table" and value.nodes and value or nil
end

--- The lines of counters among what a program has said.
---@param said string
function counted.lines(said)
  local lines = {}
  for line in said:gmatch("[^\n]+") do lines[#lines + 1] = counted.line(line) end
  return lines
end

return counted
