-- SPDX-License-Identifier: BSD-3-Clause
-- BESS (omec fork): a PMDPort for each port, PortInc to PortOut. It needs hugepages; a batch is 64.

local function vdev(port)
  if port.wire == "memif" then
    return ("net_memif%d,role=server,id=%d,socket=%s,socket-abstract=no,rsize=10")
           :format(port.index, port.index, port.path)
  end
  return ("net_vhost%d,iface=%s,queues=1"):format(port.index, port.path)
end

local function script(tool)
  local lines = {"bess.add_worker(0, " .. tool.core .. ")"}
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  for _, port in ipairs(tool.ports) do
    add("p%d = PMDPort(name='p%d', vdev='%s', num_inc_q=1, num_out_q=1)", port.index, port.index,
        vdev(port))
  end
  for _, pair in ipairs(tool.pairs) do
    add("PortInc(port='p%d') -> PortOut(port='p%d')", pair[1], pair[2])
    add("PortInc(port='p%d') -> PortOut(port='p%d')", pair[2], pair[1])
  end
  return table.concat(lines, "\n") .. "\n"
end

return {
  title = "BESS, PortInc to PortOut",
  program = "bessd",
  places = {"/opt/bess/core", "/opt/bess/bin"},
  vhost = "server",
  wires = {memif = true, vhost = true},
  workers = 1,
  quiet = true, -- to ask it takes a program of its own

  version = function(tool)
    return (tool.output{tool.program, "-h"} or ""):match("[Vv]ersion (%S+)")
  end,

  start = function(tool)
    if not tool.huge then tool.fail("it needs hugepages, and there are none") end
    local port = tostring(20000 + tool.number % 10000)
    local daemon = tool.start{tool.program, "-f", "-i", tool.folder .. "/bess.pid", "-p", port, "-m",
                              "128", "--buffers", "16384"}
    daemon:ready("it listened", function() return daemon.text:find("Server listening", 1, true) end)
    local file = tool.write(tool.folder .. "/ports.bess", script(tool))
    local text, why = tool.output{tool.find("bessctl"), "--", "daemon", "connect",
                                  "localhost:" .. port, "--", "run", "file", file}
    if not text then tool.fail("bessctl: %s", why) end
    return {daemon = daemon, port = port}
  end,

  -- Its API counts packets of ports, but has no cycles of a worker.
  counters = function() return {} end,

  stop = function(_, self) self.daemon:kill() end,
}
