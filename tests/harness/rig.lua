-- SPDX-License-Identifier: BSD-3-Clause
-- What the tests of lua/bench share. Each file is a script that `sluice check` runs, so what it
-- requires is what lies in the program: a line a test, `ok NAME` or `not ok NAME: why`.

local rig = {}

local function text(value)
  if type(value) == "number" then return ("%.14g"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, part in pairs(value) do parts[#parts + 1] = tostring(key) .. "=" .. text(part) end
  table.sort(parts)
  return "{" .. table.concat(parts, " ") .. "}"
end
rig.text = text

--- Raises, with the line of the caller, unless it holds.
function rig.check(held, what, ...)
  if not held then error((what or "it does not hold"):format(...), 2) end
end

--- Equal as values, down to the leaves.
function rig.same(got, wanted, what)
  if text(got) ~= text(wanted) then
    error(("%sgot %s, expected %s"):format(what and what .. ": " or "", text(got), text(wanted)), 2)
  end
end

--- Within `share` of what is wanted (1e-9 if left out).
function rig.near(got, wanted, share, what)
  local most = math.max(math.abs(wanted), 1e-300) * (share or 1e-9)
  if type(got) ~= "number" or not (math.abs(got - wanted) <= most) then
    error(("%sgot %s, expected %s"):format(what and what .. ": " or "", tostring(got),
                                          tostring(wanted)), 2)
  end
end

--- Raises unless the function does, with a text that has `wanted` in it.
function rig.raises(wanted, f, ...)
  local ok, why = pcall(f, ...)
  if ok then error("it should have failed with: " .. wanted, 2) end
  if not tostring(why):find(wanted, 1, true) then
    error(("it failed with %q, not %q"):format(tostring(why), wanted), 2)
  end
end

--- Runs a test.
function rig.test(name, f)
  local ok, why = xpcall(f, function(raised) return tostring(raised) end)
  print(ok and "ok " .. name or ("not ok %s: %s"):format(name, (why:gsub("\n", " | "))))
end

-- A script has a graph.
chain(Source(), Sink())

return rig
