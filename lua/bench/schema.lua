-- SPDX-License-Identifier: BSD-3-Clause
-- The table of lua/bench/fields.lua as a JSON Schema, for whoever reads results with something
-- else.

local json = require "sluice.json"
local fields = require "sluice.bench.fields"
local schema = {}

local order = {"$schema", "title", "description", "type", "const", "enum", "pattern", "anyOf",
               "oneOf",
               "items", "required", "properties", "additionalProperties"}

local names = {text = "string", map = "object"}

local function object(rows)
  local properties, required = {}, {}
  for _, row in ipairs(rows) do
    properties[row.name] = schema.of(row.type, row.null)
    properties[row.name].description = row.help
    required[#required + 1] = row.name
  end
  return {type = "object", properties = properties, required = json.list(required),
          additionalProperties = false}
end

-- A type of fields.lua as a schema; `null`: or nothing.
function schema.of(kind, null)
  local one
  if type(kind) == "string" then
    local name = names[kind] or kind
    return {type = null and json.list{name, "null"} or name}
  elseif kind.words then
    one = {enum = json.list(table.move(kind.words, 1, #kind.words, 1, {}))}
    if kind.pattern then
      one = {anyOf = json.list{one, {type = "string", pattern = "^" .. kind.pattern .. "$"}}}
    end
  elseif kind.list then
    one = {type = "array", items = schema.of(kind.list)}
  else
    one = object(kind)
  end
  if not null then return one end
  return {anyOf = json.list{one, {type = "null"}}}
end

-- JSON over several lines: what jansson writes in one is broken where braces and commas are.
local function spread(text)
  local out, depth, i = {}, 0, 1
  local function newline() out[#out + 1] = "\n" .. ("  "):rep(depth) end
  while i <= #text do
    local c = text:sub(i, i)
    if c == '"' then
      local last = i + 1
      while text:sub(last, last) ~= '"' do
        last = last + (text:sub(last, last) == "\\" and 2 or 1)
      end
      out[#out + 1], i = text:sub(i, last), last
    elseif c == "{" then
      depth = depth + 1
      out[#out + 1] = c
      newline()
    elseif c == "}" then
      depth = depth - 1
      newline()
      out[#out + 1] = c
    elseif c == "," then
      out[#out + 1] = c
      if text:sub(i + 1, i + 1) == '"' and text:find('^"[^"]*":', i + 1) then newline() else
        out[#out + 1] = " "
      end
    elseif c == ":" then
      out[#out + 1] = ": "
    else
      out[#out + 1] = c
    end
    i = i + 1
  end
  return table.concat(out) .. "\n"
end

--- The whole schema, as a text that ends with a line's end.
function schema.text()
  local kinds = {}
  for i, name in ipairs(fields.names) do
    local one = object(fields.types[name])
    one.title = name
    one.properties.type = {const = name, description = "of the record"}
    one.properties.version = {const = fields.version, description = "of this format"}
    kinds[i] = one
  end
  return spread(json.encode({
    ["$schema"] = "http://json-schema.org/draft-07/schema#",
    title = "Sluice benchmark results: one record a line",
    oneOf = json.list(kinds),
  }, order))
end

return schema
