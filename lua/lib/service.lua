-- SPDX-License-Identifier: BSD-3-Clause
-- Service chains: what chain() does not say by itself. A chain of network functions (NFs) between
-- two ports in both directions; branches that come together again; copies of one NF side by side.
--
--   local service = require "sluice.service"
--   service.chain(inside, {firewall, L2Fwd("nat"), counter}, outside)
--   chain(left, service.branch("udp port 53", inspect), right)

local place = require "sluice.place"
local build = require "sluice.build"
local service = {}

local chain, parallel = build.chain, build.parallel

-- Whether a chain goes forward, and whether back.
local function directions(direction)
  local ways = {forward = true, back = true, both = true}
  direction = direction or "both"
  if not ways[direction] then
    place.raise('direction: "%s" should be forward, back or both%s', tostring(direction),
                place.near(direction, ways))
  end
  return direction ~= "back", direction ~= "forward"
end

local function port_check(what, side, port)
  if not build.is_port(port) then
    place.raise("%s: %s is a %s, it should be a port, as port.NAME{...} makes one", what, side,
                build.is_node(port) and "node" or type(port))
  end
end

local function with_port(params, port)
  local all = {port = port}
  for name, value in pairs(params or {}) do all[name] = value end
  return all
end

--- The node that receives from a port: `from_` and the port's name. A port has one.
---@param port Port
---@param params table? parameters of PortInc, beside the port
---@return Node
function service.receive(port, params)
  if build.find("node", "from_" .. port.name) then
    place.raise('what comes in from the port "%s" goes elsewhere already: a PortInc feeds one'
                .. " chain, which may branch", port.name)
  end
  return build.module("PortInc")("from_" .. port.name, with_port(params, port))
end

--- The node that sends by a port: `to_` and the port's name, the same one for all who ask.
---@param port Port
---@param params table? parameters of PortOut, beside the port
---@return Node
function service.send(port, params)
  return build.find("node", "to_" .. port.name)
         or build.module("PortOut")("to_" .. port.name, with_port(params, port))
end

local function is_list(value) return type(value) == "table" and getmetatable(value) == nil end

local add

-- One NF in one direction, appended to a list that chain() takes.
local function nf_add(list, nf, way, both)
  if type(nf) == "string" then
    local node = build.find("node", nf)
    if not node then place.raise('there is no node "%s" for the chain', nf) end
    nf = node
  end
  if type(nf) == "function" then
    local made
    if build.is_module(nf) then made = nf() else made = nf(way) end
    if made == nil then
      place.raise("the function of an NF gave nothing back, it should be a node")
    end
    list[#list + 1] = made
  elseif is_list(nf) then
    add(list, nf, way, both)
  elseif both and build.is_node(nf) then
    -- Gate 0 is the side of the first port, gate 1 that of the second, as in L2Fwd.
    list[#list + 1] = way == "forward" and nf:input(0):gate(1) or nf:input(1):gate(0)
  elseif both then
    place.raise("a piece or gate leads one way, but this chain goes both: give a function, which"
                .. " makes one for each, or {forward = ..., back = ...}")
  else
    list[#list + 1] = nf
  end
end

-- A list of NFs, or {forward = ..., back = ...}.
function add(list, nfs, way, both)
  if nfs.forward ~= nil or nfs.back ~= nil then
    place.options("an NF of two directions", nfs, {forward = true, back = true})
    if nfs[way] ~= nil then nf_add(list, nfs[way], way, false) end
    return
  end
  local n = 0
  for key in pairs(nfs) do
    if math.type(key) ~= "integer" then
      place.raise('the list of NFs has the key "%s": it should be a list, or {forward = ..., back ='
                  .. " ...}", tostring(key))
    end
    n = math.max(n, key)
  end
  for i = 1, n do
    local nf = nfs[way == "forward" and i or n + 1 - i]
    if nf == nil then
      place.raise("NF %d of the chain is nil: is its name misspelt, or made only later?",
                  way == "forward" and i or n + 1 - i)
    end
    nf_add(list, nf, way, both)
  end
end

--- A chain of NFs between two ports. Forward, packets meet the NFs in the order of the list, on the
--- way back in the other order. An NF is
---  - a module (`MACSwap`), or a function that makes a node, a gate or a piece: called once for
---    each direction, with "forward" or "back";
---  - a node (`L2Fwd("bridge")`): it sees both directions, its gates 0 are towards the first port,
---    its gates 1 towards the second one;
---  - `{forward = nf, back = nf}`: another one, or none, for each direction.
---@param a Port
---@param nfs table? list of NFs
---@param b Port
---@param options table? direction = "forward", "back" or "both" (if nothing is said); receive,
---  send: parameters of the PortInc and PortOut made
---@return table pieces the chains made, as `forward` and `back`
function service.chain(a, nfs, b, options)
  options = place.options("service.chain", options, {direction = true, receive = true, send = true})
  port_check("service.chain", "the first end", a)
  port_check("service.chain", "the second end", b)
  if nfs ~= nil and not is_list(nfs) then
    place.raise("service.chain: the NFs are a %s, they should be a list", type(nfs))
  end
  local forward, back = directions(options.direction)
  local function one(way, from, to)
    local list = {}
    add(list, nfs or {}, way, forward and back)
    return chain(service.receive(from, options.receive), list, service.send(to, options.send))
  end
  return {forward = forward and one("forward", a, b) or nil,
          back = back and one("back", b, a) or nil}
end

-- A leg of a branch as what follows its gate: true and nil go straight on.
local function leg(gate, what)
  if what == nil or what == true then return chain(gate) end
  return chain(gate, what)
end

--- A branch: what matches takes one leg, the rest the other one, and both come together again. A
--- leg is what chain() takes; left out, or true: straight on; false: nowhere (what comes there is
--- dropped as `unconnected`); one that ends in Discard or Sink, or in a port, ends there.
---@param filter string|Node an expression as Filter takes it, or a node with gates match and miss
---@param match any
---@param miss any
---@return Piece
function service.branch(filter, match, miss)
  if type(filter) == "string" then filter = build.module("Filter"){expression = filter} end
  if not build.is_node(filter) then
    place.raise("service.branch: the filter is a %s, it should be an expression or a node with the"
                .. " gates match and miss", type(filter))
  end
  local legs = {}
  if match ~= false then legs[#legs + 1] = leg(filter:gate("match"), match) end
  if miss ~= false then legs[#legs + 1] = leg(filter:gate("miss"), miss) end
  if #legs == 0 then place.raise("service.branch: both legs lead nowhere") end
  local piece = parallel(legs)
  piece.inputs = chain(filter).inputs
  return piece
end

--- Copies of an NF side by side, each with its share of the flows; both directions of a flow meet
--- the same one.
---@param n integer
---@param make function called with 1 to n, makes what chain() takes
---@param params table? parameters of the HashSplit before them
---@return Piece
function service.spread(n, make, params)
  if math.type(n) ~= "integer" or n < 1 or n > 64 then
    place.raise("service.spread: %s is not a number of copies, it should be 1 to 64", tostring(n))
  end
  if type(make) ~= "function" then
    place.raise("service.spread takes a function that makes the NF, not a %s", type(make))
  end
  local split, legs = build.module("HashSplit")(params), {}
  for i = 1, n do
    local one = build.is_module(make) and make() or make(i)
    legs[i] = leg(split:gate(i - 1), one)
  end
  local piece = parallel(legs)
  piece.inputs = chain(split).inputs
  return piece
end

return service
