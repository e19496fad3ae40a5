#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# SIGINT and SIGTERM stop `sluice run` cleanly at any moment, a second one at once.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

starts=3
[ -z "${LONG:-}" ] || starts=25

cat >"$tmp/graph.yaml" <<'END'
ports: {left: "null", right: "null"}
nodes: {rx: {PortInc: {port: left}}, tx: {PortOut: {port: right}}}
graph: [rx -> tx]
END

# Before its first instruction runs the kernel ends a program as it does any other; nothing has
# been opened then. From then on the code is 0.
for delay in 0.00001 0.001 0.01 0.1; do
	for signal in INT TERM; do
		codes=
		for ((i = 0; i < starts; i++)); do
			timeout --preserve-status -k 20 -s $signal $delay \
				"$SLUICE" run "$tmp/graph.yaml" --quiet >"$tmp/out" 2>&1
			code=$?
			case $code in
			0 | $((128 + $(kill -l $signal)))) ;;
			*) codes+=" $code" ;;
			esac
			codes+=$(cat "$tmp/out")
		done
		expect "$starts times SIG$signal after $delay s" "" "$codes"
	done
done

# With job control, a shell lets SIGINT through to what runs in the background.
set -m

start() {
	"$SLUICE" run "$tmp/graph.yaml" --quiet 2>"$tmp/err" &
	pid=$!
	script_pids+=($pid)
}

# DPDK's threads and the worker are there.
runs() {
	[ "$(ls "/proc/$pid/task" | wc -l)" -ge 4 ]
}

none_pending() {
	[ $(($(signal_mask $pid ShdPnd) | $(signal_mask $pid SigPnd))) = 0 ]
}

ended() {
	! kill -0 $pid
}

# Sets $code to the code that it ends with.
finish() {
	if wait_for 20 ended; then
		wait $pid
		code=$?
	else
		kill -KILL $pid
		code=stuck
	fi
} 2>/dev/null

for signal in INT TERM; do
	codes=
	for ((i = 0; i < starts; i++)); do
		start
		wait_for 20 listens $pid
		kill -$signal $pid
		finish
		codes+="$code$(cat "$tmp/err") "
	done
	expect "SIG$signal as soon as it listens" "$(printf '0 %.0s' $(seq $starts))" "$codes"
	start
	wait_for 20 runs
	kill -$signal $pid
	finish
	expect "SIG$signal while it runs" 0 "$code"

	# Two signals in a row are one while the first waits to be taken.
	start
	wait_for 20 listens $pid
	kill -$signal $pid
	wait_for 20 none_pending
	kill -$signal $pid 2>/dev/null
	finish
	case $code in
	0 | $((128 + $(kill -l $signal)))) ok "SIG$signal twice" ;;
	*) not_ok "SIG$signal twice" "exit code $code" ;;
	esac
done

# What is ended by force leaves nothing that hinders the next start.
start
wait_for 20 runs
kill -KILL $pid
finish
expect "SIGKILL" 137 "$code"
start
wait_for 20 listens $pid
kill -INT $pid
finish
expect "a start after SIGKILL" 0 "$code"

exit $script_failed
