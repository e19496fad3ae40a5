#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Live control: the commands that talk to an instance, names and sockets, SIGHUP. What a hostile
# client tries is in lib/hostile_http.py, reloads under load are in reload.sh.

cd "$(dirname "$0")/.." && . tests/lib/script.sh && . tests/lib/instance.sh

# ask NAME METHOD PATH CURL-OPTION...
ask() {
	local name=$1 method=$2 path=$3
	shift 3
	curl -s --max-time 20 --unix-socket "$SLUICE_SOCKETS/$name.sock" -X "$method" "$@" \
		"http://sluice$path"
}

# listen NAME INTERVAL: to its events, in the process $listener.
listen() {
	curl -sN --max-time 100 --unix-socket "$SLUICE_SOCKETS/$1.sock" \
		"http://sluice/events?interval=$2" &
	listener=$!
	script_pids+=($listener)
}

cat >"$tmp/web.yaml" <<'END'
nodes: {make: {Source: {burst: 1}}, fwd: {L2Fwd: {size: 64}}, q: Queue}
graph: ["make -> q -> fwd -> Sink"]
END
cat >"$tmp/more.yaml" <<'END'
vars: {size: 64}
nodes: {make: {Source: {burst: 1}}, fwd: {L2Fwd: {size: $size}}, q: Queue, swap: MACSwap}
graph: ["make -> q -> swap -> fwd -> Sink"]
END
cat >"$tmp/wrong.yaml" <<'END'
nodes: {make: {Sourze: {}}}
graph: ["make -> Sink"]
END
cat >"$tmp/script.lua" <<'END'
local v = vars{size = 64}
chain(Source("make", {burst = 1}), Queue("q"), L2Fwd("fwd", {size = v.size}), Sink("out"))
END

# Nothing runs.
for command in ps stats call export stop "diff $tmp/web.yaml" "reload $tmp/web.yaml"; do
	code "${command%% *}: none runs" 3 "$SLUICE" $command
	says "${command%% *}: says that none runs" "$tmp/err" "sluice: error: no instance of sluice runs"
done
code "ps --json: none runs" 3 "$SLUICE" ps --json
holds "ps --json: an empty list" '. == []'

start web "$tmp/web.yaml"
web=$pid
expect "the socket is the owner's" 600 "$(stat -c %a "$SLUICE_SOCKETS/web.sock")"
code "ps" 0 "$SLUICE" ps
says "ps shows the instance" "$tmp/out" "^web  *$web "
code "ps --json" 0 "$SLUICE" ps --json
holds "ps --json: what it is" "length == 1 and .[0].name == \"web\" and .[0].pid == $web and
	.[0].nodes == 4 and (.[0].socket | endswith(\"/web.sock\"))"

# stats.
code "stats" 0 "$SLUICE" stats
says "stats shows the nodes" "$tmp/out" '^make  *Source  *[0-9]'
says "stats shows the workers" "$tmp/out" '^worker  *core'
code "stats NODE" 0 "$SLUICE" stats fwd
expect "stats NODE shows that one" 1 "$(grep -c '^[a-z].*  [0-9]' "$tmp/out")"
code "stats --json" 0 "$SLUICE" stats --json
holds "stats --json: the counters of run --json" '.nodes.make.made > 0 and .seconds > 0 and
	(.workers | length) == 1 and .ports == {}'
code "stats NODE --json" 0 "$SLUICE" stats make --json
holds "stats NODE --json: that one" '(.nodes | keys) == ["make"]'
code "stats of no node" 2 "$SLUICE" stats mkae
says "stats of no node: a near one" "$tmp/err" 'no node "mkae"; did you mean "make"'
for watch in "--watch 100ms" "--watch=100ms" "-w100ms"; do
	"$SLUICE" stats $watch --json 2>/dev/null | head -n 3 >"$tmp/out"
	expect "stats $watch: again and again" 3 "$(jq -s 'map(.time_ns) | unique | length' "$tmp/out")"
done
"$SLUICE" stats make --watch 100ms 2>/dev/null | head -n 9 >"$tmp/out"
expect "stats --watch: rates" 2 "$(grep -c '^make  *Source  *[0-9,]*  *[0-9.]*[kMG]* ' "$tmp/out")"
code "stats --watch of nothing" 2 "$SLUICE" stats --watch=0s

# call.
code "call" 0 "$SLUICE" call
says "call lists the commands" "$tmp/out" '^fwd  *add mac=... gate=... \[vlan=...\]'
code "call --json" 0 "$SLUICE" call --json
holds "call --json lists the commands" '(keys == ["fwd", "q"]) and
	(.fwd | map(.name) | index("add"))'
code "call NODE" 0 "$SLUICE" call fwd
says "call NODE lists the arguments" "$tmp/out" '^add  *mac  *MAC address'
code "call NODE without commands" 0 "$SLUICE" call make
says "call NODE without commands says so" "$tmp/out" 'make has no commands'
code "call" 0 "$SLUICE" call fwd add mac=02:00:00:00:00:09 gate=0
expect "call: no answer is printed as none" "" "$(cat "$tmp/out")"
code "call: an answer" 0 "$SLUICE" call fwd info
says "call: an answer as text" "$tmp/out" '^static: 1$'
code "call: an answer as JSON" 0 "$SLUICE" call fwd info --json
holds "call: an answer as JSON" '.static == 1'
code "call: a list" 0 "$SLUICE" call fwd list
says "call: a list as a table" "$tmp/out" '^02:00:00:00:00:09  *0  *true'
code "call: wrong arguments" 2 "$SLUICE" call fwd add mac=zz gate=7 vlna=3
says "call: the checker's words" "$tmp/err" '^sluice: error: fwd add: mac: "zz" is not a MAC address'
expect "call: every fault" 3 "$(grep -c '^sluice: error: fwd add: ' "$tmp/err")"
code "call: a missing argument" 2 "$SLUICE" call fwd add mac=02:00:00:00:00:01
code "call: no NAME=VALUE" 2 "$SLUICE" call fwd add mac
code "call: twice" 2 "$SLUICE" call fwd add mac=02:00:00:00:00:01 mac=02:00:00:00:00:01 gate=0
says "call: twice" "$tmp/err" 'mac is given twice'
code "call: a list is read as one" 2 "$SLUICE" call fwd add 'mac=[1, 2]' gate=0
says "call: a list is read as one" "$tmp/err" 'mac: .*a list'
code "call: a list that is none" 2 "$SLUICE" call fwd add 'mac=[1, 2' gate=0
says "call: a list that is none: in which argument" "$tmp/err" '^mac:[0-9]'
code "call: no such command" 2 "$SLUICE" call fwd ad mac=02:00:00:00:00:01
says "call: no such command: a near one" "$tmp/err" 'no command "ad"; did you mean "add"'
code "call: no such node" 2 "$SLUICE" call fdw info

# diff, reload, export.
code "diff" 0 "$SLUICE" diff "$tmp/more.yaml"
says "diff: kept" "$tmp/out" '^nodes kept: make, fwd, q$'
says "diff: new" "$tmp/out" '^nodes new: swap, Sink#1$'
code "diff --json" 0 "$SLUICE" diff "$tmp/more.yaml" --set size=128 --json
holds "diff --json" '.nodes.replaced == ["fwd"] and .nodes.new == ["swap", "Sink#1"] and
	.nodes.removed == ["Sink#1"] and .losses == [] and .ports.kept == []'
code "diff changes nothing" 0 "$SLUICE" stats --json
holds "diff changes nothing" '.nodes.swap == null'
code "diff of a wrong file" 2 "$SLUICE" diff "$tmp/wrong.yaml"
says "diff of a wrong file: where" "$tmp/err" "^$tmp/wrong.yaml:1:16: error: no module"
code "reload of a wrong file" 2 "$SLUICE" reload "$tmp/wrong.yaml"
says "reload of a wrong file: where" "$tmp/err" "^$tmp/wrong.yaml:1:16: error: no module"
code "reload of no file" 2 "$SLUICE" reload "$tmp/none.yaml"
code "reload" 0 "$SLUICE" reload "$tmp/more.yaml"
says "reload says what it did" "$tmp/out" '^changed; workers were parked for '
code "the table survives a reload" 0 "$SLUICE" call fwd info --json
holds "the table survives a reload" '.static == 1 and .size == 64'
code "reload --set" 0 "$SLUICE" reload "$tmp/more.yaml" --set size=256 --json
holds "reload --set: the answer" '.nodes.replaced == ["fwd"] and .parked_ns > 0'
code "the table is taken over" 0 "$SLUICE" call fwd info --json
holds "the table is taken over" '.static == 1 and .size == 256'
code "reload --set of an unknown var" 2 "$SLUICE" reload "$tmp/more.yaml" --set sze=1
code "export" 0 "$SLUICE" export
cp "$tmp/out" "$tmp/exported.yaml"
code "what is exported loads" 0 "$SLUICE" check "$tmp/exported.yaml"
code "what is exported is what runs" 0 "$SLUICE" diff "$tmp/exported.yaml" --json
holds "what is exported is what runs" '.nodes.replaced + .nodes.live == [] and
	.nodes.removed == ["Sink#1"]'
code "reload of a script" 0 "$SLUICE" reload "$tmp/script.lua" --set size=256
says "reload of a script: what it did" "$tmp/out" '^nodes new: out$'
cat >"$tmp/socket.yaml" <<END
ports: {left: {vhost: {path: $tmp/none/socket}}}
nodes: {rx: {PortInc: {port: left}}}
graph: [rx -> Sink]
END
code "reload of what this machine lacks" 3 "$SLUICE" reload "$tmp/socket.yaml"
says "reload of what this machine lacks: where" "$tmp/err" "^$tmp/socket.yaml:1:"
code "and all is as before" 0 "$SLUICE" call fwd info --json
holds "and all is as before" '.static == 1'

# Which instance.
start other "$tmp/web.yaml"
other=$pid
code "two run" 2 "$SLUICE" stats
says "two run: how to choose" "$tmp/err" '2 instances run: choose one with --name'
code "--name" 0 "$SLUICE" stats --name other --json
code "--name of none" 3 "$SLUICE" stats --name othr
says "--name of none: a near one" "$tmp/err" 'no instance "othr" runs; did you mean "other"'
code "a name that is taken" 3 "$SLUICE" run "$tmp/web.yaml" --name other --quiet
says "a name that is taken" "$tmp/err" "runs already as process $other"
for bad in "" a/b ../x .x 'a b' "$(printf 'x%.0s' {1..64})"; do
	code "the name \"$bad\"" 2 "$SLUICE" run "$tmp/web.yaml" --quiet --name="$bad"
done
code "a group that is none" 2 "$SLUICE" run "$tmp/web.yaml" --quiet --group no-such-group
code "stop --wait" 0 "$SLUICE" stop --wait --name other
expect "stop --wait: it has ended" gone "$(kill -0 $other 2>/dev/null && [ "$(ps -o stat= $other)" != Z ] && echo there || echo gone)"
finish $other
expect "stop: a clean end" 0 "$code"
expect "stop: the socket has gone" no "$([ -e "$SLUICE_SOCKETS/other.sock" ] && echo yes || echo no)"

# Two of the same file, started at once.
for i in 1 2; do
	"$SLUICE" run "$tmp/more.yaml" --quiet 2>"$tmp/more$i.log" &
	script_pids+=($!)
	more[i]=$!
done
both() {
	[ "$("$SLUICE" ps --json | jq '[.[] | select(.file | endswith("more.yaml"))] | length')" = 2 ]
}
wait_for 30 both
expect "two of a file have two names" 2 "$("$SLUICE" ps --json |
	jq -r '[.[] | select(.file | endswith("more.yaml")) | .name] | unique | length')"
expect "one has the file's" 1 "$("$SLUICE" ps --json | jq '[.[] | select(.name == "more")] | length')"
kill "${more[@]}"

# A socket of what was killed is taken over.
start dead "$tmp/web.yaml"
kill -KILL $pid
finish $pid
expect "SIGKILL leaves the socket" yes "$([ -S "$SLUICE_SOCKETS/dead.sock" ] && echo yes)"
code "a dead one is passed over" 0 "$SLUICE" ps --json
holds "a dead one is passed over" 'all(.[]; .name != "dead")'
start dead "$tmp/web.yaml"
code "the next takes its name" 0 "$SLUICE" stop --name dead --wait
touch "$SLUICE_SOCKETS/file.sock"
code "a file in the way" 3 "$SLUICE" run "$tmp/web.yaml" --quiet --name file
says "a file in the way" "$tmp/err" "file.sock is in the way"
rm "$SLUICE_SOCKETS/file.sock"
code "no control socket" 0 "$SLUICE" run "$tmp/web.yaml" --quiet --no-control --for 100ms
mkdir -m 777 "$tmp/open"
SLUICE_SOCKETS=$tmp/open code "a folder that others may write to" 3 \
	"$SLUICE" run "$tmp/web.yaml" --quiet --name x
says "a folder that others may write to" "$tmp/err" "not this user's alone"
SLUICE_SOCKETS=$tmp/open code "without a name it runs all the same" 0 \
	"$SLUICE" run "$tmp/web.yaml" --quiet --for 100ms
says "and says so" "$tmp/err" "runs without a control socket"

# Of an ordinary user, who has no folder of its own.
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$SLUICE" version \
	>/dev/null 2>&1 && ! [ -e /tmp/sluice-65534 ]; then
	chmod 755 "$tmp"
	env -u SLUICE_SOCKETS -u XDG_RUNTIME_DIR setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$SLUICE" run "$tmp/web.yaml" --quiet --name user 2>"$tmp/err" &
	pid=$!
	script_pids+=($pid)
	wait_for 30 test -S /tmp/sluice-65534/user.sock
	expect "an ordinary user's folder" "700 65534" "$(stat -c '%a %u' /tmp/sluice-65534)"
	expect "an ordinary user's socket" "600 65534" "$(stat -c '%a %u' /tmp/sluice-65534/user.sock)"
	kill $pid
	finish $pid
	rm -rf /tmp/sluice-65534
	mkdir -m 755 /tmp/sluice-65534
	chown 1:1 /tmp/sluice-65534
	timeout 20 env -u SLUICE_SOCKETS -u XDG_RUNTIME_DIR setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$SLUICE" run "$tmp/web.yaml" --quiet --name user 2>"$tmp/err"
	expect "a folder that another made" 3 $?
	says "a folder that another made" "$tmp/err" "not this user's alone"
	rm -rf /tmp/sluice-65534
else
	skip "an ordinary user's folder" "this needs root, and that nobody may run the program"
fi

# SIGHUP.
cp "$tmp/web.yaml" "$tmp/hup.yaml"
start hup "$tmp/hup.yaml"
reloaded() {
	[ "$(ask hup GET /nodes | jq 'has("swap")')" = true ]
}
not_parked() {
	grep -c 'did not come to a stop' "$tmp/hup.log"
}
# Until it could be done.
hup() {
	local before
	for _ in {1..20}; do
		before=$(not_parked)
		kill -HUP $pid
		wait_for 20 eval 'reloaded || [ $(not_parked) -gt $before ]'
		! reloaded || return
	done
}
told() {
	grep -q "$1" "$tmp/hup.log"
}
listen hup 1h >"$tmp/hup.events"
wait_for 20 grep -q '^event: stats' "$tmp/hup.events"
cp "$tmp/more.yaml" "$tmp/hup.yaml"
hup
expect "SIGHUP reads the file again" true "$(ask hup GET /nodes | jq 'has("swap")')"
cp "$tmp/wrong.yaml" "$tmp/hup.yaml"
before=$(ask hup GET /nodes/make | jq .made)
kill -HUP $pid
wait_for 20 told 'hup.yaml:1:16: error: no module'
says "SIGHUP: a bad file is reported" "$tmp/hup.log" 'hup.yaml:1:16: error: no module'
more_made() {
	[ "$(ask hup GET /nodes/make | jq .made)" -gt "$before" ]
}
if wait_for 20 more_made; then
	ok "SIGHUP: the old graph runs on"
else
	not_ok "SIGHUP: the old graph runs on" "it makes no packets any more"
fi
code "SIGHUP: stop" 0 "$SLUICE" stop --wait --name hup
finish $pid
expect "SIGHUP: a clean end" 0 "$code"
wait $listener
expect "SIGHUP: a listener to events is told, to the end" "stats graph note fault stop " \
	"$(awk '/^event: / {event = $2} /^data: / && !/did not come to a stop/ {print event}' \
		"$tmp/hup.events" | tr '\n' ' ')"

# Links.
ask web GET /links >"$tmp/out"
holds "links: what leads where" 'map([.from, .ogate, .to, .igate, .back]) == [
	["make", 0, "q", 0, false], ["q", 0, "fwd", 0, false], ["fwd", 0, "out", 0, false]]'
holds "links: what has passed" '.[0].packets > 0 and .[0].batches > 0 and .[2].packets == 0'

# Events, whoever does what they tell.
listen web 50ms >"$tmp/events"
told_event() {
	grep -A 1 "^event: $1$" "$tmp/events" | grep -q -- "$2"
}
wait_for 20 told_event stats '"make"'
code "events: a command" 0 "$SLUICE" call fwd add mac=02:00:00:00:00:0a gate=0 --name web
wait_for 20 told_event command '{"node":"fwd","command":"add"}'
code "events: a change" 0 "$SLUICE" reload "$tmp/script.lua" --set size=256 --name web
for event in 'stats "seconds"' 'command {"node":"fwd","command":"add"}' 'graph "diff":{'; do
	if wait_for 20 told_event "${event%% *}" "${event#* }"; then
		ok "an event ${event%% *}"
	else
		not_ok "an event ${event%% *}" "$(cut -c 1-200 "$tmp/events" | tail -n 5)"
	fi
done
kill $listener
expect "an interval that is none" 400 \
	"$(ask web GET '/events?interval=x' -o /dev/null -w '%{http_code}')"

# What is served.
ask web GET /openapi.json >"$tmp/openapi.json"
if python3 tests/lib/openapi_check.py "$tmp/openapi.json" >"$tmp/out" 2>&1; then
	ok "the OpenAPI document"
else
	not_ok "the OpenAPI document" "$(tail -n 3 "$tmp/out")"
fi
answers=
for path in $(jq -r '.paths | to_entries[] | select(.value.get) | .key' "$tmp/openapi.json"); do
	path=${path/\{node\}/fwd}
	# Captures and events have no end.
	[[ $path == *{* || $path == */capture || $path == /events ]] || answers+=$(ask web GET "$path" -o /dev/null -w '%{http_code} ')
done
expect "every GET of it answers" "" "${answers//200 /}"
expect "what is not there" 404 "$(ask web GET /none -o /dev/null -w '%{http_code}')"
expect "another method" 405 "$(ask web DELETE /stats -o /dev/null -w '%{http_code}')"
expect "another method: which it has" "GET, HEAD, PUT" "$(ask web DELETE /graph -o /dev/null \
	-w '%header{allow}')"
expect "OPTIONS" "204 GET, HEAD" "$(ask web OPTIONS /stats -o /dev/null \
	-w '%{http_code} %header{allow}')"
expect "HEAD" 200 "$(curl -sI --max-time 20 --unix-socket "$SLUICE_SOCKETS/web.sock" \
	-o /dev/null -w '%{http_code}' http://sluice/stats)"
ask web GET /metrics >"$tmp/metrics"
if command -v promtool >/dev/null; then
	promtool check metrics <"$tmp/metrics" >"$tmp/out" 2>&1
	expect "promtool finds the metrics good" "0 " "$? $(head -c 300 "$tmp/out")"
else
	skip "promtool finds the metrics good" "there is no promtool (build/tools.sh prometheus)"
fi
ask web GET /metrics -H 'Accept: application/openmetrics-text; version=1.0.0' >"$tmp/openmetrics"
expect "OpenMetrics ends as it must" "# EOF" "$(tail -n 1 "$tmp/openmetrics")"
if python3 tests/lib/openmetrics_check.py "$tmp/openmetrics" >"$tmp/out" 2>&1; then
	ok "OpenMetrics"
else
	not_ok "OpenMetrics" "$(tail -n 3 "$tmp/out")"
fi

# The control thread leaves the worker its core, where there is another one.
if [ "$(nproc)" -gt 1 ]; then
	core=$(ask web GET /stats | jq '.workers[0].core')
	expect "the worker's core is its own" "$(taskset -pc $$ | sed 's/.*: //' | tr , '\n' |
		awk -F- '{for (i = $1; i <= $NF; i++) print i}' | grep -vx "$core" | xargs)" \
		"$(taskset -pc $web | sed 's/.*: //' | tr , '\n' |
		awk -F- '{for (i = $1; i <= $NF; i++) print i}' | xargs)"
else
	skip "the worker's core is its own" "there is one core"
fi

# A client that means no good.
if python3 tests/lib/hostile_http.py "$SLUICE_SOCKETS/web.sock" $web; then
	code "after that: stats" 0 "$SLUICE" stats --json --name web
	holds "after that: nothing was lost" '.nodes | map(.dropped | del(.same_gate)) | add == {}'
else
	script_failed=1
fi
code "after that: stop" 0 "$SLUICE" stop --wait --name web
finish $web
expect "after that: a clean end" 0 "$code"
expect "it has printed nothing" "" "$(cat "$tmp/web.log")"

exit $script_failed
