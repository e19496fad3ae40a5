#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Captures of graphs that run: the packets byte for byte, filters, samples, both directions, readers
# that are slow, killed or gone, and graphs that change meanwhile. Most is in lib/capture_check.py.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

live() {
	timeout 60 bash -c '"$SLUICE" capture make | tcpdump -nr - -c 3' >"$tmp/out" 2>"$tmp/err"
}

five() {
	timeout 60 "$SLUICE" capture 'make[0]' -c 5 -w "$tmp/five.pcapng" --json 2>"$tmp/err"
}

interrupted() {
	"$SLUICE" capture only -w "$tmp/int.pcapng" 2>"$tmp/err" &
	client=$!
	script_pids+=($client)
	wait_for 30 eval "[ -s $tmp/int.pcapng ] || ! kill -0 $client"
	kill -INT $client 2>/dev/null
	wait $client
}

terminal() {
	script -qc "$SLUICE capture make -c 2" /dev/null </dev/null >"$tmp/err" 2>&1
	cp "$tmp/err" "$tmp/out"
}

cat >"$tmp/web.yaml" <<'END'
nodes:
  make: {Source: {burst: 4, templates: ["ether / ipv4 / udp dport=53 / pad 80"]}}
  only: {Filter: {expression: udp}}
  fwd: {L2Fwd: {size: 64}}
graph: ["make -> only -> fwd -> Sink"]
END
"$SLUICE" run "$tmp/web.yaml" --quiet --name web >"$tmp/log" 2>&1 </dev/null &
script_pids+=($!)
wait_for 30 curl -sf --unix-socket "$SLUICE_SOCKETS/web.sock" http://sluice/

# What is wrong.
code "no such node" 2 "$SLUICE" capture mkae
says "no such node: a near one" "$tmp/err" '^sluice: error: there is no node "mkae"; did you mean "make"?$'
code "no such thing" 2 "$SLUICE" capture zork
says "no such thing" "$tmp/err" '^sluice: error: there is no node or port "zork"$'
code "no such gate" 2 "$SLUICE" capture 'only[mis]'
says "no such gate: a near one" "$tmp/err" 'Filter "only" has no output gate "mis"; did you mean "miss"?'
code "a gate that leads nowhere" 2 "$SLUICE" capture 'only[miss]'
says "a gate that leads nowhere" "$tmp/err" 'nothing leaves "only" by gate miss: it leads nowhere'
code "input gates of a source" 2 "$SLUICE" capture '[0]make'
says "input gates of a source" "$tmp/err" 'Source "make" has no input gates'
code "a bad filter" 2 "$SLUICE" capture make 'udp portt 3'
says "a bad filter: libpcap's words" "$tmp/err" 'is no pcap-filter expression: .*syntax error'
code "two faults" 2 "$SLUICE" capture make -c x --snaplen 3
says "two faults: the first" "$tmp/err" 'count: "x" is not a number'
says "two faults: the second" "$tmp/err" 'snaplen: "3" is out of range, it should be 14 to 262144'
code "half a gate" 2 "$SLUICE" capture 'make[0'
code "a file that cannot be" 3 "$SLUICE" capture make -w /nonexistent/file

# Another program reads while it goes on.
steady live
expect "tcpdump reads the stream live" 3 "$(grep -c 'IP 10.0.0.1.*> 10.0.0.2.53' "$tmp/out")"
says "who reads no more ends it" "$tmp/err" '^[0-9]* captured'
steady five
expect "to a file" 0 $?
expect "the file has as many" 5 "$(tcpdump -nr "$tmp/five.pcapng" 2>/dev/null | wc -l)"
cp "$tmp/err" "$tmp/out"
holds "statistics as JSON" '.captured == 5 and .links[0].name == "make[0]" and
	.links[0].accepted <= .links[0].seen and .dropped + 5 <= .links[0].accepted'
steady interrupted
expect "Ctrl-C ends it cleanly" 0 $?
says "and says what it did" "$tmp/err" '^[0-9]* captured, [0-9]* dropped by the capture'
run_ok "the file ends with a whole block" tcpdump -nr "$tmp/int.pcapng" -w /dev/null
if script -qc true /dev/null >/dev/null 2>&1; then
	steady terminal
	expect "a terminal gets words" 2 \
		"$(grep -c '^[0-9:.]* make\[0\] 80: ether .* / ipv4 .* dport=53 / pad 80' "$tmp/out")"
else
	skip "a terminal gets words" "there is no script(1)"
fi

python3 tests/lib/capture_check.py "$SLUICE" "$tmp" || script_failed=1
exit $script_failed
