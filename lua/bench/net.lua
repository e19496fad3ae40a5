-- SPDX-License-Identifier: BSD-3-Clause
-- Hosts on this machine: network namespaces without a name, each held by a program that sleeps, so
-- that they and their interfaces go when we do, whatever ends us.

local process = require "sluice.bench.process"
local uv = require "luv"
local net = {}

--- A new namespace: its holder's process.
function net.namespace()
  local own = uv.fs_readlink("/proc/self/ns/net")
  local holder = process.start{"unshare", "--net", "--", "sleep", "infinity"}
  holder:ready("it had a network of its own", function()
    local now = uv.fs_readlink(("/proc/%d/ns/net"):format(holder.pid))
    return now and now ~= own
  end)
  return holder
end

--- Runs a program there; what it printed, or the end of the run.
function net.run(holder, args)
  local text, why = process.output(args, {net = holder.pid})
  return text or process.stop(3, "%s: %s", table.concat(args, " "), why)
end

--- A veth pair between a host and a switch's namespace: `eth0` there with an address, `port` here.
--- Both of its ends leave nothing to the other: frames are whole, with their checksums.
function net.join(switch, port, host, address)
  net.run(switch, {"ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", host.pid})
  net.run(switch, {"ip", "link", "set", port, "up"})
  for _, line in ipairs{"ethtool -K eth0 tx off tso off gso off gro off",
                        "ip address add " .. address .. "/24 dev eth0", "ip link set lo up",
                        "ip link set eth0 up"} do
    local words = {}
    for word in line:gmatch("%S+") do words[#words + 1] = word end
    net.run(host, words)
  end
end

return net
