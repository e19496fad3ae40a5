# SPDX-License-Identifier: BSD-3-Clause
# What test scripts share. They source it at their start:
#   . tests/lib/script.sh
# and print one line a test: `ok NAME`, `not ok NAME: why` or `skipped NAME: why`. $SLUICE is the
# program; $tmp a folder that goes away at the end, and everything started with `background` is
# ended with it.

set -u
: "${OUT:=build/out}"
OUT=$(realpath "$OUT")
: "${SLUICE:=$OUT/sluice}"
: "${CC:=gcc}"
: "${MAKE:=make}"
: "${VARIANT:=release}"
export OUT SLUICE CC MAKE VARIANT

# What build/tools.sh has brought.
PATH=$PATH:$PWD/build/out/tools/usr/bin

tmp=$(mktemp -d "${TMPDIR:-/tmp}/sluice-test.XXXXXX")
# Instances see those of the same test alone.
export SLUICE_SOCKETS=$tmp/sockets
script_pids=()
script_failed=0

background() {
	"$@" &
	script_pids+=($!)
}

script_end() {
	for pid in "${script_pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	wait 2>/dev/null
	if declare -F cleanup >/dev/null; then
		cleanup
	fi
	rm -rf "$tmp"
}
trap script_end EXIT
trap 'exit 1' INT TERM

ok() {
	echo "ok $1"
}

not_ok() {
	echo "not ok $1: $2"
	script_failed=1
}

skip() {
	echo "skipped $1: $2"
}

# expect NAME WANTED GOT
expect() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "expected \"$2\", got \"$3\""
	fi
}

# steady COMMAND...: where others use the cores, a worker may not come to a stop in time; then nothing
# has changed, $tmp/err (or $tmp/out) says so, and it is tried again.
steady() {
	local status
	for _ in {1..20}; do
		"$@"
		status=$?
		[ $status != 0 ] && grep -qs 'did not come to a stop within' "$tmp/err" "$tmp/out" || break
	done
	return $status
}

# What a command prints is left in $tmp/out, or in $tmp/out and $tmp/err.
together() {
	"$@" >"$tmp/out" 2>&1 </dev/null
}
apart() {
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
}

# run_ok NAME COMMAND...: the command must succeed; its output is shown when it does not, and is
# left in $tmp/out.
run_ok() {
	local name=$1 code
	shift
	steady together "$@"
	code=$?
	if [ $code = 0 ]; then
		ok "$name"
		return 0
	fi
	tail -n 30 "$tmp/out"
	not_ok "$name" "exit code $code of $*"
	return 1
}

# wait_for SECONDS COMMAND...: until it succeeds; false when it has not by then, and the log has it.
wait_for() {
	local seconds=$1 end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "waited $seconds s in vain: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# A TCP port of the loopback that nobody listens on.
port_free() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# signal_mask PID NAME: one of the masks of signals in the process's status, as a number.
signal_mask() {
	local hex
	hex=$(sed -n "s/^$2:\t*//p" "/proc/$1/status" 2>/dev/null)
	echo $((0x${hex:-0}))
}

# listens PID: whether the program waits for SIGINT and SIGTERM (bits 1 and 14); before that a
# shell's child may ignore SIGINT, or hold both back for a moment.
listens() {
	[ "/proc/$1/exe" -ef "$SLUICE" ] && [ $(($(signal_mask $1 SigBlk) & 0x4002)) = $((0x4002)) ]
}

# Namespaces, veth and tap need root and a kernel that allows them.
have_namespaces() {
	[ "$(id -u)" = 0 ] && ip netns add "sluice-probe-$$" 2>/dev/null &&
		ip netns delete "sluice-probe-$$"
}

# code NAME WANTED COMMAND...: its exit code; what it prints is left in $tmp/out and $tmp/err.
code() {
	local name=$1 wanted=$2
	shift 2
	steady apart "$@"
	expect "$name" "$wanted" $?
}

# says NAME FILE PATTERN
says() {
	if grep -q -- "$3" "$2"; then
		ok "$1"
	else
		not_ok "$1" "no \"$3\" in: $(head -c 400 "$2")"
	fi
}

# holds NAME FILTER: jq finds the filter true for each value of $tmp/out.
holds() {
	if jq -es "length > 0 and all(.[]; $2)" "$tmp/out" >/dev/null 2>"$tmp/jq"; then
		ok "$1"
	else
		not_ok "$1" "$2 does not hold: $(cat "$tmp/jq") $(head -c 400 "$tmp/out")"
	fi
}
