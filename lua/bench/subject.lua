-- SPDX-License-Identifier: BSD-3-Clause
-- What a word of `bench compare` means: a switch by its name, a build of Sluice by its program's
-- path, or a graph by its file's.

local options = require "sluice.bench.options"
local suggest = require "sluice.suggest"
local uv = require "luv"
local subject = {}

local graphs = {yaml = true, yml = true, lua = true, json = true}

--- Whether a program can be run at a path.
function subject.program_is(path)
  local stat = uv.fs_stat(path)
  return stat ~= nil and stat.type == "file" and uv.fs_access(path, "X") == true
end

--- {kind = "switch" | "build" | "graph", name}; nil and what is wrong.
---@param word string
function subject.read(word)
  for _, name in ipairs(options.switches) do
    if word == name then return {kind = "switch", name = name} end
  end
  local stat = uv.fs_stat(word)
  if stat and stat.type == "file" then
    if graphs[word:match("%.(%a+)$")] then return {kind = "graph", name = word} end
    if subject.program_is(word) then return {kind = "build", name = word} end
    return nil, ("%s is neither a program nor a graph file"):format(word)
  end
  local near = suggest(word, options.switches)
  return nil, ("there is no switch and no file %s%s"):format(word,
      near and ('; did you mean "%s"?'):format(near) or "")
end

--- Both, and how they are measured: "scenario" or "intrinsic"; nil and what is wrong.
---@param a string
---@param b string
---@param graph? string a graph that both builds run
function subject.both(a, b, graph)
  local list = {}
  for i, word in ipairs{a, b} do
    local one, why = subject.read(word)
    if not one then return nil, why end
    list[i] = one
  end
  if graph then
    for _, one in ipairs(list) do
      if one.kind == "graph" or one.kind == "switch" and one.name ~= "sluice" then
        return nil, ("--graph is for builds of Sluice: %s is a %s"):format(one.name, one.kind)
      end
    end
    return list, "intrinsic"
  end
  if (list[1].kind == "graph") ~= (list[2].kind == "graph") then
    return nil, ("a graph goes with a graph: %s is a %s, %s is a %s"):format(
        a, list[1].kind, b, list[2].kind)
  end
  return list, list[1].kind == "graph" and "intrinsic" or "scenario"
end

return subject
