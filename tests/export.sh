#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice export: what it writes loads, and makes nodes that answer as those that run.

cd "$(dirname "$0")/.." && . tests/lib/script.sh && . tests/lib/instance.sh

ask() {
	curl -s --max-time 60 --unix-socket "$SLUICE_SOCKETS/$1.sock" "http://sluice$2"
}

# answers NAME NODE: what its list command says of static stations, in an order of its own.
answers() {
	"$SLUICE" call "$2" list --name "$1" --json |
		jq -cS 'map(select(.static)) | sort_by(.vlan, .mac)'
}

# entries FILE FILTER: of the node `plain`.
entries() {
	"$SLUICE" show --format json "$1" | jq -c ".nodes.plain.L2Fwd.entries | $2"
}

cat >"$tmp/tables.yaml" <<'END'
name: tables
burst: 8
nodes:
  make: {Source: {burst: 1, templates: ["ether src=02:aa:00:00:00:01 dst=02:aa:00:00:00:02 / ipv4"]}}
  two: Tee
  plain:
    L2Fwd:
      size: 64
      ageing: 0s
      entries:
        - {mac: "02:00:00:00:00:07", gate: 1}
        - {mac: "02:00:00:00:00:03", gate: 0}
        - {mac: "02:00:00:00:00:05", gate: 1}
  tagged: {L2Fwd: {vlan: true, entries: [{mac: "02:00:00:00:00:01", gate: 0, vlan: 5}]}}
  q: {Queue: {size: 128}}
  left: Sink
  right: Sink
  rest: Sink
graph:
  - make -> two[0] -> plain[0] -> left
  - plain[1] -> right
  - two[1] -> q -> tagged -> rest
END
start was "$tmp/tables.yaml"

# Nothing has changed.
code "export" 0 "$SLUICE" export --name was
cp "$tmp/out" "$tmp/same.yaml"
ask was /graph >"$tmp/served"
expect "GET /graph is the same text" "" "$(cmp "$tmp/same.yaml" "$tmp/served" 2>&1)"
run_ok "it loads" "$SLUICE" check "$tmp/same.yaml"
code "diff" 0 "$SLUICE" diff "$tmp/same.yaml" --name was --json
holds "nothing is another" '(.nodes.live + .nodes.replaced + .nodes.new + .nodes.removed +
	.ports.replaced + .losses) == [] and (.nodes.kept | length) == 8'
code "export -o" 0 "$SLUICE" export -o "$tmp/file.yaml" --name was
expect "export -o prints nothing" "" "$(cat "$tmp/out" "$tmp/err")"
expect "export -o writes the same" "" "$(cmp "$tmp/same.yaml" "$tmp/file.yaml" 2>&1)"
code "export --json" 0 "$SLUICE" export --json --name was
holds "export --json is JSON" '.nodes.plain.L2Fwd.entries | map(.gate) == [1, 0, 1]'
cp "$tmp/out" "$tmp/same.json"
code "the JSON loads, too" 0 "$SLUICE" diff "$tmp/same.json" --name was --json
holds "nothing is another in JSON" '(.nodes.live + .nodes.replaced + .nodes.new +
	.nodes.removed) == []'

# What commands change is in it: in L2Fwd, the one module whose commands change what it is. (What a
# Generator was told to send and a Meter has counted is a measurement, no setting; what the script of
# a LuaNode keeps, it alone knows.)
changing=$("$SLUICE" modules --format json | jq -cS 'map(select(.commands != []) |
	{(.name): [.commands[].name]}) | add')
expect "modules with commands: each was looked at" \
	'{"Generator":["start","stop","status","gaps"],"L2Fwd":["list","info","add","remove","flush"],'\
'"LuaNode":["call"],"Meter":["read","look","streams","reset","window"],"Queue":["level"]}' \
	"$changing"
for words in "plain add mac=02:00:00:00:00:09 gate=0" "plain add mac=02:00:00:00:00:03 gate=1" \
	"plain remove mac=02:00:00:00:00:05" "tagged add mac=02:00:00:00:00:01 gate=0 vlan=6" \
	"tagged add mac=02:00:00:00:00:02 gate=0"; do
	code "call $words" 0 "$SLUICE" call --name was $words
done
learned() {
	"$SLUICE" call plain list --name was --json | jq -e 'any(.mac == "02:aa:00:00:00:01")'
}
wait_for 20 learned || not_ok "it learns" "no station is learned"
code "export after changes" 0 "$SLUICE" export --name was -o "$tmp/changed.yaml"
expect "what stays keeps its order, what is new follows" '["07 1","03 1","09 0"]' \
	"$(entries "$tmp/changed.yaml" 'map("\(.mac[15:]) \(.gate)")')"
code "after changes: diff" 0 "$SLUICE" diff "$tmp/changed.yaml" --name was --json
holds "after changes: what is exported is what runs" '(.nodes.live + .nodes.replaced + .nodes.new +
	.nodes.removed) == []'
start again "$tmp/changed.yaml"
for node in plain tagged; do
	expect "$node: a new instance has the same stations" "$(answers was $node)" \
		"$(answers again $node)"
done
code "the new one: diff" 0 "$SLUICE" diff "$tmp/changed.yaml" --name again --json
holds "the new one: nothing is another" '(.nodes.live + .nodes.replaced + .nodes.new +
	.nodes.removed) == []'
code "the old one takes it over" 0 "$SLUICE" reload "$tmp/changed.yaml" --name was
for node in plain tagged; do
	expect "$node: after that the old one has them" "$(answers again $node)" \
		"$(answers was $node)"
done

# Learned stations: with --learned, as static ones.
expect "learned stations are left out" '[]' \
	"$(entries "$tmp/changed.yaml" 'map(select(.mac[:5] == "02:aa"))')"
code "export --learned" 0 "$SLUICE" export --learned --name was -o "$tmp/learned.yaml"
expect "export --learned has them" '[0]' \
	"$(entries "$tmp/learned.yaml" 'map(select(.mac == "02:aa:00:00:00:01").gate)')"
run_ok "export --learned loads" "$SLUICE" check "$tmp/learned.yaml"
code "flush" 0 "$SLUICE" call --name was plain flush static=true
code "export of an empty table" 0 "$SLUICE" export --name was -o "$tmp/flushed.yaml"
expect "export of an empty table has no entries" null "$(entries "$tmp/flushed.yaml" .)"

# A file is written whole or not at all.
cp "$tmp/same.yaml" "$tmp/kept.yaml"
chmod 640 "$tmp/kept.yaml"
ln -s kept.yaml "$tmp/link.yaml"
code "export -o to a link" 0 "$SLUICE" export --name was -o "$tmp/link.yaml"
expect "the link stays, and the file's mode" "symbolic link 640" \
	"$(stat -c %F "$tmp/link.yaml") $(stat -c %a "$tmp/kept.yaml")"
code "export -o to a folder" 3 "$SLUICE" export --name was -o "$tmp"
code "export -o into no folder" 3 "$SLUICE" export --name was -o "$tmp/none/file.yaml"
code "export -o to a device" 3 "$SLUICE" export --name was -o /dev/null
expect "the device stays" "character special file" "$(stat -c %F /dev/null)"
before=$(cksum <"$tmp/kept.yaml")
code "export of none that runs" 3 "$SLUICE" export --name none -o "$tmp/kept.yaml"
expect "then the file is as it was" "$before" "$(cksum <"$tmp/kept.yaml")"
(
	ulimit -f 0
	trap '' XFSZ
	"$SLUICE" export --name was -o "$tmp/kept.yaml" 2>/dev/null
)
expect "a full disk" 3 $?
expect "a full disk: the file is as it was, nothing lies beside it" "$before 1" \
	"$(cksum <"$tmp/kept.yaml") $(ls "$tmp"/kept* | wc -l)"
"$SLUICE" export --name was >/dev/full 2>"$tmp/err"
expect "a full disk behind standard output" 3 $?

# A big table: its text is made in parts, between which others are served.
python3 - >"$tmp/big.yaml" <<'END'
print("nodes:\n  make: {Source: {burst: 1}}\n  out: Sink\n  fwd:\n    L2Fwd:\n      size: 200000\n"
      "      learn: 0\n      entries:")
for i in range(100000):
    print(f"        - {{mac: 02:00:00:{i >> 16:02x}:{i >> 8 & 255:02x}:{i & 255:02x}, gate: 0}}")
print("graph: [make -> fwd -> out]")
END
start big "$tmp/big.yaml"
code "100,000 stations: one more" 0 "$SLUICE" call --name big fwd add mac=02:ff:00:00:00:01 gate=0
code "100,000 stations: export" 0 "$SLUICE" export --name big -o "$tmp/huge.yaml"
expect "100,000 stations: all are there" 100001 "$(grep -c gate: "$tmp/huge.yaml")"
code "100,000 stations: it loads" 0 "$SLUICE" diff "$tmp/huge.yaml" --name big --json
holds "100,000 stations: it is what runs" '(.nodes.kept | length) == 3'
curl -s --limit-rate 200k --max-time 60 --unix-socket "$SLUICE_SOCKETS/big.sock" \
	http://sluice/graph >"$tmp/slow" &
slow=$!
script_pids+=($slow)
wait_for 20 test -s "$tmp/slow"
served=0
for i in 1 2 3 4 5; do
	[ "$(ask big / | jq -r .name)" = big ] && served=$((served + 1))
done
code "a change while it is read" 0 "$SLUICE" reload "$tmp/same.yaml" --name big --allow-loss
if kill -0 $slow 2>/dev/null; then
	expect "a slow reader holds up nobody" 5 $served
else
	not_ok "a slow reader holds up nobody" "it was not slow"
fi
kill $slow 2>/dev/null

# More than a file may be.
cat >"$tmp/full.yaml" <<'END'
nodes:
  make:
    Source:
      {burst: 64, templates: [ether], fields: [{field: ether.src, values: 400000}]}
  fwd: {L2Fwd: {size: 400000, learn: 100000000}}
  out: Sink
graph: ["make -> fwd -> out"]
END
start full "$tmp/full.yaml"
many() {
	"$SLUICE" call fwd info --name full --json | jq -e '.stations >= 399000'
}
if wait_for 60 many; then
	code "too many stations for a file" 2 "$SLUICE" export --learned --name full \
		-o "$tmp/over.yaml"
	says "too many stations for a file: says so" "$tmp/err" "16 MiB\|million\|1000000"
	expect "too many stations for a file: there is none" no \
		"$([ -e "$tmp/over.yaml" ] || echo no)"
else
	not_ok "too many stations for a file" "$("$SLUICE" call fwd info --name full | tr '\n' ' ')"
fi

exit $script_failed
