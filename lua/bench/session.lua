-- SPDX-License-Identifier: BSD-3-Clause
-- A session: cells are measured one after the other, those that differ in the switch alone trial by
-- trial in turn. Each trial is on the disk before the next one begins; a switch that fails is an
-- error of its cell, and the rest goes on.

local confirm = require "sluice.bench.confirm"
local dut = require "sluice.bench.dut"
local env = require "sluice.bench.env"
local mode = require "sluice.bench.mode"
local native = require "sluice.bench.native"
local process = require "sluice.bench.process"
local progress = require "sluice.bench.progress"
local record = require "sluice.bench.record"
local result = require "sluice.bench.result"
local rates = require "sluice.bench.rates"
local scenario = require "sluice.bench.scenario"
local search = require "sluice.bench.search"
local stats = require "sluice.bench.stats"
local text = require "sluice.bench.report.text"
local trial = require "sluice.bench.trial"
local turns = require "sluice.bench.turns"
local session = {}

local REFERENCE = "testpmd"  -- the forwarder that does nothing: what goes through it is the ceiling
local REFERENCE_TRIALS = 3   -- of it, beside searches of loads

local Session = {}
Session.__index = Session

--- `options`: what the command line said, with `command_line`. Opens the output.
function session.new(options)
  local self = setmetatable({options = options, id = env.session_id(), failures = {}, limited = {},
                             measured = 0, memory_of = {}, commands = {}, versions = {}}, Session)
  self.cores = options.cores or {traffic = 0, switch = 1}
  self.folder = process.folder()
  self.paths = {}
  for _, pair in ipairs(options.switch_path or {}) do self.paths[pair.name] = pair.value end
  -- Builds of Sluice that are measured beside each other are named by their paths.
  self.builds = options.builds or {}
  for name, path in pairs(self.builds) do self.paths[name] = path end
  self.done = {}
  if options.output then
    if options.resume then self.done = record.done((record.read(options.output)) or {}) end
    local writer, why = record.append(options.output)
    if not writer then process.stop(3, "%s cannot be written: %s", options.output, why) end
    self.writer = writer
  end
  return self
end

function Session:write(kind, values)
  values.session = self.id
  local one = record.new(kind, values)
  if self.writer then self.writer.write(one) end
  return one
end

function Session:say(format, ...)
  io.stdout:write(format:format(...), "\n")
  io.stdout:flush()
end

--- A line on standard error.
function Session:complain(format, ...)
  self:progress(nil)
  io.stderr:write("sluice bench: ", format:format(...), "\n")
end

--- What goes on, where someone watches; nil takes it away.
function Session:progress(line)
  if not env.watched() then return end
  io.stderr:write("\r\27[K", line or "")
end

--- The environment, before or after.
function Session:environment(when)
  local ns
  self.mode, ns = mode.probe(self.cores.traffic, self.cores.switch)
  local switches = {}
  for i, name in ipairs(self.options.switch or {}) do
    switches[i] = {name = name, version = self.versions[name] or nil,
                   command = self.commands[name]}
  end
  self:write("env", env.record(when, self.options, {
    mode = self.mode, mode_ns = ns, switches = switches, huge = self.huge}))
end

--- Which switches of the options are here. Those that are not are said, and left out.
function Session:detect(names)
  for _, name in ipairs(names) do
    local found, why = dut.detect(self.builds[name] and "sluice" or name, self.paths[name])
    if found then
      self.versions[name] = found.version
    else
      self:fail(3, name, why)
      self.versions[name] = false
    end
  end
end

function Session:fail(code, what, why)
  self.failures[#self.failures + 1] = code
  self:complain("%s: %s", what, why)
end

--- Starts the switch of a cell, or keeps it if it runs and may be kept.
function Session:ensure(cell)
  local test = record.test(cell)
  if self.running and self.running_test == test and not self.running.file.fresh then
    return self.running
  end
  self:stop()
  self.running = dut.start{
    switch = cell.switch.name, path = self.paths[record.switch_name(cell)],
    scenario = scenario.make(cell.scenario, cell.vnfs, cell.dir, cell.wire),
    size = cell.size, mix = cell.mix, vnf = cell.vnf, folder = self.folder,
    core = self.cores.switch, main_core = self.cores.traffic, huge = self.huge.use,
    link_bps = cell.link_bps, burn = cell.burn,
    burn_traffic = cell.burn_traffic, udp = cell.udp, vm = self:machines(cell)}
  self.running_test = test
  self.commands[record.switch_name(cell)] = self.running:command()
  return self.running
end

function Session:stop()
  local running = self.running
  self.running = nil
  if running then running:stop() end
end

--- How the VNFs of a cell run that are in virtual machines; nil: they are not.
function Session:machines(cell)
  return cell.vnf_in == "vm" and {guest = self.guest, cores = self.vm_cores} or nil
end

local cell_names = {"scenario", "vnfs", "dir", "size", "mix", "wire", "vnf", "vnf_in", "link_bps"}

--- The fields of a cell as records have them.
function Session:cell_fields(cell)
  local fields = {test = record.test(cell), suite = self.options.suite,
                  switch = {name = record.switch_name(cell),
                            version = self.versions[record.switch_name(cell)]}}
  for _, name in ipairs(cell_names) do fields[name] = cell[name] end
  fields.vm = cell.vnf_in == "vm" and self.guest.accelerator or nil
  return fields
end

--- Runs one trial of a cell and writes it. What trial.run() gave.
function Session:trial(cell, load, kind, n)
  local one = trial.run(self:ensure(cell), load)
  local values = self:cell_fields(cell)
  for key, value in pairs(one) do values[key] = value end
  values.search, values.n, values.reads = kind, n, nil
  one.record = self:write("trial", values)
  self.memory_of[values.test] = self.running:memory()
  return one
end

-- A load that is more than the switch can take: half as much again as what comes through at full
-- load, or what the link carries.
local function load_most(self, cell)
  local _, wire_pps = rates.paced(scenario.make(cell.scenario, cell.vnfs, cell.dir, cell.wire),
                                  cell.link_bps, cell.size)
  if wire_pps then return wire_pps end
  local rplus = 0
  for _ = 1, 5 do
    rplus = self:trial(cell, {seconds = math.min(1, self.options.time or 1), warmup = true}, "mrr",
                       0).rx_pps
    if rplus > 0 then return 1.5 * rplus, rplus end
  end
  process.stop(1, "nothing was received at full load, five times over")
end

local function controller(self, cell)
  local options, kind = self.options, self.options.search
  local more = {trials = options.trials, seconds = options.time, warmup = 0}
  if kind ~= "mrr" then
    local rplus
    more.max_pps, rplus = load_most(self, cell)
    more.throughput_pps = rplus or more.max_pps
    if kind == "ndr" or kind == "pdr" then more.duration_sum = 7 * (options.time or 1) end
    if kind == "b2b" then more.repeats, more.burst_seconds = options.trials, options.time or 2 end
  end
  return search.new(kind, more)
end

--- Calls f; what goes wrong with the switch is an error of its cell, and the next one goes on.
--- true and what f gave, or false.
function Session:attempt(cell, f)
  if not self.versions[record.switch_name(cell)] then return false end
  return self:attempt_as(record.test(cell), f)
end

--- The same under any name.
function Session:attempt_as(name, f)
  local good, why = xpcall(f, process.traceback)
  if good then return true, why end
  self:stop()
  if not process.is_stop(why) or why.code == 130 then error(why, 0) end
  self:fail(why.code, name, why.text)
  return false
end

-- One step of a cell's search; false: it is over, one way or the other. The first one may be what
-- the search must know.
local function step(self, at, reference)
  local good, more = self:attempt(at.cell, function()
    if not at.search then
      at.search = at.reference and search.new("mrr", {
        trials = self.options.search == "mrr" and self.options.trials or REFERENCE_TRIALS,
        seconds = math.min(1, self.options.time or 1), warmup = 0}) or controller(self, at.cell)
      if self.options.search ~= "mrr" and not at.reference then return true end
    end
    local load = at.search.next()
    if not load then return false end
    load.seconds = load.seconds or not load.frames and 1 or nil
    at.n = at.n + 1
    local name = at.cell.switch.name
    if reference and name ~= REFERENCE and not dut.spec(name).busy then
      load.ceiling = function(now) return turns.ceiling(reference.trials, now) end
    end
    local one = self:trial(at.cell, load, self.options.search, at.n)
    at.trials[#at.trials + 1] = one.record
    at.search.tell(one)
    return true
  end)
  at.failed = not good
  return good and more
end

-- The median of ratios to the reference's trials that were its neighbours, in the same mode.
local function ratio_to(at, reference)
  local a, b = {}, {}
  for i, one in ipairs(at.trials) do
    local other = reference.trials[i]
    if other and one.valid and other.valid and one.mode == other.mode then
      a[#a + 1], b[#b + 1] = one.rx_pps, other.rx_pps
    end
  end
  local pair = stats.pair_ratio(a, b)
  return pair and pair.ratio
end

local function results(self, list)
  local reference, records = nil, {}
  for _, at in ipairs(list) do
    if at.cell.switch.name == REFERENCE and #at.trials > 0 and not at.reference then
      reference = at
    end
  end
  for _, at in ipairs(list) do
    local found = not at.reference and at.search and at.search.result
    if at.search and at.search.failed then
      self:fail(1, record.test(at.cell), at.search.failed)
    elseif found and not at.failed then
      local one = result.of(at.trials, found, {
        command = env.command_of(self.options, at.cell),
        memory = self.memory_of[record.test(at.cell)], confirm = at.confirm,
        ratio_to_testpmd = self.options.search == "mrr" and reference and reference ~= at
                           and ratio_to(at, reference) or nil})
      records[#records + 1] = self:write("result", one)
      self.measured = self.measured + 1
      if not one.own then self.limited[#self.limited + 1] = one end
    end
  end
  self:progress(nil)
  if self.options.json then
    for _, one in ipairs(records) do self:say("%s", record.line(one)) end
  else
    for _, line in ipairs(text.lines(records)) do self:say("%s", line) end
  end
end

-- Cells that differ in the switch alone.
local function groups(cells)
  local list, at = {}, {}
  for _, cell in ipairs(cells) do
    local copy = {}
    for key, value in pairs(cell) do copy[key] = value end
    copy.switch = {name = ""}
    local key = record.test(copy)
    if not at[key] then
      at[key] = {}
      list[#list + 1] = at[key]
    end
    table.insert(at[key], cell)
  end
  return list
end

-- The reference forwarder's place among switches of a cell, if one of them shows no cycles of its
-- own: if it is not measured for itself it stands beside them, and has no result. nil: none needs it,
-- or it is not here.
local function reference_of(self, states)
  local needs, cell = false, nil
  for _, at in ipairs(states) do
    cell = at.cell
    if cell.switch.name == REFERENCE then
      if self.options.search == "mrr" then return at end
    elseif not dut.spec(cell.switch.name).busy then
      needs = true
    end
  end
  if not needs then return nil end
  if self.versions[REFERENCE] == nil then
    local found, why = dut.detect(REFERENCE, self.paths[REFERENCE])
    self.versions[REFERENCE] = found and found.version or false
    if not found then
      self:complain("%s: %s; what is reached at most is not known of switches without counters",
                    REFERENCE, why)
    end
  end
  if not self.versions[REFERENCE] then return nil end
  local copy = {}
  for key, value in pairs(cell) do copy[key] = value end
  copy.switch = {name = REFERENCE}
  return {cell = copy, trials = {}, n = 0, reference = true}
end

-- With --confirm: whether a figure that is called the switch's own moves with what the traffic
-- process has to do.
local function confirm_figure(self, at)
  local found = at.search and at.search.result
  if not self.options.confirm or at.reference or at.failed or not found then return end
  local one = result.of(at.trials, found, {command = ""})
  if not one.own or one.value_pps.median <= 0 then return end
  local n = 0
  self:attempt(at.cell, function()
    local said = confirm.run(function(cycles)
      local cell = {}
      for key, value in pairs(at.cell) do cell[key] = value end
      cell.burn_traffic = cycles
      n = n + 1
      self:stop()
      local got = self:trial(cell, {seconds = self.options.time or 1}, "confirm", n)
      return {value = got.rx_pps, mode = got.mode, valid = got.valid}
    end, native.hz(), one.value_pps.median)
    at.confirm = {said = said}
  end)
end

--- Measures cells as the options' search says.
function Session:measure(cells)
  local todo, begun = {}, env.seconds()
  for _, cell in ipairs(cells) do
    if self.versions[cell.switch.name]
       and not self.done[record.test(cell) .. " " .. self.options.search] then
      todo[#todo + 1] = cell
    end
  end
  local list = groups(todo)
  for i, group in ipairs(list) do
    local states = {}
    for k, cell in ipairs(group) do states[k] = {cell = cell, trials = {}, n = 0} end
    local reference = reference_of(self, states)
    if reference and reference.reference then table.insert(states, 1, reference) end
    self:progress(progress.text(i - 1, #list, record.test(group[1]), env.seconds() - begun))
    local good, why = pcall(function()
      turns.run(states, function(at) return step(self, at, reference) end)
      for _, at in ipairs(states) do confirm_figure(self, at) end
    end)
    self:stop()
    if not good then error(why, 0) end
    results(self, states)
  end
end

--- Ends it; the exit code.
function Session:close()
  self:stop()
  self:environment("after")
  if self.writer then self.writer.close() end
  local code = #self.limited > 0 and 4 or 0
  for _, one in ipairs(self.failures) do
    if one == 1 then return 1 end
    code = one
  end
  return code
end

return session
