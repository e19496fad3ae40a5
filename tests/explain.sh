#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice explain from each node of each example: the way is found to its end, nothing is touched.

cd "$(dirname "$0")/.." && . tests/lib/script.sh && . tests/lib/instance.sh

# Every example, with ports that nothing comes from: explained from each of its nodes.
counted() {
	curl -s --unix-socket "$SLUICE_SOCKETS/still.sock" http://sluice/stats |
		jq -S '.nodes, .ports'
	for node in $bridges; do
		"$SLUICE" call "$node" list --json | jq -c 'del(.[].age_s)'
	done
}
# All that the sources were to make is gone.
settled() {
	curl -s --unix-socket "$SLUICE_SOCKETS/still.sock" http://sluice/stats | jq -e '.nodes |
		all(.[]; .module != "Source" or .made == 1) and (map(.made) | add) ==
		(map(.consumed + (.dropped | add // 0)) | add)'
}
for graph in graphs/*.yaml graphs/*.lua; do
	name=$(basename "$graph")
	"$SLUICE" show --format json "$graph" >"$tmp/shown.json" 2>/dev/null || continue
	jq 'del(.workers) | .ports = ((.ports // {}) | map_values({memory: {open: true}})) +
		{extra: {memory: {open: true}}} |
		.nodes |= map_values(if . == "Source" then {Source: {}} else . end |
			if type == "object" and has("Source") then .Source.count = 1 else . end) |
		.nodes.extra = {PortInc: {port: "extra"}} | .graph += ["extra -> Discard"]' \
		"$tmp/shown.json" >"$tmp/still.yaml"
	start still "$tmp/still.yaml" || { not_ok "$name" "$(cat "$tmp/still.log")"; continue; }
	bridges=$(jq -r '.nodes | to_entries[] | select((.value | objects | has("L2Fwd")) // false or
		.value == "L2Fwd") | .key' "$tmp/still.yaml")
	wait_for 60 settled || not_ok "$name" "its sources do not come to an end"
	counted >"$tmp/before"
	failed=
	for node in $(jq -r '.nodes | keys[]' "$tmp/still.yaml"); do
		steady apart "$SLUICE" explain "$node" "ether / ipv4 / udp dport=53" --json &&
			jq -e '.ways[0].end.what | . != "gone" and . != "unseen" and . != "unfinished"' \
				"$tmp/out" >/dev/null || failed="$failed $node $(cat "$tmp/err")"
	done
	expect "$name is explained from every node" "" "$failed"
	counted >"$tmp/after"
	if diff "$tmp/before" "$tmp/after" >"$tmp/diff"; then
		ok "$name is as it was after that"
	else
		head -20 "$tmp/diff"
		not_ok "$name is as it was after that" "counters or tables have changed"
	fi
	stop still "$pid"
done
exit $script_failed
