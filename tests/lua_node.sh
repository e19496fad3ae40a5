#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# LuaNode as a user meets it: the scripts in its guide run as they stand, each function of its tables
# is there, and what a script does wrong is said with its line.

. tests/lib/script.sh

root=$PWD
guide=docs/lua-node.md

# graph PARAMETERS: a graph that sends the demo's packets through a LuaNode.
graph() {
	cat >"$tmp/graph.yaml" <<-GRAPH
		ports:
		  in: {pcap: {rx: $root/graphs/data/demo.pcap}}
		nodes:
		  rx: {PortInc: {port: in}}
		  lua: {LuaNode: {$1}}
		  zero: Sink
		  one: Sink
		graph:
		  - rx -> [0]lua[0] -> zero
		  - lua[1] -> one
	GRAPH
}

awk -v "dir=$tmp" '/^```lua$/ {on = 1; n++; next} /^```$/ {on = 0}
	on {print > (dir "/" n ".lua")}' "$guide"
expect "the guide has scripts" true "$([ -e "$tmp/5.lua" ] && echo true)"
for script in "$tmp"/[0-9]*.lua; do
	graph "script: $script, on_error: stop"
	run_ok "script $(basename "$script" .lua) of the guide runs" \
		"$SLUICE" run --quiet "$tmp/graph.yaml"
done

# Names that the guide's tables give to a batch or a packet are all that there are.
cat >"$tmp/names.lua" <<-'LUA'
	local function names(of)
	  local list = {}
	  for name in pairs(of) do list[#list + 1] = name end
	  table.sort(list)
	  return table.concat(list, "\n")
	end
	local function write(name, of)
	  local file = io.open(args.dir .. "/" .. name, "w")
	  file:write(names(of), "\n")
	  file:close()
	end
	local done
	function process(batch)
	  if done then return end
	  done = true
	  for _, name in ipairs{"batch", "packet"} do
	    local of = name == "batch" and batch or batch:packet(1)
	    for word in io.lines(args.dir .. "/" .. name) do
	      if type(of[word]) ~= "function" then error(name .. ":" .. word .. "() is not there") end
	    end
	  end
	end
LUA
for of in batch packet; do
	grep -oE "^\| .$of:[^|]*" "$guide" | grep -oE '[a-z_0-9]+`?\(|`[a-z_0-9]+`' |
		tr -d '`(' | sort -u >"$tmp/$of"
	expect "the guide has functions of a $of" true \
		"$([ "$(wc -l <"$tmp/$of")" -ge 12 ] && echo true)"
done
graph "script: $tmp/names.lua, on_error: stop, args: [{name: dir, value: $tmp}]"
run_ok "what the guide names is there" "$SLUICE" run --quiet "$tmp/graph.yaml"
expect "the guide names all functions" "" "$(
	sed -nE 's/.*\{"([a-z][a-z_0-9]*)", .*/&/p' lua/luanode_batch.c lua/luanode_packet.c |
		grep -oE '\{"[a-z][a-z_0-9]*", (batch|packet|luanode)_' | sed -E 's/\{"([^"]*)".*/\1/' |
		sort -u | comm -23 - <(sort -u "$tmp/batch" "$tmp/packet")
)"
expect "the guide names all fields" "" "$(
	sed -nE 's/^    \{"([a-z0-9.]+)", LAYER.*/\1/p' lua/luanode_fields.c | sort -u |
		comm -23 - <(grep -oE '`[a-z0-9.]+`' "$guide" | tr -d '`' | sort -u)
)"

# Each field is read, written and compared, and each packet changed, in whatever captures there are.
sed -nE 's/^    \{"([a-z0-9.]+)", LAYER.*/\1/p' lua/luanode_fields.c | sort -u >"$tmp/fields"
cat >"$tmp/all.lua" <<-'LUA'
	local names = {}
	for name in io.lines(args.fields) do names[#names + 1] = name end
	local function change(packet, i)
	  local at, n = packet:payload()
	  if at then packet:bytes(at, n) end
	  if i % 7 == 0 then packet:cut(math.min(#packet - 14, 30)) end
	  if i % 3 == 0 then
	    packet:trim(math.max(14, #packet // 2))
	    packet:append(("x"):rep(33))
	    packet:prepend(("y"):rep(50))
	  end
	  if i % 5 > 0 then packet:finish() end
	  for _, name in ipairs(names) do
	    local value = packet:get(name)
	    if value then pcall(packet.set, packet, name, value) end
	  end
	end
	function process(batch)
	  for _, name in ipairs(names) do
	    pcall(batch.set, batch, name, batch:get(name))
	    pcall(batch.set, batch, name, 1)
	    pcall(batch.where, batch, name, 0, 5)
	  end
	  batch:set("ip.src", "10.1.1.1")
	  batch:set("ip.src", "fe80::1")
	  for i, packet in batch:packets() do change(packet, i) end
	end
LUA
for capture in graphs/data/demo.pcap ../shared/pcaps/*.pcap; do
	[ -e "$capture" ] || continue
	graph "script: $tmp/all.lua, args: [{name: fields, value: $tmp/fields}]"
	sed -i "s|$root/graphs/data/demo.pcap|$capture|" "$tmp/graph.yaml"
	timeout 60 "$SLUICE" run --json "$tmp/graph.yaml" >"$tmp/run.json" 2>"$tmp/out"
	code=$?
	# Some captures are damaged, or hold other things than Ethernet.
	if [ $code -gt 2 ] || grep -q LuaNode "$tmp/out"; then
		cat "$tmp/out"
		not_ok "all fields of $(basename "$capture")" "exit code $code"
	else
		ok "all fields of $(basename "$capture")"
	fi
done

# refused NAME CODE TEXT PARAMETERS: the run ends with that code and says that.
refused() {
	graph "$4"
	timeout 20 "$SLUICE" run --quiet "$tmp/graph.yaml" >"$tmp/out" 2>&1
	expect "$1 ends with code $2" "$2" $?
	expect "$1 is said" "$3" "$(sed "s|$tmp/||g" "$tmp/out")"
}

printf 'function process(batch)\n  batch:nothing()\nend\n' >"$tmp/bad.lua"
refused "an error that stops" 1 "bad.lua:2: error: LuaNode 'lua': a batch has no \"nothing\"" \
	"script: $tmp/bad.lua, on_error: stop"
refused "an error that drops" 0 "bad.lua:2: error: LuaNode 'lua': a batch has no \"nothing\"" \
	"script: $tmp/bad.lua"
printf 'function process(batch)\n  while true do end\nend\n' >"$tmp/long.lua"
refused "an endless loop" 1 "long.lua:2: error: LuaNode 'lua': the script took more than \
10000000 instructions without coming to an end" "script: $tmp/long.lua, on_error: stop"
printf 'x = {}\nx.y.z = 1\n' >"$tmp/load.lua"
refused "a script that fails when it is loaded" 2 "graph.yaml:5:27: error: LuaNode: script: \
load.lua:2: attempt to index a nil value (field 'y')" "script: $tmp/load.lua"
refused "a script that is not there" 2 "graph.yaml:5:27: error: LuaNode: script: cannot open \
none.lua: No such file or directory" "script: $tmp/none.lua"
refused "no script" 2 "graph.yaml:5:3: error: LuaNode: script: is not given, and \`code\` is not \
either; one of them should be" "memory: 2MiB"
refused "two scripts" 2 "graph.yaml:5:42: error: LuaNode: code: is given, and \`script\` too; it \
should be one of them" "script: bad.lua, code: process"
exit $script_failed
