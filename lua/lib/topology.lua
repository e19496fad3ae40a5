-- SPDX-License-Identifier: BSD-3-Clause
-- The four topologies that software switches are compared in, and what stands on their other side.
--
--   local topology = require "sluice.topology"
--   local near, far = topology.link("vhost", "/tmp")
--   topology.loopback{left = port.null, right = port.null, vnf = near, vnfs = 3}   -- the switch
--   topology.vnf{vnf = far, vnfs = 3}                         -- in another process: its three VNFs
--
-- A port is given as one, or as a function that makes it by its name: `port.null`, or
-- `function(name) return port.memif(name, {path = name, role = "server"}) end`. Options that all
-- have: `nfs` stands between two ports (see service.chain; nothing: packets pass as they are),
-- `direction` is "forward", "back" or "both", `receive` and `send` are parameters of the PortInc
-- and PortOut made. Nodes are named after ports: from_left, to_vnf1.

local place = require "sluice.place"
local build = require "sluice.build"
local service = require "sluice.service"
local topology = {}

local shared = {nfs = true, direction = true, receive = true, send = true}

local function spec_check(what, spec, own)
  if type(spec) ~= "table" then
    place.raise("topology.%s takes a table, as in topology.%s{%s = ...}", what, what, own[1])
  end
  local known = {}
  for name in pairs(shared) do known[name] = true end
  for _, name in ipairs(own) do known[name] = true end
  return place.options("topology." .. what, spec, known)
end

-- A port of the spec: `value` is one, or makes one by name.
local function port_of(what, option, value, name)
  local port = value
  if type(value) == "function" and not build.is_module(value) then port = value(name) end
  if build.is_port(port) then return port end
  if value == nil then
    place.raise("topology.%s: %s is missing, it should be a port or a function that makes one by"
                .. " its name", what, option)
  end
  local found = port == nil and "nothing" or build.is_node(port) and "a node" or "a " .. type(port)
  place.raise("topology.%s: %s %s %s, it should %s a port", what, option,
              port == value and "is" or "gave back", found, port == value and "be" or "make")
end

-- Port `name` of the virtual ones: the i-th of a list, or made by its name.
local function virtual(what, spec, i, name)
  if type(spec.vnf) == "table" and not getmetatable(spec.vnf) then
    return port_of(what, ("vnf[%d]"):format(i), spec.vnf[i], name)
  end
  if build.is_port(spec.vnf) and i > 1 then
    place.raise("topology.%s: vnf is one port, but more are needed: it should be a list of them, or"
                .. " a function that makes one by its name", what)
  end
  return port_of(what, "vnf", spec.vnf, name)
end

local function count_of(what, spec, default, max)
  local n = spec.vnfs
  if n == nil then n = default end
  if math.type(n) ~= "integer" or n < 1 or n > max then
    place.raise("topology.%s: vnfs: %s is not a number of VNFs, it should be 1 to %d", what,
                tostring(n), max)
  end
  return n
end

local function hop(spec, a, b)
  return service.chain(a, spec.nfs, b,
                       {direction = spec.direction, receive = spec.receive, send = spec.send})
end

--- Two ports, each sends what the other receives. Options: left, right.
---@param spec table
---@return table ports as left and right
function topology.p2p(spec)
  spec = spec_check("p2p", spec, {"left", "right"})
  local left = port_of("p2p", "left", spec.left, "left")
  local right = port_of("p2p", "right", spec.right, "right")
  hop(spec, left, right)
  return {left = left, right = right}
end

--- A physical port and one towards a VNF, vnf1. Forward is to the VNF. Options: left, vnf.
---@param spec table
---@return table ports as left and vnf1
function topology.p2v(spec)
  spec = spec_check("p2v", spec, {"left", "vnf"})
  local left = port_of("p2v", "left", spec.left, "left")
  local vnf = virtual("p2v", spec, 1, "vnf1")
  hop(spec, left, vnf)
  return {left = left, vnf1 = vnf}
end

--- Two VNFs, vnf1 and vnf2, that are joined. Options: vnf (a function, or a list of both ports).
---@param spec table
---@return table ports as vnf1 and vnf2
function topology.v2v(spec)
  spec = spec_check("v2v", spec, {"vnf"})
  local first, second = virtual("v2v", spec, 1, "vnf1"), virtual("v2v", spec, 2, "vnf2")
  hop(spec, first, second)
  return {vnf1 = first, vnf2 = second}
end

--- A chain of `vnfs` VNFs between two physical ports, each with two ports of its own: vnf1_left,
--- vnf1_right, vnf2_left and so on. The switch passes packets on from one to the next, with `nfs`
--- at every hop. Options: left, right, vnfs (1 if nothing is said), vnf (a function, or a list of
--- all virtual ports in this order).
---@param spec table
---@return table ports by those names
function topology.loopback(spec)
  spec = spec_check("loopback", spec, {"left", "right", "vnf", "vnfs"})
  local n = count_of("loopback", spec, 1, 15)
  local ports = {left = port_of("loopback", "left", spec.left, "left")}
  local before = ports.left
  for i = 1, n do
    for side = 1, 2 do
      local name = ("vnf%d_%s"):format(i, side == 1 and "left" or "right")
      ports[name] = virtual("loopback", spec, 2 * i - 2 + side, name)
      if side == 1 then hop(spec, before, ports[name]) end
      before = ports[name]
    end
  end
  ports.right = port_of("loopback", "right", spec.right, "right")
  hop(spec, before, ports.right)
  return ports
end

-- What comes in from a port goes out by it again.
local function echo(spec, port)
  service.chain(port, spec.nfs, port,
                {direction = "forward", receive = spec.receive, send = spec.send})
end

--- The other side of p2v, v2v and loopback: what a VNF does, in this process or another one. With
--- `ports = 1` each VNF has one port (vnf1, vnf2, ...) and sends back what it receives; with 2, as
--- if nothing is said, it has two (vnf1_left, vnf1_right, ...) and passes packets on from each to
--- the other. Options: vnf (a function, or a list of all ports), vnfs (how many: 1 if nothing is
--- said), ports. `nfs` is {MACSwap} if nothing is said.
---@param spec table
---@return table ports by name
function topology.vnf(spec)
  spec = spec_check("vnf", spec, {"vnf", "vnfs", "ports"})
  local n, ports = count_of("vnf", spec, 1, 32), {}
  local each = spec.ports == nil and 2 or spec.ports
  if each ~= 1 and each ~= 2 then
    place.raise("topology.vnf: ports: %s should be 1 or 2", tostring(each))
  end
  local own = {nfs = spec.nfs or {build.module("MACSwap")}, direction = spec.direction,
               receive = spec.receive, send = spec.send}
  for i = 1, n do
    local name = "vnf" .. i
    if each == 1 then
      ports[name] = virtual("vnf", spec, i, name)
      echo(own, ports[name])
    else
      local left, right = name .. "_left", name .. "_right"
      ports[left] = virtual("vnf", spec, 2 * i - 1, left)
      ports[right] = virtual("vnf", spec, 2 * i, right)
      hop(own, ports[left], ports[right])
    end
  end
  return ports
end

--- Two functions that make ports by name, for the two sides of a link: what is sent to `near("x")`
--- comes from `far("x")`, and the other way round. Ports of the far side are called x_far.
---  - "ring": both in this process;
---  - "vhost": near is a vhost port, far a virtio_user port; the socket is DIR/NAME.sock;
---  - "memif": near serves, far is the client; the socket is the same.
---@param kind string
---@param dir string? folder of the sockets
---@return function near
---@return function far
function topology.link(kind, dir)
  local drivers = {ring = "ring", vhost = "virtio_user", memif = "memif"}
  if not drivers[kind] then
    place.raise('topology.link: "%s" should be ring, vhost or memif%s', tostring(kind),
                place.near(kind, drivers))
  end
  if kind ~= "ring" and type(dir) ~= "string" then
    place.raise("topology.link: %s needs a folder for its sockets", kind)
  end
  local function params(name, role)
    if kind == "ring" then return {name = name} end
    return {path = ("%s/%s.sock"):format(dir, name), role = kind == "memif" and role or nil}
  end
  local near, far = build.driver(kind), build.driver(drivers[kind])
  return function(name) return near(name, params(name, "server")) end,
         function(name) return far(name .. "_far", params(name, "client")) end
end

return topology
