-- SPDX-License-Identifier: BSD-3-Clause
-- What a trial has counted, by role: the nodes of the traffic process belong to the generator, to a
-- VNF or to the monitor; the switch is what its own counters say. Pure.

local roles = {}

local function name_of(role) return role.role == "vnf" and "vnf " .. role.k or role.role end

-- Who stands at the far end of each port of the switch, as sender to it and as receiver from it:
-- two lists by port number.
local function ends(scenario)
  local senders, receivers = {}, {}
  for _, flow in ipairs(scenario.flows) do
    senders[flow.from], receivers[flow.to] = {role = "generator"}, {role = "monitor"}
  end
  for k, pair in ipairs(scenario.chain) do
    for _, i in ipairs(pair) do
      senders[i], receivers[i] = {role = "vnf", k = k}, {role = "vnf", k = k}
    end
  end
  return senders, receivers
end

-- The role of a node of the traffic process.
local function role_of(node, senders, receivers)
  if node:find("^gen") then return "generator" end
  if node:find("^meter") then return "monitor" end
  local vnf = node:match("^vnf(%d+)_")
  if vnf then return "vnf " .. vnf end
  local way, port = node:match("^(%a+)_(%d+)$")
  local at = (way == "to" and senders or receivers)[math.tointeger(port)]
  return at and name_of(at)
end

local function sum(values)
  local n = 0
  for _, value in pairs(values or {}) do n = n + value end
  return n
end

-- Packets that went through a node: those that came in, or those that it made.
local function packets(node) return math.max(sum(node["in"]), sum(node.out)) end

-- Estimated cycles of a node between two states, from those of its walks that were sampled.
local function cycles(before, after)
  local sampled = after.cycles_sampled - before.cycles_sampled
  if sampled <= 0 then return 0 end
  return (after.cycles - before.cycles) / sampled * (packets(after) - packets(before))
end

local function difference(after, before, name)
  return after[name] and before[name] and after[name] - before[name]
end

-- What the switch dropped towards each port, from its counters: {[port] = frames} or nil.
local function switch_drops(before, after)
  if not after.tx_dropped or not before.tx_dropped then return nil end
  local list = {}
  for port, n in pairs(after.tx_dropped) do list[port] = n - (before.tx_dropped[port] or 0) end
  return list
end

local function dropped_to(scenario, before, after)
  local _, receivers = ends(scenario)
  local list = {}
  for port, n in pairs(switch_drops(before, after) or {}) do
    if n > 0 then
      local name = receivers[port] and name_of(receivers[port]) or "monitor"
      list[name] = (list[name] or 0) + n
    end
  end
  return list
end

--- Cycles and refusals of a window, by role, as verdict.of() takes them: {roles, dropped_to, busy,
--- cycles_per_packet}. `begin` and `ended`: {traffic = /stats, switch = its counters}.
function roles.read(scenario, begin, ended)
  local senders, receivers = ends(scenario)
  local list, by_name, known, outside = {}, {}, 0, {}
  local function role(name)
    if not by_name[name] then
      local k = math.tointeger(name:match("%d+$"))
      by_name[name] = {role = k and "vnf" or name, k = k, busy_cycles = 0, idle_cycles = 0,
                       attempted = 0, refused = 0}
      list[#list + 1] = by_name[name]
    end
    return by_name[name]
  end
  role("generator")
  for node, now in pairs(ended.traffic.nodes) do
    local before, name = begin.traffic.nodes[node], role_of(node, senders, receivers)
    if name then
      local at, spent = role(name), cycles(before, now)
      at.busy_cycles, known = at.busy_cycles + spent, known + spent
      if node:find("^to_") then
        at.attempted = at.attempted + packets(now) - packets(before)
        at.refused = at.refused + sum(now.dropped) - sum(before.dropped)
      end
    end
  end
  -- Those in virtual machines have no nodes here, and no share of this core.
  for k in ipairs(scenario.chain) do
    outside["vnf " .. k] = not by_name["vnf " .. k] or nil
    role("vnf " .. k)
  end
  -- What is measured is what a node does itself: the rest of the busy time is shared out alike.
  local worker, before = ended.traffic.workers[1], begin.traffic.workers[1]
  local busy = worker.busy_cycles - before.busy_cycles
  local idle = worker.idle_cycles - before.idle_cycles
  local shares = {}
  for _, one in ipairs(list) do
    one.busy_cycles = known > 0 and one.busy_cycles / known * busy or 0
    if not outside[name_of(one)] then
      shares[name_of(one)] = busy + idle > 0 and one.busy_cycles / (busy + idle) or 0
    end
  end
  by_name.generator.idle_cycles = idle
  local switch = {role = "switch", busy_cycles = difference(ended.switch, begin.switch, "busy_cycles"),
                  idle_cycles = difference(ended.switch, begin.switch, "idle_cycles"),
                  packets = difference(ended.switch, begin.switch, "rx")}
  list[#list + 1] = switch
  if switch.busy_cycles and switch.busy_cycles + switch.idle_cycles > 0 then
    shares.switch = switch.busy_cycles / (switch.busy_cycles + switch.idle_cycles)
  end
  return {roles = list, dropped_to = dropped_to(scenario, begin.switch, ended.switch),
          busy = shares, cycles_per_packet = roles.cycles(begin.switch, ended.switch)}
end

--- Cycles a packet of the switch between two of its counts; nil: it does not say.
function roles.cycles(before, after)
  local busy, rx = difference(after, before, "busy_cycles"), difference(after, before, "rx")
  return busy and rx and rx > 0 and busy / rx or after.cycles_per_packet
end

--- Frames between two states in which nothing is under way, as verdict.balance() takes them, and
--- drops by hop. What a switch does not count itself is `inside the switch`.
function roles.frames(scenario, before, after)
  local nodes, was = after.traffic.nodes, before.traffic.nodes
  local frames = {in_flight = 0}
  local function count(node, name, into, sign)
    local n = nodes[node].counters[name] - was[node].counters[name]
    frames[into] = (frames[into] or 0) + (sign or 1) * n
  end
  local drops, known = {}, 0
  local function drop(hop, n)
    if n > 0 then drops[#drops + 1] = {hop = hop, frames = n} end
  end
  for f, flow in ipairs(scenario.flows) do
    local gen, meter, out = "gen" .. f, "meter" .. f, "to_" .. flow.from
    for _, name in ipairs{"intended", "attempted", "unsent"} do count(gen, name, name) end
    count(meter, "received", "received")
    count(meter, "duplicates", "received", -1)
    count(meter, "old", "received", -1)
    for _, name in ipairs{"duplicates", "reordered", "damaged", "foreign"} do
      count(meter, name, name)
    end
    local refused = sum(nodes[out].dropped) - sum(was[out].dropped)
    local port = "port" .. flow.from
    frames.refused = (frames.refused or 0) + refused
    frames.accepted = (frames.accepted or 0) + after.traffic.ports[port].tx_packets
                      - before.traffic.ports[port].tx_packets
    drop("generator to switch", refused)
  end
  local senders, receivers = ends(scenario)
  for port, at in pairs(senders) do
    local node = "to_" .. port
    if at.role == "vnf" and (nodes[node] or after.switch.vnf_dropped) then
      local n = nodes[node] and sum(nodes[node].dropped) - sum(was[node].dropped)
                or after.switch.vnf_dropped[port] - before.switch.vnf_dropped[port]
      drop(name_of(at) .. " to switch", n)
      known = known + n
    end
  end
  local lost = frames.accepted - frames.received
  local own = switch_drops(before.switch, after.switch)
  if own then
    for port, n in pairs(own) do
      drop("switch to " .. (receivers[port] and name_of(receivers[port]) or "nobody"), n)
      known = known + n
    end
    frames.lost_inside = known
  else
    drop("inside the switch", lost - known)
    frames.lost_inside = lost
  end
  table.sort(drops, function(a, b) return a.hop < b.hop end)
  return frames, drops
end

return roles
