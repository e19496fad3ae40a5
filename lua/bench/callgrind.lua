-- SPDX-License-Identifier: BSD-3-Clause
-- Instructions of the packet path, counted by valgrind's callgrind: what it writes is read, and two
-- runs of one graph that differ in their packets give instructions a packet. Counts begin and end
-- with the poll of a source, so that starting, waiting and looking on do not count.

local callgrind = {}

callgrind.POLL = "walk_poll" -- core/run/walk.c

--- {total, inclusive = {[function] = instructions with those of what it calls}} of a file's text.
---@param text string
function callgrind.read(text)
  local names, inclusive, called = {}, {}, nil
  local total = 0
  local function name_of(word)
    local id, name = word:match("^%((%d+)%)%s*(.*)$")
    if not id then return word end
    if name ~= "" then names[id] = name end
    return names[id] or word
  end
  local callee
  for line in text:gmatch("[^\n]+") do
    local key, word = line:match("^(%a+)[=:]%s*(.*)$")
    if key == "fn" then
      name_of(word)
    elseif key == "cfn" then
      callee = name_of(word)
    elseif key == "calls" then
      called = callee
    elseif key == "totals" then
      total = math.tointeger(tonumber(word:match("%d+"))) or 0
    elseif not key and called then
      -- The line behind `calls` has what was spent there.
      local cost = line:match("^%S+ (%d+)")
      if cost then inclusive[called] = (inclusive[called] or 0) + math.tointeger(cost) end
      called = nil
    end
  end
  return {total = total, inclusive = inclusive}
end

--- Instructions a packet of two counts: {total, packets}. nil: they have the same packets.
---@param less {total: integer, packets: integer}
---@param more {total: integer, packets: integer}
function callgrind.per_packet(less, more)
  local packets = more.packets - less.packets
  if packets <= 0 then return nil end
  return (more.total - less.total) / packets
end

-- What does the work of a module: by the rule, a file's functions begin with its name. Sink has
-- nothing of its own.
local shared = {Sink = "consume"}

local function spent(count, module)
  local n = 0
  local file = module:lower()
  for _, name in ipairs{file .. "_process", file .. "_poll", shared[module]} do
    n = n + (count.inclusive[name] or 0)
  end
  return n
end

--- Instructions of each node, by what is counted of its module; nodes of one module share them by
--- their packets. {[node] = instructions a packet that was made}; modules whose functions are not
--- known are left out.
---@param less table what read() gave, with `packets` and `nodes` ({[name] = {module, packets}})
---@param more table
function callgrind.by_node(less, more)
  local packets, list = more.packets - less.packets, {}
  if packets <= 0 then return list end
  local of_module = {}
  for name, node in pairs(more.nodes) do
    local before = less.nodes[name]
    local n = node.packets - (before and before.packets or 0)
    of_module[node.module] = (of_module[node.module] or 0) + n
  end
  for name, node in pairs(more.nodes) do
    local before = less.nodes[name]
    local n = node.packets - (before and before.packets or 0)
    local all, cost = of_module[node.module], spent(more, node.module) - spent(less, node.module)
    if all > 0 and cost > 0 then list[name] = cost * n / all / packets end
  end
  return list
end

--- Why a program did not run under valgrind, by what both said; nil: that does not say.
---@param text string
---@param program string
function callgrind.why(text, program)
  if text:find("SIGILL", 1, true) or text:find("unhandled instruction bytes", 1, true) then
    return ("valgrind does not know an instruction of %s: it was built for this machine's own "
            .. "processor, with AVX-512 for one. Build a program that it knows, as with "
            .. "`make VARIANT=portable`, and name it: --sluice PATH (build/out/portable/sluice)")
        :format(program)
  end
end

return callgrind
