#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# DPDK's telemetry of an instance: its own commands and Sluice's, while the graph changes, of an
# ordinary user; and nothing of it stays behind.

cd "$(dirname "$0")/.." || exit 1
# DPDK's folder of root is one for all of the machine: here it is without those that run beside it.
if [ -z "${ALONE:-}" ] && unshare --mount mount -t tmpfs tmpfs /run 2>/dev/null; then
	ALONE=1 exec unshare --mount bash -c 'mount -t tmpfs tmpfs /run && exec bash "$0"' tests/telemetry.sh
fi
. tests/lib/script.sh

export XDG_RUNTIME_DIR=$tmp/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
base=/run
[ "$(id -u)" = 0 ] || base=$XDG_RUNTIME_DIR
folder=$base/dpdk/sluice
before=$(ls -A "$folder" 2>/dev/null)

cat >"$tmp/a.yaml" <<'END'
ports: {a: {ring: {name: tele}}, b: {ring: {name: tele}}}
nodes: {make: {Source: {burst: 1}}, tee: Tee, q-1: Queue, out: {PortOut: {port: a}}, in: {PortInc: {port: b}}, end: Sink, away: Sink}
graph: ["make -> tee", "tee[0] -> q-1 -> end", "tee[1] -> out", "in -> away"]
END
sed 's/"in -> away"/"in -> swap -> away"/; s/nodes: {/nodes: {swap: MACSwap, /' \
	"$tmp/a.yaml" >"$tmp/b.yaml"

# start NAME OPTION...: an instance that answers; $pid, and in $socket its telemetry's.
start() {
	local name=$1 seen
	shift
	seen=$(ls -A "$folder" 2>/dev/null)
	"$SLUICE" run "$tmp/a.yaml" --quiet --name "$name" "$@" 2>"$tmp/$name.log" &
	pid=$!
	script_pids+=($pid)
	wait_for 30 curl -sf --unix-socket "$SLUICE_SOCKETS/$name.sock" http://sluice/ || {
		not_ok "the instance $name starts" "$(cat "$tmp/$name.log")"
		exit 1
	}
	socket=$folder/$(comm -13 <(echo "$seen") <(ls -A "$folder" 2>/dev/null) | head -n 1)
}

start one
one=$pid
python3 tests/lib/telemetry.py "$socket" $pid "$SLUICE" one "$tmp/b.yaml" "$tmp/a.yaml" ||
	script_failed=1
if command -v dpdk-telemetry.py >/dev/null && [ "$socket" = "$folder/dpdk_telemetry.v2" ]; then
	echo /sluice/nodes | timeout 20 dpdk-telemetry.py -f sluice >"$tmp/out" 2>"$tmp/err"
	says "dpdk-telemetry.py -f sluice" "$tmp/out" '"/sluice/nodes": \["make"'
else
	skip "dpdk-telemetry.py -f sluice" "there is none (Debian: dpdk), or another instance runs"
fi
start two
expect "another instance has a socket of its own" yes "$([ -S "$socket" ] && echo yes)"
says "it is told with -i" <(echo "$socket") 'dpdk_telemetry.v2:[0-9]*$'
kill $pid $one
wait $pid $one
expect "a clean end" 0 $?
expect "nothing stays behind" "$before" "$(ls -A "$folder" 2>/dev/null)"
expect "it has printed nothing" "" "$(cat "$tmp/one.log" "$tmp/two.log")"

# What is killed leaves its socket, which the next one takes.
start killed
taken=$socket
kill -KILL $pid
wait $pid 2>/dev/null
expect "what is killed leaves its socket" yes "$([ -S "$taken" ] && echo yes)"
"$SLUICE" run "$tmp/a.yaml" --quiet --name next 2>"$tmp/next.log" &
pid=$!
script_pids+=($pid)
wait_for 30 curl -sf --unix-socket "$SLUICE_SOCKETS/next.sock" http://sluice/
python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
print(s.recv(1024).decode())' "$taken" >"$tmp/out" 2>&1
says "the next one takes it" "$tmp/out" "\"pid\":$pid[,}]"
kill $pid
wait $pid
expect "and takes it away" "$before" "$(ls -A "$folder" 2>/dev/null)"

# No telemetry is no reason not to run.
sed '1i eal: --no-telemetry' "$tmp/a.yaml" >"$tmp/none.yaml"
code "without telemetry" 0 "$SLUICE" run "$tmp/none.yaml" --quiet --for 100ms
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$SLUICE" version \
	>/dev/null 2>&1; then
	chmod 755 "$tmp"
	mkdir -m 700 "$tmp/user" "$tmp/user/sockets"
	mkdir -m 755 "$tmp/root" "$tmp/root/dpdk"
	chown 65534:65534 "$tmp/user" "$tmp/user/sockets"
	as_user=(env "SLUICE_SOCKETS=$tmp/user/sockets" setpriv --reuid=65534 --regid=65534
		--clear-groups)
	XDG_RUNTIME_DIR=$tmp/user "${as_user[@]}" "$SLUICE" run "$tmp/a.yaml" --quiet --name user 2>"$tmp/user.log" &
	pid=$!
	script_pids+=($pid)
	wait_for 30 test -S "$tmp/user/sockets/user.sock"
	python3 tests/lib/telemetry.py "$tmp/user/dpdk/sluice/dpdk_telemetry.v2" $pid \
		>"$tmp/out" 2>&1
	expect "an ordinary user" "0 0" "$? $(grep -c '^not ok' "$tmp/out")"
	kill $pid
	wait $pid
	expect "an ordinary user: nothing stays behind" sockets "$(ls -A "$tmp/user")"
	XDG_RUNTIME_DIR=$tmp/root code "a folder that is another's" 0 \
		"${as_user[@]}" "$SLUICE" run "$tmp/a.yaml" --quiet --for 100ms
	expect "a folder that is another's: not a word" "" "$(cat "$tmp/err")"
else
	skip "an ordinary user" "this needs root, and that nobody may run the program"
fi

# The folder is there for all, until the last one ends.
cat >"$tmp/short.yaml" <<'END'
nodes:
  make: {Source: {count: 32}}
graph: ["make -> Sink"]
END
side_by_side() {
	local i
	for i in {1..12}; do
		"$SLUICE" run "$tmp/short.yaml" --quiet --name "side$1-$i" 2>>"$tmp/side.log" </dev/null || return
	done
}
many=()
for i in 1 2 3 4; do
	side_by_side $i &
	many+=($!)
done
ended=
for i in "${many[@]}"; do
	wait "$i"
	ended="$ended $?"
done
expect "instances that start while others end" " 0 0 0 0" "$ended"

exit $script_failed
