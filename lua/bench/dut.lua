-- SPDX-License-Identifier: BSD-3-Clause
-- The switch under test: found, started on its core, checked to forward, stopped before its peers.

local json = require "sluice.json"
local env = require "sluice.bench.env"
local inside = require "sluice.bench.inside"
local instance = require "sluice.bench.instance"
local process = require "sluice.bench.process"
local traffic = require "sluice.bench.traffic"
local uv = require "luv"
local vm = require "sluice.bench.vm"
local waits = require "sluice.bench.waits"
local dut = {}

--- All switches that there is a file for, in the order of reports.
dut.names = require("sluice.bench.options").switches

--- What a switch's file says.
function dut.spec(name) return require("sluice.bench.switches." .. name) end

local function find(spec, word, folders)
  if word:find("/", 1, true) then return process.find(word) end
  for _, folder in ipairs(folders) do
    local found = process.find(folder .. "/" .. word)
    if found then return found end
  end
  return process.find(word)
end

-- What the functions of a switch's file are given.
local Tool = {}
Tool.__index = Tool

local function is_file(path)
  local stat = path and uv.fs_stat(path)
  return stat ~= nil and stat.type == "file"
end

-- `path`: the folder that the switch's programs are in, or its program. `more`: what else the functions
-- find in it; spec: of another file than that of lua/bench/switches.
local function tool_new(name, path, more)
  local spec = more and more.spec or dut.spec(name)
  local folders = {}
  if path and not is_file(path) then folders[1] = path end
  for _, folder in ipairs(spec.places or {}) do folders[#folders + 1] = folder end
  local self = setmetatable({name = name, spec = spec, folders = folders}, Tool)
  for key, value in pairs(more or {}) do self[key] = value end
  if is_file(path) then path = path:find("/", 1, true) and path or "./" .. path end
  self.program = is_file(path) and process.find(path) or find(spec, spec.program, folders)
  self.decode = json.decode
  self.exists = function(file) return uv.fs_stat(file) ~= nil end
  self.write = process.write
  self.number = uv.os_getpid()
  self.mkdir = function(folder) return uv.fs_mkdir(folder, 448) end -- 0700
  self.output = process.output
  self.find = function(word)
    return find(spec, word, folders)
           or process.stop(3, "%s: there is no program %s (Debian: %s)", name, word, spec.package)
  end
  self.fail = function(format, ...) process.stop(3, name .. ": " .. format, ...) end
  self.start = function(args, options)
    options = options or {}
    options.cores = options.cores or {self.main_core, self.core}
    options.net = options.net or self.net
    return process.start(args, options)
  end
  self.instance = function(what, graph)
    if self.inside then return inside.switch(graph) end
    return instance.start(what, graph, self.folder, {
      cores = {self.main_core, self.core}, net = self.net, program = path and self.program})
  end
  return self
end
dut.tool = tool_new

--- Resident memory of programs together: {rss, hugepages}, in bytes; nil
--- where it is not known. What peers share with them counts as soon as they have touched it.
function dut.memory_of(programs)
  local rss, hugepages = 0, 0
  for _, program in ipairs(programs) do
    local text = env.read(("/proc/%d/status"):format(program.pid)) or ""
    rss = rss + (math.tointeger(text:match("VmRSS:%s*(%d+) kB")) or 0) * 1024
    hugepages = hugepages + (math.tointeger(text:match("HugetlbPages:%s*(%d+) kB")) or 0) * 1024
  end
  return rss > 0 and {rss = rss, hugepages = hugepages} or nil
end

--- Whether a switch is here: its path and version, or nil and what is missing.
function dut.detect(name, path)
  local tool = tool_new(name, path)
  if not tool.program then
    return nil, ("not found (%s%s)"):format(tool.spec.program,
      tool.spec.package and ", Debian: " .. tool.spec.package or "; --switch-path " .. name .. "=DIR")
  end
  return {name = name, path = tool.program, version = tool.spec.version(tool) or "unknown"}
end

local Dut = {}
Dut.__index = Dut
local started = 0

--- Starts a switch for a scenario with the traffic process beside it, and checks that it forwards.
--- `spec`: switch (its name), path, scenario, size, mix, vnf, folder, core, main_core, huge, link_bps,
--- udp; vm: {guest, cores} where VNFs are virtual machines (vm.lua); burn, burn_traffic: cycles a
--- packet to waste in the switch (Sluice) or the generator.
function dut.start(spec)
  local file = dut.spec(spec.switch)
  for _, port in ipairs(spec.scenario.ports) do
    if not file.wires[port.wire] then
      process.stop(3, "%s has no wire %s", spec.switch, port.wire)
    end
  end
  started = started + 1
  local folder = ("%s/%d"):format(spec.folder, started)
  uv.fs_mkdir(folder, 448)
  local self = setmetatable({spec = spec, file = file}, Dut)
  local ports, paths = {}, {}
  for i, port in ipairs(spec.scenario.ports) do
    ports[i] = {index = port.index, wire = port.wire, address = port.switch,
                path = traffic.at({folder = folder}, port).path}
    paths[port.index] = ports[i].path
  end
  self.tool = tool_new(spec.switch, spec.path, {
    folder = folder, ports = ports, pairs = spec.scenario.pairs, core = spec.core,
    inside = ports[1].wire == "ring", main_core = spec.main_core, huge = spec.huge, burn = spec.burn,
    prefix = ("sluice-bench-%d-%d"):format(uv.os_getpid(), started)})
  if not self.tool.program then
    process.stop(3, "%s: %s", spec.switch, select(2, dut.detect(spec.switch, spec.path)))
  end
  self.mark = process.mark()
  local good, why = xpcall(function()
    self.handle = file.start(self.tool)
    self.programs = process.since(self.mark)
    if spec.vm then
      self.vms = vm.start{guest = spec.vm.guest, cores = spec.vm.cores, scenario = spec.scenario,
                          paths = paths, vnf = spec.vnf, serve = file.vhost == "client"}
    end
    self.traffic = traffic.start{
      scenario = spec.scenario, switch = file, folder = folder, size = spec.size, mix = spec.mix,
      vnf = spec.vnf, core = spec.main_core, cores = {spec.main_core}, huge = spec.huge,
      inside = self.tool.inside and self.handle, both_cores = {spec.main_core, spec.core},
      both_program = spec.path and self.tool.program,
      udp = spec.udp, burn = spec.burn_traffic, vms = spec.vm ~= nil,
      share = spec.vm ~= nil and spec.vm.cores[1] == spec.main_core}
    self:check()
  end, process.traceback)
  if not good then
    self:stop()
    error(why, 0)
  end
  return self
end

--- The switch's program.
function Dut:program()
  local handle = self.handle
  return handle and (handle.program or handle.daemon or handle)
end

--- Raises that the switch, or the traffic process, has ended by itself, if it has.
function Dut:check_alive()
  local program = self:program()
  if program and not program.running then
    process.stop(1, "%s %s while it was measured: %s", self.spec.switch, program:ended(),
                 program:said())
  end
  program = self.traffic and self.traffic.instance.program
  if program and not program.running then
    process.stop(1, "the traffic process %s: %s", program:ended(), program:said())
  end
  if self.vms then self.vms:check_alive() end
end

local ENDS_S = 2 -- until it is known that a program has ended of which a socket is closed already

--- Calls work(...). What fails because the switch has ended says that it has, and how.
function Dut:alive(work, ...)
  local results = table.pack(pcall(work, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local why = results[2]
  if process.is_stop(why) and why.code ~= 130 then
    process.wait_until(function() return not pcall(self.check_alive, self) end, ENDS_S, 0.01)
    self:check_alive()
  end
  error(why, 0)
end

--- As process.wait_until(), but an end of the switch is an error at once.
function Dut:wait_until(condition, seconds, step)
  return self:alive(process.wait_until, function()
    self:check_alive()
    return condition()
  end, seconds, step)
end

--- Lets time pass, as long as the switch lives.
function Dut:wait(seconds)
  self:wait_until(function() return false end, seconds, math.min(seconds, 0.1))
end

--- Memory of the switch, all of its programs, as dut.memory_of() gives it.
function Dut:memory() return dut.memory_of(self.programs) end

--- What the scheduler says of both workers, as waits.read() gives it: {traffic, switch}.
function Dut:waits()
  local program = self:program()
  return {traffic = waits.read(self.traffic.instance.program.pid),
          switch = program and waits.read(program.pid) or {}}
end

--- The command line of the switch.
function Dut:command() return table.concat(self:program().args, " ") end

local CHECK = 1000 -- frames each way
local CHUNK = 50   -- of them at once: what every ring has room for, however long nobody polls it

-- Sends frames by each flow and waits until they have come, whole. The counts by flow, or nil and
-- those where it took too long.
function Dut:pass(n, seconds)
  local reads
  self.traffic:each("gen", "start", {count = n})
  local held = process.wait_until(function()
    reads = self.traffic:each("meter", "look")
    for _, one in ipairs(reads) do
      if one.received < n then return false end
    end
    return true
  end, seconds, 0.005)
  return held and reads, reads
end

-- What arrives must be what was sent, whole and in order, before anything is measured.
function Dut:check()
  -- A peer may be linked before it polls: single frames go first, until one has come through, and
  -- those behind it have had time to.
  local singles = 0
  self.traffic:each("meter", "reset")
  process.wait_until(function()
    singles = singles + 1
    return self:pass(1, self.vms and 1 or 0.05)
  end, self.vms and 120 or 20, 0.05)
  process.wait_until(function()
    for _, one in ipairs(self.traffic:each("meter", "look")) do
      if one.received < singles then return false end
    end
    return true
  end, self.vms and 10 or 1, 0.01)
  self.traffic:drain()
  for sent = CHUNK, CHECK, CHUNK do
    self.traffic:each("meter", "reset")
    local good, reads = self:pass(CHUNK, self.vms and 60 or 20)
    for f, one in ipairs(reads) do
      if not good or one.received ~= CHUNK or one.damaged + one.duplicates + one.reordered > 0 then
        local flow = self.spec.scenario.flows[f]
        process.stop(3, "%s does not forward: %d of %d frames from port %d to port %d arrived, %d "
                     .. "of them damaged, %d doubled, %d out of order", self.spec.switch,
                     sent - CHUNK + one.received, sent, flow.from, flow.to, one.damaged,
                     one.duplicates, one.reordered)
      end
    end
  end
end

--- What the switch itself says it has counted, as far as it says anything: rx, tx_dropped (by
--- port), busy_cycles, idle_cycles, cycles_per_packet; of VNFs in virtual machines, vnf_dropped (by
--- the port that it was for).
function Dut:counters()
  local vnf_dropped = self.vms and self.vms:dropped()
  self:check_alive()
  local counts = self.file.counters(self.tool, self.handle)
  counts.vnf_dropped = vnf_dropped
  return counts
end

--- The same in the midst of traffic; of switches that are disturbed by being asked, nothing.
function Dut:counters_live()
  self:check_alive()
  return self.file.quiet and {} or self.file.counters(self.tool, self.handle)
end

--- Makes our own switch waste other cycles on each packet, without a new start.
function Dut:burn(cycles)
  local why
  if not self:wait_until(function()
    local changed
    changed, why = self.file.burn(self.tool, self.handle, cycles)
    return changed ~= nil
  end, 10, 0.02) then process.stop(3, "%s cannot be changed: %s", self.spec.switch, why) end
end

--- The switch before its peers: some crash when those go first. Never fails.
function Dut:stop()
  if self.handle then pcall(self.file.stop, self.tool, self.handle) end
  if self.traffic then pcall(self.traffic.stop, self.traffic) end
  process.kill_down(self.mark)
  if self.file.clean then pcall(self.file.clean, self.tool) end
  if not process.keep then process.remove(self.tool.folder) end
end

return dut
