#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice trace and sluice explain, as whole programs: what they print, what they refuse, and that
# what runs is not disturbed by them.

cd "$(dirname "$0")/.." && . tests/lib/script.sh && . tests/lib/instance.sh

# Cycles and times are what they are.
figures() {
	sed -E 's/ +[0-9]+ cycles/  N cycles/; s/held for [0-9]+ [mnu]s/held for N/; s/([^ ])  +/\1  /g' "$1"
}

# same NAME FILE: whether the output is the text on standard input.
same() {
	cat >"$tmp/wanted"
	if diff "$tmp/wanted" "$2" >"$tmp/diff"; then
		ok "$1"
	else
		cat "$tmp/diff"
		not_ok "$1" "it differs"
	fi
}

cat >"$tmp/ways.yaml" <<'END'
ports: {out: {"null": {rx: false}}}
nodes:
  make: {Source: {burst: 4, templates: [ether / ipv4 / udp dport=53, ether / ipv4 / udp dport=80]}}
  dns: {Filter: {expression: udp port 53}}
  t: Tee
  q: Queue
  push: {VLANPush: {vid: 7}}
  tx: {PortOut: {port: out}}
graph:
  - make -> dns -> t -> q -> MACSwap -> tx
  - dns[miss] -> Discard
  - t[1] -> push
END
start ways "$tmp/ways.yaml"
ways=$pid

code "trace -n 1 FILTER" 0 "$SLUICE" trace -n 1 udp port 53
figures "$tmp/out" >"$tmp/text"
same "the way of a packet with a copy" "$tmp/text" <<'END'
1: ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv4 src=10.0.0.1 dst=10.0.0.2 / udp sport=1000 dport=53, 42 bytes
  make (Source)
  dns[match] (Filter)  N cycles
  t (Tee)  N cycles
    a copy by [1]
      push (VLANPush)  N cycles  dropped: unconnected (the gate leads nowhere)
  q (Queue)  N cycles  held for N
  MACSwap#1 (MACSwap)  N cycles  ether src 02:00:00:00:00:01 -> 02:00:00:00:00:02, ether dst 02:00:00:00:00:02 -> 02:00:00:00:00:01
  tx (PortOut)  N cycles  sent by port out
END
code "trace --json" 0 "$SLUICE" trace -n 1 --json udp port 80
jq -c 'del(.. | .cycles?, .worker?)' "$tmp/out" >"$tmp/text"
same "the same as JSON" "$tmp/text" <<'END'
{"packet":1,"frame":"ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv4 src=10.0.0.1 dst=10.0.0.2 / udp sport=1000 dport=80","length":42,"ways":[{"steps":[{"node":"make","type":"Source","out":0},{"node":"dns","type":"Filter","in":0,"out":1,"out_name":"miss"},{"node":"Discard#1","type":"Discard","in":0}],"end":{"what":"dropped","reason":"discarded","help":"reached this node"}}]}
{"end":{"why":"all","packets":1,"asked":1,"events_lost":0}}
END
code "trace --node" 0 "$SLUICE" trace -n 1 --node push
says "a way that begins at a node" "$tmp/out" '^  push (VLANPush) .*dropped: unconnected'
code "trace of ten" 0 "$SLUICE" trace
expect "ten if no other number is given" 10 "$(grep -c '^[0-9]*: ' "$tmp/out")"
code "trace --summary" 0 "$SLUICE" trace --summary -n 20000 --timeout 60s
expect "a summary counts all packets" 20000 "$(awk '/^[0-9]+ packets/ {n += $1} END {print n}' "$tmp/out")"
expect "there are two ways" 2 "$(grep -c '^[0-9]* packets' "$tmp/out")"
code "trace --sample" 0 "$SLUICE" trace -n 2 --sample 100
code "nothing comes in time" 1 "$SLUICE" trace --timeout 100ms ip6
says "says how many came" "$tmp/err" '0 of 10 packets came in time'

code "a filter that is none" 2 "$SLUICE" trace udp and
says "says what is wrong with it" "$tmp/err" '"udp and" is no pcap-filter expression'
code "no such node" 2 "$SLUICE" trace --node dnx
says "says which is near" "$tmp/err" 'there is no node "dnx"; did you mean "dns"?'
code "a number that is none" 2 "$SLUICE" trace -n many
says "says so" "$tmp/err" 'n: "many" is not a number'
code "no packets" 2 "$SLUICE" trace -n 0
code "too short a time" 2 "$SLUICE" trace --timeout 1ns

code "explain" 0 "$SLUICE" explain make "ether / ipv4 / udp dport=53"
figures "$tmp/out" >"$tmp/text"
same "what would become of a packet" "$tmp/text" <<'END'
ether src=02:00:00:00:00:01 dst=02:00:00:00:00:02 / ipv4 src=10.0.0.1 dst=10.0.0.2 / udp sport=1000 dport=53, 42 bytes
  make (Source)
  dns[match] (Filter)  N cycles
  t (Tee)  N cycles
    a copy by [1]
      push (VLANPush)  N cycles  would be dropped: unconnected (the gate leads nowhere)
  q (Queue)  N cycles
  MACSwap#1 (MACSwap)  N cycles  ether src 02:00:00:00:00:01 -> 02:00:00:00:00:02, ether dst 02:00:00:00:00:02 -> 02:00:00:00:00:01
  tx (PortOut)  N cycles  would be sent by port out
END
code "explain in hexadecimal" 0 "$SLUICE" explain dns 02000000000202000000000186dd --json
holds "explain --json" '.length == 14 and .parked_ns > 0 and .ways[0].steps[0].node == "dns" and
	.ways[0].end.reason == "discarded"'
code "explain: no packet" 2 "$SLUICE" explain dns "ether / ipvx"
says "says what it should be" "$tmp/err" 'did you mean "ipv4"'
code "explain: too short" 2 "$SLUICE" explain dns 0102
code "explain: no such node" 2 "$SLUICE" explain nowhere "ether / ipv4"
code "explain: no such gate" 2 "$SLUICE" explain dns "ether / ipv4" --gate 3
says "says which there are" "$tmp/err" "is no input gate of Filter 'dns'"

# What the guide shows.
awk '/^```yaml$/ {on = 1; next} /^```$/ {on = 0} on' docs/trace.md >"$tmp/guide.yaml"
awk '/^```/ {on = !other && !on && $0 == "```"; other = !other && !on && $0 != "```"; next}
	on' docs/trace.md >"$tmp/guide"
start guide "$tmp/guide.yaml"
code "the guide's trace" 0 "$SLUICE" trace -n 1 --name guide
figures "$tmp/out" >"$tmp/text"
figures "$tmp/guide" | same "prints what the guide shows" "$tmp/text"
stop guide "$pid"

# Several at once, one of which goes before its end; and the graph changes under them.
"$SLUICE" trace --timeout 60s ip6 >"$tmp/idle" 2>&1 &
idle=$!
several() {
	local status
	for again in 1 2 3 4 5 6 7 8 9 10; do
		"$SLUICE" trace -n 500 --json >"$tmp/many.$1" 2>&1
		status=$?
		grep -q 'did not come to a stop within 100 ms' "$tmp/many.$1" || break
	done
	return $status
}
for i in 1 2 3 4; do
	several $i &
	many[i]=$!
done
sed 's/vid: 7/vid: 8/' "$tmp/ways.yaml" >"$tmp/other.yaml"
code "the graph changes under traces" 0 "$SLUICE" reload "$tmp/other.yaml"
for i in 1 2 3 4; do
	finish "${many[i]}"
	expect "trace $i of several ends" "0 501" "$code $(wc -l <"$tmp/many.$i")"
done
kill "$idle"
finish "$idle"
"$SLUICE" trace --timeout 60s ip6 >"$tmp/last" 2>&1 &
last=$!
code "trace goes on after a client left" 0 "$SLUICE" trace -n 1
stop ways "$ways"
finish "$last"
expect "a trace ends with the graph" 1 "$code"

# Numbered packets pass while 100 traces come and go: each arrives once, in order.
cat >"$tmp/load.yaml" <<'END'
nodes:
  make:
    Source:
      templates: [ether / ipv4 / udp / pad 60]
      fields: [{field: bytes, offset: 42, bytes: 6, values: 281474976710656}]
  a: MACSwap
  q: {Queue: {backpressure: "on"}}
  check:
    LuaNode:
      code: |
        local expected = 0
        function process(batch)
          for _, packet in batch:packets() do
            if packet:u48(42) == expected then expected = expected + 1 else packet:gate(1) end
          end
        end
graph: ["make -> a -> q -> check -> Sink", "check[1] -> Discard"]
END
start load "$tmp/load.yaml"
load=$pid
good=0
for i in $(seq 100); do
	steady apart "$SLUICE" trace -n 20 --json
	code=$?
	ways=$(jq -c 'select(.ways) | [.ways[0].steps[].node]' "$tmp/out" | sort | uniq -c | tr -s ' ')
	if [ "$code:$ways" = '0: 20 ["make","a","q","check","Sink#1"]' ]; then
		good=$((good + 1))
	else
		echo "trace $i: $code $ways $(cat "$tmp/err")"
	fi
done
expect "100 traces under load" 100 $good
code "explain: a script" 0 "$SLUICE" explain a "ether / ipv4"
says "says that it cannot be" "$tmp/out" 'check (LuaNode) cannot be explained without changing it'
code "stats" 0 "$SLUICE" stats --json
holds "all packets arrived in order" '.nodes["Discard#1"].in[0] == 0 and
	.nodes["Sink#1"].in[0] > 10000'

# One who traces and reads nothing has taken what the sockets hold, and is there to the end.
cat >"$tmp/stalled.py" <<'END'
import array, fcntl, socket, sys, termios, time

client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
body = b'{"n": 10000000, "timeout": "1h"}'
client.sendall(b"POST /trace HTTP/1.1\r\nHost: sluice\r\nContent-Type: application/json\r\n"
               b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
waits, before, same = array.array("i", [0]), 0, 0
while same < 10:
    time.sleep(0.05)
    fcntl.ioctl(client, termios.FIONREAD, waits)
    same = same + 1 if waits[0] == before > 10000 else 0
    before = waits[0]
print("stalled", flush=True)
time.sleep(3600)
END
background python3 "$tmp/stalled.py" "$SLUICE_SOCKETS/load.sock" >"$tmp/stalled"
wait_for 60 test -s "$tmp/stalled"
expect "a client that reads no more" stalled "$(cat "$tmp/stalled")"
stop load "$load"
exit $script_failed
