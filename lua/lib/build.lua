-- SPDX-License-Identifier: BSD-3-Clause
-- Graphs are built here: modules and drivers as functions, gates, links, chains. What is built is a
-- table of lists; the program makes a value tree of it, and the checker of graph files does the
-- rest.

local native = require "sluice.native"
local place = require "sluice.place"
local build = {}

local function graph_new()
  return {settings = {}, ports = {}, nodes = {}, links = {}, workers = {}, names = {}, counts = {}}
end

build.root = graph_new()
local current = build.root -- nil: nothing can be added now

local function adding()
  if not current then
    place.raise("the graph runs: more of it can be made within graph(function() ... end) only")
  end
  return current
end

local function add(list, row)
  row.file, row.line = place.here()
  list[#list + 1] = row
  return row
end

-- The arguments of a constructor: a name, a table of parameters, or both, in this order.
local function arguments(what, name, params, more)
  if type(name) ~= "string" then name, params, more = nil, name, params end
  if more ~= nil then
    place.raise("%s: there is a %s too much: it takes a name, a table of parameters, or both in this"
                .. " order", what, type(more))
  end
  if params ~= nil and type(params) ~= "table" then
    place.raise("%s: the parameters are a %s, they should be a table, as in %s{...}", what,
                type(params), what)
  end
  return name, params
end

local function name_take(graph, kind, name)
  local other = graph.names[kind .. name]
  if other then
    local file = place.here()
    place.fault('"%s" is the name of a %s already, made in line %d%s', name, kind, other.line,
                file == other.file and "" or " of " .. other.file)
  end
end

local function name_make(graph, kind, form)
  local name
  repeat
    graph.counts[form] = (graph.counts[form] or 0) + 1
    name = form:format(graph.counts[form])
  until not graph.names[kind .. name]
  return name
end

local function entry_add(graph, kind, list, type_name, name, params, form)
  if name then name_take(graph, kind, name) else name = name_make(graph, kind, form) end
  local row = add(list, {name = name, type = type_name, params = params})
  graph.names[kind .. name] = row
  return row
end

-- Nodes, gates and pieces. A stop is one place in a chain, `[input]node[output]`; a piece has
-- first inputs and last outputs, which are stops.

---@class sluice.Stop
---@operator shr(sluice.Item): sluice.Piece
---> local Stop = {}

---@class sluice.Node: sluice.Stop
---@field name string
---@field module string
---@field stats table<string, any> all counters, as `sluice run --json` has them, and `packets`
---@field gates table<integer, {packets: integer}> what left by each output gate, from 0
---@field inputs table<integer, {packets: integer}> what came in by each input gate, from 0

---@class sluice.Piece
---@operator shr(sluice.Item): sluice.Piece

---@class sluice.Port
---@field name string
---@field driver string
---@field stats table<string, integer>
---@operator shr(sluice.Item): sluice.Piece

---@alias sluice.Item sluice.Node|sluice.Stop|sluice.Piece|sluice.Port|string|function|table

local Node, Stop, Piece, Port = {}, {}, {}, {}
build.Node, build.Port = Node, Port

local function is(class) return function(value) return getmetatable(value) == class end end
local is_node, is_stop, is_piece, is_port = is(Node), is(Stop), is(Piece), is(Port)
build.is_node, build.is_port = is_node, is_port

local function gate_check(gate)
  if math.type(gate) ~= "integer" and type(gate) ~= "string" then
    place.raise("a gate is a whole number or a name, not %s",
                type(gate) == "number" and gate or "a " .. type(gate))
  end
end

local function stop_new(node, input, output)
  return setmetatable({node = node, input_gate = input, output_gate = output}, Stop)
end

local gates = {}

--- The node by its output gate `gate`, by number or name.
---@param gate integer|string
---@return sluice.Stop
---> function Stop:gate(gate) end
function gates:gate(gate)
  gate_check(gate)
  local stop = is_stop(self) and self or {node = self}
  return stop_new(stop.node, stop.input_gate, gate)
end

--- The node by its input gate `gate`, by number or name.
---@param gate integer|string
---@return sluice.Stop
---> function Stop:input(gate) end
function gates:input(gate)
  gate_check(gate)
  local stop = is_stop(self) and self or {node = self}
  return stop_new(stop.node, gate, stop.output_gate)
end

Stop.__index = gates

local function piece_new(inputs, outputs)
  return setmetatable({inputs = inputs, outputs = outputs}, Piece)
end

local function end_text(stop, output)
  local gate = stop.output_gate
  if not output then gate = stop.input_gate end
  if gate == nil then return stop.node.name end
  return output and ("%s[%s]"):format(stop.node.name, gate)
                or ("[%s]%s"):format(gate, stop.node.name)
end

local function link(from, to)
  -- Of a node whose name is wrong all has been said.
  if from.node.misnamed or to.node.misnamed then return end
  add(adding().links, {text = end_text(from, true) .. " -> " .. end_text(to, false)})
end

-- Links what leaves one piece to what enters the next one.
local function join(first, second)
  local outs, ins = first.outputs, second.inputs
  if #outs == 0 then
    place.fault('nothing leaves "%s", so nothing can follow it', first.inputs[1].node.name)
  elseif #outs == 1 and #ins > 1 and outs[1].output_gate == nil then
    for i, to in ipairs(ins) do link(outs[1].node:gate(i - 1), to) end
  elseif #ins == 1 then
    for _, from in ipairs(outs) do link(from, ins[1]) end
  elseif #outs == #ins then
    for i, from in ipairs(outs) do link(from, ins[i]) end
  else
    place.fault("%d outputs cannot be linked to %d inputs: there should be as many, or one of either",
                #outs, #ins)
  end
end

local node_add

-- Anything that may stand in a chain, as a piece. `where`: "first", "last" or nil.
local function piece_of(item, where)
  if is_piece(item) then return item end
  if is_stop(item) then return piece_new({item}, {item}) end
  if is_node(item) then
    local stop = stop_new(item)
    return piece_new({stop}, {stop})
  end
  if is_port(item) then
    if where == "first" then return piece_of(node_add("PortInc", nil, {port = item})) end
    if where == "last" then return piece_of(node_add("PortOut", nil, {port = item})) end
    place.raise('the port "%s" stands in the middle of a chain, it should be first or last: packets'
                .. " leave by PortOut and come in by PortInc", item.name)
  end
  if type(item) == "function" then
    local made = item()
    if made == nil then
      place.raise("a function in a chain gave nothing, it should give what stands in its place")
    end
    return piece_of(made, where)
  end
  if type(item) == "string" then
    local row = adding().names["node" .. item]
    if row then return piece_of(row.node) end
    local known = {}
    for _, node in ipairs(adding().nodes) do known[node.name] = true end
    place.raise('there is no node "%s"%s', item, place.near(item, known))
  end
  place.raise("a %s cannot stand in a chain, it should be a node, a gate, a piece, a port, the name of"
              .. " a node, a function that makes one of them, or a list of them", type(item))
end

-- Items of a chain, lists in it laid open. A hole is a mistake, not an end.
local function flatten(into, n, get, depth)
  if depth > 64 then place.raise("lists in a chain lie in each other more than 64 deep") end
  for i = 1, n do
    local item = get(i)
    if item == nil then
      place.raise("item %d of a chain is nil: is its name misspelt, or made only later?", i)
    elseif type(item) == "table" and getmetatable(item) == nil then
      local last = 0
      for key in pairs(item) do
        if math.type(key) ~= "integer" or key < 1 then
          place.raise("a list in a chain has the key %s: it should hold nodes only", tostring(key))
        end
        last = math.max(last, key)
      end
      flatten(into, last, function(k) return item[k] end, depth + 1)
    else
      into[#into + 1] = item
    end
  end
  return into
end

--- Links its items one after the other; the piece that they make.
---@param ... sluice.Item
---@return sluice.Piece
---> function chain(...) end
function build.chain(...)
  local arguments_ = table.pack(...)
  local items = flatten({}, arguments_.n, function(i) return arguments_[i] end, 0)
  if #items == 0 then place.raise("a chain of nothing: it should have nodes") end
  local whole
  for i, item in ipairs(items) do
    local piece = piece_of(item, i == 1 and "first" or i == #items and "last" or nil)
    if whole then join(whole, piece) end
    whole = whole and piece_new(whole.inputs, piece.outputs) or piece
  end
  return whole
end

--- Pieces side by side: the node before them feeds the first from its gate 0, the second from its
--- gate 1, and so on; what leaves them all goes on together. Nothing leaves those that end in a node
--- without output gates.
---@param ... sluice.Item
---@return sluice.Piece
---> function parallel(...) end
function build.parallel(...)
  local arguments_ = table.pack(...)
  local inputs, outputs = {}, {}
  for _, item in ipairs(flatten({}, arguments_.n, function(i) return arguments_[i] end, 0)) do
    local piece = piece_of(item)
    table.move(piece.inputs, 1, #piece.inputs, #inputs + 1, inputs)
    for _, stop in ipairs(piece.outputs) do
      if stop.output_gate or not native.is_end(stop.node.module) then
        outputs[#outputs + 1] = stop
      end
    end
  end
  if #inputs == 0 then place.raise("nothing stands side by side: parallel() should have nodes") end
  return piece_new(inputs, outputs)
end

local function shift(first, second) return build.chain(first, second) end
Node.__shr, Stop.__shr, Piece.__shr, Port.__shr = shift, shift, shift, shift

-- Modules and drivers as functions.

function node_add(module, name, params)
  local graph = adding()
  local row = entry_add(graph, "node", graph.nodes, module, name, params, module .. "#%d")
  row.node = build.node(row.name, module)
  return row.node
end

-- A node by name, made here or of the running graph.
function build.node(name, module)
  return setmetatable({name = name, module = module, reference = name,
                       misnamed = not name:find("^%a[%w_.#-]*$")}, Node)
end

function build.port(name, driver)
  return setmetatable({name = name, driver = driver, reference = name}, Port)
end

local commands = native.modules()
local constructors = {} -- by name, and of each that it is one

function build.module(name)
  if not constructors[name] then
    local function make(...) return node_add(name, arguments(name, ...)) end
    constructors[name], constructors[make] = make, true
  end
  return constructors[name]
end

-- Whether a value is a module as a function, MACSwap or the like.
function build.is_module(value) return type(value) == "function" and constructors[value] == true end

function build.modules() return commands end

--- Loads a module or driver built outside this tree.
---@param path string
---> function load_module(path) end
function build.load(path)
  local file, line = place.here()
  if type(path) ~= "string" then
    place.raise("a module is loaded by its path, not by a %s", type(path))
  end
  native.module_load(path, file, line)
  commands = native.modules()
end

function build.driver(name)
  return native.drivers()[name] and function(...)
    local graph = adding()
    local port_name, params = arguments("port." .. name, ...)
    return build.port(entry_add(graph, "port", graph.ports, name, port_name, params,
                                name .. "%d").name, name)
  end
end

-- A port or node that the graph being built has under this name.
function build.find(kind, name)
  local row = current and current.names[kind .. name]
  if not row then return nil end
  return kind == "node" and row.node or build.port(name, row.type)
end

-- What a node is asked: gates of the graph first, then commands of its module.
function Node.__index(node, key)
  if gates[key] then return gates[key] end
  local get = build.node_fields[key]
  if get then return get(node) end
  local own = commands[rawget(node, "module")]
  if own and own[key] then
    return function(self, args) return build.call(self, key, args) end
  end
  local known = {gate = true, input = true, name = true, module = true}
  for name in pairs(build.node_fields) do known[name] = true end
  for name in pairs(own or {}) do known[name] = true end
  place.raise('%s "%s" has no "%s"%s', node.module, node.name, tostring(key),
              place.near(key, known, ": it has its commands, stats, gates, gate() and input()"))
end

function Port.__index(port, key)
  local get = build.port_fields[key]
  if get then return get(port) end
  place.raise('port "%s" has no "%s"%s', port.name, tostring(key), place.near(key, {stats = true}))
end

-- Filled by sluice.running: what can be read while a graph runs.
build.node_fields, build.port_fields = {}, {}

--- Settings of the graph file: settings{burst = 64, idle = "spin"}.
---@param values sluice.settings
---> function settings(values) end

local sections = {vars = true, modules = true, ports = true, nodes = true, graph = true,
                  workers = true}

function build.settings(values)
  if type(values) ~= "table" then place.raise("settings are a table, not a %s", type(values)) end
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local other = adding().names["setting" .. tostring(name)]
    if type(name) ~= "string" or sections[name] then
      place.fault('"%s" is not a setting; in a script, ports, nodes and workers are functions',
                  tostring(name))
    elseif other then
      place.fault('the setting "%s" was given in line %d already', name, other.line)
    else
      adding().names["setting" .. name] = add(adding().settings,
                                              {name = name, value = values[name]})
    end
  end
end

--- worker{core = 1, sources = {rx}}: one call a worker.
---@param values {core: integer, sources?: (sluice.Node|string)[], policy?: table|string}
---> function worker(values) end
function build.worker(values)
  if type(values) ~= "table" then place.raise("a worker is a table, not a %s", type(values)) end
  add(adding().workers, {value = values})
end

--- A graph beside the one of the script: what `make` builds, or a YAML file.
---@param make fun()|string
---@return userdata
---> function graph(make) end
function build.graph(make)
  if type(make) == "string" then return native.graph_file(make) end
  if type(make) ~= "function" then
    place.raise("graph() takes a function that builds it, or the path of a YAML file")
  end
  local before, own, faults = current, graph_new(), native.faults()
  current = own
  local ok, why = xpcall(make, native.traced)
  current = before
  if not ok then error(why, 0) end
  local found, graph = pcall(native.graph, own, faults)
  if not found then error(graph, 0) end
  return graph
end

-- The script's own graph is whole: what comes later is another one.
function build.close()
  if #current.nodes + #current.ports == 0 then
    error("the script builds no graph, it should make nodes, as in chain(Source{}, Sink{})", 0)
  end
  current = nil
end

return build
