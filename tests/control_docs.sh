#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The commands of docs/control.md and docs/capture.md do as they stand, one after the other, with the
# graph that stands there.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

tree=$PWD
cd "$tmp"
mkdir bin
ln -s "$SLUICE" bin/sluice
PATH=$tmp/bin:$PATH
# curl says by its exit code what was refused.
echo fail-with-body >.curlrc
export CURL_HOME=$tmp

# blocks FILE KIND: the text of its blocks of that kind.
blocks() {
	awk -v kind="\`\`\`$2" '$0 == "```" {on = 0} on {print} $0 == kind {on = 1}' "$tree/docs/$1"
}

# A command that has no end is ended when something has come of it.
endless() {
	rm -f out long.pcapng
	timeout 60 bash -c "$1" >"$tmp/out" 2>"$tmp/err" </dev/null &
	client=$!
	script_pids+=($client)
	wait_for 50 eval "[ -s out ] || [ -s long.pcapng ] || ! kill -0 $client"
	[ -s out ] || [ -s long.pcapng ]
	came=$?
	kill $client
	wait $client
	return $came
} 2>/dev/null

# do_line NAME LINE
do_line() {
	local text
	text=$(sed -E 's/ +(#.*)?$//' <<<"$2")
	case $text in
	*wireshark* | "sluice top"*) return ;; # these need a screen; the second has a test of its own
	*" &")
		eval "$text" >run.log 2>&1 </dev/null
		script_pids+=($(jobs -p %%))
		wait_for 30 curl -s --unix-socket "$SLUICE_SOCKETS/web.sock" http://sluice/
		expect "$1: $text" 0 $?
		;;
	socket=*) socket=$SLUICE_SOCKETS/web.sock ;;
	*--watch* | *--sample* | */events* | *tcpdump* | *"capture rx" | *"capture left" | *"--both fwd" | *" udp and "*)
		steady endless "$text"
		expect "$1: $text" 0 $?
		;;
	*) code "$1: $text" 0 bash -c "set -f; $text" ;;
	esac
}
export socket

blocks control.md yaml >web.yaml
blocks control.md sh | sed '/^sluice stop/,$d' >control
blocks capture.md sh >capture
blocks control.md sh | sed -n '/^socket=/,/\/stop$/p' >curl
[ "$(cat control capture curl | wc -l)" -ge 35 ] || not_ok "docs/control.md" "it has few commands"
for file in control capture curl; do
	while read -r line <&3; do
		do_line "$file" "$line"
	done 3<$file
done
exit $script_failed
