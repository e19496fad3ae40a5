-- SPDX-License-Identifier: BSD-3-Clause
-- Command lines of `sluice bench`, by the table in commands.lua: all faults at once, each with what
-- it should be, and help from the same rows.

local cells = require "sluice.bench.cells"
local commands = require "sluice.bench.commands"
local pci = require "sluice.bench.pci"
local suggest = require "sluice.suggest"
local options = {}

--- The switches that have a file of their own, unless parse() is told others.
options.switches = {"sluice", "testpmd", "ovs", "bess", "fastclick", "vpp", "snabb"}

local function near(word, names)
  local found = names and suggest(word, names)
  return found and ('; did you mean "%s"?'):format(found) or ""
end

local function names_of(rows)
  local names = {}
  for i, row in ipairs(rows) do names[i] = row.name end
  return names
end

local function find(rows, name)
  for _, row in ipairs(rows) do
    if row.name == name then return row end
  end
end

-- Keys of Lua: vnf-in is vnf_in.
local function key_of(row) return row.key or (row.name:gsub("-", "_")) end

-- The state of reading a line: what was read, faults, what was given.
local function reader(command, known)
  local self = {values = {command = command.name}, faults = {}, given = {}}

  function self.fault(text, ...) self.faults[#self.faults + 1] = text:format(...) end

  local function read_switch(word)
    if find(known, word) then return word end
    return nil, "one of " .. table.concat(names_of(known), ", "), names_of(known)
  end

  -- One word, with its fault told; several values when the row is flat.
  local function word_read(row, shown, word, into)
    local value, should, names = (row.read or read_switch)(word)
    if value == nil then
      self.fault('%s: "%s" should be %s%s', shown, word, should, near(word, names or row.near))
    elseif row.flat then
      table.move(value, 1, #value, #into + 1, into)
    else
      into[#into + 1] = value
    end
  end

  --- Takes the word given for a row.
  function self.take(row, shown, word)
    local key = key_of(row)
    local list = row.list or row.many
    if not list and self.given[row] then return self.fault("%s is given twice", shown) end
    if row.list and not row.many and self.given[row] then
      return self.fault("%s is given twice: several go with commas", shown)
    end
    self.given[row] = true
    local into = list and self.values[key] or {}
    local before = #into
    if row.list then
      for part in (word .. ","):gmatch("([^,]*),") do word_read(row, shown, part, into) end
    else
      word_read(row, shown, word, into)
    end
    self.values[key] = list and into or into[1]
    local last = row.switch and row.many and #into > before and into[#into].name
    if last and not find(known, last) then
      self.fault('%s: there is no switch "%s"%s', shown, last, near(last, names_of(known)))
    end
  end

  return self
end

-- An option as it was written, its row (or nil), and its word if that is joined to it.
local function option_find(rows, argument)
  local name, value = argument:match("^%-%-([^=]*)=(.*)$")
  name = name or argument:match("^%-%-(.*)$")
  for _, row in ipairs(rows) do
    if name and row.name == name then return "--" .. name, row, value end
    if not name and row.letter == argument:sub(2, 2) then
      return "-" .. row.letter, row, argument:match("^..(.+)$")
    end
  end
  return name and "--" .. name or argument:sub(1, 2)
end

-- Reads one option; how many arguments it took.
local function option_read(at, command, arguments, i)
  local shown, row, value = option_find(command.options, arguments[i])
  if not row then
    local names = names_of(command.options)
    for k, name in ipairs(names) do names[k] = "--" .. name end
    at.fault("there is no option %s%s", shown, #shown > 2 and near(shown, names) or "")
    return 1
  end
  if not row.takes then
    if value then at.fault("%s takes nothing, not \"%s\"", shown, value) end
    at.values[key_of(row)] = true
    return 1
  end
  if value then
    at.take(row, shown, value)
    return 1
  end
  if arguments[i + 1] == nil then
    at.fault("%s should have %s behind it", shown, row.takes)
    return 1
  end
  at.take(row, shown, arguments[i + 1])
  return 2
end

local function argument_read(at, command, word, place)
  local row = command.args[math.min(place, #command.args)]
  if not row or place > #command.args and not row.many then
    at.fault('"%s" is too much: %s', word, row and "it takes " .. options.usage_args(command)
             or "it takes no arguments")
    return
  end
  at.take(row, row.name, word)
end

-- Defaults for what was not given.
local function fill(at, command)
  for _, row in ipairs(command.options) do
    if not at.given[row] and row.default then
      at.take(row, "--" .. row.name, row.default)
    elseif row.many and not at.given[row] then
      at.values[key_of(row)] = {}
    end
  end
end

-- What a row alone cannot say.
local function check(at, command, given)
  local values = at.values
  if command.name == "report" then
    local n = #(values.files or {})
    if values.trend and n > 0 then at.fault("--trend has its own files: no FILE goes with it") end
    if not values.trend and n == 0 then at.fault("FILE is missing: results, or --trend DIR") end
    if not values.output then
      for _, format in ipairs(values.format or {}) do
        if format ~= "text" then
          at.fault("--format %s needs a folder to write into: -o DIR", format)
          break
        end
      end
    end
    if values.trend and values.baseline then at.fault("--baseline does not go with --trend") end
  end
  local trials = find(command.options, "trials")
  if trials and given[trials] and values.search and values.search ~= "mrr"
     and values.search ~= "b2b" then
    at.fault("--trials is for mrr and b2b: %s runs as many as it needs", values.search)
  end
  if values.confirm and values.search ~= "mrr" then
    at.fault("--confirm is for mrr: %s looks for a load, not for a limit", values.search)
  end
  if values.resume and not values.output then
    at.fault("--resume needs the output that it looks into: -o FILE")
  end
  local scenarios = values.scenarios or values.scenario
  for _, dir in ipairs(scenarios and #scenarios > 0 and values.dir or {}) do
    local used = false
    for _, one in ipairs(scenarios) do used = used or cells.scenarios[one.scenario].dirs[dir] end
    if not used then at.fault("--dir %s: none of the scenarios has it; it is for p2v", dir) end
  end
  for _, wire in ipairs(scenarios and values.wire or {}) do
    local wrong = pci.wrong(wire, scenarios)
    if wrong then at.fault("%s", wrong) end
    if pci.cables(wire) and values.hugepages == "no" then
      at.fault("--hugepages no: a card needs hugepages")
    end
  end
  if values.vnf_in == "vm" and scenarios then
    local used = false
    for _, one in ipairs(scenarios) do used = used or one.scenario ~= "p2p" end
    if not used then at.fault("--vnf-in vm: p2p has no VNFs") end
  end
end

--- Reads what stands behind `sluice bench`. A table with `command` and values by the names of
--- options; {help = text} when help is asked for; nil and all faults otherwise, for lines as
--- `sluice bench run: FAULT`, with the command's name as third.
---@param arguments string[]
---@param known? {name: string}[] the switches there are
---@return table?
---@return string[]? faults
---@return string? command
function options.parse(arguments, known)
  if not known then
    known = {}
    for i, name in ipairs(options.switches) do known[i] = {name = name} end
  end
  local word = arguments[1]
  if word == "--help" or word == "-?" or word == "-h" then return {help = options.help()} end
  if word == nil then
    return nil, {"a command is missing: " .. table.concat(names_of(commands), ", ")}
  end
  local command = find(commands, word)
  if not command then
    return nil, {('there is no command "%s"%s'):format(word, near(word, names_of(commands)))}
  end
  local at, i, place, plain = reader(command, known), 2, 0, false
  while arguments[i] do
    local argument = arguments[i]
    if plain or argument == "-" or argument:sub(1, 1) ~= "-" then
      place = place + 1
      argument_read(at, command, argument, place)
      i = i + 1
    elseif argument == "--" then
      plain, i = true, i + 1
    elseif argument == "--help" or argument == "-?" or argument == "-h" then
      return {help = options.help(command.name)}
    else
      i = i + option_read(at, command, arguments, i)
    end
  end
  for n, row in ipairs(command.args) do
    if n > place and not row.optional then at.fault("%s is missing: %s", row.name, row.help) end
  end
  local given = {}
  for row in pairs(at.given) do given[row] = true end
  fill(at, command)
  check(at, command, given)
  if #at.faults > 0 then return nil, at.faults, command.name end
  return at.values
end

--- The arguments of a command as usage has them.
function options.usage_args(command)
  local parts = {}
  for i, row in ipairs(command.args) do
    local text = row.name .. (row.many and "..." or "")
    parts[i] = row.optional and "[" .. text .. "]" or text
  end
  return table.concat(parts, " ")
end

local width, column = 79, 29

-- A text from a column on, in lines that fit.
local function wrap(text, first)
  local lines, line = {}, first
  for word in text:gmatch("%S+") do
    if #line > column and #line + 1 + #word > width then
      lines[#lines + 1] = line
      line = (" "):rep(column) .. word
    elseif #line < column then
      line = line .. (" "):rep(column - #line) .. word
    else
      line = line .. (line:find("%S", column + 1) and " " or "") .. word
    end
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

local function option_line(row)
  local head = (row.letter and "  -%s, " or "      "):format(row.letter) .. "--" .. row.name
               .. (row.takes and "=" .. row.takes or "")
  local help = row.help .. (row.default and (" (%s)"):format(row.default) or "")
  if #head < column - 1 then return wrap(help, head) end
  return head .. "\n" .. wrap(help, "")
end

--- The help of a command, or of all of them.
---@param name? string
function options.help(name)
  local out = {}
  if not name then
    out[1] = "Usage: sluice bench COMMAND [OPTION...]"
    out[2] = "Measures software switches, says what limited each figure, and puts them side by "
             .. "side.\n"
    for _, command in ipairs(commands) do
      local head = "  " .. command.name .. " " .. options.usage_args(command)
      out[#out + 1] = #head < column - 1 and wrap(command.help, head)
                      or head .. "\n" .. wrap(command.help, "")
    end
    out[#out + 1] = "\n`sluice bench COMMAND --help` has the options of each."
  else
    local command = find(commands, name)
    local arguments = options.usage_args(command)
    if arguments ~= "" then arguments = " " .. arguments end
    out[1] = ("Usage: sluice bench %s [OPTION...]%s"):format(name, arguments)
    out[2] = command.help:sub(1, 1):upper() .. command.help:sub(2) .. ".\n"
    for _, row in ipairs(command.args) do out[#out + 1] = wrap(row.help, "  " .. row.name) end
    if #command.args > 0 then out[#out + 1] = "" end
    for _, row in ipairs(command.options) do out[#out + 1] = option_line(row) end
    out[#out + 1] = "  -?, --help                 this help"
  end
  out[#out + 1] = "\nExit codes: 0 measured, 1 failed while running, 2 bad input, 3 this machine "
                  .. "cannot\nmeasure it, 4 measured, but limited by something else than the "
                  .. "switch."
  return table.concat(out, "\n") .. "\n"
end

return options
