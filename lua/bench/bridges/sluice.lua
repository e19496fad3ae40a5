-- SPDX-License-Identifier: BSD-3-Clause
-- Sluice's bridge: L2Fwd between two interfaces of the kernel.

return {
  title = "Sluice, L2Fwd over af_packet",
  program = "sluice",
  worker = true,

  start = function(tool)
    local graph = {ports = {}, nodes = {bridge = "L2Fwd"}, graph = {}, idle = "spin"}
    local sources = {}
    for i, port in ipairs(tool.ports) do
      graph.ports[port] = {af_packet = {iface = port}}
      graph.nodes["from_" .. port] = {PortInc = {port = port}}
      graph.nodes["to_" .. port] = {PortOut = {port = port}}
      graph.graph[i] = ("from_%s -> [%d]bridge[%d] -> to_%s"):format(port, i - 1, i - 1, port)
      sources[i] = "from_" .. port
    end
    graph.workers = {{core = tool.core, sources = sources}}
    if not tool.huge then graph.eal = "--no-huge" end
    return tool.instance("bridge", graph)
  end,

  stop = function(_, instance) instance:stop() end,
}
