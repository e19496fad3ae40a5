-- graphs/p2p.lua: two ports, each sends what the other receives
--
-- As it stands, each port makes packets out of nothing. With two interfaces it is the graph that
-- software switches are measured with.
--
--   build/out/sluice run graphs/p2p.lua
--   sudo build/out/sluice run graphs/p2p.lua --set left=eth1 --set right=eth2 --stats 1s
local topology = require "sluice.topology"

vars{left = {"", help = "an interface, instead of packets out of nothing"},
     right = {"", help = "the other one"},
     frames = {1000000, min = 1, help = "packets that each side makes"}}

local function side(name)
  if vars[name] == "" then return port.null(name, {count = vars.frames}) end
  return port.af_packet(name, {iface = vars[name]})
end
topology.p2p{left = side, right = side}
