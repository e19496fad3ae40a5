-- SPDX-License-Identifier: BSD-3-Clause
-- Other programs: started, waited for, and always cleaned up. On libuv, on the control thread.

local native = require "sluice.native"
local place = require "sluice.place"
local drive = require "sluice.drive"
local program = {}
local found, uv = pcall(require, "luv")
if not found then
  place.raise("spawn needs libuv for Lua, which cannot be loaded (Debian: lua-luv)")
end

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

local function ended(self)
  if self.signal ~= 0 then return ("was ended by signal %d"):format(self.signal) end
  return ("ended with exit code %d"):format(self.code)
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

local function is_file(path)
  local stat = uv.fs_stat(path)
  return stat and stat.type == "file" and uv.fs_access(path, "X")
end

local option_types = {ready = "string", env = "table", cwd = "string"}

-- The place of the last argument.
local function spec_check(spec)
  local known = {ready = true, env = true, cwd = true, limit = true}
  local last = 0
  for key, value in pairs(spec) do
    if math.type(key) == "integer" then
      last = math.max(last, key)
    elseif not known[key] then
      place.raise('spawn: there is no option "%s"%s', tostring(key),
                  place.near(key, known, ", but cwd, env, limit and ready"))
    elseif option_types[key] and type(value) ~= option_types[key] then
      place.raise("spawn: %s is a %s, it should be a %s", key, type(value),
                  option_types[key] == "string" and "text" or "table")
    end
  end
  for i = 1, last do
    if spec[i] == nil then place.raise("spawn: argument %d is nil", i - 1) end
  end
  return last
end

-- Raises unless the program is there. It would be started by another one, whose word for that is
-- hard to understand.
local function program_check(spec)
  local name, cwd = spec[1], spec.cwd
  local stat = cwd == nil or uv.fs_stat(cwd)
  if not stat or (cwd and stat.type ~= "directory") then
    place.raise('spawn: cwd: there is no folder "%s"', cwd)
  end
  if name:find("/", 1, true) then
    local path = cwd and name:sub(1, 1) ~= "/" and cwd .. "/" .. name or name
    if not is_file(path) then place.raise('spawn: there is no program "%s"', path) end
    return
  end
  local path = spec.env and spec.env.PATH or os.getenv("PATH") or ""
  for folder in path:gmatch("[^:]+") do
    if is_file(folder .. "/" .. name) then return end
  end
  place.raise('spawn: there is no program "%s" in PATH (%s)', name, path)
end

--- spawn{"testpmd", "-l", "1", ready = "Press enter", env = {NAME = "value"}, cwd = "dir"}: with
--- `ready`, a text that its output must hold, it waits until it does, `limit` at most. The program
--- "sluice" is the one that runs the script.
---@param spec string|{[integer]: any, ready?: string, limit?: string|number, env?: table<string, any>, cwd?: string}
---@return sluice.Program
---> function spawn(spec) end
function program.spawn(spec)
  if type(spec) == "string" then spec = {spec} end
  if type(spec) ~= "table" or type(spec[1]) ~= "string" then
    place.raise('spawn takes the program and its arguments, as in {"ping", "-c", "1", host}')
  end
  if not native.running() then
    place.raise("spawn: programs are started in on.start(), every(), after() and the like")
  end
  local last = spec_check(spec)
  if spec[1] ~= "sluice" then program_check(spec) end
  -- Should this process be killed, so is what it has started.
  local args = {"--pdeathsig", "KILL", "--"}
  for i = 1, last do
    args[#args + 1] = i == 1 and spec[1] == "sluice" and uv.exepath() or tostring(spec[i])
  end
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
    place.raise("spawn: %s cannot be started: %s%s", spec[1], tostring(pid),
                tostring(pid):find("ENOENT") and " (it needs setpriv, of util-linux)" or "")
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
function Program:output() return self.text end

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
  local said = self.text:sub(-500):gsub("%s+$", "")
  place.raise('%s %s before it said "%s"; it said %s', self.name,
              self.running and "took too long" or ended(self), text,
              said == "" and "nothing" or '"' .. said .. '"')
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

-- Called by drive.tick(): what came in, and in how many ns to look again. Those that have ended are
-- the script's alone.
function drive.poll()
  uv.run("nowait")
  local kept = {}
  for _, one in ipairs(all) do
    if one.running or one.open > 0 then kept[#kept + 1] = one end
  end
  all = kept
  return #all > 0 and POLL_NS or math.maxinteger
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
