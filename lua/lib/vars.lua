-- SPDX-License-Identifier: BSD-3-Clause
-- vars{name = default}: what `--set` may change. A row is the default alone, or a table with the
-- default first: {3, help = "...", min = 1, max = 8, type = "integer"}.

local native = require "sluice.native"
local place = require "sluice.place"

local types = {boolean = true, integer = true, number = true, text = true, duration = true,
               bytes = true, rate = true, mac = true, ipv4 = true, ipv6 = true}
local fields = {"help", "type", "min", "max", "choices"}
local declared, order, values = {}, {}, {}

local function type_of(value)
  if type(value) == "number" then return math.type(value) == "integer" and "integer" or "number" end
  return type(value) == "boolean" and "boolean" or "text"
end

local function row_read(name, row)
  if type(row) ~= "table" then row = {row} end
  for key in pairs(row) do
    local known = key == 1
    for _, field in ipairs(fields) do known = known or key == field end
    if not known then
      place.fault('vars: %s has "%s", it should have a default and %s', name, tostring(key),
                  table.concat(fields, ", "))
    end
  end
  local default, faulty = row[1], false
  if type(default) == "table" or type(default) == "function" then
    place.fault("vars: %s: the default is a %s, it should be a number, a text, true or false", name,
                type(default))
    default, faulty = nil, true
  end
  local kind = row.type or type_of(default)
  if not types[kind] then
    place.fault('vars: %s: there is no type "%s"%s', name, tostring(kind), place.near(kind, types))
    kind = "text"
  end
  local min, max, choices = row.min, row.max, row.choices
  local numeric = kind == "integer" or kind == "number"
  for field, bound in pairs{min = min or 0, max = max or 0} do
    if row[field] ~= nil and not numeric then
      place.fault('vars: %s: %s is for numbers, not for the type "%s"', name, field, kind)
      min, max = nil, nil
    elseif type(bound) ~= "number" then
      place.fault("vars: %s: %s is a %s, it should be a number", name, field, type(bound))
      min, max = nil, nil
    end
  end
  if choices ~= nil and (type(choices) ~= "table" or #choices == 0) then
    place.fault('vars: %s: choices should be a list, as in {"fast", "safe"}', name)
    choices = nil
  end
  if row.help ~= nil and type(row.help) ~= "string" then
    place.fault("vars: %s: help is a %s, it should be a text", name, type(row.help))
    row.help = nil
  end
  return {default = default, type = kind, help = row.help, min = min, max = max,
          choices = choices, faulty = faulty}
end

local function chosen(row, value)
  for _, choice in ipairs(row.choices or {value}) do
    if choice == value then return true end
  end
  return false
end

-- "1 to 8", "1 or more", "up to 8", or nil.
local function range_text(row)
  if row.min and row.max then return ("%s to %s"):format(row.min, row.max) end
  return row.min and ("%s or more"):format(row.min) or row.max and ("up to %s"):format(row.max)
end

-- What is wrong with a value of the right type, or nil.
local function value_fault(row, value)
  if not chosen(row, value) then
    local choices = {}
    for i, choice in ipairs(row.choices) do choices[i] = tostring(choice) end
    return "is not one of " .. table.concat(choices, ", ")
  end
  -- Written so that what is no number ("nan") is out of every range.
  if row.min and not (value >= row.min) or row.max and not (value <= row.max) then
    return "is out of range, it should be " .. range_text(row)
  end
end

local function value_read(name, row, value, file, line)
  local ok, read = native.var(name, row.type, value, file, line)
  local why = ok and value_fault(row, read)
  if why then
    native.fault(file, line, ('vars: %s: "%s" %s'):format(name, tostring(read), why))
    ok = false
  end
  -- After a fault the default goes on, so that nothing else is found wrong for it.
  if ok then return read end
  return row.default == nil and "" or row.default
end

local function describe()
  local lines = {}
  for _, name in ipairs(order) do
    local row = declared[name]
    local range = range_text(row)
    range = range and ", " .. range or ""
    if row.choices then
      local choices = {}
      for i, choice in ipairs(row.choices) do choices[i] = tostring(choice) end
      range = ", " .. table.concat(choices, " or ")
    end
    local default = row.default == nil and "must be given" or "default " .. tostring(row.default)
    lines[#lines + 1] = ("  --set %s=%s%s%s (%s)\n"):format(name, row.type:upper(),
        row.help and "  " .. row.help or "", range, default)
  end
  return table.concat(lines)
end

local function declare(rows)
  if type(rows) ~= "table" then place.raise("vars{...} takes a table of names and defaults") end
  local file, line = place.here()
  local names = {}
  for name in pairs(rows) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    if type(name) ~= "string" then
      place.raise("vars{...}: each has a name, as in vars{frames = 1000}")
    end
    declared[name] = row_read(name, rows[name])
    order[#order + 1] = name
  end
  if native.describe(describe()) then error("described", 0) end
  local sets = native.sets()
  for _, name in ipairs(names) do
    local row = declared[name]
    if sets[name] ~= nil then
      values[name] = value_read(name, row, sets[name], "--set", 0)
    elseif row.faulty then
      values[name] = ""
    elseif row.default == nil then
      native.fault(file, line, ("vars: %s has no default: give it with --set %s=..."):format(name, name))
      values[name] = ""
    else
      values[name] = value_read(name, row, row.default, file, line)
    end
  end
  return values
end

--- vars{name = default}: what `--set` may change, read as vars.name.
---@alias sluice.Var boolean|number|string|{[1]: any, help?: string, type?: string, min?: number, max?: number, choices?: any[]}
---@type table<string, any>|fun(rows: table<string, sluice.Var>): table<string, any>
---> vars = {}

local vars = {}

-- What was set and is no var: known once the whole script was run.
function vars.check()
  local names = {}
  for name in pairs(native.sets()) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    if not declared[name] then
      local other = next(declared) == nil and " and no vars at all" or ""
      native.fault("--set", 0, ('%s has no var "%s"%s'):format(native.file(), name,
                   place.near(name, declared, other)))
    end
  end
end

vars.table = setmetatable({}, {
  __call = function(_, rows) return declare(rows) end,
  __index = function(_, name)
    if values[name] == nil then
      place.raise('there is no var "%s"%s', tostring(name),
                  place.near(name, declared, ": vars{...} declares them"))
    end
    return values[name]
  end,
  __newindex = function(_, name)
    place.raise('vars.%s cannot be set: vars{...} declares it, --set gives it a value', tostring(name))
  end,
  __pairs = function() return pairs(values) end,
})

return vars
