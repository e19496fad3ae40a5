#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice top: --once here, what is on the screen of a terminal in lib/top_screen.py.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

cat >"$tmp/graph.yaml" <<'END'
nodes:
  make: {Source: {burst: 32, templates: ["ether src=02:aa:00:00:00:01 dst=02:aa:00:00:00:02 / ipv4"]}}
  two: Tee
  fwd: {L2Fwd: {entries: [{mac: "02:aa:00:00:00:02", gate: 1}]}}
  swap: MACSwap
  q: {Queue: {size: 128}}
  left: Sink
  bad: Discard
  tx: {PortOut: {port: out}}
ports:
  out: {null: {}}
graph:
  - make -> two[0] -> fwd[0] -> left
  - fwd[1] -> swap -> tx
  - two[1] -> q -> bad
  - two[2] -> left
END

code "no instance" 3 "$SLUICE" top --once
says "no instance: says so" "$tmp/err" "no instance of sluice runs"
"$SLUICE" run "$tmp/graph.yaml" --quiet --name shown >"$tmp/log" 2>&1 </dev/null &
pid=$!
script_pids+=($pid)
wait_for 30 "$SLUICE" ps

# On a machine that is too busy the worker may not run at all between two samples.
once_moves() {
	"$SLUICE" top --once --interval 200ms >"$tmp/out" && grep -q '^bad .*discarded' "$tmp/out"
}
wait_for 60 once_moves || not_ok "--once" "nothing moves"
says "--once: the time between the samples" "$tmp/out" '^shown, 0\.[0-9]* s between two samples$'
says "--once: nodes" "$tmp/out" '^make  *Source  *[<0-9]* %  *[0-9]*  *[0-9.]*[kM] '
says "--once: drops by reason" "$tmp/out" '^bad .*discarded [0-9.]*[kM]*/s$'
says "--once: ports" "$tmp/out" '^out  *null .*[0-9]'
says "--once: workers" "$tmp/out" '^worker  core  *busy'
code "--once --sort" 0 "$SLUICE" top --once --interval 100ms --sort node
expect "--once --sort: the order" "bad fwd left make q swap two tx" \
	"$(sed -n '4,11s/ .*//p' "$tmp/out" | paste -sd ' ')"
once_json_moves() {
	"$SLUICE" top --once --interval 200ms --json >"$tmp/out" &&
		jq -e '.nodes.tx.in_per_s > 0 and .nodes.make.out_per_s > 0' "$tmp/out"
}
wait_for 60 once_json_moves || not_ok "--once --json" "nothing moves"
holds "--once --json: rates" '.seconds > 0.15 and .nodes.make.out_per_s > 0 and
	.nodes.two.out_per_s > 2 * .nodes.two.in_per_s and .nodes.bad.dropped_per_s > 0 and .nodes.q.room == 128 and
	(.nodes | map(.share) | all(. == null or (. >= 0 and . <= 1))) and .workers[0].busy > 0 and
	.ports.out.tx_per_s > 0'
code "--json alone" 2 "$SLUICE" top --json
says "--json alone: says what to use" "$tmp/err" "sluice stats --watch --json"
code "--interval of nothing" 2 "$SLUICE" top --interval 0s
code "--sort by nothing" 2 "$SLUICE" top --sort shre
says "--sort by nothing: a near one" "$tmp/err" 'did you mean "share"'
code "no terminal" 3 "$SLUICE" top
says "no terminal: says so" "$tmp/err" "needs a terminal; .--once. prints"
code "stats has the same rates" 0 "$SLUICE" stats
says "stats has the same rates" "$tmp/out" '^make  *Source .*[0-9.]*[kM] '

python=
for one in python3 /usr/bin/python3; do
	"$one" -c 'import pyte' 2>/dev/null && python=$one
done
if [ -z "$python" ]; then
	skip "what is on the screen" "there is no pyte (Debian: python3-pyte)"
else
	"$python" tests/lib/top_screen.py "$SLUICE" "$tmp" $pid
	[ $? = 0 ] || script_failed=1
fi
exit $script_failed
