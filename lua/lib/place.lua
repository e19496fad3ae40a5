-- SPDX-License-Identifier: BSD-3-Clause
-- Where in the user's own files we are, and errors that say so.

local native = require "sluice.native"
local place = {}

-- File and line of the innermost frame that is not the library's.
function place.here()
  for level = 2, 200 do
    local frame = debug.getinfo(level, "Sl")
    if not frame then break end
    if frame.source:sub(1, 1) == "@" then return frame.source:sub(2), frame.currentline end
  end
  return native.file(), 0
end

-- A Lua error at the user's own call.
function place.raise(format, ...)
  local file, line = place.here()
  error(("%s:%d: " .. format):format(file, line, ...), 0)
end

-- A fault of the graph there: the script goes on, so that all are found.
function place.fault(format, ...)
  local file, line = place.here()
  native.fault(file, line, format:format(...))
end

-- `; did you mean "..."?`, or `otherwise`.
function place.near(word, names, otherwise)
  local list = {}
  for name in pairs(names) do
    if type(name) == "string" then list[#list + 1] = name end
  end
  table.sort(list)
  local near = type(word) == "string" and native.suggest(word, list)
  return near and ('; did you mean "%s"?'):format(near) or otherwise or ""
end

-- A table of options (nil: none), in which nothing is unknown.
function place.options(what, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" or getmetatable(options) then
    place.raise("%s: the options are a %s, they should be a table", what,
                type(options) == "table" and "node, piece or port" or type(options))
  end
  for key in pairs(options) do
    if not known[key] then
      local list = {}
      for name in pairs(known) do list[#list + 1] = name end
      table.sort(list)
      place.raise('%s: there is no option "%s"%s', what, tostring(key),
                  place.near(key, known, ", but " .. table.concat(list, ", ")))
    end
  end
  return options
end

return place
