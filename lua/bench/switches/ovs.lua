-- SPDX-License-Identifier: BSD-3-Clause
-- Open vSwitch with DPDK: an own database and daemon in a folder of ours, flows from port to port.

local SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"

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
    local dir = tool.folder .. "/ovs"
    tool.bridge = "sl" .. tool.prefix:match("(%d+)%-%d+$") .. "x"
    tool.own = not device_is(OWN)
    local db, ctl = "unix:" .. dir .. "/db.sock", dir .. "/ctl.sock"
    local env = {OVS_RUNDIR = dir, OVS_LOGDIR = dir, OVS_DBDIR = dir}
    local function run(what, ...)
      local text, why = tool.output({tool.find(what), ...}, {env = env})
      return text or tool.fail("%s: %s", what, why)
    end
    local function vsctl(...) return run("ovs-vsctl", "--db=" .. db, "--timeout=20", ...) end
    tool.mkdir(dir)
    run("ovsdb-tool", "create", dir .. "/conf.db", SCHEMA)
    local database = tool.start({tool.find("ovsdb-server"), dir .. "/conf.db",
                                 "--remote=p" .. db, "--unixctl=" .. dir .. "/dbctl.sock",
                                 "--no-chdir"}, {env = env, cores = {tool.main_core}})
    database:ready("its socket", function() return tool.exists(dir .. "/db.sock") end)
    vsctl("--no-wait", "init")
    local memory = tool.huge and "--in-memory --single-file-segments" or "--no-huge --legacy-mem --no-shconf"
    -- A pool for each port is made for its queues; one for all would ask for 262,144 buffers. Without
    -- --legacy-mem OVS adds --in-memory, which DPDK refuses beside --no-huge.
    local config = {"--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                    ("other_config:pmd-cpu-mask=0x%x"):format(1 << tool.core),
                    ("other_config:dpdk-lcore-mask=0x%x"):format(1 << tool.main_core),
                    "other_config:per-port-memory=true",
                    ("other_config:dpdk-extra=\"--no-pci --no-telemetry --file-prefix=%s %s -m %d\"")
                    :format(tool.prefix, memory, tool.huge and 128 or 256 + 96 * #tool.ports)}
    vsctl(table.unpack(config))
    local daemon = tool.start({tool.program, db, "--unixctl=" .. ctl, "--no-chdir",
                               "--log-file=" .. dir .. "/ovs.log"},
                              {env = env})
    daemon:ready("DPDK was initialised", function()
      local text = tool.output({tool.find("ovs-vsctl"), "--db=" .. db, "--timeout=2", "get",
                                "Open_vSwitch", ".", "dpdk_initialized"}, {env = env})
      return text and text:find("true")
    end, 20)
    local words = {"add-br", tool.bridge, "--", "set", "bridge", tool.bridge,
                   "datapath_type=netdev", "fail_mode=secure"}
    for _, port in ipairs(tool.ports) do
      for _, word in ipairs(interface(tool, port)) do words[#words + 1] = word end
    end
    vsctl(table.unpack(words))
    local bridge = "unix:" .. dir .. "/" .. tool.bridge .. ".mgmt"
    for _, pair in ipairs(tool.pairs) do
      for _, way in ipairs{{pair[1], pair[2]}, {pair[2], pair[1]}} do
        run("ovs-ofctl", "add-flow", bridge, ("in_port=%d,actions=output:%d"):format(way[1] + 1, way[2] + 1))
      end
    end
    return {daemon = daemon, database = database, ctl = ctl, env = env, bridge = bridge}
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

  stop = function(tool, self)
    self.daemon:kill(function()
      tool.output({tool.find("ovs-appctl"), "-t", self.ctl, "exit", "--cleanup"}, {env = self.env})
    end)
    self.database:kill()
  end,

  -- A daemon that was killed leaves its devices behind.
  clean = function(tool)
    for _, name in ipairs{tool.bridge, tool.own and OWN or nil} do
      if device_is(name) then tool.output{"ip", "link", "delete", name} end
    end
  end,
}
