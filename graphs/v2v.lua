-- graphs/v2v.lua: two VNFs, joined by a switch: the first sends packets, the other sends them back
--
--   build/out/sluice run graphs/v2v.lua
--   build/out/sluice run graphs/v2v.lua --set link=vhost --set side=switch   # others: vnf1, vnf2
local topology = require "sluice.topology"
vars{frames = {100000, min = 1, help = "to be sent"}, dir = {"/tmp", help = "folder of sockets"},
     link = {"ring", choices = {"ring", "vhost", "memif"}, help = "what joins switch and VNFs"},
     side = {"all", choices = {"all", "switch", "vnf1", "vnf2"}, help = "what this process plays"}}
local near, far = topology.link(vars.link, vars.dir)
local function plays(side) return vars.side == "all" or vars.side == side end
if plays("switch") then topology.v2v{vnf = near, send = {retry = true}} end
if plays("vnf2") then topology.vnf{vnf = {far("vnf2")}, ports = 1, send = {retry = true}} end
if not plays("vnf1") then return end
local vnf1 = far("vnf1")
chain(Source{count = vars.frames}, PortOut{port = vnf1, retry = true})
chain(vnf1, Sink("back"))
local function back() return node.back.stats.packets == vars.frames end
on.start(function() expect(wait_until(back, "60s"), "all packets back"); stop() end)
