-- SPDX-License-Identifier: BSD-3-Clause
-- What every script finds: the modules as functions, ports, chains, vars, and what drives a graph.

local native = require "sluice.native"
local place = require "sluice.place"
local build = require "sluice.build"
local variables = require "sluice.vars"
local drive = require "sluice.drive"
local running = require "sluice.running"

chain, parallel, graph = build.chain, build.parallel, build.graph
settings, worker, load_module = build.settings, build.worker, build.load
vars = variables.table
print = native.print
arg = {[0] = native.file()}
on, every, after, wait, wait_until = drive.on, drive.every, drive.after, drive.wait, drive.wait_until
stop, fail, expect, task = drive.stop, drive.fail, drive.expect, drive.task
node, workers, drops, swap, now = running.node, running.workers, running.drops, running.swap, running.now

--- port.vhost{...} makes a port; port.left is the one of that name.
---@type table<string, sluice.Port|any>
---> port = {}

port = setmetatable({}, {
  __index = function(_, name)
    local make = build.driver(name)
    if make then return make end
    local found = running.port(name) or build.find("port", name)
    if found then return found end
    local known = native.drivers()
    for _, other in ipairs(running.port_names()) do known[other] = true end
    place.raise('there is no driver or port "%s"%s', tostring(name),
                place.near(name, known, " (`sluice drivers` lists them)"))
  end,
})

-- A name that begins as a module's does is meant to be one. Whether there is such a module is
-- checked with the rest of the graph.
setmetatable(_G, {
  __index = function(_, name)
    if type(name) == "string" and (build.modules()[name] or name:match("^%u%w*$")) then
      return build.module(name)
    end
  end,
})

-- Programs are started by few scripts: the library for it is loaded by the first call. libuv calls
-- back in the coroutine that has loaded it, which may wait for something else then, or be gone: so
-- that must be none.
function spawn(...)
  return drive.outside(function() return require("sluice.program") end).spawn(...)
end

return {
  root = build.root,
  hooks = {
    built = function()
      build.close()
      variables.check()
    end,
    start = drive.start, tick = drive.tick, finish = drive.finish,
    close = drive.shut,
  },
}
