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
  local default = row[1]
  if type(default) == "table" or type(default) == "function" then
    place.fault("vars: %s: the default is a %s, it should be a number, a text, true or false", name,
                type(default))
    default = nil
  end
  local kind = row.type or type_of(default)
  if not types[kind] then
    place.fault('vars: %s: there is no type "%s"%s', name, tostring(kind), place.near(kind, types))
    kind = "text"
  end
  return {default = default, type = kind, help = row.help, min = row.min, max = row.max,
          choices = row.choices}
end

local function chosen(row, value)
  for _, choice in ipairs(row.choices or {value}) do
    if choice == value then return true end
  end
  return false
end

local function value_read(name, row, value, file, line)
  local ok, read = native.var(name, row.type, value, row.min, row.max, file, line)
  if ok and not chosen(row, read) then
    native.fault(file, line, ('vars: %s: "%s" is not one of %s'):format(
                 name, tostring(read), table.concat(row.choices, ", ")))
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
    local range = ""
    if row.min and row.max then range = (", %s to %s"):format(row.min, row.max)
    elseif row.min then range = (", from %s"):format(row.min)
    elseif row.max then range = (", up to %s"):format(row.max) end
    if row.choices then range = ", " .. table.concat(row.choices, " or ") end
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
    elseif row.default == nil then
      native.fault(file, line, ("vars: %s has no default: give it with --set %s=..."):format(name, name))
      values[name] = ""
    else
      values[name] = value_read(name, row, row.default, file, line)
    end
  end
  return values
end

local vars = {}

-- What was set and is no var: known once the whole script was run.
function vars.check()
  for name in pairs(native.sets()) do
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
