-- graphs/loopback.lua: packets go through a chain of VNFs: left, VNF 1, ..., VNF n, right
--
-- As it stands the VNFs are in the same process. In another one, started before or after:
--   build/out/sluice run graphs/loopback.lua --set vnfs=5
--   build/out/sluice run graphs/loopback.lua --set link=memif --set side=vnf
--   build/out/sluice run graphs/loopback.lua --set link=memif --set side=switch
local topology = require "sluice.topology"
vars{frames = {100000, min = 1, help = "to be sent"}, dir = {"/tmp", help = "folder of sockets"},
     link = {"ring", choices = {"ring", "vhost", "memif"}, help = "what joins switch and VNFs"},
     side = {"all", choices = {"all", "switch", "vnf"}, help = "what this process plays"},
     vnfs = {2, min = 1, max = 6, help = "VNFs in the chain"}}
local near, far = topology.link(vars.link, vars.dir)
local function made(name) return port.null(name, {rx = name == "left", count = vars.frames}) end
local function arrived() return port.right.stats.tx_packets == vars.frames end
if vars.side ~= "switch" then topology.vnf{vnf = far, vnfs = vars.vnfs, send = {retry = true}} end
if vars.side == "vnf" then return end
topology.loopback{left = made, right = made, vnf = near, vnfs = vars.vnfs, send = {retry = true}}
on.start(function() expect(wait_until(arrived, "60s"), "all packets at the right"); stop() end)
