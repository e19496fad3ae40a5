-- SPDX-License-Identifier: BSD-3-Clause
-- A Sluice that the harness runs: its graph, its control socket, its counters.

local native = require "sluice.bench.native"
local json = require "sluice.json"
local process = require "sluice.bench.process"
local instance = {}

local Instance = {}
Instance.__index = Instance

--- Starts one with a graph (a table as a graph file would be) in a folder; ready when its control
--- socket answers. Options: cores that it may use, program (another build's path), net (the process
--- whose network it is to have).
function instance.start(name, graph, folder, options)
  local self = setmetatable({name = name, graph = graph, socket = folder .. "/" .. name .. ".sock"},
                            Instance)
  local file = process.write(("%s/%s.yaml"):format(folder, name), json.encode(graph) .. "\n")
  self.program = process.start({options.program or "sluice", "run", file, "--name", name,
                                "--quiet"},
                               {cores = options.cores, net = options.net,
                                env = {SLUICE_SOCKETS = folder}})
  self.program:ready("it ran", function() return self:try("GET", "/stats") end, 20)
  return self
end

--- What it answers; nil and why not.
function Instance:try(method, path, body)
  return native.ask(self.socket, method, path, body and json.encode(body))
end

local AGAIN = 20 -- times that a worker is asked to stop which others keep from its core

--- The same; that it does not answer ends the run. A worker that did not come to a stop in time has
--- changed nothing: it is asked again.
function Instance:ask(method, path, body)
  local answer, why
  for _ = 1, AGAIN do
    answer, why = self:try(method, path, body)
    if answer ~= nil or not tostring(why):find("did not come to a stop", 1, true) then break end
  end
  if answer == nil then
    process.stop(3, "%s, %s %s: %s%s", self.name, method, path, tostring(why),
                 self.program.running and "" or "; it " .. self.program:ended() .. ": " .. self.program:said())
  end
  return answer
end

--- Runs a command of a node.
function Instance:call(node, command, args)
  return self:ask("POST", ("/nodes/%s/%s"):format(node:gsub("#", "%%23"), command), args or {})
end

function Instance:stats() return self:ask("GET", "/stats") end

function Instance:stop() self.program:kill(function() self:ask("POST", "/stop") end) end

return instance
