#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A thousand trials in one script, each of which swaps in a graph of its own: every packet arrives,
# and memory stays what it was, that of Lua and that of the process.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

cat tests/lib/steady.lua - >"$tmp/sweep.lua" <<'END'
local topology = require "sluice.topology"
local traffic = require "sluice.traffic"

local mixes = {"simple", "tcp", "tolly"}

local function trial(i)
  return function()
    settings{eal = "--no-huge", burst = i % 64 + 1, memory = "256MiB"}
    local near, far = topology.link("ring")
    local from = traffic.source("make", {imix = mixes[i % 3 + 1], flows = i + 1, count = 100 + i % 7})
    chain(from, L2Fwd("bridge" .. i % 5, {size = 64 + i}):input(0):gate(1),
          PortOut{port = near("vnf1"), retry = true})
    chain(port.vnf1, Sink("back"))
    topology.vnf{vnf = far, ports = 1, send = {retry = true}}
  end
end
trial(0)()

local function resident()
  for line in io.lines("/proc/self/status") do
    local kib = line:match("^VmRSS:%s+(%d+)")
    if kib then return math.tointeger(kib) end
  end
end

on.start(function()
  local back = 100
  local function arrived() return node.back.stats.packets == back end
  expect(wait_until(arrived), "the first packets")
  for i = 1, 1000 do
    steady(trial(i), {allow_loss = true})
    back = back + 100 + i % 7
    if not wait_until(arrived) then
      fail(("trial %d: %d packets are back, not %d"):format(i, node.back.stats.packets, back))
    end
    if i == 100 or i == 1000 then
      collectgarbage()
      print(math.floor(collectgarbage("count")), resident())
    end
  end
  stop()
end)
END

run_ok "a thousand graphs in a script" "$SLUICE" run --quiet "$tmp/sweep.lua" || exit 1
read -r lua_before process_before <<<"$(sed -n 1p "$tmp/out")"
read -r lua_after process_after <<<"$(sed -n 2p "$tmp/out")"
echo "KiB after 100 and 1,000 trials: Lua $lua_before $lua_after, process $process_before $process_after"

# grows NAME BEFORE AFTER KIB: no more than so much
grows() {
	if [ $(($3 - $2)) -le "$4" ]; then
		ok "$1"
	else
		not_ok "$1" "from $2 to $3 KiB"
	fi
}
grows "what Lua holds is flat" "$lua_before" "$lua_after" 16
# Sanitizers keep for a while what was freed.
case $VARIANT in
asan | tsan) skip "the process is flat" "a sanitizer holds memory back" ;;
*) grows "the process is flat" "$process_before" "$process_after" 2048 ;;
esac
exit $script_failed
