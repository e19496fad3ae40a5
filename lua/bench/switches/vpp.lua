-- SPDX-License-Identifier: BSD-3-Clause
-- VPP: its own vhost-user and memif interfaces, joined by an l2 xconnect.

local function names_of(tool)
  local names, vhosts = {}, 0
  for _, port in ipairs(tool.ports) do
    if port.wire == "memif" then
      names[port.index] = ("memif%d/%d"):format(port.index + 1, port.index)
    else
      names[port.index] = "VirtualEthernet0/0/" .. vhosts
      vhosts = vhosts + 1
    end
  end
  return names
end

local function commands(tool, names)
  local lines = {}
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  for _, port in ipairs(tool.ports) do
    if port.wire == "memif" then
      add("create memif socket id %d filename %s", port.index + 1, port.path)
      add("create interface memif id %d socket-id %d master ring-size 1024", port.index,
          port.index + 1)
    else
      add("create vhost-user socket %s server", port.path)
    end
  end
  for _, pair in ipairs(tool.pairs) do
    add("set interface l2 xconnect %s %s", names[pair[1]], names[pair[2]])
    add("set interface l2 xconnect %s %s", names[pair[2]], names[pair[1]])
  end
  for _, port in ipairs(tool.ports) do add("set interface state %s up", names[port.index]) end
  return table.concat(lines, "\n") .. "\n"
end

-- Without the pause its main thread takes half of the core of the traffic.
local STARTUP = [[
unix { nodaemon nosyslog cli-listen %s exec %s poll-sleep-usec 1000 runtime-dir %s }
cpu { main-core %d corelist-workers %d }
memory { main-heap-size 256M }
buffers { buffers-per-numa 16384 page-size %s }
plugins { plugin default { disable } plugin vhost_plugin.so { enable } plugin memif_plugin.so { enable } }
]]

return {
  title = "VPP, l2 xconnect",
  program = "vpp",
  places = {"/opt/vpp/bin"},
  vhost = "server",
  wires = {memif = true, vhost = true},
  workers = 1,
  quiet = true, -- to ask it takes a program of its own

  version = function(tool)
    return (tool.output{tool.program, "-v"} or ""):match("vpp v(%S+)")
  end,

  start = function(tool)
    local names, socket = names_of(tool), tool.folder .. "/cli.sock"
    local script = tool.write(tool.folder .. "/ports.vpp", commands(tool, names))
    local file = tool.write(tool.folder .. "/startup.conf", STARTUP:format(socket, script,
      tool.folder, tool.main_core, tool.core, tool.huge and "2M" or "4K"))
    local daemon = tool.start{tool.program, "-c", file}
    local control = tool.find("vppctl")
    daemon:ready("its interfaces were up", function()
      local text = tool.output({control, "-s", socket, "show", "interface"}, nil, 2) or ""
      for _, port in ipairs(tool.ports) do
        if not text:find(names[port.index], 1, true) then return false end
      end
      return true
    end, 20)
    return {daemon = daemon, socket = socket, control = control}
  end,

  -- It counts clocks by node, not of the worker.
  counters = function() return {} end,

  stop = function(_, self) self.daemon:kill() end,
}
