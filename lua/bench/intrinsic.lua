-- SPDX-License-Identifier: BSD-3-Clause
-- `bench intrinsic GRAPH`: what a graph takes on one core in one process, cycles a packet by the
-- time stamp counter and instructions a packet by callgrind. Each trial is a run of its own.

local callgrind = require "sluice.bench.callgrind"
local counted = require "sluice.bench.counted"
local env = require "sluice.bench.env"
local json = require "sluice.json"
local process = require "sluice.bench.process"
local record = require "sluice.bench.record"
local running = require "sluice.bench.running"
local stats = require "sluice.bench.stats"
local subject = require "sluice.bench.subject"
local text = require "sluice.bench.report.text"
local waits = require "sluice.bench.waits"
local intrinsic = {}

local OUTPUT_MAX = 1 << 26            -- bytes: each line has all nodes
local COUNTED = 20000                 -- packets of the shorter run under callgrind, at least
local COUNTED_MORE = 3                -- times as many of the longer one
local VALGRIND_MOST_S, START_MOST_S = 300, 60
local WAITED, AGAIN = 0.01, 3         -- share of a run that its worker may wait; runs for it
local LOOK_S = 0.02

-- Runs a graph until it ends by itself, or `enough` says so of what it reports: the first line with
-- packets and the last one. `before`: words that stand before the program.
local function run(self, what, every_s, most, enough, before)
  local args = table.move(before or {}, 1, #(before or {}), 1, {})
  local every = ("%dms"):format(math.max(1, every_s * 1000 // 1))
  for _, word in ipairs{what.program or process.path("sluice"), "run", what.graph, "--json",
                        "--no-control", "--stats", every} do
    args[#args + 1] = word
  end
  for _, pair in ipairs(what.set or {}) do
    args[#args + 1], args[#args + 2] = "--set", pair.name .. "=" .. pair.value
  end
  local one = process.start(args, {cores = {self.cores.traffic, self.cores.switch},
                                   keep = OUTPUT_MAX})
  local read, first, asked, looked = 1, nil, false, nil
  local ended = process.wait_until(function()
    local line, stop = one.text:match("([^\n]*)\n()", read)
    while line do
      local now = counted.line(line)
      if now and counted.made(now) > 0 then
        first = first or now
        looked = looked or waits.read(one.pid)
        if not asked and enough(first, now) then
          local wait = waits.between(looked, waits.read(one.pid))
          one.waited = wait and wait.share
          one:signal_all("sigint")
          asked = true
        end
      end
      read = stop
      line, stop = one.text:match("([^\n]*)\n()", read)
    end
    return not one.running and one.open == 0
  end, most, LOOK_S)
  if not ended then
    one:kill()
    process.stop(1, "%s: it made no packets, or did not end, within %g s", what.graph, most)
  end
  one:forget()
  return one
end

local function failed(one) return one.code ~= 0 or one.signal and one.signal ~= 0 end

local function check(one, what)
  if not failed(one) then return end
  local errors = {}
  for line in one.text:gmatch("[^\n]+") do
    -- Valgrind's lines, too, are not what the program says.
    if not line:find("^[{=]") then errors[#errors + 1] = line end
  end
  local ended = one:ended()
  process.stop(one.code == 2 and 2 or one.code == 3 and 3 or 1, "%s %s: %s", what.graph, ended,
               #errors > 0 and table.concat(errors, "\n") or "it said nothing")
end

local function window_of(one, what)
  local found, why = counted.window(counted.lines(one.text))
  if not found then process.stop(2, "%s: %s", what.graph, why) end
  return found
end

--- Cycles a packet of a run: what window() gives. Where others use the core, its worker waits and
--- its cycles go on: of some runs that with the least of it counts. `what`: graph, program (nil:
--- this one), set.
function intrinsic.cycles(self, what, seconds)
  local best
  for _ = 1, AGAIN do
    local one = run(self, what, seconds / 4, seconds + START_MOST_S, function(first, now)
      return now.seconds - first.seconds >= 0.98 * seconds
    end)
    check(one, what)
    local found = window_of(one, what)
    found.waited = one.waited or 0
    if not best or found.waited < best.waited then best = found end
    if best.waited <= WAITED then break end
  end
  return best
end

local function count(self, what, packets, valgrind)
  local file = self.folder .. "/callgrind.out"
  local one = run(self, what, 0.1, VALGRIND_MOST_S,
                  function(_, now) return counted.made(now) >= packets end,
                  {valgrind, "--tool=callgrind", "--toggle-collect=" .. callgrind.POLL,
                   "--callgrind-out-file=" .. file})
  local program = what.program or process.path("sluice")
  local why = failed(one) and callgrind.why(one.text, program)
  if why then process.stop(3, "%s", why) end
  check(one, what)
  local found = callgrind.read(env.read(file) or "")
  if found.total == 0 then
    process.stop(3, "callgrind counted nothing: %s has no function %s, or no symbols", program,
                 callgrind.POLL)
  end
  -- Of the whole run: the counts of instructions are.
  local lines = counted.lines(one.text)
  local whole = window_of({text = json.encode(lines[#lines])}, what)
  found.packets, found.nodes = whole.packets, whole.nodes
  return found
end

-- Instructions a packet, and of each node; the cores' other work does not matter to it.
local function instructions(self, what)
  local valgrind = process.find("valgrind")
  if not valgrind then
    process.stop(3, "--callgrind: there is no program valgrind (Debian: valgrind)")
  end
  local less = count(self, what, COUNTED, valgrind)
  local more = count(self, what, COUNTED_MORE * less.packets, valgrind)
  local each = callgrind.per_packet(less, more)
  if not each then
    process.stop(2, "%s: it ends by itself after %d packets, which is too soon to count the "
                    .. "instructions of more: let it go on, as with --set", what.graph, less.packets)
  end
  return each, callgrind.by_node(less, more)
end

-- Nodes as a record has them, the dearest first.
local function by_node(list, counts)
  local cycles, rows = {}, {}
  for _, one in ipairs(list) do
    for name, node in pairs(one.nodes) do
      cycles[name] = cycles[name] or {}
      table.insert(cycles[name], node.cycles)
    end
  end
  for name, values in pairs(cycles) do
    rows[#rows + 1] = {node = name, cycles = stats.median(values),
                       instructions = counts and counts[name]}
  end
  table.sort(rows, function(a, b)
    if a.cycles ~= b.cycles then return a.cycles > b.cycles end
    return a.node < b.node
  end)
  return rows
end

local function measure(self, what)
  local values, list, each = self.options, {}, {}
  for i = 1, values.trials do
    self:progress(("%s: run %d of %d"):format(what.graph, i, values.trials))
    list[i] = intrinsic.cycles(self, what, values.time or 1)
    each[i] = list[i].cycles_per_packet
  end
  local found, counts
  if values.callgrind then
    self:progress(what.graph .. ": instructions")
    found, counts = instructions(self, what)
  end
  self:progress(nil)
  local one = self:write("intrinsic", {
    graph = what.graph, test = what.graph, cycles_per_packet = stats.summary(each),
    instructions_per_packet = found, by_node = values.by_node and by_node(list, counts) or nil,
    program = what.program, command = values.command_line})
  self.measured = self.measured + 1
  if values.json then return self:say("%s", record.line(one)) end
  for _, line in ipairs(text.intrinsic(one)) do self:say("%s", line) end
end

return setmetatable(intrinsic, {__call = function(_, values)
  local program = values.sluice
  if program and not subject.program_is(program) then
    process.stop(2, "--sluice: %s is no program", program)
  end
  values.search, values.hugepages, values.switch = "intrinsic", "no", {}
  local what = {graph = values.graph, set = values.set,
                program = program and (program:find("/", 1, true) and program or "./" .. program)}
  return running(values, function(self) measure(self, what) end)
end})
