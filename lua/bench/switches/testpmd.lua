-- SPDX-License-Identifier: BSD-3-Clause
-- testpmd, DPDK's own forwarder: what a switch that does nothing costs.

local function device(port, at)
  if port.wire == "memif" then
    return ("net_memif%d,role=server,id=%d,socket=%s,socket-abstract=no,rsize=10")
           :format(port.index, port.index, at)
  end
  return ("net_vhost%d,iface=%s,queues=1"):format(port.index, at)
end

-- DPDK numbers cards first, in the order of their addresses, then what was named with --vdev. Ports
-- by the numbers that testpmd gives them, and whether there are cards.
local function numbers(tool)
  local cards, rest, number = {}, {}, {}
  for _, port in ipairs(tool.ports) do table.insert(port.address and cards or rest, port) end
  table.sort(cards, function(a, b) return a.address < b.address end)
  for i, port in ipairs(cards) do number[i - 1] = port.index end
  for i, port in ipairs(rest) do number[#cards + i - 1] = port.index end
  return number, #cards > 0
end

-- The order in which it joins them, two and two.
local function port_list(tool)
  local of, list = {}, {}
  for n, index in pairs((numbers(tool))) do of[index] = n end
  for i, port in ipairs(tool.ports) do list[i] = of[port.index] end
  return table.concat(list, ",")
end

return {
  title = "DPDK's testpmd, forwarding as it is (io)",
  program = "dpdk-testpmd",
  package = "dpdk",
  vhost = "server",
  wires = {memif = true, vhost = true, pci = true},
  workers = 1,
  quiet = true, -- it counts on while it is asked

  version = function(tool)
    return tool.output{"dpkg-query", "-W", "-f", "${Version}", "dpdk"}
  end,

  start = function(tool)
    -- Its answers would wait in a buffer for more.
    local args = {"stdbuf", "-oL", tool.program, "-l", tool.main_core .. "," .. tool.core, "--main-lcore",
                  tool.main_core, "--no-telemetry", "--log-level=error",
                  "--file-prefix=" .. tool.prefix}
    local function add(...) for _, word in ipairs{...} do args[#args + 1] = word end end
    if tool.huge then add("--in-memory", "--single-file-segments", "-m", "64")
    else add("--no-huge", "--no-shconf", "-m", "256") end
    local _, cards = numbers(tool)
    if not cards then add("--no-pci") end
    for _, port in ipairs(tool.ports) do
      if port.address then add("-a", port.address) else add("--vdev=" .. device(port, port.path)) end
    end
    add("--", "-i", "--nb-cores=1", "--total-num-mbufs=16384", "--rxd=1024", "--txd=1024",
        "--no-flush-rx", "--record-core-cycles")
    local program = tool.start(args, {input = true})
    program:ready("its prompt", function() return program.text:find("testpmd> ", 1, true) end)
    if cards then program:write(("set portlist %s\n"):format(port_list(tool))) end
    program:write("set fwd io\nstart\n")
    program:ready("it forwarded", function() return program.text:find("io packet forwarding", 1, true) end)
    return program
  end,

  counters = function(tool, program)
    local number = numbers(tool)
    program.text = ""
    program:write("show fwd stats all\n")
    if not program:ready("its counters", function()
      return program.text:find("Accumulated forward statistics for all ports", 1, true)
             and program.text:find("testpmd> ", 1, true)
    end) then return {} end
    local total = program.text:match("Accumulated forward statistics(.*)") or program.text
    local count = function(what) return math.tointeger(tonumber(total:match(what .. ":%s*(%d+)"))) end
    local dropped = {}
    for port, n in program.text:gmatch("Forward statistics for port (%d+).-TX%-dropped:%s*(%d+)") do
      dropped[number[math.tointeger(port)]] = math.tointeger(n)
    end
    return {rx = count("RX%-packets"), tx_dropped = dropped,
            cycles_per_packet = tonumber(program.text:match("CPU cycles/packet=([%d.]+)"))}
  end,

  stop = function(_, program) program:kill(function() program:write("stop\nquit\n") end) end,
}
