#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every file in graphs/ is loaded, written out, loaded again, and run to its end as it stands: graph
# files and scripts, which as YAML are the same graph.

. tests/lib/script.sh

# The counters that must agree at the end of every run: no packet is lost or made up.
balance='.nodes | to_entries[] | .value |
	(.in | add // 0) + .made == (.out | add // 0) + .consumed + .held + (.dropped | add // 0)'

for graph in graphs/*.yaml graphs/*.lua; do
	name=$(basename "$graph")
	sets=()
	# Sockets of scripts lie in a folder of this run.
	if [ "$name" != "${name%.lua}" ] && grep -q 'dir = {"/tmp"' "$graph"; then
		sets=(--set "dir=$tmp")
	fi
	run_ok "$name is checked" "$SLUICE" check "$graph" || continue
	"$SLUICE" show --format yaml "$graph" >"$tmp/shown.yaml" 2>"$tmp/out" &&
		"$SLUICE" check "$tmp/shown.yaml" >>"$tmp/out" 2>&1 &&
		"$SLUICE" show --format yaml "$tmp/shown.yaml" >"$tmp/again.yaml" 2>>"$tmp/out"
	if cmp -s "$tmp/shown.yaml" "$tmp/again.yaml"; then
		ok "$name is shown as a file that loads to the same graph"
	else
		cat "$tmp/out"
		not_ok "$name is shown as a file that loads to the same graph" "it is another"
	fi
	if [ "$name" = spread.yaml ] && [ "$(nproc)" -lt 2 ]; then
		skip "$name runs" "it needs two cores"
		continue
	fi
	timeout 60 "$SLUICE" run --json "$graph" "${sets[@]}" >"$tmp/run.json" 2>"$tmp/out" </dev/null
	code=$?
	if [ $code != 0 ]; then
		tail -n 20 "$tmp/out"
		not_ok "$name runs" "exit code $code"
		continue
	fi
	ok "$name runs"
	expect "$name keeps every packet" true \
		"$(tail -n 1 "$tmp/run.json" | jq -r "[$balance] | all" 2>&1)"
done

# Each part of a topology in a process of its own. The last one named ends by itself.
apart() {
	local graph=$1 link=$2
	local args=("$SLUICE" run --quiet "graphs/$graph.lua" --set "link=$link" --set "dir=$tmp")
	shift 2
	while [ $# -gt 1 ]; do
		background "${args[@]}" --set "side=$1" >>"$tmp/others" 2>&1
		shift
	done
	run_ok "$graph in processes, over $link" timeout 60 "${args[@]}" --set "side=$1" ||
		tail -n 5 "$tmp/others"
	for pid in "${script_pids[@]}"; do
		kill "$pid"
		wait "$pid"
		expect "$graph over $link: a peer ends well" 0 $?
	done
	script_pids=()
}

apart p2v vhost vnf switch
apart v2v vhost vnf2 switch vnf1
apart loopback vhost vnf switch
apart loopback memif vnf switch

# The capture goes through the demo whole: as many packets leave as came, in two captures.
packets() {
	tcpdump -n -r "$1" 2>/dev/null | wc -l
}
if command -v tcpdump >/dev/null; then
	expect "the demo sends all that it receives" "$(packets graphs/data/demo.pcap)" \
		$(($(packets build/out/demo-dns.pcap) + $(packets build/out/demo-rest.pcap)))
	expect "the demo's filter takes out name look-ups only" 0 \
		"$(tcpdump -n -r build/out/demo-dns.pcap not port 53 2>/dev/null | wc -l)"
	whole=$(tcpdump -n -x -r graphs/data/demo.pcap arp 2>/dev/null | sed 's/^[^ \t]* //')
	split=$(tcpdump -n -x -r build/out/split-arp.pcap 'not vlan' 2>/dev/null |
		sed 's/^[^ \t]* //')
	expect "the splitter leaves packets as they are" "$whole" "$split"
else
	skip "captures of the examples" "there is no tcpdump"
fi
exit $script_failed
