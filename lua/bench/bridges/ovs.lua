-- SPDX-License-Identifier: BSD-3-Clause
-- Open vSwitch in the kernel: its daemon decides, the kernel's datapath forwards.

local vswitchd = require "sluice.bench.vswitchd"

return {
  title = "Open vSwitch, the kernel's datapath",
  program = "ovs-vswitchd",
  package = "openvswitch-switch",

  missing = function(tool)
    if not tool.exists("/sys/module/openvswitch") then
      return "cannot be measured here: this kernel has no datapath of Open vSwitch (modprobe openvswitch)"
    end
  end,

  start = function(tool)
    local self = vswitchd.start(tool, {})
    local words = {"add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=system"}
    for _, port in ipairs(tool.ports) do
      for _, word in ipairs{"--", "add-port", "br0", port} do words[#words + 1] = word end
    end
    self.vsctl(table.unpack(words))
    return self
  end,

  stop = vswitchd.stop,
}
