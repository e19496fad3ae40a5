#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Scripts as the command line runs them: the counters that Lua reads are those of --json, errors in
# each callback end the run with their place and lose no packet, nothing that was started stays.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

balance='[.nodes | to_entries[] | .value |
	(.in | add // 0) + .made == (.out | add // 0) + .consumed + .held + (.dropped | add // 0)] | all'

# run_script NAME CODE [ARGUMENT]...: the script is $tmp/NAME.lua; what it prints is left in
# $tmp/out and $tmp/err.
run_script() {
	local name=$1 wanted=$2 code
	shift 2
	(cd "$tmp" && timeout 30 "$SLUICE" run "$name.lua" "$@" >out 2>err </dev/null)
	code=$?
	[ $code = "$wanted" ] || cat "$tmp/err"
	expect "$name ends with $wanted" "$wanted" "$code"
}

# All counters: what the script reads in on.stop() is written as JSON, and must be what the last
# line of --json says, but for the time.
cat >"$tmp/counters.lua" <<'END'
local function json(value)
  if type(value) ~= "table" then
    return type(value) == "string" and ("%q"):format(value) or tostring(value)
  end
  local parts = {}
  local first = value[0] ~= nil and 0 or 1
  if value[first] ~= nil then
    for i = first, #value do parts[#parts + 1] = json(value[i]) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, part in pairs(value) do parts[#parts + 1] = ("%q:%s"):format(key, json(part)) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

local cls = Filter("cls", {expression = "udp dst port 53"})
chain(port.null("left", {count = 1000, fill = "zero"}), RoundRobin("rr"), parallel(
  chain(L2Fwd("fwd", {}), Tee("tee"), parallel(Sink("a"), Discard("b"))),
  chain(cls, parallel(Sink("dns"), Queue("q"))),
  chain(VLANPush("push", {vid = 5}), port.memory("right", {}))))
chain("q", Update("up", {writes = {{offset = 0, bytes = "01"}}}), port.null("far", {rx = false}))

on.stop(function()
  local nodes, ports, all = {}, {}, {}
  for name, n in pairs(node) do
    local stats = n.stats
    -- What there is more of in Lua.
    stats.packets = nil
    nodes[name] = stats
  end
  for _, name in ipairs{"left", "right", "far"} do ports[name] = port[name].stats end
  for i = 1, #workers do
    local worker = workers[i]
    worker.cycles = nil
    all[i - 1] = worker
  end
  local file <close> = io.open("read.json", "w")
  file:write(json{nodes = nodes, ports = ports, workers = all}, "\n")
end)
END
run_script counters 0 --json
# A list without items is an empty table in Lua, and so is a map without members.
same='walk(if . == [] then {} else . end) | del(.time_ns, .seconds)'
expect "Lua reads the counters that --json prints" \
	"$(tail -n 1 "$tmp/out" | jq -S "$same")" "$(jq -S "$same" "$tmp/read.json")"
expect "1,000 packets came" 1000 "$(jq '.ports.left.rx_packets' "$tmp/read.json")"
expect "all counters were compared" true \
	"$(jq '[paths(type == "number")] | length > 100' "$tmp/read.json")"

# An error in each callback: place and traceback, exit code 2, no packet lost, and the program that
# was started is gone.
fault() { # NAME CALLBACK-LINES
	local name=$1
	{
		echo 'chain(Source("gen", {templates = {"ether / ipv4 / udp"}}), MACSwap("swap"), Sink("out"))'
		echo 'local function inner(of) return of.field end'
		echo 'local function outer() return 1 + inner(nil) end'
		echo 'on.start(function()'
		echo '  local file <close> = io.open("pid", "w") file:write(spawn{"sleep", "100"}.pid)'
		echo 'end)'
		cat
	} >"$tmp/$name.lua"
	run_script "$name" 2 --json
	expect "$name: its place and traceback" \
		"$(printf '%s\n' "$name.lua:2: error: attempt to index a nil value (local 'of')" \
			"  $name.lua:2: in inner" "  $name.lua:3: in outer")" \
		"$(head -n 3 "$tmp/err")"
	expect "$name: no packet is lost" true "$(tail -n 1 "$tmp/out" | jq "$balance")"
	expect "$name: nothing is left" "gone" \
		"$([ -s "$tmp/pid" ] && ! kill -0 "$(cat "$tmp/pid")" 2>/dev/null && echo gone)"
}
fault start <<'END'
on.start(function() outer() end)
END
fault stop <<'END'
on.start(function() stop() end)
on.stop(function() outer() end)
END
fault every <<'END'
local n = 0
every("1ms", function() n = n + 1 if n == 3 then outer() end end)
END
fault after <<'END'
after("3ms", function() outer() end)
END
fault task <<'END'
task(function() wait("1ms") outer() end)
END
fault condition <<'END'
local n = 0
on.start(function() wait_until(function() n = n + 1 return n == 3 and outer() end) end)
END
fault swapped <<'END'
after("1ms", function()
  swap(function() chain(Source("gen"), MACSwap("other"), Sink("out")) outer() end)
end)
END
fault tostring <<'END'
after("1ms", function() print(setmetatable({}, {__tostring = function() local n = outer() return n end})) end)
END

# Limits hold while the graph runs.
cat >"$tmp/endless.lua" <<'END'
chain(Source("gen"), Sink("out"))
after("1ms", function()
  while true do end
end)
END
run_script endless 2 --json --script-instructions 1000000
expect "endless: the line" "endless.lua:3: error: the script took more than 1000000 instructions \
without coming to an end" "$(head -n 1 "$tmp/err")"
expect "endless: no packet is lost" true "$(tail -n 1 "$tmp/out" | jq "$balance")"
cat >"$tmp/eater.lua" <<'END'
chain(Source("gen"), Sink("out"))
local all = {}
every("1ms", function() all[#all + 1] = ("x"):rep(1 << 20) .. #all end)
END
run_script eater 2 --json --script-memory 16MiB
expect "eater: the limit" \
	"eater.lua:3: error: the script needs more than 16 MiB of memory (--script-memory raises the limit)" \
	"$(head -n 1 "$tmp/err")"
expect "eater: no packet is lost" true "$(tail -n 1 "$tmp/out" | jq "$balance")"

# Faults of a graph to be swapped in: all of them, where they stand; the run goes on if they are
# caught.
cat >"$tmp/faulty.lua" <<'END'
chain(Source("gen"), Sink("out"))
after("1ms", function()
  swap(function()
    chain(Source{count = "x"},
          Sink{size = 1})
  end)
end)
END
run_script faulty 2 --quiet
expect "faulty: all faults" \
	"$(printf '%s\n' 'faulty.lua:4: error: Source: count: "x" is not a number, it should be 0 to 18446744073709551615' \
		'  faulty.lua:5: error: Sink: "size" is not a parameter; it takes none' \
		'  faulty.lua:3: in a function')" "$(cat "$tmp/err")"

# fail() and expect() say where; print() stays out of the JSON.
cat >"$tmp/expect.lua" <<'END'
chain(Source("gen", {count = 10}), Sink("out"))
on.stop(function()
  print("in words")
  expect(node.out.stats.packets == 11, "11 packets")
  expect(node.out.stats.packets == 10, "10 packets")
end)
END
run_script expect 1 --json
expect "expect: what and where" "$(printf '%s\n' "in words" "expect.lua:4: error: expected: 11 packets")" \
	"$(cat "$tmp/err")"
expect "expect: one line of JSON" 1 "$(wc -l <"$tmp/out")"

# check runs no callback; a long path is shown whole.
cat >"$tmp/check.lua" <<'END'
chain(Source("gen"), Sink("out"))
on.start(function() error("not in check") end)
END
run_ok "check runs no callback" "$SLUICE" check "$tmp/check.lua"
deep=$tmp/$(printf 'd%.0s' {1..120})
mkdir -p "$deep"
printf '\nlocal x = y.z\n' >"$deep/runtime.lua"
printf '\nlocal x = = z\n' >"$deep/syntax.lua"
for name in runtime syntax; do
	"$SLUICE" check "$deep/$name.lua" >"$tmp/err" 2>&1
	expect "a long path is shown whole: $name" "$deep/$name.lua:2" \
		"$(head -n 1 "$tmp/err" | sed 's/: error: .*//')"
done

# Files that are no scripts.
for row in "none:there is no such file" "folder:is a directory, not a graph file" \
	"pipe:is a FIFO, not a graph file" "capture:is a packet capture, not a graph file"; do
	name=${row%%:*}
	case $name in
	folder) mkdir "$tmp/folder.lua" ;;
	pipe) mkfifo "$tmp/pipe.lua" ;;
	capture) cp graphs/data/demo.pcap "$tmp/capture.lua" ;;
	esac
	expect "no script: $name" "$name.lua: error: ${row#*:}" \
		"$(cd "$tmp" && timeout 10 "$SLUICE" check "$name.lua" 2>&1)"
done

# What --help, the options and completion say of scripts.
printf 'vars{frames = {10, help = "how many"}}\nchain(Source(), Sink())\n' >"$tmp/vars.lua"
expect "--help lists the vars" "  --set frames=INTEGER  how many (default 10)" \
	"$("$SLUICE" run "$tmp/vars.lua" --help | grep -e '--set frames')"
for option in script-memory script-instructions; do
	expect "--$option is in the help" 1 "$("$SLUICE" run --help | grep -ce "--$option=")"
	expect "--$option must be right" 2 "$("$SLUICE" check --$option=x "$tmp/vars.lua" \
		>/dev/null 2>&1; echo $?)"
done

# Ctrl-C ends a script wherever it is; what it does at the end, it does.
cat >"$tmp/busy.lua" <<'END'
chain(Source("gen"), Sink("out"))
on.start(function()
  io.open(arg[0] .. ".begun", "w"):close()
  while true do pcall(function() while true do end end) end
end)
on.stop(function() print("stopped", node.out.stats.packets >= 0) end)
END
"$SLUICE" run --quiet --script-instructions 1000000000000 "$tmp/busy.lua" >"$tmp/out" 2>"$tmp/err" &
busy=$!
script_pids+=($busy)
wait_for 20 test -e "$tmp/busy.lua.begun"
kill -INT $busy
wait $busy
expect "an interrupted script: exit code" 1 $?
expect "an interrupted script: where it was" "$tmp/busy.lua:4: error: the script was interrupted here" \
	"$(head -n 1 "$tmp/err")"
expect "an interrupted script: its end" "stopped	true" "$(cat "$tmp/out")"
exit $script_failed
