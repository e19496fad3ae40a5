#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two processes at the two ends of vhost and virtio_user, and of memif, without hugepages and without
# root: frames arrive whole both ways; either end is killed and started again, with no hand work.

. tests/lib/script.sh

kills=1
[ -z "${LONG:-}" ] || kills=30

cores() {
	taskset -cp $$ | sed 's/.*: //; s/[-,]/ /g'
}
read -r first_core _ <<<"$(cores)"
last_core=$(cores | awk '{print $NF}')

# Frames of every kind of length, each of its own bytes.
python3 - "$tmp/in.pcap" <<-'END'
	import random, struct, sys
	random.seed(1)
	lengths = [60, 61, 64, 127, 128, 1514, 1518, 2000, 2047, 2048, 2049, 4096, 9014]
	with open(sys.argv[1], "wb") as out:
	    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
	    for i in range(40):
	        for length in lengths:
	            frame = bytes.fromhex("020000000001020000000002") + b"\x88\xb5" + random.randbytes(length - 14)
	            out.write(struct.pack("<IIII", i, length, length, length) + frame)
END
frames=520
mkfifo "$tmp/feed"

# What comes in goes out again.
echo_graph() {
	cat <<-END
		eal: --no-huge
		ports: {peer: {$1}}
		nodes:
		  rx: {PortInc: {port: peer}}
		  tx: {PortOut: {port: peer, retry: true}}
		graph: [rx -> tx]
		workers: [{core: $first_core, sources: [rx]}]
	END
}

# A capture goes to the peer, what comes back is written to another.
probe_graph() {
	cat <<-END
		eal: --no-huge
		ports:
		  peer: {$1}
		  given: {pcap: {rx: $tmp/feed}}
		  got: {pcap: {tx: $tmp/out.pcap}}
		nodes:
		  read: {PortInc: {port: given}}
		  there: {PortOut: {port: peer, retry: true}}
		  back: {PortInc: {port: peer}}
		  write: {PortOut: {port: got, retry: true}}
		graph: [read -> there, back -> write]
		workers: [{core: $last_core, sources: [read, back]}]
	END
}

# Packets without end, for those who come and go.
flow_graph() {
	cat <<-END
		eal: --no-huge
		ports: {peer: {$1}}
		nodes:
		  make: {Source: {size: 1000, burst: 8}}
		  there: {PortOut: {port: peer}}
		  back: {PortInc: {port: peer}}
		  end: Sink
		graph: [make -> there, back -> end]
		workers: [{core: $last_core, sources: [make, back]}]
	END
}

# start NAME: runs $tmp/NAME.yaml; its pid is in pid[NAME].
declare -A pid
start() {
	: >"$tmp/$1.json"
	"$SLUICE" run "$tmp/$1.yaml" --json --stats 100ms >"$tmp/$1.json" 2>>"$tmp/$1.log" &
	pid[$1]=$!
	script_pids+=($!)
}

crash() {
	kill -KILL ${pid[$1]}
	wait ${pid[$1]} 2>/dev/null
}

received() {
	tail -n 1 "$tmp/$1.json" | jq -r .ports.peer.rx_packets 2>/dev/null || echo 0
}

received_more_than() {
	[ "$(received $1)" -gt "$2" ] 2>/dev/null
}

# The peer's packets go on arriving.
alive() {
	local name=$1 who=$2 before
	before=$(received $who)
	if wait_for 15 received_more_than $who $((${before:-0} + 100)); then
		ok "$name"
	else
		tail -n 5 "$tmp"/*.log
		not_ok "$name" "nothing more arrives"
	fi
}

stop_well() {
	local name=$1 who=$2 code
	kill -INT ${pid[$who]}
	wait ${pid[$who]}
	code=$?
	[ $code = 0 ] || tail -n 5 "$tmp/$who.log"
	expect "$name: $who ends well" 0 $code
}

met() {
	grep -q "the peer at .* is there" "$tmp/echo.log" && grep -q "the peer at .* is there" "$tmp/probe.log"
}

whole() {
	local name=$1
	start echo
	start probe
	# DPDK's virtio_user may lose what the peer sends before it says that it is there.
	wait_for 30 met || not_ok "$name: both meet" "$(tail -n 5 "$tmp"/*.log)"
	timeout 30 sh -c 'cat "$1" >"$2"' - "$tmp/in.pcap" "$tmp/feed"
	if ! wait_for 30 received_more_than probe $((frames - 1)); then
		tail -n 5 "$tmp"/*.log
		not_ok "$name: frames both ways" "$(received probe) of $frames came back"
	fi
	stop_well "$name" probe
	stop_well "$name" echo
	tcpdump -t -xx -r "$tmp/in.pcap" >"$tmp/in.txt" 2>/dev/null
	tcpdump -t -xx -r "$tmp/out.pcap" >"$tmp/out.txt" 2>/dev/null
	if cmp -s "$tmp/in.txt" "$tmp/out.txt"; then
		ok "$name: frames both ways, whole and in order"
	else
		diff "$tmp/in.txt" "$tmp/out.txt" | head -n 10
		not_ok "$name: frames both ways, whole and in order" "they differ"
	fi
}

come_and_go() {
	local name=$1
	start flow
	start echo
	alive "$name: a peer that comes late" flow
	for ((i = 0; i < kills; i++)); do
		crash echo
		start echo
		alive "$name: the peer was killed and is back" flow
		crash flow
		start flow
		alive "$name: we were killed and are back" flow
	done
	stop_well "$name" flow
	stop_well "$name" echo
}

# ONLY="memif*" tests/peers.sh runs those of such names.
# both NAME ECHO-PORT FLOW-PORT [only-whole]: with the latter, kills are for the long tests.
both() {
	[[ $1 == ${ONLY:-*} ]] || return
	rm -f "$tmp"/*.log "$tmp"/*.json
	echo_graph "$2" >"$tmp/echo.yaml"
	probe_graph "$3" >"$tmp/probe.yaml"
	flow_graph "$3" >"$tmp/flow.yaml"
	whole "$1"
	[ -n "${4:-}" ] && [ -z "${LONG:-}" ] || come_and_go "$1"
}

socket=$tmp/socket
both "vhost and virtio_user" "vhost: {path: $socket}" "virtio_user: {path: $socket}"
both "virtio_user and vhost" "virtio_user: {path: $socket}" "vhost: {path: $socket}" only-whole
both "virtio_user, server, and vhost, client" \
	"virtio_user: {path: $socket, server: true}" "vhost: {path: $socket, client: true}"
both "vhost, client, and virtio_user, server" \
	"vhost: {path: $socket, client: true}" "virtio_user: {path: $socket, server: true}" only-whole
both "packed rings" "vhost: {path: $socket}" "virtio_user: {path: $socket, packed: true}" \
	only-whole
ethdev="path: $socket, via: ethdev"
both "DPDK's vhost and virtio_user" "vhost: {$ethdev}" "virtio_user: {path: $socket}"
both "DPDK's vhost and virtio_user, packed" "vhost: {$ethdev}" "virtio_user: {path: $socket, packed: true}"
both "virtio_user and DPDK's vhost" "virtio_user: {path: $socket}" "vhost: {$ethdev}" only-whole
both "virtio_user, server, and DPDK's vhost, client" \
	"virtio_user: {path: $socket, server: true}" "vhost: {$ethdev, client: true}"
both "DPDK's vhost, client, and virtio_user, server" \
	"vhost: {$ethdev, client: true}" "virtio_user: {path: $socket, server: true}" only-whole
both "memif, server and client" \
	"memif: {path: $socket, role: server}" "memif: {path: $socket, role: client}"
both "memif, client and server" \
	"memif: {path: $socket, role: client}" "memif: {path: $socket, role: server}"
both "memif without copies" \
	"memif: {path: $socket, role: server}" "memif: {path: $socket, role: client, zero_copy: true}"
both "memif, abstract socket" "memif: {path: $socket, role: server, abstract: true}" \
	"memif: {path: $socket, role: client, abstract: true}" only-whole

# A port that waits for a peer does not keep the program from ending. (Before it has begun, a program
# that bash starts in the background does not get SIGINT at all.)
[[ "waiting" == ${ONLY:-*} ]] || exit $script_failed
for port in "vhost: {path: $socket}" "vhost: {path: $socket, client: true}" \
	"vhost: {$ethdev}" "virtio_user: {path: $socket}" "virtio_user: {path: $socket, server: true}" \
	"memif: {path: $socket, role: server}" "memif: {path: $socket, role: client}"; do
	for delay in 0.1 0.5; do
		echo_graph "$port" >"$tmp/echo.yaml"
		start echo
		wait_for 20 listens ${pid[echo]}
		sleep $delay
		kill -INT ${pid[echo]}
		wait ${pid[echo]}
		code=$?
		[ $code = 0 ] || break
	done
	expect "stopped while it waits: $port" 0 $code
done
exit $script_failed
