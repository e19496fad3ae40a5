-- SPDX-License-Identifier: BSD-3-Clause
-- `sluice bench`: reads the command line and runs the command. Gives the exit code.

local options = require "sluice.bench.options"
local process = require "sluice.bench.process"
local uv = require "luv"

-- The file of each command; what it gives back is called with the values of the command line.
local files = {list = "list", doctor = "doctor", run = "run", suite = "run", schema = "list",
               report = "reporting", latency = "latency", selftest = "selftest", iperf3 = "iperf3",
               compare = "compare", intrinsic = "intrinsic", roofline = "roofline"}

local function complain(command, faults)
  for _, fault in ipairs(faults) do
    io.stderr:write("sluice bench", command and " " .. command or "", ": error: ", fault, "\n")
  end
  io.stderr:write("Try `sluice bench ", command and command .. " " or "", "--help`.\n")
  return 2
end

return function(arguments)
  local values, faults, command = options.parse(arguments)
  if not values then return complain(command, faults) end
  if values.help then
    io.stdout:write(values.help)
    return 0
  end
  values.command_line = "sluice bench " .. table.concat(arguments, " ")
  local run = require("sluice.bench." .. files[values.command])
  local good, code = pcall(process.guard, run, values)
  if good then return code end
  if not process.is_stop(code) then error(code, 0) end
  io.stderr:write("sluice bench ", values.command, ": ", code.code == 130 and "" or "error: ", code.text,
                  "\n")
  uv.run("nowait")
  return code.code
end
