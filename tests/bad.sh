#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Bad graphs: each tests/bad/NAME.yaml or NAME.lua must give exactly what NAME.expect says, which
# ends with "exit code N" where that is not 2; a line "-- check: OPTION..." in a script is added to
# the command. UPDATE=1 writes the .expect files anew, to be read before they
# are committed. Files that cannot be kept are made here. Then every parameter of every module and
# driver is given values beyond its range and of the wrong kind.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

cores=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | sed 's/,/, /g')

# fault NAME WANTED [ARGUMENT]...: `sluice check ARGUMENT...` in tests/bad must print exactly that.
fault() {
	local name=$1 wanted=$2 got code
	shift 2
	got=$(cd tests/bad && timeout 20 "$SLUICE" check "$@" 2>&1 </dev/null)
	code=$?
	got=${got//"($cores)"/(CORES)}
	got=${got//"$tmp/"/}
	[ $code = 2 ] || got+=$'\n'"exit code $code"
	if [ "$wanted" = "$got" ]; then
		ok "$name"
	else
		diff <(echo "$wanted") <(echo "$got")
		not_ok "$name" "other messages"
	fi
}

for graph in tests/bad/*.yaml tests/bad/*.lua; do
	file=$(basename "$graph")
	name=${file%.*}
	options=$(sed -n 's/^-- check: //p' "$graph")
	expected=tests/bad/$name.expect
	if [ -n "${UPDATE:-}" ]; then
		(
			cd tests/bad
			"$SLUICE" check "$file" $options 2>&1
			code=$?
			[ $code = 2 ] || echo "exit code $code"
		) | sed "s/($cores)/(CORES)/" >"$expected"
	fi
	case $name in
	worker-idle | worker-shared* | worker-queues*)
		if [ "$(nproc)" -lt 2 ]; then
			skip "$name" "it takes two cores"
			continue
		fi
		;;
	worker-twice)
		if ! taskset -c 0 true 2>/dev/null; then
			skip "$name" "core 0 is not ours"
			continue
		fi
		;;
	esac
	fault "$name" "$(cat "$expected" 2>&1)" "$file" $options
done

# Files that cannot be kept.
start='nodes: '
printf 'nodes: \0x\n' >"$tmp/nul.yaml"
fault "a NUL byte" "nul.yaml:1:8: error: a NUL byte, the file should be text in UTF-8" "$tmp/nul.yaml"
printf 'nodes: \xff\n' >"$tmp/byte.yaml"
fault "no UTF-8" "byte.yaml:1:8: error: the byte 0xff is not UTF-8, the file should be text in UTF-8" \
	"$tmp/byte.yaml"
printf '\0n\0o\0d\0e\0s\0:' >"$tmp/utf16.yaml"
fault "UTF-16 without a mark" "utf16.yaml: error: is binary data, not a graph file" "$tmp/utf16.yaml"
for depth in 65 100000; do
	(
		printf '%s' "$start"
		head -c $depth /dev/zero | tr '\0' '['
	) >"$tmp/deep.yaml"
	fault "$depth lists inside each other" \
		"deep.yaml:1:71: error: nested deeper than 64 lists and maps, it should be less deep" \
		"$tmp/deep.yaml"
done
{
	echo 'vars:'
	echo '  a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
	for i in 1 2 3 4 5 6 7 8; do
		last="*a$((i - 1))"
		echo "  a$i: &a$i [$last, $last, $last, $last, $last, $last, $last, $last, $last, $last]"
	done
} >"$tmp/aliases.yaml"
fault "aliases that grow" "aliases.yaml:7:47: error: more than 1000000 values, a file should hold \
fewer (an alias counts as what it stands for)" "$tmp/aliases.yaml"
truncate -s 100000000 "$tmp/large.yaml"
fault "100 MB" "large.yaml: error: is 100000000 bytes long, a graph file should be at most 16 MiB" \
	"$tmp/large.yaml"
mkdir "$tmp/folder.yaml"
fault "a folder" "folder.yaml: error: is a directory, not a graph file" "$tmp/folder.yaml"
mkfifo "$tmp/pipe.yaml"
fault "a FIFO" "pipe.yaml: error: is a FIFO, not a graph file" "$tmp/pipe.yaml"
fault "a device" "/dev/null: error: is a device, not a graph file" /dev/null
fault "no such file" "none.yaml: error: there is no such file" "$tmp/none.yaml"
cp graphs/data/demo.pcap "$tmp/capture.yaml"
fault "a capture" "capture.yaml: error: is a packet capture, not a graph file" "$tmp/capture.yaml"
echo 'nodes: {}' >"$tmp/closed.yaml"
chmod 0 "$tmp/closed.yaml"
if [ "$(id -u)" = 0 ]; then
	skip "no permission" "root may read everything"
else
	fault "no permission" \
		"closed.yaml: error: no permission to read the file, it should be readable for \
you"$'\n'"exit code 3" \
		"$tmp/closed.yaml"
fi
printf '\357\273\277nodes:\r\n  make: {Source: {count: x}}\r\ngraph: [make -> Sink]\r\n' >"$tmp/crlf.yaml"
fault "a BOM and CRLF are no faults" "crlf.yaml:2:26: error: Source: count: \"x\" is not a number, \
it should be 0 to 18446744073709551615" "$tmp/crlf.yaml"

# Every row of every table: for each, lines "KIND NAME PARAMETER VALUE MESSAGE".
beyond() { # BEYOND MOST: the number after it
	[ "$1" = 18446744073709551615 ] && echo 18446744073709551616 || echo $(($1 + 1))
}

# rows modules|drivers: a tab between name, parameter, type and range.
rows() {
	"$SLUICE" "$1" --json | jq -r '.[] | .name as $n | .parameters[] |
		[$n, .name, .type, (.range // "" | sub(", default.*"; ""))] | @tsv'
}

# expect_lines NAME: each line of $tmp/wanted must be in what check says of $tmp/rows.yaml.
expect_lines() {
	local missing
	"$SLUICE" check "$tmp/rows.yaml" 2>&1 | sed 's/^[^ ]* error: //' >"$tmp/got"
	missing=$(grep -vxFf "$tmp/got" "$tmp/wanted")
	if [ -s "$tmp/wanted" ] && [ -z "$missing" ]; then
		ok "$1: $(wc -l <"$tmp/wanted") faults"
	else
		not_ok "$1" "not reported: $missing"
	fi
}

# graph_of KIND: the rows "name parameter value" on standard input as one graph.
graph_of() {
	local i=0 name row value
	case $1 in
	modules) echo 'nodes:' ;;
	drivers) echo 'ports:' ;;
	esac
	while IFS=$'\t' read -r name row value; do
		i=$((i + 1))
		echo "  x$i: {\"$name\": {$row: $value}}"
	done
}

for kind in modules drivers; do
	rows $kind >"$tmp/table"
	[ -s "$tmp/table" ] || not_ok "$kind: their tables" "none"
	for side in below above; do
		: >"$tmp/wanted"
		while IFS=$'\t' read -r name row type range; do
			[[ $type = number && $range =~ ^(-?[0-9]+)\ to\ ([0-9]+)$ ]] || continue
			case $side in
			below) value=$((BASH_REMATCH[1] - 1)) ;;
			above) value=$(beyond "${BASH_REMATCH[2]}") ;;
			esac
			printf '%s\t%s\t%s\n' "$name" "$row" "$value" >&3
			echo "$name: $row: \"$value\" is out of range, it should be $range" >>"$tmp/wanted"
		done <"$tmp/table" 3>"$tmp/values"
		graph_of $kind <"$tmp/values" >"$tmp/rows.yaml"
		expect_lines "$kind: numbers $side their range"
	done
	: >"$tmp/wanted"
	while IFS=$'\t' read -r name row type range; do
		case $type in
		"list of "*)
			printf '%s\t%s\t{a: b}\n' "$name" "$row" >&3
			;;
		*) printf '%s\t%s\t[a]\n' "$name" "$row" >&3 ;;
		esac
	done <"$tmp/table" 3>"$tmp/values"
	graph_of $kind <"$tmp/values" >"$tmp/rows.yaml"
	"$SLUICE" check "$tmp/rows.yaml" >"$tmp/got" 2>&1
	expect "$kind: lists and maps where they do not belong" "$(wc -l <"$tmp/table")" \
		"$(grep -cE ': a (list|map) is given, it should be ' "$tmp/got")"
done

exit $script_failed
