#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every block of Lua in docs/lua.md is a good script; those marked `run` are run, and end by
# themselves. The annotations for editors are Lua, and name all that the tables and the library have.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

awk -v dir="$tmp" '
	/^```lua/ { n++; file = dir "/block" n ".lua"; run = $2 == "run"; line = NR; next }
	/^```$/ { if (file) { print n, line, run > (dir "/blocks") } file = ""; next }
	file { print > file }' docs/lua.md
[ "$(wc -l <"$tmp/blocks")" -ge 8 ] || not_ok "docs/lua.md" "it has few blocks of Lua"
cores=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')
while read -r n line run; do
	sed -i "s/core = 0/core = $cores/" "$tmp/block$n.lua"
	run_ok "docs/lua.md:$line is a good script" "$SLUICE" check "$tmp/block$n.lua"
	"$SLUICE" show --format yaml "$tmp/block$n.lua" >"$tmp/block$n.yaml" 2>&1
	run_ok "docs/lua.md:$line is shown as a graph file" "$SLUICE" check "$tmp/block$n.yaml"
	[ "$run" = 0 ] || run_ok "docs/lua.md:$line runs" \
		timeout 60 "$SLUICE" run --quiet "$tmp/block$n.lua"
done <"$tmp/blocks"

# Annotations: a script loads them, and asks for each name.
"$SLUICE" schema --lua >"$tmp/sluice.lua"
cat >"$tmp/names.lua" <<'END'
local file <close> = io.open("sluice.lua")
local text = file:read("a")
local function missing(what) error("not in the annotations: " .. what, 0) end
assert(load(text, "=annotations", "t", {port = {}}))
for line in io.lines("names") do
  if not text:find(line, 1, true) then missing(line) end
end
for name in pairs(_G) do
  local plain = {string = true, table = true, math = true, os = true, io = true, utf8 = true,
                 coroutine = true, debug = true, package = true, require = true, dofile = true,
                 assert = true, collectgarbage = true, error = true, getmetatable = true,
                 ipairs = true, load = true, loadfile = true, next = true, pairs = true,
                 pcall = true, print = true, rawequal = true, rawget = true, rawlen = true,
                 rawset = true, select = true, setmetatable = true, tonumber = true,
                 tostring = true, type = true, warn = true, xpcall = true, _G = true,
                 _VERSION = true, arg = true}
  if not plain[name] and not text:find("\nfunction " .. name .. "(", 1, true)
     and not text:find("\n" .. name .. " = {}\n", 1, true) then
    missing("the function " .. name)
  end
end
chain(Source(), Sink())
END
{
	"$SLUICE" modules --json | jq -r '.[] | .name as $n | "function \($n)(",
		(.parameters[] | "---@field \(.name)\(if .required then "" else "?" end) "),
		(.commands[] | "function node:\(.name)(", (.arguments[] | "---@field \(.name)"))'
	"$SLUICE" drivers --json | jq -r '.[] | "function port.\(.name)(",
		(.parameters[] | "---@field \(.name)\(if .required then "" else "?" end) ")'
} | sort -u >"$tmp/names"
run_ok "annotations are Lua and name all $(wc -l <"$tmp/names") names" \
	bash -c "cd '$tmp' && '$SLUICE' check names.lua"
for name in gate input cancel output ready wait kill; do
	expect "annotations have the method $name" 1 \
		"$(grep -cE "^function (Stop|Handle|Program):$name\(" "$tmp/sluice.lua")"
done
exit $script_failed
