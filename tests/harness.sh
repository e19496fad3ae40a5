#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The parts of the benchmark harness that need no running switch: each tests/harness/*_test.lua is a
# script that checks what lies in the program, and prints a line a test.

. tests/lib/script.sh

mkdir "$tmp/harness"
for file in tests/harness/*_test.lua; do
	name=$(basename "$file" _test.lua)
	HARNESS_TMP=$tmp/harness timeout 120 "$SLUICE" check --script-instructions 1000000000000 "$file" \
		>"$tmp/$name.out" 2>&1 </dev/null
	code=$?
	grep -E '^(ok|not ok|skipped) ' "$tmp/$name.out" |
		sed -E "s/^(ok|not ok|skipped) /\1 $name: /"
	if [ $code != 0 ]; then
		tail -n 20 "$tmp/$name.out"
		not_ok "$name" "exit code $code"
	elif grep -q '^not ok ' "$tmp/$name.out"; then
		script_failed=1
	fi
done

run_ok "metrics are OpenMetrics" python3 tests/lib/openmetrics_check.py "$tmp/harness/plain/metrics.txt"

run_ok "the dashboard asks for metrics and labels that reports have" bash -c '
	comm -23 <(jq -r ".panels[].targets[].expr" docs/grafana/bench.json |
		grep -oE "sluice_bench_[a-z0-9_]+|[a-z_]+(=~?\")" | tr -d "=~\"" | sort -u) \
		<(grep -oE "sluice_bench_[a-z0-9_]+|[a-z_]+=\"" "$1" | tr -d "=\"" | sort -u) |
		{ ! grep .; }' - "$tmp/harness/plain/metrics.txt"

# Published: what other tools check results with.
run_ok "the schema of results is a JSON Schema, which the stored results keep" \
	python3 -c '
import json, sys
import jsonschema
schema = json.load(open("docs/bench-results.schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
n = 0
for path in sys.argv[1:]:
    for number, line in enumerate(open(path), 1):
        for error in validator.iter_errors(json.loads(line)):
            sys.exit(f"{path}:{number}: {error.message}")
        n += 1
sys.exit(0 if n > 100 else "few results are stored")' tests/data/bench/*.jsonl
exit $script_failed
