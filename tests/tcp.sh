#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The control server over TCP: where it listens, the token, and what pages of other sites try.

cd "$(dirname "$0")/.." && . tests/lib/script.sh && . tests/lib/instance.sh

cat >"$tmp/web.yaml" <<'END'
nodes: {make: {Source: {burst: 1}}, fwd: {L2Fwd: {size: 64}}, q: Queue}
graph: ["make -> q -> fwd -> Sink"]
END

# listen NAME OPTION...: an instance that listens; its process is $pid, its address $url.
listen() {
	local name=$1
	shift
	start "$name" "$tmp/web.yaml" "$@"
	url=$(curl -s --unix-socket "$SLUICE_SOCKETS/$name.sock" http://sluice/ | jq -r .address)
}

# status CURL-OPTION...: of the answer.
status() {
	curl -s --max-time 20 -o /dev/null -w '%{http_code}' "$@"
}

listen web --listen 127.0.0.1:0
web=$pid
port=${url##*:}
expect "the address" "http://127.0.0.1:$port" "$url"
expect "the token is the owner's" 600 "$(stat -c %a "$SLUICE_SOCKETS/web.token")"
says "it says where the token is" "$tmp/web.log" \
	"^sluice: note: serves $url, with the token in $SLUICE_SOCKETS/web.token$"
token=$(cat "$SLUICE_SOCKETS/web.token")
expect "the token is not told" 0 "$(grep -c "$token" "$tmp/web.log")"
bearer="Authorization: Bearer $token"
code "ps" 0 "$SLUICE" ps
says "ps shows the address" "$tmp/out" "  $url$"

expect "no token" 401 "$(status "$url/")"
expect "no token: how" 'Bearer realm="sluice"' \
	"$(curl -s -o /dev/null -w '%header{www-authenticate}' "$url/stats")"
expect "the token" 200 "$(status -H "$bearer" "$url/stats")"
expect "a wrong token" 401 "$(status -H "${bearer}0" "$url/stats")"
expect "a part of the token" 401 "$(status -H "${bearer%?}" "$url/stats")"
expect "an empty token" 401 "$(status -H "Authorization: Bearer " "$url/stats")"
expect "another way of asking" 401 "$(status -u "x:$token" "$url/stats")"
expect "a path that is not there is not told to others" 401 "$(status "$url/none")"
expect "a change without a token" 401 "$(status -X POST "$url/stop")"
expect "the token in a path is for / alone" 401 "$(status "$url/stats?token=$token")"

# What a browser does.
expect "the token in the address" "303 /" "$(curl -s -o /dev/null -c "$tmp/jar" \
	-w '%{http_code} %header{location}' "$url/?token=$token")"
says "the cookie is for this port alone" "$tmp/jar" "sluice_$port"
says "the cookie cannot be read by scripts" "$tmp/jar" "^#HttpOnly_127.0.0.1"
expect "the cookie goes to no other site" 1 "$(curl -s -D - -o /dev/null "$url/?token=$token" |
	grep -c '^Set-Cookie: .*; SameSite=Strict')"
expect "the cookie" 200 "$(status -b "$tmp/jar" "$url/stats")"
expect "a wrong token in the address" 401 "$(status "$url/?token=x")"
timeout 20 curl -sN -b "$tmp/jar" "$url/events?interval=50ms" | head -n 1 >"$tmp/out"
expect "events with the cookie" "event: stats" "$(cat "$tmp/out")"

# What pages of other sites try.
expect "a name that another site has made point here" 403 \
	"$(status -H "$bearer" -H "Host: evil.example:$port" "$url/stats")"
expect "no name" 403 "$(status -H "$bearer" -H "Host:" "$url/stats")"
expect "localhost" 200 "$(status -H "$bearer" -H "Host: localhost:$port" "$url/stats")"
expect "another site" 403 "$(status -b "$tmp/jar" -H "Origin: http://evil.example" "$url/stats")"
expect "another port of this machine" 403 \
	"$(status -b "$tmp/jar" -X POST -H "Origin: http://127.0.0.1:1" "$url/stop")"
expect "a page from nowhere" 403 "$(status -b "$tmp/jar" -H "Origin: null" "$url/stats")"
expect "its own page" 200 "$(status -b "$tmp/jar" -H "Origin: $url" "$url/stats")"

# A client that leaves while it waits for events.
timeout 20 curl -sN -b "$tmp/jar" "$url/events?interval=1h" >"$tmp/events" &
listener=$!
wait_for 10 grep -q '^event: stats' "$tmp/events"
descriptors=$(ls "/proc/$web/fd" | wc -l)
kill $listener
wait $listener 2>/dev/null
left() {
	[ "$(ls "/proc/$web/fd" | wc -l)" -le $((descriptors - 2)) ]
}
if wait_for 10 left; then
	ok "a listener that leaves is noticed"
else
	not_ok "a listener that leaves is noticed" "its descriptors are still open"
fi

kill $web
wait $web
expect "a clean end" 0 $?
expect "the token has gone" no "$([ -e "$SLUICE_SOCKETS/web.token" ] && echo yes || echo no)"

# A token of one's own, and where it is needed.
head -c 24 /dev/urandom | base64 >"$tmp/token"
chmod 600 "$tmp/token"
listen own --listen 127.0.0.1:0 --token-file "$tmp/token"
expect "a token of one's own" 200 \
	"$(status -H "Authorization: Bearer $(cat "$tmp/token")" "$url/stats")"
expect "a token of one's own, in the address" 303 \
	"$(status -G --data-urlencode "token=$(cat "$tmp/token")" "$url/")"
expect "no other is made" no "$([ -e "$SLUICE_SOCKETS/own.token" ] && echo yes || echo no)"
code "stop" 0 "$SLUICE" stop --name own --wait
says "the token's file stays" "$tmp/token" .
if listen six --listen '[::1]:0' && [ "$(status -H "Authorization: Bearer $(
	cat "$SLUICE_SOCKETS/six.token")" "$url/stats")" = 200 ]; then
	expect "IPv6" "http://[::1]:" "${url%"${url##*:}"}"
	kill $pid
else
	skip "IPv6" "this machine has no address ::1"
fi
listen all --listen 0.0.0.0:0 --token-file "$tmp/token"
port=${url##*:}
expect "all addresses, with a token of one's own" 200 \
	"$(status -H "Authorization: Bearer $(cat "$tmp/token")" "http://127.0.0.1:$port/")"
expect "all addresses: this machine's name" 200 "$(status \
	-H "Authorization: Bearer $(cat "$tmp/token")" -H "Host: $(uname -n)" "http://127.0.0.1:$port/")"
code "an address that is in use" 3 "$SLUICE" run "$tmp/web.yaml" --quiet --listen "127.0.0.1:$port"
says "an address that is in use" "$tmp/err" "cannot listen at 127.0.0.1:$port: Address already"
expect "an address that is in use: nothing is left" "" \
	"$(ls "$SLUICE_SOCKETS" | grep -v -e '^all\.' -e '^six\.')"
kill $pid

refused() {
	local wanted=$1 text=$2
	shift 2
	code "$*" "$wanted" "$SLUICE" run "$tmp/web.yaml" --quiet "$@"
	says "$*" "$tmp/err" "$text"
}
refused 2 "choose the token" --listen 0.0.0.0:0
refused 2 "choose the token" --listen '[::]:0'
for address in 127.0.0.1 :80 ::1:80 127.0.0.1:99999 127.0.0.1:x '[::1:80' '[]:80' ''; do
	refused 2 "should be ADDRESS:PORT" --listen "$address"
done
refused 3 "cannot listen at" --listen 192.0.2.1:0 --token-file "$tmp/token"
refused 3 "cannot read the token" --listen 127.0.0.1:0 --token-file "$tmp/none"
chmod 644 "$tmp/token"
refused 2 "others can read the token" --listen 127.0.0.1:0 --token-file "$tmp/token"
chmod 600 "$tmp/token"
for token in short "two words of the token" "$(printf 'x%.0s' {1..257})" 'a;b=cccccccccccccccc' ''; do
	echo "$token" >"$tmp/token"
	refused 2 "has no token in it" --listen 127.0.0.1:0 --token-file "$tmp/token"
done
refused 2 "is for --listen" --token-file "$tmp/token"
refused 2 "needs the control socket" --listen 127.0.0.1:0 --no-control


# What is tried over the socket, over TCP.
listen hostile --listen 127.0.0.1:0
if ! TOKEN=$(cat "$SLUICE_SOCKETS/hostile.token") \
	python3 tests/lib/hostile_http.py "${url#http://}" $pid; then
	script_failed=1
fi
code "after that: stop" 0 "$SLUICE" stop --name hostile --wait
expect "it has printed one line" 1 "$(wc -l <"$tmp/hostile.log")"

exit $script_failed
