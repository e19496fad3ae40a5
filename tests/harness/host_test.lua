-- SPDX-License-Identifier: BSD-3-Clause
-- What is asked of the host: hugepages that are taken and given back, what the scheduler says. Of
-- files made here in place of the kernel's.

local rig = require "rig"
require("world").install()
local huge = require "sluice.bench.huge"
local waits = require "sluice.bench.waits"
local uv = require "luv"
local test, same, check, near = rig.test, rig.same, rig.check, rig.near
local tmp = os.getenv("HARNESS_TMP")

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
end

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read("n")
end

-- A kernel with so many pages, of which so many are free: what is written changes nothing else.
local folder = tmp .. "/pages/"
local function kernel(all, free)
  uv.fs_mkdir(folder, 448)
  write(folder .. "nr_hugepages", all .. "\n")
  write(folder .. "free_hugepages", free .. "\n")
end
local function all() return read(folder .. "nr_hugepages") end

test("hugepages: free ones are used as they are", function()
  kernel(700, 640)
  local one = huge.take(true, folder)
  same({one.use, one.text}, {true, "700 of 2 MiB, 640 free"})
  one.give_back()
  same(all(), 700)
end)

test("hugepages: not asked for, none are reserved", function()
  kernel(10, 10)
  local one = huge.take(false, folder)
  one.give_back()
  same({one.use, all()}, {false, 10})
end)

-- The number of free pages does not follow what is written here: as on a host without memory for them.
test("hugepages: fewer than needed are given back at once", function()
  kernel(100, 40)
  local one = huge.take(true, folder)
  same({one.use, all()}, {false, 100})
  check(one.text:find("could be reserved", 1, true), "%s", one.text)
end)

test("hugepages: as many are given back as were taken, whatever others did meanwhile", function()
  -- Free pages are read twice: before and after. A FIFO of two answers would do the same; a wanted
  -- number between the two does it with files.
  kernel(100, 40)
  local wanted = huge.wanted
  huge.wanted = 41
  local open = io.open
  -- The kernel's answer to the writing.
  io.open = function(path, how)
    if path == folder .. "nr_hugepages" and how == "w" then write(folder .. "free_hugepages", "41\n") end
    return open(path, how)
  end
  local one = huge.take(true, folder)
  io.open, huge.wanted = open, wanted
  same({one.use, all(), one.text}, {true, 101, "1 of 2 MiB reserved for this run"})
  write(folder .. "nr_hugepages", "741\n") -- another run has taken 640 more
  one.give_back()
  same(all(), 740)
  one.give_back()
  same(all(), 740, "once")
end)

test("hugepages: a kernel without them", function()
  same(huge.take(true, tmp .. "/none/").text, "none: the kernel has none")
end)

local function process(threads)
  uv.fs_mkdir(tmp .. "/7", 448)
  uv.fs_mkdir(tmp .. "/7/task", 448)
  for name, text in pairs(threads) do
    uv.fs_mkdir(tmp .. "/7/task/" .. name, 448)
    write(tmp .. "/7/task/" .. name .. "/schedstat", text)
  end
  return waits.read(7, tmp)
end

test("waits: of the thread that ran most", function()
  local before = process{["7"] = "5000000000 100 10\n", ["8"] = "1000000000 0 10\n"}
  local after = process{["7"] = "5001000000 200 12\n", ["8"] = "1300000000 100000000 60\n"}
  local one = waits.between(before, after)
  near(one.share, 0.25)
  near(one.each_s, 0.002)
end)

test("waits: where the kernel says nothing", function()
  same(waits.read(1, tmp .. "/none"), {})
  same(waits.between({}, {}), nil)
  local same_twice = process{["7"] = "5 5 5\n"}
  same(waits.between(same_twice, same_twice), nil)
  same(waits.between({}, waits.read(7, tmp)).each_s > 0, true, "a thread that is new")
end)
