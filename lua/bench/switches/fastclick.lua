-- SPDX-License-Identifier: BSD-3-Clause
-- FastClick (light build): FromDPDKDevice to ToDPDKDevice.

local function vdev(port)
  if port.wire == "memif" then
    return ("net_memif%d,role=server,id=%d,socket=%s,socket-abstract=no,rsize=10")
           :format(port.index, port.index, port.path)
  end
  return ("net_vhost%d,iface=%s,queues=1"):format(port.index, port.path)
end

local function configuration(tool)
  local lines = {"DPDKInfo(NB_MBUF 16383);"}
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  for _, port in ipairs(tool.ports) do
    local i = port.index
    add("fd%d :: FromDPDKDevice(%d, N_QUEUES 1, BURST 32, NDESC 1024);", i, i)
    add("td%d :: ToDPDKDevice(%d, N_QUEUES 1, NDESC 1024);", i, i)
  end
  for _, pair in ipairs(tool.pairs) do
    add("fd%d -> td%d;", pair[1], pair[2])
    add("fd%d -> td%d;", pair[2], pair[1])
  end
  return table.concat(lines, "\n") .. "\n"
end

return {
  title = "FastClick, FromDPDKDevice to ToDPDKDevice",
  program = "click",
  places = {"/opt/fastclick/bin", "/opt/fastclick/userlevel"},
  vhost = "server",
  wires = {memif = true, vhost = true},
  workers = 1,

  version = function(tool)
    return (tool.output{tool.program, "--version"} or ""):match("click %(Click%) (%S+)")
  end,

  start = function(tool)
    local args = {tool.program, "--dpdk", "-l", tool.core, "--no-pci", "--file-prefix=" .. tool.prefix}
    local function add(...) for _, word in ipairs{...} do args[#args + 1] = word end end
    if tool.huge then add("--in-memory", "-m", "128") else add("--no-huge", "-m", "256") end
    for _, port in ipairs(tool.ports) do add("--vdev=" .. vdev(port)) end
    add("--", tool.write(tool.folder .. "/ports.click", configuration(tool)))
    local program = tool.start(args)
    local last = tool.ports[#tool.ports]
    program:ready("the last socket was there", function() return tool.exists(last.path) end)
    return program
  end,

  -- Its handlers need a control socket, which costs it time.
  counters = function() return {} end,

  stop = function(_, program) program:kill() end,
}
