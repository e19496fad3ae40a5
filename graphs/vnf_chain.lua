-- graphs/vnf_chain.lua: a service chain whose functions another process plays, over vhost
--
-- The script starts itself once more, as the VNFs: each has a chain of its own between two
-- virtio_user ports. This process makes packets, leads them from one VNF to the next, and counts
-- what comes out: name look-ups do not pass the firewall. No root and no hugepages are needed.
--
--   build/out/sluice run graphs/vnf_chain.lua
--   build/out/sluice run graphs/vnf_chain.lua --set frames=10000000 --stats 1s
local topology = require "sluice.topology"
local service = require "sluice.service"

vars{frames = {200000, min = 2, help = "packets to send, each second one a name look-up"},
     dir = {"/tmp", help = "folder of sockets"},
     side = {"switch", choices = {"switch", "vnfs"}, help = "what this process plays"}}

local nfs = {
  function() return Filter("firewall", {expression = "not port 53"}):gate("match") end,
  function() return SetMAC("router", {src = "02:00:00:00:00:fe"}) end,
  function() return VLANPush("tagger", {vid = 5}) end,
}
local near, far = topology.link("vhost", vars.dir)
local function left(i) return "vnf" .. i .. "_left" end
local function right(i) return "vnf" .. i .. "_right" end

if vars.side == "vnfs" then
  for i, nf in ipairs(nfs) do
    service.chain(far(left(i)), {nf}, far(right(i)), {direction = "forward", send = {retry = true}})
  end
  on.start(function() print("the VNFs are ready") end)
  on.stop(function() print("firewall: dropped " .. node.firewall.stats.dropped.unconnected) end)
  return
end

local kinds = {"ether / ipv4 / udp dport=53", "ether / ipv4 / tcp dport=80"}
local from = Source("make", {templates = kinds, count = vars.frames // 2 * 2})
for i = 1, #nfs do
  chain(from, PortOut{port = near(left(i)), retry = true})
  from = near(right(i))
end
chain(from, Sink("out"))

on.start(function()
  local vnfs = spawn{"sluice", "run", "--quiet", arg[0], "--set", "side=vnfs",
                     "--set", "dir=" .. vars.dir, ready = "the VNFs are ready"}
  local wanted = vars.frames // 2
  expect(wait_until(function() return node.out.stats.packets == wanted end, "60s"),
         wanted .. " packets out of the chain")
  vnfs:kill()
  vnfs:wait()
  print("out of the chain: " .. node.out.stats.packets)
  print(vnfs:output():match("firewall[^\n]*"))
  stop()
end)
