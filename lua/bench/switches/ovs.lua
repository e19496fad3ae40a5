-- SPDX-License-Identifier: BSD-3-Clause
-- Open vSwitch with DPDK: an own database and daemon in a folder of ours, flows from port to port.

local vswitchd = require "sluice.bench.vswitchd"

-- The words that add a port: several go into one transaction.
local function interface(tool, port)
  local name = ("%s%d"):format(tool.bridge, port.index)
  local words = {"--", "add-port", tool.bridge, name, "--", "set", "Interface", name,
                 ("ofport_request=%d"):format(port.index + 1)}
  if port.wire == "memif" then
    words[#words + 1] = "type=dpdk"
    words[#words + 1] = "options:n_rxq=2" -- as many as memif_queues: rings come in pairs
    words[#words + 1] = ("options:dpdk-devargs=\"net_memif%d,role=server,id=%d,socket=%s,"
                         .. "socket-abstract=no,rsize=10\""):format(port.index, port.index, port.path)
  else
    words[#words + 1] = "type=dpdkvhostuserclient"
    words[#words + 1] = ("options:vhost-server-path=\"%s\""):format(port.path)
  end
  return words
end

-- The daemon's own device, the same for all: ours only if it was not there before.
local OWN = "ovs-netdev"

local function device_is(name) return io.open("/sys/class/net/" .. name .. "/mtu") end

return {
  title = "Open vSwitch with DPDK, one flow a port",
  program = "ovs-vswitchd-dpdk",
  places = {"/usr/lib/openvswitch-switch-dpdk"},
  package = "openvswitch-switch-dpdk",
  vhost = "client",
  memif_queues = 2, -- its worker sends on the second one, the first is its main thread's
  wires = {memif = true, vhost = true},
  workers = 1,
  busy = true, -- it counts the cycles that its worker is busy

  version = function(tool)
    return (tool.output{tool.program, "--version"} or ""):match("Open vSwitch%) (%S+)")
  end,

  start = function(tool)
    tool.bridge = "sl" .. tool.prefix:match("(%d+)%-%d+$") .. "x"
    tool.own = not device_is(OWN)
    local self = vswitchd.start(tool, {dpdk = true})
    local words = {"add-br", tool.bridge, "--", "set", "bridge", tool.bridge,
                   "datapath_type=netdev", "fail_mode=secure"}
    for _, port in ipairs(tool.ports) do
      for _, word in ipairs(interface(tool, port)) do words[#words + 1] = word end
    end
    self.vsctl(table.unpack(words))
    self.bridge = "unix:" .. self.dir .. "/" .. tool.bridge .. ".mgmt"
    for _, pair in ipairs(tool.pairs) do
      for _, way in ipairs{{pair[1], pair[2]}, {pair[2], pair[1]}} do
        self.run("ovs-ofctl", "add-flow", self.bridge,
                 ("in_port=%d,actions=output:%d"):format(way[1] + 1, way[2] + 1))
      end
    end
    return self
  end,

  counters = function(tool, self)
    local text = tool.output({tool.find("ovs-appctl"), "-t", self.ctl, "dpif-netdev/pmd-stats-show"},
                             {env = self.env}) or ""
    local pmd = text:match("pmd thread.-\n(.-)\nmain thread") or text
    local dropped = {}
    local ports = tool.output({tool.find("ovs-ofctl"), "dump-ports", self.bridge}, {env = self.env})
    for port, n in (ports or ""):gmatch("port +(%d+): rx.-tx pkts=%d+, bytes=%d+, drop=(%d+)") do
      dropped[math.tointeger(port) - 1] = math.tointeger(n)
    end
    return {tx_dropped = next(dropped) and dropped, rx = math.tointeger(tonumber(pmd:match("packets received: (%d+)"))),
            cycles_per_packet = tonumber(pmd:match("avg processing cycles per packet: ([%d.]+)")),
            busy_cycles = math.tointeger(tonumber(pmd:match("processing cycles: (%d+)"))),
            idle_cycles = math.tointeger(tonumber(pmd:match("idle cycles: (%d+)")))}
  end,

  quiet = true, -- to ask it takes two programs, on the core of the traffic
  fresh = true, -- its vhost ports do not come back after a pause

  stop = vswitchd.stop,

  -- A daemon that was killed leaves its devices behind.
  clean = function(tool)
    for _, name in ipairs{tool.bridge, tool.own and OWN or nil} do
      if device_is(name) then tool.output{"ip", "link", "delete", name} end
    end
  end,
}
