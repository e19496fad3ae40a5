#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs fuzz targets one after the other, each for so many seconds: run-fuzz.sh SECONDS NAME...

set -u
: "${OUT:?set by make fuzz}"
seconds=$1
shift
status=0

for name; do
	dir=$OUT/fuzz/$name
	mkdir -p "$dir/found" "$dir/corpus" "tests/fuzz/seeds/$name"
	if "$dir/run" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
		-artifact_prefix="$dir/found/" -print_final_stats=1 -verbosity=0 \
		"$dir/corpus" "tests/fuzz/seeds/$name" </dev/null >"$dir/log" 2>&1; then
		echo "ok $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log") runs"
	else
		status=1
		tail -n 40 "$dir/log"
		echo "not ok $name: what was found is in $dir/found, the log is $dir/log"
	fi
done
exit $status
