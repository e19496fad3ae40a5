-- SPDX-License-Identifier: BSD-3-Clause
-- The programs that the harness starts: on which cores, what they say, and that none is left behind.
-- On libuv; waiting is the only place where anything else happens.

local native = require "sluice.bench.native"
local uv = require "luv"
local process = {}

local OUTPUT_MAX = 1 << 18 -- bytes kept of what a program says: the last ones
local all = {} -- that run, in the order they were started
local folders = {}
local interrupted = false

-- What ends the run: not a fault of the harness. `code` is the exit code.
local Stop = {}
Stop.__index = Stop
Stop.__tostring = function(stop) return stop.text end

--- Ends what goes on with a reason; whoever is told of it (trial.lua, main.lua) cleans up.
function process.stop(code, format, ...)
  error(setmetatable({code = code, text = format:format(...)}, Stop), 0)
end

function process.is_stop(what) return getmetatable(what) == Stop end

local function check_interrupted()
  if interrupted then
    interrupted = false
    process.stop(130, "stopped")
  end
end

--- Waits until the condition holds, `seconds` at most, and gives what it gave, or nil. `step` is how
--- long it is not looked at.
function process.wait_until(condition, seconds, step)
  local limit = native.now() + math.floor(seconds * 1e9)
  local timer = uv.new_timer()
  step = math.max(1, math.floor((step or 0.005) * 1000))
  timer:start(step, step, function() end)
  local held = condition()
  while not held and native.now() < limit and not interrupted do
    uv.run("once")
    held = condition()
  end
  timer:close()
  uv.run("nowait")
  check_interrupted()
  return held or nil
end

--- Lets time pass.
function process.wait(seconds)
  process.wait_until(function() return false end, seconds, seconds)
end

local Program = {}
Program.__index = Program

local function reader(self, pipe)
  self.open = self.open + 1
  pipe:read_start(function(err, data)
    if data then
      self.text = (self.text .. data)
      if #self.text > self.keep then self.text = self.text:sub(-self.keep // 2) end
    else
      if err then self.text = self.text .. "(" .. err .. ")" end
      if not pipe:is_closing() then
        pipe:close()
        self.open = self.open - 1
      end
    end
  end)
end

local function environment(more)
  local env = {}
  for name, value in pairs(uv.os_environ()) do
    if not more or more[name] == nil then env[#env + 1] = name .. "=" .. value end
  end
  for name, value in pairs(more or {}) do env[#env + 1] = name .. "=" .. value end
  return env
end

--- Starts a program: args[1] with the rest; it may run on `cores` (a list; nil: as we do), and ends
--- when we do, whatever ends us. Options: cores, env, cwd, keep (bytes of what it says), net (the
--- process whose network it is to have), input (what is written to it is sent by write()).
function process.start(args, options)
  options = options or {}
  local command = {"--pdeathsig", "KILL", "--"}
  if options.net then
    command[#command + 1] = "nsenter"
    command[#command + 1] = ("--net=/proc/%d/ns/net"):format(options.net)
    command[#command + 1] = "--"
  end
  if options.cores then
    for _, word in ipairs{"taskset", "-c", table.concat(options.cores, ",")} do
      command[#command + 1] = word
    end
  end
  for i, word in ipairs(args) do command[#command + 1] = i == 1 and process.path(word) or tostring(word) end
  local self = setmetatable({name = args[1], args = args, text = "", open = 0, running = true,
                             keep = options.keep or OUTPUT_MAX}, Program)
  local out, err, input = uv.new_pipe(false), uv.new_pipe(false), options.input and uv.new_pipe(false)
  local handle, pid = uv.spawn("setpriv", {args = command, stdio = {input or nil, out, err},
                                           env = environment(options.env), cwd = options.cwd,
                                           -- Ctrl-C is ours alone: programs are ended in order.
                                           detached = true},
    function(code, signal)
      self.running, self.code, self.signal = false, code, signal
      self.handle:close()
    end)
  if not handle then
    process.stop(3, "%s cannot be started: %s", args[1], tostring(pid))
  end
  self.handle, self.pid, self.input = handle, pid, input
  reader(self, out)
  reader(self, err)
  all[#all + 1] = self
  return self
end

--- A program's path; "sluice" is this one.
function process.path(name)
  return name == "sluice" and uv.exepath() or name
end

--- The path of a program in PATH or at hand, or nil.
function process.find(name)
  local function is_program(path)
    local stat = uv.fs_stat(path)
    return stat and stat.type == "file" and uv.fs_access(path, "X") and path or nil
  end
  if name == "sluice" then return uv.exepath() end
  if name:find("/", 1, true) then return is_program(name) end
  for folder in ((os.getenv("PATH") or "") .. ":/usr/sbin:/sbin"):gmatch("[^:]+") do
    local found = is_program(folder .. "/" .. name)
    if found then return found end
  end
end

--- What a program printed, when it has ended well within `seconds`; else nil and what it said.
function process.output(args, options, seconds)
  local one = process.start(args, options)
  if not process.wait_until(function() return not one.running and one.open == 0 end, seconds or 10) then
    one:kill()
    return nil, ("%s took too long"):format(args[1])
  end
  one:forget()
  if one.code ~= 0 then return nil, one:said() end
  return one.text
end

--- The end of what it has said, on one line.
function Program:said()
  local text = self.text:sub(-600):gsub("%s+$", ""):gsub("[\r\n]+", " / ")
  return text == "" and "it said nothing" or text
end

--- Waits until it says a text (a plain one), or anything else holds; stops the run with code 3 where
--- it does not.
function Program:ready(what, condition, seconds)
  local held = process.wait_until(function() return not self.running or condition() end, seconds or 10)
  if self.running and held then return self end
  process.stop(3, "%s %s before %s: %s", self.name,
               self.running and "took too long" or self:ended(), what, self:said())
end

function Program:ended()
  if self.signal and self.signal ~= 0 then return ("was ended by signal %d"):format(self.signal) end
  return ("ended with exit code %d"):format(self.code or -1)
end

function Program:write(text) self.input:write(text) end

function Program:forget()
  for i, one in ipairs(all) do
    if one == self then table.remove(all, i) end
  end
end

function Program:signal_all(signal)
  -- The whole group: what it has started itself as well.
  if not pcall(uv.kill, -self.pid, signal) then pcall(uv.kill, self.pid, signal) end
end

--- Ends it: asks first (`how` may be a function that does), after 5 s it is killed. Never fails.
function Program:kill(how)
  local kept = interrupted
  interrupted = false
  if self.running then
    if how then pcall(how) else self:signal_all("sigterm") end
    local limit = native.now() + 5000000000
    while self.running and native.now() < limit do
      local timer = uv.new_timer()
      timer:start(20, 0, function() end)
      uv.run("once")
      timer:close()
    end
    self.killed = self.running
    self:signal_all("sigkill")
    while self.running do uv.run("once") end
  end
  if self.input and not self.input:is_closing() then self.input:close() end
  uv.run("nowait")
  interrupted = interrupted or kept
  self:forget()
end

--- A place in the list of programs: kill_down() ends all that were started since, the last first.
function process.mark() return #all end

--- Those that were started since and run.
function process.since(mark) return table.move(all, mark + 1, #all, 1, {}) end

function process.kill_down(mark)
  while #all > mark do all[#all]:kill() end
end

--- For xpcall: what ends a run stays as it is, a fault of the harness gets its place.
function process.traceback(why)
  return process.is_stop(why) and why or debug.traceback(tostring(why), 2)
end

--- A folder of our own for sockets and files, gone at the end. DPDK of all that is started keeps its
--- files there, too; in /run each run of a switch would leave a folder.
function process.folder()
  local base = os.getenv("TMPDIR") or "/tmp"
  local folder, why = uv.fs_mkdtemp(base .. "/sluice-bench-XXXXXX")
  if not folder then process.stop(3, "no folder can be made in %s: %s", base, why) end
  folders[#folders + 1] = folder
  uv.os_setenv("RUNTIME_DIRECTORY", folder)
  return folder
end

local function remove(path)
  local stat = uv.fs_lstat(path)
  if not stat then return end
  if stat.type == "directory" then
    local names, scan = {}, uv.fs_scandir(path)
    while scan do
      local name = uv.fs_scandir_next(scan)
      if not name then break end
      names[#names + 1] = name
    end
    for _, name in ipairs(names) do remove(path .. "/" .. name) end
    uv.fs_rmdir(path)
  else
    uv.fs_unlink(path)
  end
end
process.remove = remove

--- Writes a file whole.
function process.write(path, text)
  local file, why = io.open(path, "w")
  if not file then process.stop(3, "%s cannot be written: %s", path, why) end
  file:write(text)
  file:close()
  return path
end

--- Calls f; then, whatever came, ends all programs, the last one first, and removes the folders.
--- Gives what f gave, or raises what it raised.
function process.guard(f, ...)
  local handlers = {}
  for _, name in ipairs{"sigint", "sigterm", "sighup"} do
    local handler = uv.new_signal()
    handler:start(name, function() interrupted = true end)
    handler:unref()
    handlers[#handlers + 1] = handler
  end
  local results = table.pack(xpcall(f, process.traceback, ...))
  process.kill_down(0)
  for _, folder in ipairs(process.keep and {} or folders) do remove(folder) end
  folders = {}
  for _, handler in ipairs(handlers) do handler:close() end
  uv.run("nowait")
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

return process
