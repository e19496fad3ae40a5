-- SPDX-License-Identifier: BSD-3-Clause
-- What can be read of a graph that runs, asked of it and changed in it. Every reading is new: keep
-- it in a local to compare.

local native = require "sluice.native"
local place = require "sluice.place"
local build = require "sluice.build"
local running = {}

-- Gates count from 0, as everywhere.
local function from_zero(list)
  local gates = {}
  for i, packets in ipairs(list) do gates[i - 1] = packets end
  return gates
end

local function node_stats(node)
  local stats = native.stats("nodes", node.name)
  if not stats then place.raise('the running graph has no node "%s"', node.name) end
  local packets = stats.made
  for _, n in ipairs(stats["in"]) do packets = packets + n end
  stats.packets = packets
  stats["in"], stats.out = from_zero(stats["in"]), from_zero(stats.out)
  return stats
end

local function gate_table(list)
  local gates = {}
  for gate, packets in pairs(list) do gates[gate] = {packets = packets} end
  return setmetatable(gates, {__index = function(_, gate)
    place.raise("there is no gate %s: the graph links %s", tostring(gate),
                next(gates) == nil and "none" or ("0 to %d"):format(#gates))
  end})
end

-- All counters, as `sluice run --json` has them, and `packets`: those that came in or were made.
build.node_fields.stats = node_stats
-- gates[0].packets: what left by output gate 0; inputs[0].packets: what came in by input gate 0.
function build.node_fields.gates(node) return gate_table(node_stats(node).out) end
function build.node_fields.inputs(node) return gate_table(node_stats(node)["in"]) end

function build.port_fields.stats(port)
  local stats = native.stats("ports", port.name)
  if not stats then place.raise('the running graph has no port "%s"', port.name) end
  return stats
end

-- Runs a command of a node's table; its answer.
function build.call(node, command, args)
  if args ~= nil and type(args) ~= "table" then
    place.raise("%s: the arguments are a table, as in {mac = ...}, not a %s", command, type(args))
  end
  local file, line = place.here()
  local ok, reply = pcall(native.call, node.name, command, args, file, line)
  if not ok then error((tostring(reply):gsub("(:%d+): error: ", "%1: "):gsub("\n+$", "")), 0) end
  return reply
end

--- node.fwd: the node of that name, of the graph that runs, or that was made so far.
---@type table<string, sluice.Node|any>
---> node = {}

running.node = setmetatable({}, {
  __index = function(_, name)
    if native.running() then
      local names = native.names("nodes")
      if type(name) == "string" and names[name] then return build.node(name, names[name]) end
      place.raise('the running graph has no node "%s"%s', tostring(name), place.near(name, names))
    end
    local made = build.find("node", name)
    if made then return made end
    place.raise('there is no node "%s" yet', tostring(name))
  end,
  __pairs = function()
    local all = {}
    local names = native.names("nodes")
    for _, name in ipairs(names) do all[name] = build.node(name, names[name]) end
    return pairs(all)
  end,
})

function running.port_names()
  return native.running() and native.names("ports") or {}
end

function running.port(name)
  local driver = native.running() and type(name) == "string" and native.names("ports")[name]
  return driver and build.port(name, driver)
end

--- workers[1] is the first one: core, polls, busy_cycles, idle_cycles, and cycles, their sum.
---@type {core: integer, polls: integer, busy_cycles: integer, idle_cycles: integer, cycles: integer}[]
---> workers = {}

running.workers = setmetatable({}, {
  __index = function(_, i)
    if math.type(i) ~= "integer" then return nil end
    local worker = native.stats("workers", i)
    if worker then worker.cycles = worker.busy_cycles + worker.idle_cycles end
    return worker
  end,
  __len = function()
    local n = 0
    while native.stats("workers", n + 1) do n = n + 1 end
    return n
  end,
})

local function drops_read()
  local sums = {total = 0}
  for _, name in ipairs(native.names("nodes")) do
    for reason, n in pairs(native.stats("nodes", name).dropped) do
      sums[reason] = (sums[reason] or 0) + n
      sums.total = sums.total + n
    end
  end
  return sums
end

--- drops.runt, drops.total: packets of all nodes, by reason.
---@type table<string, integer>
---> drops = {}

running.drops = setmetatable({}, {
  __index = function(_, reason) return drops_read()[reason] or 0 end,
  __pairs = function() return pairs(drops_read()) end,
})

--- The names of nodes or ports, by what becomes of them.
---@class sluice.Fates
---@field kept string[]
---@field live string[]
---@field replaced string[]
---@field new string[]
---@field removed string[]

--- Changes the running graph to another one. What would lose state is refused, unless allow_loss.
---@param graph userdata|fun()|string
---@param options? {allow_loss: boolean}
---@return {nodes: sluice.Fates, ports: sluice.Fates, losses: string[], parked_ns: integer}
---> function swap(graph, options) end
function running.swap(graph, options)
  if type(graph) == "function" or type(graph) == "string" then graph = build.graph(graph) end
  if type(graph) ~= "userdata" then
    place.raise("swap() takes a graph, or a function that builds one, or a YAML file")
  end
  local ok, change = pcall(native.swap, graph, options and options.allow_loss)
  if not ok then
    local text = tostring(change):gsub("\n+$", "")
    -- What this machine lacks has no line of its own.
    if not text:match("^[^\n]-:%d+:") then place.raise("%s", (text:gsub("^.-: error: ", ""))) end
    error(text, 0)
  end
  return change
end

--- Seconds since the graph was started.
---@return number
---> function now() end
function running.now() return native.seconds() end

return running
