-- SPDX-License-Identifier: BSD-3-Clause
-- Open vSwitch with DPDK: a learning bridge over DPDK's af_packet devices.

local vswitchd = require "sluice.bench.vswitchd"

return {
  title = "Open vSwitch with DPDK, over af_packet",
  program = "ovs-vswitchd-dpdk",
  places = {"/usr/lib/openvswitch-switch-dpdk"},
  package = "openvswitch-switch-dpdk",
  worker = true,

  start = function(tool)
    local self = vswitchd.start(tool, {dpdk = true})
    local words = {"add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev"}
    for i, port in ipairs(tool.ports) do
      for _, word in ipairs{"--", "add-port", "br0", "p" .. i, "--", "set", "Interface", "p" .. i,
                            "type=dpdk", ('options:dpdk-devargs="net_af_packet%d,iface=%s"'):format(i, port)} do
        words[#words + 1] = word
      end
    end
    self.vsctl(table.unpack(words))
    return self
  end,

  stop = vswitchd.stop,
}
