-- graphs/scenario.lua: a peer is killed and comes back, a table is changed, all under load
--
-- Packets without end are forwarded to a peer, another process that sends back what it gets over
-- vhost. What the script expects and does not find is an error, and the exit code is 1.
--
--   build/out/sluice run graphs/scenario.lua
local topology = require "sluice.topology"

vars{packets = {100000, min = 1, help = "to be seen after each step"},
     dir = {"/tmp", help = "folder of the socket"},
     side = {"tester", choices = {"tester", "peer"}, help = "what this process plays"}}

local near, far = topology.link("vhost", vars.dir)
if vars.side == "peer" then
  topology.vnf{vnf = far, ports = 1, send = {retry = true}}
  on.start(function() print("the peer is ready") end)
  return
end

local station = "02:00:00:00:00:02" -- where the packets go to
local peer = near("vnf1")
local fwd = L2Fwd("fwd", {entries = {{mac = station, gate = 1}}})
chain(Source("load"), fwd:input(0))
chain(fwd:gate(1), PortOut("there", {port = peer, retry = true}))
chain(peer, Sink("back"))
chain(fwd:gate(2), Sink("spare"))

local function start_peer()
  return spawn{"sluice", "run", "--quiet", arg[0], "--set", "side=peer",
               "--set", "dir=" .. vars.dir, ready = "the peer is ready"}
end

local function arrive(name, when)
  local goal = node[name].stats.packets + vars.packets
  expect(wait_until(function() return node[name].stats.packets >= goal end, "20s"),
         ("%d packets at %s %s"):format(vars.packets, name, when))
end

on.start(function()
  local one = start_peer()
  arrive("back", "from the first peer")
  one:kill("sigkill")
  one:wait()
  start_peer()
  arrive("back", "after the peer was killed")

  node.fwd:add{mac = station, gate = 2}
  arrive("spare", "after the station has moved")
  node.fwd:add{mac = station, gate = 1}
  arrive("back", "after it has moved back")
  node.fwd:add{mac = station, gate = 2}

  local function lost() return peer.stats.tx_packets - node.back.stats.packets end
  local sent = peer.stats.tx_packets
  expect(wait_until(function() return lost() < sent / 100 end), "less than 1 % lost")
  expect(drops.total == 0, "no drop by any node")
  print(("%d packets to the peer, %d lost when it was killed"):format(sent, lost()))
  stop()
end)
