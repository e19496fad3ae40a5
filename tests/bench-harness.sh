#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice bench` with switches that run: functional, on any machine, without hugepages. Every frame of
# each trial must be accounted for, whatever the rates are. Long: all cells, OVS, and the rest.

. tests/lib/script.sh
: "${LONG:=}"

bench() {
	TMPDIR=$tmp "$SLUICE" bench "$@"
}

# The exit code of a measurement is 0 or 4: who limits it is not for this machine to say.
measured() {
	local name=$1
	shift
	bench "$@" >"$tmp/out" 2>"$tmp/err"
	local code=$?
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
	find "$tmp" -name 'sluice-bench-*' | wc -l
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
TMPDIR=$tmp code "a wire that cannot be measured over is code 3" 3 "$SLUICE" bench run p2p --wire ring
expect "the switch that is not there is named" 1 "$(bench run p2p --switch snabb --hugepages no 2>&1 |
	grep -c '^sluice bench: snabb: not found')"
expect "all switches are listed" "sluice testpmd ovs bess fastclick vpp snabb" \
	"$(bench list --json | jq -r '[.switches[].name] | join(" ")')"

cells=p2p,p2v,v2v,loopback:2
[ -z "$LONG" ] || cells=p2p,p2v,v2v,loopback:1-5
# shellcheck disable=SC2086
measured "all scenarios, one way" run $cells --switch $switches $fast -o "$tmp/uni.jsonl"
n=$(all true "$tmp/uni.jsonl")
expect "of each trial every frame is accounted for" "$n" "$(all '(.residual == 0 and
	.intended == .attempted + .unsent and .attempted == .accepted + .refused and
	.accepted == .received + .lost_inside) or (.valid | not)' "$tmp/uni.jsonl")"
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

[ -n "$LONG" ] || exit $script_failed

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
