-- SPDX-License-Identifier: BSD-3-Clause
-- The kernel's own bridge. It has no program: its work is done where packets are sent.

return {
  title = "the kernel's bridge",
  program = "ip",
  package = "iproute2",

  start = function(tool)
    tool.enter{"ip", "link", "add", "br0", "type", "bridge"}
    for _, port in ipairs(tool.ports) do tool.enter{"ip", "link", "set", port, "master", "br0"} end
    tool.enter{"ip", "link", "set", "br0", "up"}
    return {}
  end,

  stop = function() end,
}
