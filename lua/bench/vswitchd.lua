-- SPDX-License-Identifier: BSD-3-Clause
-- Open vSwitch's database and daemon, started privately in a folder of ours and ended with us: no
-- service is touched.

local vswitchd = {}

local SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"

-- Buffers are in a pool for each port, made for its queues: one for all would ask for 262,144.
-- Without --legacy-mem OVS adds --in-memory, which DPDK refuses beside --no-huge.
local function dpdk_words(tool)
  local memory = tool.huge and "--in-memory --single-file-segments" or "--no-huge --legacy-mem --no-shconf"
  return {"other_config:dpdk-init=true", ("other_config:pmd-cpu-mask=0x%x"):format(1 << tool.core),
          ("other_config:dpdk-lcore-mask=0x%x"):format(1 << tool.main_core),
          "other_config:per-port-memory=true",
          ("other_config:dpdk-extra=\"--no-pci --no-telemetry --file-prefix=%s %s -m %d\"")
          :format(tool.prefix, memory, tool.huge and 128 or 256 + 96 * #tool.ports)}
end

--- Starts both, with DPDK or without: {daemon, database, ctl, env, run(program, ...), vsctl(...)}.
---@param tool table as the files of switches get it: folder, program, ports, core, main_core, prefix
---@param options {dpdk?: boolean}
function vswitchd.start(tool, options)
  local dir = tool.folder .. "/ovs"
  local db, ctl = "unix:" .. dir .. "/db.sock", dir .. "/ctl.sock"
  local self = {ctl = ctl, dir = dir, env = {OVS_RUNDIR = dir, OVS_LOGDIR = dir, OVS_DBDIR = dir}}
  function self.run(what, ...)
    local text, why = tool.output({tool.find(what), ...}, {env = self.env})
    return text or tool.fail("%s: %s", what, why)
  end
  function self.vsctl(...) return self.run("ovs-vsctl", "--db=" .. db, "--timeout=20", ...) end
  tool.mkdir(dir)
  self.run("ovsdb-tool", "create", dir .. "/conf.db", SCHEMA)
  self.database = tool.start({tool.find("ovsdb-server"), dir .. "/conf.db", "--remote=p" .. db,
                              "--unixctl=" .. dir .. "/dbctl.sock", "--no-chdir"},
                             {env = self.env, cores = {tool.main_core}})
  self.database:ready("its socket", function() return tool.exists(dir .. "/db.sock") end)
  self.vsctl("--no-wait", "init")
  if options.dpdk then
    self.vsctl("--no-wait", "set", "Open_vSwitch", ".", table.unpack(dpdk_words(tool)))
  end
  self.daemon = tool.start({tool.program, db, "--unixctl=" .. ctl, "--no-chdir",
                            "--log-file=" .. dir .. "/ovs.log"}, {env = self.env})
  self.daemon:ready(options.dpdk and "DPDK was initialised" or "its socket", function()
    if not options.dpdk then return tool.exists(ctl) end
    local text = tool.output({tool.find("ovs-vsctl"), "--db=" .. db, "--timeout=2", "get",
                              "Open_vSwitch", ".", "dpdk_initialized"}, {env = self.env})
    return text and text:find("true")
  end, 20)
  return self
end

--- Ends both, the daemon first; it takes its devices with it. Never fails.
function vswitchd.stop(tool, self)
  self.daemon:kill(function()
    tool.output({tool.find("ovs-appctl"), "-t", self.ctl, "exit", "--cleanup"}, {env = self.env})
  end)
  self.database:kill()
end

return vswitchd
