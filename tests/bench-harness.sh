#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice bench` with switches that run: functional, on any machine, without hugepages. Every frame of
# each trial must be accounted for, whatever the rates are. Long: all cells, OVS, and the rest.

. tests/lib/script.sh
: "${LONG:=}"

bench() {
	TMPDIR=$tmp "$SLUICE" bench "$@"
}

# hugepages: how many are reserved
hugepages() {
	cat /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages 2>/dev/null || echo 0
}

result_is() {
	grep -q '"type":"result"' "$1"
}

# results_are FILE N: whether at least so many are there
results_are() {
	[ "$(grep -c '"type":"result"' "$1")" -ge "$2" ]
}

reserved() {
	[ "$(hugepages)" -gt "$1" ]
}

# The exit code of a measurement is 0 or 4: who limits it is not for this machine to say.
measured() {
	local name=$1
	shift
	bench "$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	if [ $code = 0 ] || [ $code = 4 ]; then
		ok "$name"
	else
		not_ok "$name" "exit code $code: $(tail -n 3 "$tmp/err" | tr '\n' ' ')"
	fi
}

# all JQ FILE: how many trials there are, and how many of them the expression holds for
all() {
	jq -rs "[.[] | select(.type == \"trial\")] | \"\(length) \(map(select($1)) | length)\"" "$2"
}

left() {
	find "$tmp" /run/dpdk -name 'sluice-bench-*' -newer "$tmp/begin" 2>/dev/null | wc -l
	pgrep -f "$tmp/sluice-bench-" | wc -l
	find /sys/class/net -name 'ovs-netdev' -newer "$tmp/begin" | wc -l
}

trial_is() {
	grep -q '"type":"trial"' "$1"
}

touch "$tmp/begin"
fast="--time 100ms --trials 1 --hugepages no"
switches=sluice
if command -v dpdk-testpmd >/dev/null; then
	switches=$switches,testpmd
else
	skip "testpmd" "dpdk-testpmd is not installed"
fi

TMPDIR=$tmp code "bad input is code 2" 2 "$SLUICE" bench run p2q
TMPDIR=$tmp code "what cannot be measured here is code 3" 3 "$SLUICE" bench run p2p --switch snabb --hugepages no
TMPDIR=$tmp code "a card that is not there is code 3" 3 "$SLUICE" bench run p2v \
	--wire pci:ffff:01:00.0+ffff:01:00.1
says "its address is named" "$tmp/err" "there is no PCI device ffff:01:00.0"
TMPDIR=$tmp code "a card too few is code 2" 2 "$SLUICE" bench run p2p --wire pci:0000:01:00.0+0000:01:00.1
TMPDIR=$tmp code "a switch that has no such wire is code 3" 3 "$SLUICE" bench run p2p --wire ring \
	--switch testpmd --hugepages no --trials 1
expect "the switch that is not there is named" 1 "$(bench run p2p --switch snabb --hugepages no 2>&1 |
	grep -c '^sluice bench: snabb: not found')"
TMPDIR=$tmp code "what is not there is code 3 with results, too" 3 "$SLUICE" bench run p2p --switch snabb \
	--hugepages no -o "$tmp/none.jsonl"
expect "the environment is recorded without it" "before after" \
	"$(jq -r .when "$tmp/none.jsonl" | xargs)"
TMPDIR=$tmp code "iperf3: what it needs is said" 3 env PATH="$tmp" "$SLUICE" bench iperf3
expect "iperf3: in words" 1 "$(grep -cE 'it needs root|is not installed \(Debian: ' "$tmp/err")"
expect "all switches are listed" "sluice testpmd ovs bess fastclick vpp snabb" \
	"$(bench list --json | jq -r '[.switches[].name] | join(" ")')"

bench roofline --size 64,1024 --trials 20 --json >"$tmp/roofline.jsonl" 2>"$tmp/err"
expect "the roofline of two cores, larger for small packets" "0 true" "$? $(jq -s '
	[.[] | select(.size == 64) | .value_pps.max] as $small |
	[.[] | select(.size == 1024) | .value_pps.max] as $large | ($small | max) > ($large | max)' \
	"$tmp/roofline.jsonl")"

cells=p2p,p2v,v2v,loopback:2
[ -z "$LONG" ] || cells=p2p,p2v,v2v,loopback:1-5
# shellcheck disable=SC2086
measured "all scenarios, one way" run $cells --switch $switches $fast -o "$tmp/uni.jsonl"
n=$(all true "$tmp/uni.jsonl")
expect "of each trial every frame is accounted for" "$n" "$(all '(.residual == 0 and
	.intended == .attempted + .unsent and .attempted == .accepted + .refused and
	.accepted == .received + .lost_inside) or (.valid | not)' "$tmp/uni.jsonl")"
limited=$(jq -s '[.[] | select(.type == "result" and (.own | not))] | length > 0' "$tmp/uni.jsonl")
expect "the exit code tells figures that are not the switch's own" \
	"$([ "$limited" = true ] && echo 4 || echo 0)" "$code"
if [ $switches = sluice,testpmd ]; then
	measured "two trials of two switches" run p2p --switch $switches --time 50ms --trials 2 --hugepages no \
		-o "$tmp/turns.jsonl"
	expect "trials of switches take turns" "sluice testpmd sluice testpmd" \
		"$(jq -r 'select(.type == "trial") | .switch.name' "$tmp/turns.jsonl" | head -n 4 | xargs)"
fi
expect "each result has the switch's memory" 0 \
	"$(jq -s '[.[] | select(.type == "result" and (.memory_bytes // 0) < 1000000)] | length' "$tmp/uni.jsonl")"
expect "each cell has a result of a trial in which that held" \
	"$(jq -r 'select(.type == "result") | .test' "$tmp/uni.jsonl" | sort -u)" \
	"$(jq -r 'select(.type == "trial" and .valid and .received > 0) | .test' "$tmp/uni.jsonl" | sort -u)"
expect "nothing is doubled, out of order or damaged" "$n" \
	"$(all '.duplicates + .reordered + .damaged == 0' "$tmp/uni.jsonl")"
# shellcheck disable=SC2086
measured "what is there is not measured again" run $cells --switch $switches $fast \
	--resume -o "$tmp/uni.jsonl"
expect "no trial was added" "$n" "$(all true "$tmp/uni.jsonl")"
run_ok "the report of a run" bench report "$tmp/uni.jsonl" -o "$tmp/report" --format text,csv,html
expect "the report has a line for each cell" "$(jq -s '[.[] | select(.type == "result")] | length' \
	"$tmp/uni.jsonl")" "$(grep -c 'limit: ' "$tmp/report/report.txt")"
expect "nothing is left behind" "0 0 0" "$(left | xargs)"

# The switch is killed while it is measured: an error of its cell, the rest goes on.
bench run v2v,p2p --switch sluice --time 500ms --trials 2 --hugepages no -o "$tmp/killed.jsonl" \
	>"$tmp/out" 2>"$tmp/err" &
pid=$!
if wait_for 60 trial_is "$tmp/killed.jsonl"; then
	kill -9 $(pgrep -f "$tmp/sluice-bench-.*/switch.yaml")
fi
wait $pid
expect "a switch that is killed is code 1" 1 $?
expect "it is named with its signal" 1 "$(grep -c 'v2v/uni/64/vhost/sluice: sluice was ended by signal 9' \
	"$tmp/err")"
expect "the cells behind it are measured" "p2p" \
	"$(jq -r 'select(.type == "result") | .scenario' "$tmp/killed.jsonl")"
expect "nothing is left behind of a killed switch" "0 0 0" "$(left | xargs)"

# Ctrl-C.
TMPDIR=$tmp "$SLUICE" bench run p2p --switch sluice --time 100ms --trials 1000 --hugepages no -o "$tmp/stopped.jsonl" \
	>"$tmp/out" 2>"$tmp/err" &
pid=$!
if wait_for 60 trial_is "$tmp/stopped.jsonl"; then
	kill -INT $pid
fi
wait $pid
expect "Ctrl-C ends it" 130 $?
expect "finished trials are kept" true \
	"$(jq -s '[.[] | select(.type == "trial")] | length > 0' "$tmp/stopped.jsonl")"
expect "nothing is left behind of a stopped run" "0 0 0" "$(left | xargs)"

# Where the host lets it not be told how the switch moved, that is said.
bench selftest --hugepages no >"$tmp/out" 2>"$tmp/err"
code=$?
grep -E '^(ok|not ok|skipped) ' "$tmp/out" | sed -E 's/^(ok|not ok|skipped) /\1 selftest, /'
case $code in
0) ok "the self-test" ;;
3) skip "the self-test" "$(grep -hE '^skipped|error' "$tmp/out" "$tmp/err" | head -n 1)" ;;
*) not_ok "the self-test" "exit code $code" ;;
esac
expect "nothing is left behind of it" "0 0 0" "$(left | xargs)"

# A paced link is full at a rate that any machine carries: 14,881 frames of 64 bytes a second each way.
# shellcheck disable=SC2086
measured "a link of 10 Mbit/s" run p2p,p2v --dir uni,rev --link 10M $fast -o "$tmp/link.jsonl"
expect "no more comes than the link carries" "p2p p2v true" "$(jq -rs '[.[] | select(.type == "result")] |
	"\(map(.scenario) | unique | join(" ")) \(all(.value_pps.max < 20000))"' "$tmp/link.jsonl")"
expect "where all of it comes the wire is the limit, if the machine is not" 0 "$(jq -rs '[.[] | select(
	.type == "trial" and .rx_pps > 14880 and .verdict != "wire" and .verdict != "noise")] | length' \
	"$tmp/link.jsonl")"
expect "the link is in the name of each test" 0 "$(jq -r 'select(.type == "result") | .test' "$tmp/link.jsonl" |
	grep -vc '/0.01G/')"

# The switch in the process of the traffic.
# shellcheck disable=SC2086
measured "a ring" run p2p,p2v --dir bi --wire ring $fast -o "$tmp/ring.jsonl"
expect "over a ring, too, every frame is accounted for" "p2p p2v 0" "$(jq -rs '[.[] | select(.type == "trial")] |
	"\(map(select(.received > 0).scenario) | unique | join(" ")) \(map(.residual) | add)"' "$tmp/ring.jsonl")"

# One core, in process.
printf '%s\n' 'vars: {count: 0}' 'nodes:' '  gen: {Source: {size: 60, count: $count}}' \
	'  swap: MACSwap' 'graph:' '  - gen -> swap -> Sink' >"$tmp/graph.yaml"
run_ok "cycles a packet of a graph, node by node" bench intrinsic "$tmp/graph.yaml" --by-node \
	--trials 1 --time 100ms -o "$tmp/own.jsonl"
expect "each node has its share" "gen swap" "$(jq -r 'select(.type == "intrinsic" and
	.cycles_per_packet.median > 1) | [.by_node[] | select(.cycles > 0) | .node | select(test("#") | not)] |
	sort | join(" ")' "$tmp/own.jsonl")"
TMPDIR=$tmp code "a graph with faults is code 2" 2 "$SLUICE" bench intrinsic "$tmp/graph.yaml" --set nix=1
if command -v valgrind >/dev/null; then
	# A program with an instruction that valgrind does not know is one that is not run there alone.
	printf '%s\n' '#!/bin/bash' '[ -z "${LD_PRELOAD:-}" ] && exec "$SLUICE" "$@"' 'kill -ILL $$' \
		>"$tmp/native"
	chmod +x "$tmp/native"
	TMPDIR=$tmp code "a program that valgrind cannot run is code 3" 3 "$SLUICE" bench intrinsic \
		"$tmp/graph.yaml" --sluice "$tmp/native" --trials 1 --time 100ms --callgrind
	says "it is said what to build" "$tmp/err" "make VARIANT=portable"
else
	skip "callgrind" "valgrind is not installed"
fi

# Adjacent pairs.
cp "$SLUICE" "$tmp/other"
measured "two builds in a scenario" compare sluice "$tmp/other" --pairs 1 --time 100ms --hugepages no \
	-o "$tmp/pairs.jsonl"
expect "each build has its trials" "$tmp/other sluice true" \
	"$(jq -rs 'map(select(.type == "trial" and .received > 0)) | group_by(.switch.name) |
		"\(map(.[0].switch.name) | join(" ")) \(map(map(.n) | unique | length) | .[0] == .[1])"' \
		"$tmp/pairs.jsonl")"
run_ok "two builds with a graph" bench compare sluice "$tmp/other" --graph "$tmp/graph.yaml" --pairs 2 \
	--time 100ms -o "$tmp/pairs.jsonl"
expect "a comparison has its ratio, its pairs and a floor" "pps of one core 2 true" "$(jq -r 'select(
	.type == "compare" and .metric != "mrr" and .floor) | "\(.metric) \(.n) \(.ratio > 0)"' "$tmp/pairs.jsonl")"
TMPDIR=$tmp code "what cannot be compared is code 2" 2 "$SLUICE" bench compare "$tmp/graph.yaml" sluice
says "it is said why" "$tmp/err" "a graph goes with a graph"
expect "nothing is left behind of comparisons" "0 0 0" "$(left | xargs)"

[ -n "$LONG" ] || exit $script_failed

# A worker that stands still for a while is a hiccup, and long waits are told.
TMPDIR=$tmp "$SLUICE" bench run p2p --switch sluice --time 1s --trials 1000 --hugepages no -o "$tmp/hiccup.jsonl" \
	>"$tmp/out" 2>"$tmp/err" &
pid=$!
long_hiccup() {
	local one
	one=$(pgrep -f "$tmp/sluice-bench-.*/traffic.yaml" | head -n 1)
	[ -n "$one" ] && kill -STOP $one && sleep 0.3 && kill -CONT $one
	jq -e 'select(.type == "trial" and .hiccups.longest_us >= 250000)' "$tmp/hiccup.jsonl" >/dev/null
}
if wait_for 60 trial_is "$tmp/hiccup.jsonl" && wait_for 60 long_hiccup; then
	ok "a stop of the traffic is a hiccup"
else
	not_ok "a stop of the traffic is a hiccup" "no trial has one"
fi
kill -INT $pid
wait $pid
expect "a trial with such a hiccup is noise" noise \
	"$(jq -r 'select(.type == "trial" and .hiccups.longest_us >= 250000) | .verdict' "$tmp/hiccup.jsonl" |
	head -n 1)"

# Hugepages are given back after Ctrl-C and after a crash of the switch.
before=$(hugepages)
files=$(find /dev/hugepages -type f 2>/dev/null | wc -l)
for how in INT KILL; do
	TMPDIR=$tmp "$SLUICE" bench run p2p --switch sluice --time 100ms --trials 1000 -o "$tmp/huge$how.jsonl" \
		>"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for 60 trial_is "$tmp/huge$how.jsonl"
	if reserved "$before"; then
		ok "hugepages are reserved for the run"
	else
		skip "hugepages, $how" "$(jq -r 'select(.type == "env") | .host.hugepages' "$tmp/huge$how.jsonl")"
	fi
	if [ $how = INT ]; then
		kill -INT $pid
	else
		kill -9 $(pgrep -f "$tmp/sluice-bench-.*/switch.yaml")
	fi
	wait $pid
	expect "hugepages are as they were, $how" "$before $files" \
		"$(hugepages) $(find /dev/hugepages -type f 2>/dev/null | wc -l)"
	expect "nothing is left behind, $how" "0 0 0" "$(left | xargs)"
done

# A suite goes on where it was ended.
for n in 1 2; do
	TMPDIR=$tmp "$SLUICE" bench suite paper --switch sluice --time 50ms --hugepages no -o "$tmp/suite.jsonl" \
		>"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for 180 results_are "$tmp/suite.jsonl" $n
	kill -INT $pid
	wait $pid
	expect "a suite is ended by Ctrl-C, $n" 130 $?
done
expect "a suite measures no cell again" "$(grep -c '"type":"result"' "$tmp/suite.jsonl")" \
	"$(jq -r 'select(.type == "result") | .test' "$tmp/suite.jsonl" | sort -u | wc -l)"
expect "nothing is left behind of the suite" "0 0 0" "$(left | xargs)"

if [ "$(id -u)" = 0 ] && have_namespaces && command -v iperf3 ethtool >/dev/null; then
	links=$(ip -o link | wc -l)
	measured "TCP through bridges" iperf3 --switch sluice,bridge --time 1s --trials 1 --hugepages no \
		-o "$tmp/tcp.jsonl"
	expect "each bridge has carried TCP" "true true" \
		"$(jq -r 'select(.type == "iperf3") | .bps.median > 0' "$tmp/tcp.jsonl" | xargs)"
	run_ok "its report" bench report "$tmp/tcp.jsonl"
	expect "the report has a line for each bridge" 2 "$(grep -cE '^  (sluice|bridge) .* Gbps' "$tmp/out")"
	expect "no interface and no process is left" "$links 0" \
		"$(ip -o link | wc -l) $(pgrep -f "$tmp/sluice-bench-" | wc -l)"
else
	skip "TCP through bridges" "it needs root, namespaces, iperf3 and ethtool"
fi

# A program of this processor's own may have instructions that valgrind does not know.
if ! command -v valgrind >/dev/null; then
	skip "instructions a packet" "there is no valgrind"
elif ! bench intrinsic "$tmp/graph.yaml" --trials 1 --time 100ms --callgrind >/dev/null 2>"$tmp/err" &&
	grep -q 'valgrind does not know an instruction .* --sluice PATH' "$tmp/err"; then
	skip "instructions a packet" "valgrind does not know all instructions of this processor"
else
	TMPDIR=$tmp code "a graph that ends too soon to count is code 2" 2 "$SLUICE" bench intrinsic \
		"$tmp/graph.yaml" --set count=64 --trials 1 --time 100ms --callgrind
	says "the place is named" "$tmp/err" "graph.yaml: it ends by itself after 64 packets"
	run_ok "instructions a packet" bench intrinsic "$tmp/graph.yaml" --trials 1 --time 100ms --callgrind \
		--by-node -o "$tmp/own.jsonl"
	run_ok "the same again" bench intrinsic "$tmp/graph.yaml" --trials 1 --time 100ms --callgrind \
		--by-node -o "$tmp/own.jsonl"
	expect "two counts are equal to a hundredth" true "$(jq -s 'map(select(.type == "intrinsic").instructions_per_packet |
		values) | length == 2 and (.[0] - .[1] | fabs) < 0.01 * .[0]' "$tmp/own.jsonl")"
fi
if command -v dpdk-testpmd >/dev/null; then
	# A switch that shows no counters: testpmd under another name, which is its own ceiling.
	cat >"$tmp/click" <<-'END'
		#!/bin/bash
		[ "$1" = --version ] && { echo 'click (Click) 2.1'; exit; }
		args=()
		shift
		while [ "$1" != -- ]; do
			if [ "$1" = -l ]; then
				args+=(-l "0,$2" --main-lcore 0 --no-shconf --no-telemetry)
				shift
			else
				args+=("$1")
			fi
			shift
		done
		# It ends when it can read something.
		input=$(mktemp -u)
		mkfifo "$input"
		exec 0<>"$input"
		rm "$input"
		exec dpdk-testpmd "${args[@]}" -- --auto-start --forward-mode=io --no-flush-rx --nb-cores=1 \
			--total-num-mbufs=16384 --rxd=1024 --txd=1024
	END
	chmod +x "$tmp/click"
	measured "a switch without counters" run p2p --switch fastclick --switch-path "fastclick=$tmp/click" \
		--time 100ms --trials 3 --confirm --hugepages no -o "$tmp/silent.jsonl"
	expect "the reference is measured beside it, turn by turn" "testpmd fastclick testpmd fastclick" \
		"$(jq -r 'select(.type == "trial" and .search == "mrr") | .switch.name' "$tmp/silent.jsonl" |
			head -n 4 | xargs)"
	expect "it alone has a result" fastclick "$(jq -r 'select(.type == "result") | .switch.name' "$tmp/silent.jsonl")"
	expect "its ceiling is the reference's in its mode" true "$(jq -rs 'map(select(.type == "trial" and
		.search == "mrr")) | .[1].ceiling_pps == (if .[0].mode == .[1].mode and .[0].valid
		then .[0].rx_pps else null end)' "$tmp/silent.jsonl")"
fi
measured "searches of two switches" run p2p --switch sluice,testpmd --search rfc2544 --time 50ms \
	--link 10M --hugepages no -o "$tmp/turns.jsonl"
measured "a comparison with an interval" compare sluice sluice --pairs 6 --time 100ms --hugepages no \
	-o "$tmp/pairs.jsonl"

# shellcheck disable=SC2086
measured "all scenarios, both ways" run $cells --dir rev,bi --switch $switches $fast --vnf mac \
	-o "$tmp/bi.jsonl"
if command -v ovs-vswitchd-dpdk >/dev/null || [ -x /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk ]; then
	if [ "$(id -u)" = 0 ]; then
		# shellcheck disable=SC2086
		measured "Open vSwitch" run p2p,p2v,v2v,loopback:2 --dir uni,bi --switch ovs $fast \
			-o "$tmp/bi.jsonl"
	else
		skip "Open vSwitch" "it needs root"
	fi
else
	skip "Open vSwitch" "it is not installed"
fi
n=$(all true "$tmp/bi.jsonl")
expect "of these, too, every frame is accounted for" "$n" \
	"$(all '.residual == 0 or (.valid | not)' "$tmp/bi.jsonl")"
expect "nothing is left behind of them" "0 0 0" "$(left | xargs)"

# A VNF in a virtual machine. Emulated on the core of the traffic: what it does with frames counts.
machine() {
	measured "a VNF in a virtual machine: $*" run loopback:1 --vnf-in vm --guest build/out/guest \
		--time 200ms --trials 1 --hugepages no -o "$tmp/vm.jsonl" "$@"
}
TMPDIR=$tmp code "a generator in a virtual machine is code 3" 3 "$SLUICE" bench run v2v --vnf-in vm
TMPDIR=$tmp code "a guest that is not there is code 3" 3 \
	"$SLUICE" bench run loopback:1 --vnf-in vm --guest "$tmp"
if ! command -v qemu-system-x86_64 >/dev/null; then
	skip "VNFs in virtual machines" "qemu-system-x86_64 is not installed"
elif [ ! -e build/out/guest/initrd-vnf ]; then
	skip "VNFs in virtual machines" "there is no build/out/guest, which make guest builds"
else
	machine --switch $switches
	machine --dir bi --vnf mac
	n=$(all true "$tmp/vm.jsonl")
	expect "there are trials of each" 3 "$(jq -r 'select(.type == "trial") | .test' "$tmp/vm.jsonl" |
		sort -u | wc -l)"
	expect "through virtual machines, too, every frame is accounted for" "$n" \
		"$(all '.residual == 0 and .received > 0 and (.vm == "tcg" or .vm == "kvm") and
			.duplicates + .reordered + .damaged == 0' "$tmp/vm.jsonl")"
	expect "nothing is left behind of virtual machines" "0 0 0" "$(left | xargs)"
fi
exit $script_failed
