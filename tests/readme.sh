#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The README's graph and commands do what it says. Commands that build, install or take long are
# left to the other tests.

. tests/lib/script.sh

root=$PWD
mkdir -p "$tmp/build"
ln -s "$OUT" "$tmp/build/out"
ln -s "$root/graphs" "$tmp/graphs"
awk '/^```yaml$/ {on = 1; next} /^```$/ {on = 0} on' README.md >"$tmp/swap.yaml"
awk '/^```lua$/ {on = 1; next} /^```$/ {on = 0} on' README.md >"$tmp/swap.lua"
grep -E '^build/out/sluice ' README.md | sed 's/ *#.*//' >"$tmp/commands"
sed -nE 's/^sluice ([a-z-]+) .*/\1/p' README.md >"$tmp/names"
cd "$tmp" || exit 1

expect "the README has commands to run" 3 "$(wc -l <commands)"
while read -r line; do
	run_ok "$line" bash -c "${line//build\/out\/sluice/$SLUICE}"
done <commands
expect "the first graph sends all that it receives" \
	"$(tcpdump -n -r graphs/data/demo.pcap 2>/dev/null | wc -l)" \
	"$(tcpdump -n -r swapped.pcap 2>/dev/null | wc -l)"
while read -r name; do
	run_ok "sluice $name --help" "$SLUICE" "$name" --help
done <names
expect "the README names all commands" "" \
	"$("$SLUICE" --help | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p' | sort |
		comm -23 - <(sort names))"
exit $script_failed
