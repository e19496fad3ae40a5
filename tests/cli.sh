#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The command line: help, exit codes, JSON, what is printed where. Signals are in signals.sh.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

cat >"$tmp/ends.yaml" <<'END'
vars: {count: 1000}
nodes: {make: {Source: {count: $count}}}
graph: [make -> Sink]
END
cat >"$tmp/endless.yaml" <<'END'
ports: {left: "null", right: "null"}
nodes: {rx: {PortInc: {port: left}}, tx: {PortOut: {port: right}}}
graph: [rx -> tx]
END
cat >"$tmp/wrong.yaml" <<'END'
nodes: {make: {Source: {cuont: 1, burst: no}}}
graph: [make -> Sink]
END

# Help.
code "help" 0 "$SLUICE" --help
commands=$(sed -n 's/^  \([a-z-]*\) .*/\1/p' "$tmp/out")
for command in $commands; do
	[ "$command" = version ] && continue
	code "$command --help" 0 "$SLUICE" "$command" --help
	says "$command --help says how to use it" "$tmp/out" "^Usage: sluice $command"
	code "$command with an unknown option" 2 "$SLUICE" "$command" --no-such-option
done
for command in run check show test; do
	code "$command without a file" 2 "$SLUICE" "$command"
	code "$command of a file that is not there" 2 "$SLUICE" "$command" "$tmp/none.yaml"
	says "$command names the missing file" "$tmp/err" "none.yaml: error: "
done
code "no command" 2 "$SLUICE"
code "unknown command" 2 "$SLUICE" chekc
says "unknown command: a near one" "$tmp/err" 'did you mean "check"'

# check.
code "check of a good graph" 0 "$SLUICE" check "$tmp/ends.yaml"
code "check of a bad graph" 2 "$SLUICE" check "$tmp/wrong.yaml"
says "check reports the first fault" "$tmp/err" "wrong.yaml:1:25: error: "
says "check reports the second fault" "$tmp/err" "wrong.yaml:1:42: error: "
code "check --json of a good graph" 0 "$SLUICE" check --json "$tmp/ends.yaml"
holds "check --json: good" '.good and .nodes == 2 and .links == 1 and .errors == []'
code "check --json of a bad graph" 2 "$SLUICE" check --json "$tmp/wrong.yaml"
holds "check --json: bad" '(.good | not) and (.errors | length) == 2 and
	.errors[0].line == 1 and .errors[0].column == 25 and
	(.errors[0].file | endswith("wrong.yaml")) and (.errors[0].message | length) > 10'
code "--set" 0 "$SLUICE" check "$tmp/ends.yaml" --set count=5
code "--set of the wrong type" 2 "$SLUICE" check "$tmp/ends.yaml" --set count=x
code "--set of an unknown name" 2 "$SLUICE" check "$tmp/ends.yaml" --set cuont=5
says "--set of an unknown name: a near one" "$tmp/err" 'did you mean "count"'
code "--set twice" 2 "$SLUICE" check "$tmp/ends.yaml" --set count=5 --set count=6
code "--set without a value" 2 "$SLUICE" check "$tmp/ends.yaml" --set count
code "two files" 2 "$SLUICE" check "$tmp/ends.yaml" "$tmp/ends.yaml"
printf 'workers: [{core: 1023}]\n' | cat "$tmp/ends.yaml" - >"$tmp/core.yaml"
code "check of a graph for another machine" 3 "$SLUICE" check "$tmp/core.yaml"
code "--module that is not there" 2 "$SLUICE" check "$tmp/ends.yaml" --module "$tmp/none.so"

# run.
code "run of what ends by itself" 0 "$SLUICE" run "$tmp/ends.yaml"
says "run shows the nodes" "$tmp/out" '^make  *Source  *1,000'
code "run --quiet" 0 "$SLUICE" run "$tmp/ends.yaml" --quiet
expect "run --quiet prints nothing" "" "$(cat "$tmp/out")"
code "run --json" 0 "$SLUICE" run "$tmp/ends.yaml" --json --set count=123
holds "run --json: the counters" '.nodes.make.module == "Source" and .nodes.make.made == 123 and
	.nodes.make.out == [123] and .nodes["Sink#1"].in == [123] and
	.nodes["Sink#1"].consumed == 123 and .nodes["Sink#1"].held == 0 and
	.nodes["Sink#1"].dropped == {} and (.time_ns | type) == "number" and .seconds > 0 and
	.ports == {} and (.workers | length) == 1 and (.workers[0] | has("core", "polls",
	"busy_cycles", "idle_cycles"))'
expect "run --json: one line" 1 "$(wc -l <"$tmp/out")"
code "run --for --stats" 0 "$SLUICE" run "$tmp/endless.yaml" --json --for 400ms --stats 100ms
holds "run --stats: the counters" '.nodes.rx.out[0] >= 0 and .ports.left.rx_packets >= 0'
expect "run --stats: a line an interval" yes \
	"$([ "$(wc -l <"$tmp/out")" -ge 2 ] && echo yes)"
code "run --stats as tables" 0 "$SLUICE" run "$tmp/endless.yaml" --for 300ms --stats 100ms
expect "run --stats: a table an interval" yes \
	"$([ "$(grep -c '^rx  *PortInc' "$tmp/out")" -ge 2 ] && echo yes)"
for bad in 10 0s 1x -5s ''; do
	code "run --for \"$bad\"" 2 "$SLUICE" run "$tmp/ends.yaml" --for="$bad"
	code "run --stats \"$bad\"" 2 "$SLUICE" run "$tmp/ends.yaml" --stats="$bad"
done
code "run of a bad graph" 2 "$SLUICE" run "$tmp/wrong.yaml"
code "run on a core that is not there" 3 "$SLUICE" run "$tmp/core.yaml"
timeout 60 "$SLUICE" run "$tmp/ends.yaml" >/dev/full 2>"$tmp/err"
expect "run with a full disk" 3 $?
says "run with a full disk says so" "$tmp/err" "No space left"
{
	timeout 60 "$SLUICE" run "$tmp/endless.yaml" --json --stats 20ms
	echo $? >"$tmp/code"
} 2>"$tmp/err" | head -n 1 >"$tmp/out"
holds "run into a reader that goes: it had a line" '.nodes.rx'
expect "run into a reader that goes: it stops" 0 "$(cat "$tmp/code")"

# What fails only when it runs.
cat >"$tmp/capture.yaml" <<END
vars: {in: $tmp/cut.pcap}
ports: {left: {pcap: {rx: \$in}}}
nodes: {rx: {PortInc: {port: left}}}
graph: [rx -> Sink]
END
head -c 5000 graphs/data/demo.pcap >"$tmp/cut.pcap"
code "run of a cut capture" 1 "$SLUICE" run "$tmp/capture.yaml"
says "run of a cut capture names file and packet" "$tmp/err" 'cut.pcap": packet 21'
says "run of a cut capture sends what was readable" "$tmp/out" '^rx  *PortInc  *20 '
code "run of no capture" 2 "$SLUICE" run "$tmp/capture.yaml" --set in="$tmp/wrong.yaml"
says "run of no capture says so" "$tmp/err" 'wrong.yaml" is no pcap or pcapng capture'
code "run of a capture that is not there" 2 "$SLUICE" run "$tmp/capture.yaml" --set in=none.pcap
code "check of a capture that is not there" 0 "$SLUICE" check "$tmp/capture.yaml" --set in=none.pcap
printf 'memory: 4000GiB\n' | cat - "$tmp/ends.yaml" >"$tmp/memory.yaml"
code "run without enough memory" 3 "$SLUICE" run "$tmp/memory.yaml"
says "run without enough memory says how much" "$tmp/err" "4096000 MiB"
cat >"$tmp/socket.yaml" <<END
ports: {left: {vhost: {path: $tmp/socket}}}
nodes: {rx: {PortInc: {port: left}}}
graph: [rx -> Sink]
END
background "$SLUICE" run "$tmp/socket.yaml" --quiet
wait_for 20 test -S "$tmp/socket"
code "run with a busy socket" 3 "$SLUICE" run "$tmp/socket.yaml"
says "run with a busy socket says who has it" "$tmp/err" "is served by process ${script_pids[-1]}"
kill -KILL "${script_pids[-1]}"
wait "${script_pids[-1]}" 2>/dev/null
code "run with a stale socket" 0 "$SLUICE" run "$tmp/socket.yaml" --for 100ms

# show.
export LC_ALL=C.UTF-8
for graph in "$tmp/ends.yaml" "$tmp/endless.yaml" graphs/*.yaml; do
	name=$(basename "$graph")
	"$SLUICE" check "$graph" >/dev/null 2>&1 || continue
	for format in yaml json; do
		"$SLUICE" show "$graph" --format $format >"$tmp/1.yaml" 2>"$tmp/err"
		"$SLUICE" show "$tmp/1.yaml" --format $format >"$tmp/2.yaml" 2>>"$tmp/err"
		if [ -s "$tmp/1.yaml" ] && cmp -s "$tmp/1.yaml" "$tmp/2.yaml"; then
			ok "show $name as $format and back"
		else
			not_ok "show $name as $format and back" "$(cat "$tmp/err")"
		fi
	done
	jq -e . "$tmp/1.yaml" >/dev/null 2>&1
	expect "show $name as json is JSON" 0 $?
	"$SLUICE" show "$graph" >"$tmp/out"
	for node in $("$SLUICE" show "$graph" --json | jq -r '.nodes | keys[]'); do
		grep -q "[○●] .*$node" "$tmp/out" || not_ok "show $name as text" "$node is missing"
	done
	LC_ALL=C "$SLUICE" show "$graph" | LC_ALL=C grep -q '[^ -~]'
	expect "show $name without Unicode" 1 $?
	if command -v dot >/dev/null; then
		"$SLUICE" show "$graph" --format dot | dot -Tplain >"$tmp/out" 2>"$tmp/err"
		expect "show $name as dot" "0 " "$? $(cat "$tmp/err")"
		"$SLUICE" show "$graph" --format svg >"$tmp/out"
		says "show $name as svg" "$tmp/out" "</svg>"
	else
		skip "show $name as dot and svg" "Graphviz is not installed"
	fi
done
code "show as svg without Graphviz" 3 env PATH="$tmp" "$SLUICE" show "$tmp/ends.yaml" --format svg
says "show as svg without Graphviz names the package" "$tmp/err" "graphviz"
code "show in an unknown format" 2 "$SLUICE" show "$tmp/ends.yaml" --format jsno
says "show in an unknown format: a near one" "$tmp/err" 'did you mean "json"'

# test.
cat >"$tmp/bridge.test.yaml" <<'END'
graph:
  ports: {left: "null", right: "null"}
  nodes:
    rx: {PortInc: {port: left}}
    bridge: {L2Fwd: {ageing: 10s}}
    tx: {PortOut: {port: right}}
  graph: [rx -> bridge, "bridge[1] -> tx"]
cases:
  - name: floods
    in: {left: [ether dst=ff:ff:ff:ff:ff:ff / arp]}
    out: {right: [ether dst=ff:ff:ff:ff:ff:ff / arp]}
    counters: {rx.made: 1, left.rx_packets: 1, "bridge.in[0]": 1, bridge.dropped: 0}
  - name: fails # stays
    in: {left: [ether dst=ff:ff:ff:ff:ff:ff / arp op=1, ff ff ff ff ff ff 02 02 02 02 02 02 08 00]}
    out: {right: [ether dst=ff:ff:ff:ff:ff:ff / arp op=2]}
    counters: {rx.made: 7}
  - name: commands
    steps:
      - {in: {left: [ether dst=ff:ff:ff:ff:ff:ff / arp]}}
      - call: {bridge: list}
        reply: []
      - wait: 60s
      - call: {bridge: list}
        reply: []
      - call: {bridge: {add: {mac: "02:00:00:00:00:09", gate: 77}}}
        error: "out of range"
  - name: later
    skip: it is not its time
END
cp "$tmp/bridge.test.yaml" "$tmp/copy.yaml"
code "test with failures" 1 "$SLUICE" test "$tmp"
says "test: what passed" "$tmp/out" '^passed .*bridge.test.yaml:9: floods$'
says "test: what failed" "$tmp/out" '^failed .*bridge.test.yaml:13: fails$'
says "test: where bytes differ" "$tmp/out" 'right, packet 1: differs in byte 21$'
says "test: the packet that was expected" "$tmp/out" '^    - ether .* / arp op=2 '
says "test: the packet that came" "$tmp/out" '^    + ether .* / arp op=1 '
says "test: a packet that was not expected" "$tmp/out" 'right, packet 2: was not expected$'
says "test: a counter" "$tmp/out" 'bridge.test.yaml:16:25: rx.made is 2, it should be 7$'
says "test: what was skipped" "$tmp/out" '^skipped .*: later (it is not its time)$'
says "test: the summary" "$tmp/out" '^1 passed, 2 failed, 1 skipped$'
code "test --json" 1 "$SLUICE" test "$tmp/bridge.test.yaml" --json
holds "test --json" '.passed == 1 or (.case and .file and (.faults | type) == "array")'
code "test --update" 0 "$SLUICE" test "$tmp/bridge.test.yaml" --update
code "test after --update" 0 "$SLUICE" test "$tmp/bridge.test.yaml"
says "test after --update: the summary" "$tmp/out" '^3 passed, 0 failed, 1 skipped$'
says "test --update keeps comments" "$tmp/bridge.test.yaml" 'name: fails # stays$'
expect "test --update keeps what was right" "" \
	"$(diff <(sed -n 1,14p "$tmp/copy.yaml") <(sed -n 1,14p "$tmp/bridge.test.yaml"))"
sed 's/in: {left/in: {lfet/; s/counters/conuters/' "$tmp/copy.yaml" >"$tmp/wrong.test.yaml"
code "test of a bad file" 2 "$SLUICE" test "$tmp/wrong.test.yaml"
says "test of a bad file: a near key" "$tmp/err" 'did you mean "counters"'
sed 's/in: {left/in: {lfet/' "$tmp/copy.yaml" >"$tmp/wrong.test.yaml"
code "test of a port that is not there" 2 "$SLUICE" test "$tmp/wrong.test.yaml"
says "test of a port that is not there: its name" "$tmp/err" 'no port "lfet"'
mkdir "$tmp/empty"
code "test of an empty folder" 2 "$SLUICE" test "$tmp/empty"

# The reference.
for what in modules drivers; do
	code "$what" 0 "$SLUICE" $what
	code "$what --json" 0 "$SLUICE" $what --json
	holds "$what --json: all have what it takes" 'all(.[]; .name and .help and .parameters and
		all(.parameters[]; .name and .type and .help and (.required | type) == "boolean"
		and (.required != has("default"))))'
	names=$(jq -r '.[].name' "$tmp/out")
	code "$what --format markdown" 0 "$SLUICE" $what --format markdown
	expect "$what --format markdown: all" "$(echo "$names" | wc -l)" "$(grep -c '^## ' "$tmp/out")"
	for name in $names; do
		"$SLUICE" $what "$name" >"$tmp/out" && "$SLUICE" $what "$name" --json | jq -e . >/dev/null
		expect "$what $name" "0 $name" "$? $(head -n 1 "$tmp/out" | cut -d: -f1)"
	done
done
code "modules of an unknown name" 2 "$SLUICE" modules PortIn
says "modules of an unknown name: a near one" "$tmp/err" 'did you mean "PortInc"'
code "schema" 0 "$SLUICE" schema
holds "schema is one" '.["$schema"] and .properties.nodes and .properties.ports'

exit $script_failed
