#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What scripts require: topologies, service chains and traffic profiles do what they say with real
# packets, and say what is wrong with what they are given. Then how runs with scripts end, and
# programs that they start.

. tests/lib/script.sh

# script NAME CODE WANTED [ARGUMENT]...: runs the script given, which must end with the code and
# print exactly that, beside what ports say of their peers.
script() {
	local name=$1 code=$2 wanted=$3 got
	shift 3
	cat >"$tmp/script.lua"
	timeout 60 "$SLUICE" run --quiet "$tmp/script.lua" "$@" >"$tmp/out" 2>&1 </dev/null
	got="$? $(sed "/^sluice: note: /d; s|$tmp/||g" "$tmp/out")"
	if [ "$got" = "$code $wanted" ]; then
		ok "$name"
	else
		diff <(echo "$code $wanted") <(echo "$got")
		not_ok "$name" "it ended otherwise"
	fi
}

# Frames at one end of a graph and what is expected at the other, both ways.
script "NFs stand in a chain in order, on the way back in the other one" 0 "" <<'END'
local service = require "sluice.service"
local function tag(vid)
  return {forward = function() return VLANPush{vid = vid} end,
          back = function() return VLANPop() end}
end
local ways = {}
local left = port.pcap("left", {rx = "graphs/data/demo.pcap", tx = "/dev/null"})
local right = port.null("right", {rx = false})
local function note(way) ways[#ways + 1] = way; return Tee("tee_" .. way) end
service.chain(left, {tag(5), {L2Fwd("bridge", {learn = 0}), note}, MACSwap}, right)
assert(table.concat(ways, " ") == "forward back")
assert(node.bridge and node.from_left and node.to_right and node.from_right and node.to_left)
on.stop(function()
  local n = node.from_left.stats.packets
  expect(n > 0 and node.bridge.stats["in"][0] == n, "all at the bridge's gate 0")
  expect(node.tee_forward.stats.packets == node.bridge.stats.out[1], "its gate 1 leads on")
  expect(node.to_right.stats.packets == node.tee_forward.stats.packets, "all at the right port")
end)
END

script "branches come together again, or end" 0 "" <<'END'
local service = require "sluice.service"
local words = {"ether / ipv4 / udp dport=53", "ether / ipv4 / tcp dport=80", "ether / arp"}
chain(Source{count = 300, templates = words},
      service.branch("udp port 53", SetMAC("dns", {src = "02:00:00:00:00:53"})),
      service.branch(Filter("arp", {expression = "arp"}), Sink("hosts"), true),
      service.spread(4, function(i) return SetMAC("copy" .. i, {dst = "02:00:00:00:00:ff"}) end),
      service.branch("tcp", false), Sink("out"))
on.stop(function()
  local copies = 0
  for i = 1, 4 do copies = copies + node["copy" .. i].stats.packets end
  expect(node.dns.stats.packets == 100, "100 look-ups")
  expect(node.hosts.stats.packets == 100, "100 ARP")
  expect(copies == 200, "the rest in all copies together")
  expect(node.out.stats.packets == 100 and drops.unconnected == 100, "TCP goes nowhere")
end)
END

for link in ring vhost memif; do
	script "a chain of three VNFs over $link, both ways" 0 "" --set "dir=$tmp" --set link=$link <<'END'
local topology = require "sluice.topology"
vars{dir = "", link = ""}
local near, far = topology.link(vars.link, vars.dir)
local function made(name) return port.null(name, {count = 1000}) end
local ports = topology.loopback{left = made, right = made, vnf = near, vnfs = 3,
                                send = {retry = true}}
assert(ports.vnf2_left == port.vnf2_left or ports.vnf2_left.name == "vnf2_left")
topology.vnf{vnf = far, vnfs = 3, send = {retry = true}}
on.start(function()
  local function through()
    return port.left.stats.tx_packets == 1000 and port.right.stats.tx_packets == 1000
  end
  expect(wait_until(through, "30s"), "a thousand packets at both ends")
  expect(node.to_vnf3_left.stats.packets == 1000, "through the third VNF")
  stop()
end)
END
done

script "one direction" 0 "forward: 1 0, back: 0 1" <<'END'
local topology = require "sluice.topology"
local seen = {}
for _, way in ipairs{"forward", "back"} do
  local graph_has = {}
  local a, b = port.null("a_" .. way, {count = 1}), port.null("b_" .. way, {count = 1})
  topology.p2p{left = a, right = b, direction = way}
  for i, name in ipairs{"from_a_", "from_b_"} do
    graph_has[i] = pcall(function() return node[name .. way] end) and 1 or 0
  end
  seen[#seen + 1] = way .. ": " .. table.concat(graph_has, " ")
end
print(table.concat(seen, ", "))
END

script "mixes have their shares, flows are as many as asked" 0 "" <<'END'
local traffic = require "sluice.traffic"
local function shares(list)
  local counts = {}
  for _, size in ipairs(list) do counts[size] = (counts[size] or 0) + 1 end
  return counts
end
local simple = shares(traffic.imix("simple"))
assert(simple[60] == 7 and simple[590] == 4 and simple[1514] == 1)
local ixia = shares(traffic.imix("ixia"))
assert(ixia[60] == 7 and ixia[566] == 4 and ixia[1514] == 1)
for name, rows in pairs(traffic.mixes) do
  local list, sum = traffic.imix(name), 0
  local counts = shares(list)
  assert(#list <= 256)
  for _, row in ipairs(rows) do sum = sum + row[2] end
  for _, row in ipairs(rows) do
    assert(math.abs(counts[row[1] - 4] / #list - row[2] / sum) < 0.001, name)
  end
end
-- Large frames are spread, not sent in a row.
assert(table.concat(traffic.imix{{64, 2}, {128, 1}}, " ") == "60 124 60")
assert(table.concat(traffic.genome("aaafgz", {z = 1522}), " ") == "60 60 60 1276 1514 1518")
assert(table.concat(traffic.sizes(64, 1518), " ") == "60 1514")
assert(#traffic.rfc2544 == 7)

chain(traffic.source("make", {imix = {{64, 3}, {1518, 1}}, flows = 50, over = {"ipv4.src", "sport"},
                              random = 7, count = 4000}),
      L2Fwd("unused", {learn = 0}):input(0):gate(1), Filter("long", {expression = "len = 1514"}))
chain(node.long:gate("match"), Sink("of_1514"))
local from = node.long:gate("miss")
-- Flow i has the i-th sender and the i-th port.
for i = 0, 49 do
  local one = Filter("flow" .. i, {expression = ("src host 10.0.0.%d and src port %d"):format(
                                   i + 1, 1024 + i)})
  chain(from, one)
  chain(one:gate("match"), Sink("seen" .. i))
  from = one:gate("miss")
end
chain(from, Sink("others"))
on.stop(function()
  expect(node.of_1514.stats.packets == 1000, "a quarter of long ones")
  expect(node.others.stats.packets == 0, "no other flow")
  for i = 0, 49 do expect(node["seen" .. i].stats.packets > 0, "flow " .. i) end
end)
END

script "what is wrong is said" 0 "" <<'END'
local service = require "sluice.service"
local topology = require "sluice.topology"
local traffic = require "sluice.traffic"
local a, b
local function by_name(name) return port.null(name) end
local cases = {
  {function() topology.p2p{left = a} end,
   "topology.p2p: right is missing, it should be a port or a function that makes one by its name"},
  {function() topology.p2p{left = a, rigth = b} end,
   'topology.p2p: there is no option "rigth"; did you mean "right"?'},
  {function() topology.p2p{left = a, right = Sink()} end,
   "topology.p2p: right is a node, it should be a port"},
  {function() topology.p2p{left = a, right = function() end} end,
   "topology.p2p: right gave back nothing, it should make a port"},
  {function() topology.v2v{vnf = a} end,
   "topology.v2v: vnf is one port, but more are needed: it should be a list of them, or a function"
   .. " that makes one by its name"},
  {function() topology.loopback{left = a, right = b, vnf = by_name, vnfs = 0} end,
   "topology.loopback: vnfs: 0 is not a number of VNFs, it should be 1 to 15"},
  {function() topology.vnf{vnf = by_name, ports = 3} end,
   "topology.vnf: ports: 3 should be 1 or 2"},
  {function() topology.link("vhots", "/tmp") end,
   'topology.link: "vhots" should be ring, vhost or memif; did you mean "vhost"?'},
  {function() service.chain(a, {MACSwap():gate(0)}, b) end,
   "a piece or gate leads one way, but this chain goes both: give a function, which makes one for"
   .. " each, or {forward = ..., back = ...}"},
  {function() service.chain(a, {MACSwap, nil, MACSwap}, b) end,
   "NF 2 of the chain is nil: is its name misspelt, or made only later?"},
  {function() service.chain(a, {}, b, {direction = "bak"}) end,
   'direction: "bak" should be forward, back or both; did you mean "back"?'},
  {function() service.chain(a, MACSwap, b) end,
   "service.chain: the NFs are a function, they should be a list"},
  {function() service.branch("udp", false, false) end, "service.branch: both legs lead nowhere"},
  {function() service.spread(0) end,
   "service.spread: 0 is not a number of copies, it should be 1 to 64"},
  {function() traffic.imix("simpel") end,
   'traffic.imix: there is no mix "simpel"; did you mean "simple"?'},
  {function() traffic.sizes(60) end,
   "traffic.sizes: 60 is not the size of a frame, it should be a number from 64 to 65539 (the FCS of"
   .. " 4 bytes included)"},
  {function() traffic.genome("az") end,
   'traffic.genome: "z" stands for no size: letters are a to j, others are given, as in {z = 1518}'},
  {function() traffic.source{frame = 64, imix = "tcp"} end,
   "traffic: sizes are given twice: frame, imix, genome, size and sizes exclude each other"},
  {function() traffic.flows(0) end, "traffic.flows: 0 is not a number of flows"},
  {function() spawn{"true"} end,
   "spawn: programs are started in on.start(), every(), after() and the like"},
}
-- In a graph that is never used, so that nobody minds what is left of it.
local checked = 0
pcall(graph, function()
  a, b = port.null("a"), port.null("b")
  for i, case in ipairs(cases) do
    checked = i
    local ok, text = pcall(case[1])
    text = tostring(text):gsub("^.-%.lua:%d+: ", "")
    if ok or text ~= case[2] then print(("case %d: %s\nnot: %s"):format(i, text, case[2])) end
  end
end)
assert(checked == #cases)
chain(Source{count = 1}, Sink())
END

script "a run goes on until tasks are done, and no longer" 0 \
	$'waited\nthe next graph\nlater' <<'END'
chain(Source{count = 10}, Sink("out"))
local ticks = 0
every("1ms", function() ticks = ticks + 1 end)
after("100s", function() print("never") end):cancel()
after("60ms", function() print("later") end)
on.start(function()
  wait("20ms")
  print("waited")
  expect(node.out.stats.packets == 10 and ticks > 0, "ten packets")
  swap(function() chain(Source{count = 20}, Sink("next")) end)
  expect(wait_until(function() return node.next.stats.packets == 20 end), "twenty packets")
  print("the next graph")
end)
END

script "programs that cannot be started" 0 \
	'script.lua:4: spawn: there is no program "nonesuch" in PATH (/nowhere)
script.lua:4: spawn: there is no program "/nowhere/x"
script.lua:4: spawn: cwd: there is no folder "/nowhere"
script.lua:4: spawn: there is no option "redy"; did you mean "ready"?
script.lua:4: spawn: argument 1 is nil
script.lua:4: sh ended with exit code 3 before it said "up"; it said "down"
script.lua:4: sh was ended by signal 9 before it said "up"; it said nothing' <<'END'
chain(Source(), Sink("out"))
on.start(function()
  local function try(spec)
    print((select(2, pcall(spawn, spec))))
  end
  try{"nonesuch", env = {PATH = "/nowhere"}}
  try{"/nowhere/x"}
  try{"true", cwd = "/nowhere"}
  try{"true", redy = "up"}
  try{"echo", nil, "x"}
  try{"sh", "-c", "echo down; exit 3", ready = "up"}
  try{"sh", "-c", "kill -9 $$", ready = "up"}
  stop()
end)
END

script "programs come and go while tasks wait" 0 $'20 ended\n0 15' <<'END'
chain(Source(), Sink("out"))
on.start(function()
  local long = spawn{"sleep", "100"}
  local ended = 0
  task(function()
    for _ = 1, 20 do
      if spawn{"sh", "-c", "echo up; kill -9 $$", ready = "up"}:wait() then ended = ended + 1 end
      collectgarbage()
    end
  end)
  expect(wait_until(function() return ended == 20 end, "30s"), "20 programs")
  print(ended .. " ended")
  long:kill()
  print(table.concat({long:wait()}, " "))
  expect(spawn{"sluice", "version"}:wait("10s") == 0, "the program itself")
  stop()
end)
END
exit $script_failed
