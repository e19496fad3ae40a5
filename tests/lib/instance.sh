# SPDX-License-Identifier: BSD-3-Clause
# For scripts of tests/ that start instances and talk to them; after lib/script.sh.

# start NAME FILE [OPTION]...: an instance, once it answers; its process is $pid.
start() {
	local name=$1
	shift
	"$SLUICE" run "$@" --quiet --name "$name" >"$tmp/$name.log" 2>&1 </dev/null &
	pid=$!
	script_pids+=($pid)
	wait_for 30 curl -sf --unix-socket "$SLUICE_SOCKETS/$name.sock" http://sluice/
}

# finish PID: its exit code in $code, once it has ended.
finish() {
	wait "$1"
	code=$?
} 2>/dev/null

# stop NAME PID
stop() {
	code "stop: $1" 0 "$SLUICE" stop --name "$1"
	finish "$2"
	expect "$1 ends well" 0 $code
}
