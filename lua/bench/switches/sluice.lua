-- SPDX-License-Identifier: BSD-3-Clause
-- Sluice itself: what one port receives the other one sends.

local function device(port)
  if port.wire == "memif" then
    return {memif = {path = port.path, role = "server", id = port.index}}
  end
  if port.wire == "pci" then return {pci = {address = port.address}} end
  if port.wire == "ring" then return {ring = {name = "wire" .. port.index, size = 1024}} end
  return {vhost = {path = port.path}}
end

-- `burn` wastes so many cycles on each packet: for tests.
local function graph_of(tool, burn)
  local graph = {ports = {}, nodes = {}, graph = {}, idle = "spin"}
  local sources = {}
  for _, port in ipairs(tool.ports) do
    local i = port.index
    graph.ports["port" .. i] = device(port)
    graph.nodes["from_" .. i] = {PortInc = {port = "port" .. i}}
    graph.nodes["to_" .. i] = {PortOut = {port = "port" .. i}}
    sources[#sources + 1] = "from_" .. i
  end
  for _, pair in ipairs(tool.pairs) do
    for _, way in ipairs{{pair[1], pair[2]}, {pair[2], pair[1]}} do
      local middle = ""
      if burn then
        graph.nodes["burn_" .. way[1]] = {Burn = {per_packet = burn}}
        middle = ("burn_%d -> "):format(way[1])
      end
      graph.graph[#graph.graph + 1] = ("from_%d -> %sto_%d"):format(way[1], middle, way[2])
    end
  end
  graph.workers = {{core = tool.core, sources = sources}}
  if not tool.huge then graph.eal = "--no-huge" end
  return graph
end

return {
  title = "Sluice, PortInc to PortOut",
  program = "sluice",
  vhost = "server",
  wires = {memif = true, vhost = true, ring = true, pci = true},
  workers = 1,
  busy = true, -- it counts the cycles that its worker is busy

  version = function(tool)
    return tool.decode(tool.output{tool.program, "version", "--json"} or "{}").sluice
  end,

  start = function(tool) return tool.instance("switch", graph_of(tool, tool.burn)) end,

  -- Another number of cycles, while it runs; nil and why not: where it was too busy, ask again.
  burn = function(tool, instance, cycles)
    return instance:try("PUT", "/graph?allow_loss=1", graph_of(tool, cycles))
  end,

  counters = function(_, instance)
    local stats = instance:stats()
    local rx, dropped = 0, {}
    for _, port in pairs(stats.ports) do rx = rx + port.rx_packets end
    for name, node in pairs(stats.nodes) do
      local port = math.tointeger(name:match("_(%d+)$"))
      for _, n in pairs(node.dropped) do dropped[port] = (dropped[port] or 0) + n end
    end
    local worker = stats.workers[1]
    return {rx = rx, tx_dropped = dropped, busy_cycles = worker.busy_cycles,
            idle_cycles = worker.idle_cycles,
            cycles_per_packet = rx > 0 and worker.busy_cycles / rx or nil}
  end,

  stop = function(_, instance) instance:stop() end,
}
