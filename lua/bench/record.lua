-- SPDX-License-Identifier: BSD-3-Clause
-- Results as JSON Lines: records are checked against lua/bench/fields.lua, appended as whole lines
-- that are on the disk when write() returns, and read again with the place of anything damaged.

local json = require "sluice.json"
local fields = require "sluice.bench.fields"
local record = {version = fields.version}

-- All names in the order of the table: records are written in it.
local order, seen = {}, {}
local function order_add(rows)
  for _, row in ipairs(rows) do
    if row.name and not seen[row.name] then
      seen[row.name] = true
      order[#order + 1] = row.name
    end
    local kind = row.type
    if type(kind) == "table" then order_add(type(kind.list) == "table" and kind.list or kind) end
  end
end
for _, name in ipairs(fields.names) do order_add(fields.types[name]) end

local article = {text = "a text", integer = "a whole number", number = "a number",
                 boolean = "true or false", map = "a map"}

local function is(kind, value)
  if kind == "text" then return type(value) == "string" end
  if kind == "integer" then return type(value) == "number" and math.tointeger(value) ~= nil end
  if kind == "number" then return type(value) == "number" and value == value
                                  and math.abs(value) ~= math.huge end
  if kind == "map" then return type(value) == "table" end
  return type(value) == kind
end

local check_rows

-- Appends what is wrong with a value to the faults.
local function check(kind, value, path, faults)
  local function fault(text, ...) faults[#faults + 1] = ("%s " .. text):format(path, ...) end
  if type(kind) == "string" then
    if not is(kind, value) then fault("should be %s", article[kind]) end
  elseif kind.words then
    for _, word in ipairs(kind.words) do
      if word == value then return end
    end
    if not (kind.pattern and type(value) == "string"
            and value:find("^" .. kind.pattern .. "$")) then
      fault("should be one of %s", table.concat(kind.words, ", "))
    end
  elseif type(value) ~= "table" then
    fault("should be %s", kind.list and "a list" or "a map")
  elseif kind.list then
    local n = 0
    for key in pairs(value) do
      n = n + 1
      if math.type(key) ~= "integer" then return fault("should be a list") end
    end
    if n ~= #value then return fault("should be a list without holes") end
    for i, item in ipairs(value) do check(kind.list, item, ("%s[%d]"):format(path, i), faults) end
  else
    check_rows(kind, value, path .. ".", faults)
  end
end

function check_rows(rows, value, prefix, faults)
  local known = {}
  for _, row in ipairs(rows) do
    known[row.name] = true
    local part = value[row.name]
    if part ~= nil and part ~= json.null then
      check(row.type, part, prefix .. row.name, faults)
    elseif not row.null then
      faults[#faults + 1] = prefix .. row.name .. " is missing"
    end
  end
  local strange = {}
  for name in pairs(value) do
    if not known[name] then strange[#strange + 1] = tostring(name) end
  end
  table.sort(strange)
  for _, name in ipairs(strange) do
    faults[#faults + 1] = prefix .. name .. " is no field of it"
  end
end

--- What is wrong with a record, as a list of texts; empty: nothing.
---@param value table
---@return string[]
function record.check(value)
  local rows = type(value) == "table" and fields.types[value.type]
  if not rows then
    return {("type should be one of %s"):format(table.concat(fields.names, ", "))}
  end
  if value.version ~= fields.version then
    return {("version is %s, this program reads %d"):format(tostring(value.version),
        fields.version)}
  end
  local faults = {}
  check_rows(rows, value, "", faults)
  return faults
end

-- The value with null for what may be absent, and lists marked as such.
local function complete(kind, value)
  if type(kind) ~= "table" or kind.words or type(value) ~= "table" then return value end
  local copy = {}
  if kind.list then
    for i, item in ipairs(value) do copy[i] = complete(kind.list, item) end
    return json.list(copy)
  end
  for name, part in pairs(value) do copy[name] = part end
  for _, row in ipairs(kind) do
    local part = value[row.name]
    if part == nil then part = json.null end
    copy[row.name] = complete(row.type, part)
  end
  return copy
end

--- A record as one line of JSON, without its end. Raises what is wrong with it: that is a fault of
--- whoever made it.
---@param value table
function record.line(value)
  local faults = record.check(value)
  if #faults > 0 then
    error(("a record (%s) is faulty: %s"):format(tostring(value.type), table.concat(faults, "; ")),
          2)
  end
  return json.encode(complete(fields.types[value.type], value), order)
end

--- A record of a type, with version and time.
---@param kind string
---@param values table
function record.new(kind, values)
  local new = {type = kind, version = fields.version, time = os.date("!%Y-%m-%dT%H:%M:%SZ")}
  for name, value in pairs(values) do new[name] = value end
  return new
end

-- Whether a file ends within a line, because what wrote it was killed.
local function ends_cut(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local size = file:seek("end")
  local last
  if size > 0 then
    file:seek("end", -1)
    last = file:read(1)
  end
  file:close()
  return last ~= nil and last ~= "\n"
end

--- Opens a file of results to append to; nil and why it cannot be.
---@param path string
---@return {write: fun(value: table), close: fun()}?
---@return string? why
function record.append(path)
  local uv = require "luv"
  local cut = ends_cut(path)
  local file, why = uv.fs_open(path, "a", tonumber("644", 8))
  if not file then return nil, why end
  local writer = {path = path}
  local function put(text)
    while #text > 0 do
      local n, failed = uv.fs_write(file, text, -1)
      if not n then error(("%s cannot be written: %s"):format(path, failed), 0) end
      text = text:sub(n + 1)
    end
  end
  -- What was cut stays a line of its own, which the reader names.
  if cut then put("\n") end
  function writer.write(value)
    put(record.line(value) .. "\n")
    local ok, failed = uv.fs_fsync(file)
    -- Pipes and the like have nothing to sync.
    if not ok and not tostring(failed):find("EINVAL") then
      error(("%s cannot be written: %s"):format(path, failed), 0)
    end
  end
  function writer.close()
    if file then uv.fs_close(file) end
    file = nil
  end
  return writer
end

--- The records of a text, and what is wrong with its lines as `NAME:LINE: text`.
---@param name string
---@param text string
---@return table[] records
---@return string[] faults
function record.read_text(name, text)
  local records, faults, n = {}, {}, 0
  for line, ended in text:gmatch("([^\n]*)(\n?)") do
    if line == "" and ended == "" then break end
    n = n + 1
    local function fault(why) faults[#faults + 1] = ("%s:%d: %s"):format(name, n, why) end
    local value, why = json.decode(line)
    if value == nil then
      fault(line == "" and "an empty line"
            or ended == "" and "the line was cut off: the run was ended while it wrote"
            or "this is no JSON: " .. why)
    else
      local wrong = record.check(value)
      for _, one in ipairs(wrong) do fault(one) end
      if #wrong == 0 then records[#records + 1] = value end
    end
  end
  return records, faults
end

--- The records of a file; nil and why it cannot be read. Damaged lines are left out and told.
---@param path string
---@return table[]? records
---@return string[]|string faults
function record.read(path)
  local file, why = io.open(path, "rb")
  if not file then return nil, why end
  local text, failed = file:read("a")
  file:close()
  if not text then return nil, ("%s: %s"):format(path, failed) end
  return record.read_text(path, text)
end

--- The name of a cell of a suite: all that makes two measurements the same one.
---@param cell {scenario: string, vnfs: integer, dir: string, size: number, mix?: string,
---  wire: string, vnf: string, vnf_in?: string, link_bps?: number, switch: {name: string}}
function record.test(cell)
  local parts = {cell.scenario == "loopback" and "loopback:" .. cell.vnfs or cell.scenario,
                 cell.dir,
                 cell.mix and "mix-" .. cell.mix or ("%d"):format(cell.size), cell.wire}
  if cell.vnf ~= "none" then
    parts[#parts + 1] = cell.vnf .. (cell.vnf_in == "vm" and "-vm" or "")
  end
  if cell.link_bps then parts[#parts + 1] = ("%gG"):format(cell.link_bps / 1e9) end
  parts[#parts + 1] = record.switch_name(cell)
  return table.concat(parts, "/")
end

--- What a cell's switch is called: builds of Sluice have names of their own.
function record.switch_name(cell) return cell.switch.label or cell.switch.name end

--- Which cells are there already: a set of `TEST METRIC` with their records. Latency is `latency
--- LOAD`.
---@param records table[]
function record.done(records)
  local done = {}
  for _, one in ipairs(records) do
    if one.type == "result" then done[one.test .. " " .. one.metric] = one end
    if one.type == "latency" then done[("%s latency %g"):format(one.test, one.load)] = one end
  end
  return done
end

return record
