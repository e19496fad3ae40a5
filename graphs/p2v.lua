-- graphs/p2v.lua: packets go to a VNF and come back: left, VNF, left
--
-- As it stands the VNF is in the same process. In another one, started before or after:
--   build/out/sluice run graphs/p2v.lua
--   build/out/sluice run graphs/p2v.lua --set link=vhost --set side=vnf
--   build/out/sluice run graphs/p2v.lua --set link=vhost --set side=switch
local topology = require "sluice.topology"
vars{frames = {100000, min = 1, help = "to be sent"}, dir = {"/tmp", help = "folder of sockets"},
     link = {"ring", choices = {"ring", "vhost", "memif"}, help = "what joins switch and VNF"},
     side = {"all", choices = {"all", "switch", "vnf"}, help = "what this process plays"}}
local near, far = topology.link(vars.link, vars.dir)
local function back() return port.left.stats.tx_packets == vars.frames end
if vars.side ~= "switch" then topology.vnf{vnf = far, ports = 1, send = {retry = true}} end
if vars.side ~= "vnf" then
  topology.p2v{left = port.null("left", {count = vars.frames}), vnf = near, send = {retry = true}}
  on.start(function() expect(wait_until(back, "60s"), "all packets back"); stop() end)
end
