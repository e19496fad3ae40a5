-- SPDX-License-Identifier: BSD-3-Clause
-- Other programs: started, waited for, and always cleaned up. On libuv, on the control thread.

local native = require "sluice.native"
local uv = native.require_main("luv")
local place = require "sluice.place"
local drive = require "sluice.drive"
local program = {}

local POLL_NS = 1000000
local OUTPUT_MAX = 1 << 20 -- bytes kept of each: the last ones
local all = {}

---@class sluice.Program
---@field name string
---@field pid integer
---@field running boolean
---> local Program = {}

local Program = {}
Program.__index = Program

local function keep(self, text)
  local output = rawget(self, "text") .. text
  if #output > OUTPUT_MAX then output = output:sub(-OUTPUT_MAX // 2) end
  self.text = output
end

local function pipe_new(self)
  local pipe = uv.new_pipe(false)
  self.open = self.open + 1
  return pipe, function()
    pipe:read_start(function(err, data)
      if data then
        keep(self, data)
      elseif not pipe:is_closing() then
        if err then keep(self, "(" .. err .. ")") end
        pipe:close()
        self.open = self.open - 1
      end
    end)
  end
end

--- spawn{"testpmd", "-l", "1", ready = "Press enter", env = {NAME = "value"}, cwd = "dir"}: with
--- `ready`, a text that its output must hold, it waits until it does.
---@param spec string|{[integer]: any, ready?: string, limit?: string|number, env?: table<string, any>, cwd?: string}
---@return sluice.Program
---> function spawn(spec) end
function program.spawn(spec)
  if type(spec) == "string" then spec = {spec} end
  if type(spec) ~= "table" or type(spec[1]) ~= "string" then
    place.raise('spawn takes the program and its arguments, as in {"ping", "-c", "1", host}')
  end
  local known = {ready = true, env = true, cwd = true, limit = true}
  for key in pairs(spec) do
    if math.type(key) ~= "integer" and not known[key] then
      place.raise('spawn: there is no option "%s"%s', tostring(key), place.near(key, known, ": there are cwd, env, limit and ready"))
    end
  end
  local types = {ready = "string", env = "table", cwd = "string"}
  for key, kind in pairs(types) do
    if spec[key] ~= nil and type(spec[key]) ~= kind then
      place.raise("spawn: %s is a %s, it should be a %s", key, type(spec[key]),
                  kind == "string" and "text" or "table")
    end
  end
  -- Should this process be killed, so is what it has started.
  local args = {"--pdeathsig", "KILL", "--"}
  for _, word in ipairs(spec) do args[#args + 1] = tostring(word) end
  local env
  if spec.env then
    env = {}
    for name, value in pairs(uv.os_environ()) do
      if spec.env[name] == nil then env[#env + 1] = name .. "=" .. value end
    end
    for name, value in pairs(spec.env) do env[#env + 1] = name .. "=" .. tostring(value) end
  end
  local self = setmetatable({name = spec[1], text = "", open = 0, running = true}, Program)
  local out, out_read = pipe_new(self)
  local err, err_read = pipe_new(self)
  local handle, pid = uv.spawn("setpriv", {args = args, stdio = {nil, out, err}, env = env,
                                           cwd = spec.cwd}, function(code, signal)
    self.running, self.code, self.signal = false, code, signal
    self.handle:close()
  end)
  if not handle then
    out:close()
    err:close()
    place.raise("spawn: %s cannot be started: %s", spec[1], tostring(pid))
  end
  self.handle, self.pid = handle, pid
  out_read()
  err_read()
  all[#all + 1] = self
  if spec.ready then self:ready(spec.ready, spec.limit) end
  return self
end

--- What it has printed so far, on both its outputs.
---@return string
---> function Program:output() end
function Program:output()
  uv.run("nowait")
  return self.text
end

--- Waits until its output holds the text; a Lua error if it ends before, or the time is over.
---@param text string
---@param limit? string|number
---@return sluice.Program
---> function Program:ready(text, limit) end
function Program:ready(text, limit)
  local found = drive.wait_until(function()
    return self.text:find(text, 1, true) or (not self.running and self.open == 0)
  end, limit)
  if found and self.text:find(text, 1, true) then return self end
  place.raise('%s %s before it said "%s"; it said: %s', self.name,
              self.running and "took too long" or ("ended with %d"):format(self.code), text,
              self.text:sub(-500))
end

--- Waits until it has ended, `limit` at most. Its exit code and signal, or nil if it still runs.
---@param limit? string|number
---@return integer? code
---@return integer? signal
---> function Program:wait(limit) end
function Program:wait(limit)
  if drive.wait_until(function() return not self.running and self.open == 0 end, limit) then
    return self.code, self.signal
  end
end

--- Sends a signal, "sigterm" if nothing is said.
---@param signal? string
---> function Program:kill(signal) end
function Program:kill(signal)
  if self.running then self.handle:kill(signal or "sigterm") end
end

-- Called by drive.tick(): what came in, and in how many ns to look again.
function drive.poll()
  uv.run("nowait")
  for _, one in ipairs(all) do
    if one.running or one.open > 0 then return POLL_NS end
  end
  return math.maxinteger
end

local function any_running()
  for _, one in ipairs(all) do
    if one.running then return true end
  end
  return false
end

-- At the end nothing stays: first asked, after 2 s killed.
function drive.close()
  for _, one in ipairs(all) do one:kill("sigterm") end
  local limit, killed = native.now() + 2000000000, false
  while any_running() do
    uv.run("nowait")
    if native.now() > limit and not killed then
      killed = true
      for _, one in ipairs(all) do one:kill("sigkill") end
    end
    uv.sleep(1)
  end
end

return program
