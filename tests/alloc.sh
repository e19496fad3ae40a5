#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Memory that runs out: graphs run while one allocation of the program fails, or all from one on,
# at many places; with a packet pool that is too small; with too little memory for DPDK. The program
# must end by itself with a code of 0 to 3, and what it counted must add up. LONG=1: at more places.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

case $VARIANT in
asan | tsan | fuzz)
	skip "memory that runs out" "the sanitizers have an allocator of their own"
	exit 0
	;;
esac
if ! command -v jq >/dev/null; then
	skip "memory that runs out" "there is no jq"
	exit 0
fi

seconds=${LONG:+400}
seconds=${seconds:-36} # for all of it
places=${LONG:+1000}
places=${places:-24} # for each graph and way to fail
failing=$tmp/failing.so

run_ok "failing.c compiles" $CC -std=gnu2x -D_GNU_SOURCE -O1 -fno-builtin -Wall -Wextra -Werror \
	-shared -fPIC -o "$failing" tests/lib/failing.c || exit 1

cat >"$tmp/nodes.yaml" <<'END'
vars: {memory: 0}
memory: $memory
ports: {out: {memory: {keep: 1000}}, more: "null"}
nodes:
  make:  {Source: {count: 3000, fields: [{field: ether.src, values: 500}]}}
  wait:  {Queue: {size: 256}}
  both:  Tee
  learn: L2Fwd
  count: {Filter: {expression: ip}}
  spread: HashSplit
  tx:    {PortOut: {port: out}}
  rest:  {PortOut: {port: more}}
graph:
  - make -> wait -> both
  - both[0] -> learn[0] -> tx
  - both[1] -> count[match] -> spread
  - spread[0] -> tx
  - spread[1] -> rest
END

# survives NAME GRAPH [VAR=VALUE]...: one run; false, having said so, when it went wrong.
survives() {
	local name=$1 graph=$2 code
	shift 2
	# The shell would say of a signal what the code says already.
	{ timeout -k 5 30 env "$@" LD_PRELOAD="$failing" "$SLUICE" run "$graph" --json \
		--set "$set" >"$tmp/out" 2>"$tmp/err" </dev/null; } 2>/dev/null
	code=$?
	if [ $code -gt 3 ]; then
		not_ok "$name" "exit code $code: $(tail -n 2 "$tmp/err")"
		return 1
	fi
	# Without an object there is nothing to add up, which only a run that was never can say.
	if [ $code -gt 1 ]; then
		if [ ! -s "$tmp/err" ]; then
			not_ok "$name" "exit code $code and not a word why"
			return 1
		fi
		return 0
	fi
	if ! jq -es 'length == 1 and all(.[].nodes[];
		(.in | add // 0) + .made == (.out | add // 0) + .consumed + .held +
			([.dropped[]] | add // 0))' "$tmp/out" >/dev/null 2>"$tmp/jq"; then
		not_ok "$name" "exit code $code, but packets are missing: $(cat "$tmp/jq") $(head -c 600 "$tmp/out")"
		return 1
	fi
}

# sweep NAME GRAPH [VAR=VALUE]...: fails at places spread evenly over the run.
sweep() {
	local name=$1 graph=$2 count step good=1 tried=0
	shift 2
	if ! survives "$name: no failure" "$graph" FAIL_COUNT="$tmp/count"; then
		return
	fi
	count=$(cat "$tmp/count")
	step=$((count / places + 1))
	for ((at = 1; at <= count + 1; at += step)); do
		[ $SECONDS -lt $deadline ] || break
		survives "$name: the allocation $at fails" "$graph" FAIL_AT=$at "$@" || good=0
		tried=$((tried + 1))
	done
	if [ $good = 1 ] && [ $tried -gt 3 ]; then
		ok "$name: $tried of $count places"
	elif [ $good = 1 ]; then
		skip "$name" "the machine is too busy"
	fi
}

set="out=$tmp/filtered.pcap"
deadline=$((seconds / 4))
sweep "one allocation fails, capture" graphs/filter.yaml
deadline=$((seconds / 2))
sweep "all fail from one on, capture" graphs/filter.yaml FAIL_ON=1
set=memory=0
deadline=$((seconds * 3 / 4))
sweep "one allocation fails, modules" "$tmp/nodes.yaml"

deadline=$seconds
set="out=$tmp/filtered.pcap"
for packets in 1 31 64; do
	survives "a pool of $packets packets: capture" graphs/filter.yaml POOL_PACKETS=$packets &&
		ok "a pool of $packets packets: capture"
done
# A Source waits until there is a burst of packets, 32.
set=memory=0
for packets in 64 100 200; do
	survives "a pool of $packets packets: modules" "$tmp/nodes.yaml" POOL_PACKETS=$packets &&
		ok "a pool of $packets packets: modules"
done
for memory in 1MiB 8MiB 24MiB; do
	set=memory=$memory
	survives "memory: $memory" "$tmp/nodes.yaml" && ok "memory: $memory"
done

exit $script_failed
