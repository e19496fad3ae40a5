-- SPDX-License-Identifier: BSD-3-Clause
-- Snabb: two vhost-user apps and links. It has no memif, mounts hugepages itself (so it runs in a
-- mount namespace of its own, as root), and is the client of the sockets.

local SCRIPT = [[
local vhost_user = require("apps.vhost.vhost_user")
-- DPDK's virtio-user waits for VIRTIO_F_VERSION_1, which Snabb does not offer.
local device = require("lib.virtio.net_device")
local features = device.VirtioNetDevice.get_features
device.VirtioNetDevice.get_features = function(self)
  return bit.bor(features(self), bit.lshift(1ULL, 32))
end
local c = config.new()
%s
engine.configure(c)
engine.busywait = true
local ready = false
engine.main{done = function()
  if not ready then
    ready = true
    for _, app in pairs(engine.app_table) do ready = ready and app.vhost_ready end
    if ready then print("vhost_ready") io.stdout:flush() end
  end
  return false
end}
]]

local function configuration(tool)
  local lines = {}
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  for _, port in ipairs(tool.ports) do
    add('config.app(c, "p%d", vhost_user.VhostUser, {socket_path = "%s"})', port.index, port.path)
  end
  for _, pair in ipairs(tool.pairs) do
    add('config.link(c, "p%d.tx -> p%d.rx")', pair[1], pair[2])
    add('config.link(c, "p%d.tx -> p%d.rx")', pair[2], pair[1])
  end
  return SCRIPT:format(table.concat(lines, "\n"))
end

return {
  title = "Snabb, vhost_user to vhost_user",
  program = "snabb",
  places = {"/opt/snabb/src"},
  vhost = "client",
  wires = {vhost = true},
  workers = 1,
  fresh = true,

  version = function(tool)
    return (tool.output{tool.program, "--version"} or ""):match("(%d%d%d%d%.%d+%S*)")
  end,

  start = function(tool)
    local file = tool.write(tool.folder .. "/ports.lua", configuration(tool))
    return tool.start({"unshare", "-m", tool.program, "snsh", file}, {cores = {tool.core}})
  end,

  counters = function() return {} end,

  stop = function(_, program) program:kill() end,
}
