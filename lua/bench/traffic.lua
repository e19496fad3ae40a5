-- SPDX-License-Identifier: BSD-3-Clause
-- The traffic process: one Sluice on core 0 that has generators, meters and all VNFs of a scenario,
-- polled in turn by one worker. (Several processes on one core would be time-sliced for
-- milliseconds, against rings that last for 100 microseconds.)

local inside = require "sluice.bench.inside"
local instance = require "sluice.bench.instance"
local process = require "sluice.bench.process"
local rates = require "sluice.bench.rates"
local traffic = {}

local RING = 1024

-- The far end of a port of the switch.
local function port(spec, at, switch)
  if spec.wire == "memif" then
    return {memif = {path = at.path, role = "client", id = spec.index, zero_copy = true,
                     queues = switch.memif_queues or 1, ring_size = RING}}
  end
  if spec.wire == "pci" then return {pci = {address = spec.traffic}} end
  if spec.wire == "ring" then return {ring = {name = "wire" .. spec.index, size = RING}} end
  return {virtio_user = {path = at.path, queue_size = RING, server = switch.vhost == "client"}}
end

-- Sizes of a mix, each as often as its share says, without the FCS.
local function sizes_of(mix)
  local list, most = {}, 0
  for _, row in ipairs(rates.mixes[mix]) do most = math.max(most, row[2]) end
  -- Small and large ones are spread over each other.
  for turn = 0, most - 1 do
    for _, row in ipairs(rates.mixes[mix]) do
      if turn * row[2] // most ~= (turn + 1) * row[2] // most then
        list[#list + 1] = row[1] - rates.fcs
      end
    end
  end
  return list
end

-- All frames alike, without IP; for latency UDP of 100 flows.
local function generator(spec, f, flow)
  local params = {start = false, stream = f}
  local addresses = ("ether src=02:00:00:00:00:%02x dst=02:00:00:00:00:%02x")
                    :format(flow.from + 1, flow.to + 1)
  if spec.mix then params.sizes = sizes_of(spec.mix) else params.size = spec.size - rates.fcs end
  if spec.udp then
    params.templates = {addresses .. " / ipv4 src=10.0.0.1 dst=10.0.1.1 / udp sport=1000 dport=2000"}
    params.fields = {{field = "ipv4.src", values = 100}}
  else
    params.templates = {addresses .. " type=0x1234"}
  end
  return params
end

local function vnf_nodes(nodes, links, vnf, k, from, to)
  local name = ("vnf%d_%d"):format(k, to)
  if vnf == "io" then
    links[#links + 1] = ("from_%d -> to_%d"):format(from, to)
    return
  end
  nodes[name] = {SetMAC = {dst = ("02:00:00:00:01:%02x"):format(to)}}
  links[#links + 1] = ("from_%d -> %s -> to_%d"):format(from, name, to)
end

--- The graph for a scenario. `spec`: scenario, switch, folder, size (of frames, with FCS), vnf (io
--- or mac), vms (whether others are the VNFs), share (whether they run on its core), core, huge,
--- burn (cycles a packet that a generator wastes: for tests).
function traffic.graph(spec)
  local nodes, links, ports, receives, sends = {}, {}, {}, {}, {}
  local function receive(i) receives[i] = true end
  local function send(i) sends[i] = true end
  for f, flow in ipairs(spec.scenario.flows) do
    nodes["gen" .. f] = {Generator = generator(spec, f, flow)}
    nodes["meter" .. f] = {Meter = {streams = 4}}
    local throttle = spec.burn and "gen" .. f .. "_burn -> " or ""
    if spec.burn then nodes["gen" .. f .. "_burn"] = {Burn = {per_packet = spec.burn}} end
    links[#links + 1] = ("gen%d -> %sto_%d"):format(f, throttle, flow.from)
    links[#links + 1] = ("from_%d -> meter%d"):format(flow.to, f)
    send(flow.from)
    receive(flow.to)
    for k, pair in ipairs(spec.vms and {} or spec.scenario.chain) do
      local from, to = pair[1], pair[2]
      if flow.from ~= 0 then from, to = to, from end
      vnf_nodes(nodes, links, spec.vnf or "io", k, from, to)
      receive(from)
      send(to)
    end
  end
  local sources = {}
  for i in pairs(receives) do
    nodes["from_" .. i] = {PortInc = {port = "port" .. i}}
    sources[#sources + 1] = "from_" .. i
  end
  for i in pairs(sends) do nodes["to_" .. i] = {PortOut = {port = "port" .. i}} end
  for f in ipairs(spec.scenario.flows) do sources[#sources + 1] = "gen" .. f end
  table.sort(sources)
  for _, one in ipairs(spec.scenario.ports) do
    if receives[one.index] or sends[one.index] then
      ports["port" .. one.index] = port(one, traffic.at(spec, one), spec.switch)
    end
  end
  local graph = {ports = ports, nodes = nodes, graph = links,
                 idle = spec.share and "sleep" or "spin",
                 workers = {{core = spec.core, sources = sources}}}
  if not spec.huge then graph.eal = "--no-huge" end
  return graph
end

--- Where a port's socket is.
function traffic.at(spec, port)
  return {path = ("%s/%s%d.sock"):format(spec.folder, port.wire == "memif" and "M" or "V", port.index)}
end

local Traffic = {}
Traffic.__index = Traffic

--- Starts it. The switch may come before or after: ports wait for their peers. `inside`: the switch,
--- if it runs in the same process, on `both_cores`, of the build `both_program`.
function traffic.start(spec)
  local self = setmetatable({spec = spec}, Traffic)
  local graph = traffic.graph(spec)
  if spec.inside then
    self.instance = inside.start(spec.inside, graph, spec.folder,
                                  {cores = spec.both_cores, program = spec.both_program})
  else
    self.instance = instance.start("traffic", graph, spec.folder, {cores = spec.cores})
  end
  return self
end

function Traffic:each(what, ...)
  local answers = {}
  for f in ipairs(self.spec.scenario.flows) do
    answers[f] = self.instance:call(what .. f, ...)
  end
  return answers
end

--- Whether all ports have found their peers.
function Traffic:linked()
  for _, port in pairs(self.instance:stats().ports) do
    if port.link == false then return false end
  end
  return true
end

--- Packets that have come back, by flow, since the last reset.
function Traffic:received()
  local counts = {}
  local nodes = self.instance:stats().nodes
  for f in ipairs(self.spec.scenario.flows) do
    counts[f] = nodes["meter" .. f]["in"][1]
  end
  return counts
end

function Traffic:stop() self.instance:stop() end

--- Waits until nothing has come for 10 ms, a second at most; through virtual machines, which are not
--- always given a core, until nothing has come for half a second.
function Traffic:drain()
  local vms, last = self.spec.vms, nil
  process.wait_until(function()
    local now = table.concat(self:received(), " ")
    local still = now == last
    last = now
    return still
  end, vms and 20 or 1, vms and 0.5 or 0.01)
end

return traffic
