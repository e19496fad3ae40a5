#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The JSON Schema: a validator accepts every good graph, and rejects those bad ones that a schema
# can reject.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

if ! python3 -c 'import jsonschema, yaml' 2>/dev/null; then
	skip "schema" "python3-jsonschema or python3-yaml is not installed"
	exit 0
fi

# Bad graphs whose fault lies beyond a schema: names that refer to nothing, ports and workers that
# do not fit together, texts with a grammar of their own, vars, numbers with a unit, doubled keys.
beyond="duration-fraction duration-large file-no-sources frame-empty frame-field frame-field-near
	frame-hex-odd frame-layer generator-stamp key-double key-double-node key-double-parameter link-from-sink
	link-gate-64 link-gate-above link-gate-name link-gate-negative link-into-source
	link-loop-alone link-near link-twice link-unknown link-unreached name-instance number-2-64
	number-long
	port-no-receive port-no-send port-none port-nothing port-twice port-unknown
	range-queue-low range-setting-memory tee-gates var-brace var-cycle var-itself
	var-list-inside var-none var-range var-type var-unknown worker-core worker-idle
	worker-left-out worker-no-source worker-queues worker-queues-tx worker-shared
	worker-source worker-twice"

cat >"$tmp/validate.py" <<'END'
import sys, json, jsonschema, yaml

schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)

# Keys are words for us: `null: {...}` names a driver.
def words(tree):
    if isinstance(tree, dict):
        return {"null" if k is None else k if isinstance(k, str) else str(k): words(v)
                for k, v in tree.items()}
    return [words(v) for v in tree] if isinstance(tree, list) else tree

for line in sys.stdin:
    path = line.strip()
    try:
        graph = words(yaml.safe_load(open(path)))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as e:
        print("unreadable", path)
        continue
    if isinstance(graph, str) and "->" in graph:  # the example of a module is but a link
        graph = {"graph": [graph]}
    error = jsonschema.exceptions.best_match(validator.iter_errors(graph))
    print("bad" if error else "good", path, error.message[:200].replace("\n", " ") if error else "")
END

"$SLUICE" schema >"$tmp/schema.json"

# verdicts: reads paths, gives "good PATH", "bad PATH WHY", "unreadable PATH".
verdicts() {
	python3 "$tmp/validate.py" "$tmp/schema.json" 2>"$tmp/err"
}

if ! echo /dev/null | verdicts >/dev/null; then
	not_ok "the schema is one" "$(tail -n 3 "$tmp/err")"
	exit 1
fi
ok "the schema is one"

# all_good NAME: every path on standard input is accepted.
all_good() {
	verdicts >"$tmp/out"
	if [ -s "$tmp/out" ] && ! grep -qv '^good ' "$tmp/out"; then
		ok "$1: $(wc -l <"$tmp/out") graphs"
	else
		not_ok "$1" "$(grep -v '^good ' "$tmp/out" | head -n 3)"
	fi
}

# Good graphs: the examples as written and as shown.
mkdir "$tmp/good"
for graph in graphs/*.yaml; do
	"$SLUICE" check "$graph" >/dev/null 2>&1 || continue
	echo "$graph"
	for format in yaml json; do
		"$SLUICE" show "$graph" --format $format >"$tmp/good/$(basename "$graph").$format"
	done
done >"$tmp/paths"
all_good "examples" <"$tmp/paths"
ls "$tmp"/good/* | all_good "examples as shown"

# The graphs inside of tests.
python3 - tests/graphs/*.test.yaml >"$tmp/paths" 2>/dev/null <<END
import sys, yaml
for i, path in enumerate(sys.argv[1:]):
    graph = yaml.safe_load(open(path)).get("graph")
    if isinstance(graph, dict):
        name = "$tmp/good/test%d.yaml" % i
        yaml.safe_dump(graph, open(name, "w"))
        print(name)
END
[ ! -s "$tmp/paths" ] || all_good "graphs of tests" <"$tmp/paths"

# Every example of the reference, and every parameter of every table given as a variable.
mkdir "$tmp/tables"
for what in modules drivers; do
	section=nodes
	[ $what = modules ] || section=ports
	for name in $("$SLUICE" $what --json | jq -r '.[].name'); do
		"$SLUICE" $what "$name" --json >"$tmp/entry"
		jq -r '.example // "{}"' "$tmp/entry" >"$tmp/tables/$name.example.yaml"
		jq "{$section: {x: {(.name): ([.parameters[] | {(.name): \"\$x\"}] | add)}}}" \
			"$tmp/entry" >"$tmp/tables/$name.variables.yaml"
	done
done
ls "$tmp"/tables/*.example.yaml | all_good "examples of the reference"
ls "$tmp"/tables/*.variables.yaml | all_good "variables for all parameters"

# Bad graphs.
ls tests/bad/*.yaml | verdicts >"$tmp/out"
while read -r verdict path _; do
	name=$(basename "$path" .yaml)
	case " $(echo $beyond) " in
	*" $name "*) wanted=good ;;
	*) wanted=bad ;;
	esac
	case $verdict in
	unreadable | "$wanted") ;;
	*) not_ok "bad graph $name" "the schema finds it $verdict" ;;
	esac
done <"$tmp/out"
expect "bad graphs: all were read" "$(ls tests/bad/*.yaml | wc -l)" "$(wc -l <"$tmp/out")"
ok "bad graphs: $(grep -c '^bad ' "$tmp/out") rejected, $(grep -c '^good ' "$tmp/out") beyond a \
schema, $(grep -c '^unreadable ' "$tmp/out") no YAML"

exit $script_failed
