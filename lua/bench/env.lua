-- SPDX-License-Identifier: BSD-3-Clause
-- The machine and the program, as `env` records have them, and the command that repeats a cell.

local json = require "sluice.json"
local native = require "sluice.bench.native"
local process = require "sluice.bench.process"
local uv = require "luv"
local env = {}

function env.read(path)
  local file = io.open(path)
  local content = file and file:read("a")
  if file then file:close() end
  return content and content ~= "" and content:gsub("%s+$", "") or nil
end

function env.seconds() return native.now() / 1e9 end

--- A name for this run of the program.
function env.session_id()
  return ("%s-%s-%d"):format(uv.os_gethostname(), os.date("!%Y%m%dT%H%M%SZ"), uv.os_getpid())
end

--- Whether someone watches standard error.
function env.watched() return uv.guess_handle(2) == "tty" end

local function caches()
  local sizes = {}
  for i = 0, 7 do
    local folder = ("/sys/devices/system/cpu/cpu0/cache/index%d/"):format(i)
    local size, kind = env.read(folder .. "size"), env.read(folder .. "type")
    if size and kind ~= "Instruction" then sizes[#sizes + 1] = size end
  end
  return #sizes > 0 and table.concat(sizes, " ") or nil
end

local function steal()
  local words = {}
  for n in ((env.read("/proc/stat") or ""):match("^cpu ([^\n]*)") or ""):gmatch("%d+") do
    words[#words + 1] = tonumber(n)
  end
  local all = 0
  for i = 1, math.min(8, #words) do all = all + words[i] end
  return all > 0 and words[8] and words[8] / all or nil
end

local function host()
  local cpu = env.read("/proc/cpuinfo") or ""
  local flags = {}
  for _, name in ipairs{"constant_tsc", "nonstop_tsc"} do
    if cpu:find(name, 1, true) then flags[#flags + 1] = name end
  end
  local name = uv.os_uname()
  return {name = uv.os_gethostname(), cpu = cpu:match("model name%s*:%s*([^\n]*)") or name.machine,
          cores = uv.available_parallelism(), caches = caches(), tsc_hz = native.hz(),
          tsc_flags = flags,
          hypervisor = cpu:find(" hypervisor", 1, true) and "there is one" or nil,
          kernel = name.release, kernel_command_line = env.read("/proc/cmdline")}
end

--- Versions of this program.
function env.build()
  local about = json.decode(process.output{"sluice", "version", "--json"} or "{}") or {}
  return {version = about.sluice or "unknown", compiler = about.compiler, flags = about.flags,
          dpdk = about.dpdk and about.dpdk.running_with}
end

local function plain(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, part in pairs(value) do copy[key] = plain(part) end
  return copy
end

--- The values of an `env` record. `more`: mode, mode_ns, switches, huge.
function env.record(when, options, more)
  local one = host()
  one.hugepages = more.huge and more.huge.text
  local config = plain(options)
  config.rings, config.pool, config.burst = 1024, 16384, 32
  local a, b, c = uv.loadavg()
  return {when = when, command = options.command_line or "sluice bench", host = one,
          build = env.build(), load = {a, b, c}, steal = steal(), mode = more.mode,
          mode_ns = more.mode_ns, config = config, switches = more.switches}
end

--- The command line that measures one cell again.
function env.command_of(options, cell)
  local words = {"sluice bench run",
                 cell.scenario == "loopback" and "loopback:" .. cell.vnfs or cell.scenario,
                 "--size " .. (cell.mix and "imix:" .. cell.mix or ("%d"):format(cell.size)),
                 "--dir " .. cell.dir, "--switch " .. cell.switch.name,
                 "--search " .. options.search}
  if cell.scenario ~= "v2v" then words[#words + 1] = "--wire " .. cell.wire end
  if cell.vnf ~= "none" then words[#words + 1] = "--vnf " .. cell.vnf end
  if cell.vnf_in == "vm" then words[#words + 1] = "--vnf-in vm" end
  if cell.link_bps then words[#words + 1] = ("--link %gG"):format(cell.link_bps / 1e9) end
  if options.search == "mrr" then words[#words + 1] = ("--trials %d"):format(options.trials or 7) end
  if options.time then words[#words + 1] = ("--time %gms"):format(options.time * 1000) end
  return table.concat(words, " ")
end

return env
