#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# InfluxDB: an instance writes to a real one that comes late, stops, goes and comes again, and
# `sluice stats --influx` prints what it takes.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

cat >"$tmp/graph.yaml" <<'END'
nodes: {make: {Source: {burst: 8}}, q: {Queue: {size: 16, backpressure: "off"}}, fwd: L2Fwd}
graph: ["make -> q -> fwd -> Sink"]
END
"$SLUICE" run "$tmp/graph.yaml" --quiet --name plain 2>"$tmp/plain.log" &
script_pids+=($!)
wait_for 30 curl -sf --unix-socket "$SLUICE_SOCKETS/plain.sock" http://sluice/
code "stats --influx" 0 "$SLUICE" stats --influx
says "stats --influx: a node" "$tmp/out" '^sluice_node,instance=plain,node=q,module=Queue in_packets=[0-9]*i,.* [0-9]\{19\}$'
expect "stats --influx: nothing but lines" "" "$(grep -vE '^sluice_[a-z]+(,[^ ]+)? [^ ]+ [0-9]{19}$' "$tmp/out")"
cp "$tmp/out" "$tmp/lines"
"$SLUICE" stats --influx --watch 100ms 2>/dev/null | grep --line-buffered ^sluice_run | head -n 3 >"$tmp/out"
expect "stats --influx --watch: again and again" 3 "$(awk '{print $3}' "$tmp/out" | sort -u | wc -l)"
code "stats --influx --json" 2 "$SLUICE" stats --influx --json
code "stats --influx of one node" 0 "$SLUICE" stats --influx q
expect "stats --influx of one node: no other" "" "$(grep -v 'node=q,\|^sluice_run' "$tmp/out")"
for bad in "--influx=8086" "--influx-interval=1ms" "--influx-interval=often"; do
	code "run $bad" 2 "$SLUICE" run "$tmp/graph.yaml" --quiet "$bad"
done
"$SLUICE" stop --wait --name plain >/dev/null
if ! command -v influxd >/dev/null; then
	skip "writing to InfluxDB" "there is no influxd (build/tools.sh influxdb)"
	exit $script_failed
fi

http=$(port_free) rpc=$(port_free)
url=http://127.0.0.1:$http
cat >"$tmp/influxdb.conf" <<END
reporting-disabled = true
bind-address = "127.0.0.1:$rpc"
[meta]
  dir = "$tmp/influx/meta"
[data]
  dir = "$tmp/influx/data"
  wal-dir = "$tmp/influx/wal"
[http]
  bind-address = "127.0.0.1:$http"
[monitor]
  store-enabled = false
END
influx_start() {
	influxd -config "$tmp/influxdb.conf" >>"$tmp/influxd.log" 2>&1 &
	influxd=$!
	script_pids+=($influxd)
	wait_for 30 curl -sf "$url/ping"
}
# query TEXT: the first row that it finds, as JSON.
query() {
	curl -s --max-time 10 -G "$url/query" --data-urlencode db=sluice --data-urlencode "q=$1" |
		jq -c '.results[0].series[0] // empty | (.tags // {}) + ([.columns, .values[0]] | transpose | map({(.[0]): .[1]}) | add)'
}
# times TAG: how many times of this instance are stored.
times() {
	query "SELECT COUNT(in_packets) AS n FROM sluice_node WHERE instance = '$1' AND node = 'q'" | jq .n
}
more_than() {
	[ "$(times "$1")" -gt "$2" ] 2>/dev/null
}
told() {
	grep -q "$1" "$tmp/log"
}

"$SLUICE" run "$tmp/graph.yaml" --quiet --name writer --influx "http://me:secret@127.0.0.1:$http/write?db=sluice" \
	--influx-interval 100ms 2>"$tmp/log" &
pid=$!
script_pids+=($pid)
wait_for 30 told "counters cannot be written"
says "a server that is away is told of" "$tmp/log" "^sluice: warning: the counters cannot be written to http://127.0.0.1:$http/write: "
expect "and the password is not" 0 "$(grep -c secret "$tmp/log")"
influx_start || not_ok "InfluxDB starts" "$(tail -n 3 "$tmp/influxd.log")"
curl -s -o /dev/null -XPOST "$url/query" --data-urlencode "q=CREATE DATABASE sluice"
if wait_for 40 more_than writer 3; then
	ok "the counters come, once it is there"
else
	not_ok "the counters come, once it is there" "$(cat "$tmp/log")"
fi
wait_for 20 told "are written to"
says "and that is told" "$tmp/log" '^sluice: note: the counters are written to .* again; [0-9]* times* '
query "SELECT * FROM sluice_node WHERE node = 'q' ORDER BY time DESC LIMIT 1" >"$tmp/out"
holds "what is stored" '.instance == "writer" and .module == "Queue" and .in_packets > 0 and
	.batches > 0 and .sampled_cycles > 0'
query "SELECT * FROM sluice_drops WHERE node = 'fwd' ORDER BY time DESC LIMIT 1" >"$tmp/out"
holds "drops by reason" '.packets >= 0 and (.reason | length) > 0'
query "SELECT * FROM sluice_worker ORDER BY time DESC LIMIT 1" >"$tmp/out"
holds "workers" '.worker == "0" and .busy_cycles > 0'
query "SELECT derivative(last(in_packets), 1s) AS r FROM sluice_node WHERE node = 'q' AND time > now() - 1m GROUP BY time(200ms) LIMIT 1" >"$tmp/out"
holds "rates" '.r > 0'
curl -s -o /dev/null -w '%{http_code}' -XPOST "$url/write?db=sluice" --data-binary "@$tmp/lines" >"$tmp/out"
expect "stats --influx is taken" 204 "$(cat "$tmp/out")"

# A server that takes the connection and says nothing.
before_restart=$(grep -c "cannot be written" "$tmp/log")
kill -STOP $influxd
before=$(curl -s --unix-socket "$SLUICE_SOCKETS/writer.sock" http://sluice/nodes/make | jq .made)
for i in 1 2 3 4 5; do
	curl -s -o /dev/null --max-time 2 -w '%{http_code} ' \
		--unix-socket "$SLUICE_SOCKETS/writer.sock" http://sluice/stats
done >"$tmp/out"
expect "a server that hangs holds up nobody" "200 200 200 200 200 " "$(cat "$tmp/out")"
after=$(curl -s --unix-socket "$SLUICE_SOCKETS/writer.sock" http://sluice/nodes/make | jq .made)
expect "and packets pass" 1 "$((after > before))"
kill -CONT $influxd
kill $influxd
wait $influxd 2>/dev/null
again() {
	[ "$(grep -c "cannot be written" "$tmp/log")" -gt "$before_restart" ]
}
wait_for 20 again
influx_start
count=$(times writer)
if wait_for 60 more_than writer "${count:-0}"; then
	ok "it writes on after a restart"
else
	not_ok "it writes on after a restart" "$(cat "$tmp/log")"
fi
query "SELECT last(failures) AS failures FROM sluice_export" >"$tmp/out"
holds "failures are counted" '.failures > 0'
kill $pid
wait $pid
expect "a clean end" 0 $?

# The last counters are those of the end.
"$SLUICE" run "$tmp/graph.yaml" --json --name last --for 500ms --influx "$url/write?db=sluice" \
	>"$tmp/out" 2>"$tmp/log"
expect "a run that ends" 0 $?
made=$(tail -n 1 "$tmp/out" | jq .nodes.make.made)
expect "the last counters are there" "$made" \
	"$(query "SELECT last(made_packets) AS n FROM sluice_node WHERE instance = 'last' AND node = 'make'" | jq .n)"

# A server that hangs does not hold up the end.
kill -STOP $influxd
start=$SECONDS
"$SLUICE" run "$tmp/graph.yaml" --quiet --name hung --for 200ms --influx "$url/write?db=sluice" 2>"$tmp/log"
expect "an end while the server hangs: its code" 0 $?
expect "an end while the server hangs: in time" 1 $((SECONDS - start < 10))
says "an end while the server hangs: told" "$tmp/log" "the last counters did not reach\|cannot be written"
kill -CONT $influxd

exit $script_failed
