#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests and counts: CUnit, whole graphs, then each script of tests/ (long: and of
# tests/long/). Ends with `N passed, N failed, N skipped`; fails if any failed. make check calls it.

set -u
: "${OUT:=build/out}"
kind=${1:-short}
export OUT=$(realpath "$OUT")
export SLUICE=$OUT/sluice
export LONG=
logs=$OUT/logs
passed=0
failed=0
skipped=0
failures=()
skips=()

case $kind in
short) script_seconds=300 ;;
long)
	script_seconds=1200
	LONG=1
	;;
*)
	echo "usage: tests/run-all.sh [short|long]" >&2
	exit 2
	;;
esac
mkdir -p "$logs"
# Leaks and races are said at the end of a program, and a script may well not look at how one ended
# that it stopped. So the sanitizers write to files here, NAME.PROGRAM.PID, and each is a failure.
reports=$logs/reports
rm -rf "$reports"
mkdir -p "$reports"
chmod 1777 "$reports"

# Runs a command with a time limit, shows what it says and keeps it in the log NAME.
run_logged() {
	local name=$1 seconds=$2 to=log_exe_name=1:log_path=$reports/$1
	shift 2
	echo "== $name"
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:$to TSAN_OPTIONS=${TSAN_OPTIONS:-}:$to timeout -k 10 "$seconds" "$@" </dev/null 2>&1 | tee "$logs/$name"
	code=${PIPESTATUS[0]}
	case $code in
	124 | 137) why="no end after $seconds s" ;;
	*) why="exit code $code" ;;
	esac
}

count_failure() {
	failed=$((failed + 1))
	failures+=("$1")
}

# What a sanitizer has said of a program that the suite NAME ran.
count_reports() {
	local name=$1 file
	for file in "$reports/$name".*; do
		[ -s "$file" ] || continue
		head -n 60 "$file"
		count_failure "$name: a sanitizer's report: $file"
	done
}

# CUnit's summary has a row "tests TOTAL RAN PASSED FAILED INACTIVE"; a program that crashed has
# printed none. Tests that were skipped have passed as far as CUnit knows.
run_unit() {
	local name=$1 row skip
	shift
	run_logged "$name" "$script_seconds" "$@"
	row=$(awk '$1 == "tests" {print $4, $5}' "$logs/$name" | tail -n 1)
	skip=$(sed -n 's/^skipped: \([0-9]*\)$/\1/p' "$logs/$name" | tail -n 1)
	if [ -z "$row" ]; then
		count_failure "$name: no summary ($why)"
		return
	fi
	skip=${skip:-0}
	passed=$((passed + ${row% *} - skip))
	skipped=$((skipped + skip))
	while read -r line; do
		skips+=("$name: $line")
	done < <(sed -nE 's/.*\.\.\.skipped: ([^0-9].*)/\1/p' "$logs/$name" |
		sed 's/ *passed$//' | sort -u)
	if [ "${row#* }" != 0 ]; then
		failed=$((failed + ${row#* }))
		while read -r line; do
			failures+=("$name: $line")
		done < <(awk '/^Suite: / {suite = $2} /^  Test: / {test = $2}
			/FAILED$/ {print suite ": " test}' "$logs/$name")
	elif [ "$code" != 0 ]; then
		count_failure "$name: $why"
	fi
}

# `sluice test` ends with the same line as this script.
run_graphs() {
	local name=$1 counts
	shift
	run_logged "$name" "$script_seconds" "$@"
	counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' \
		"$logs/$name" | tail -n 1)
	if [ -z "$counts" ]; then
		count_failure "$name: no summary ($why)"
		return
	fi
	set -- $counts
	passed=$((passed + $1))
	failed=$((failed + $2))
	skipped=$((skipped + $3))
	if [ "$2" != 0 ]; then
		failures+=("$name: $2 of its tests")
	elif [ "$code" != 0 ]; then
		count_failure "$name: $why"
	fi
}

run_script() {
	local script=$1 name before=$failed
	name=$(basename "$script" .sh)
	run_logged "$name" "$script_seconds" "$script"
	count_reports "$name"
	while read -r line; do
		case $line in
		"ok "*) passed=$((passed + 1)) ;;
		"not ok "*) count_failure "$name: ${line#not ok }" ;;
		"skipped "*)
			skipped=$((skipped + 1))
			skips+=("$name: ${line#skipped }")
			;;
		esac
	done <"$logs/$name"
	if [ "$code" != 0 ] && [ "$failed" = "$before" ]; then
		count_failure "$name: $why"
	elif ! grep -qE '^(ok|not ok|skipped) ' "$logs/$name"; then
		count_failure "$name: it tested nothing"
	fi
}

run_unit unit "$OUT/tests/unit"
count_reports unit
run_graphs graphs "$SLUICE" test tests/graphs
count_reports graphs
for script in tests/*.sh; do
	case $script in
	tests/run-*.sh) ;;
	*) run_script "$script" ;;
	esac
done
if [ "$kind" = long ]; then
	for script in tests/long/*.sh; do
		[ ! -e "$script" ] || run_script "$script"
	done
fi

echo
for line in "${skips[@]}"; do
	echo "skipped: $line"
done
for line in "${failures[@]}"; do
	echo "FAILED: $line"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
