#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts, each a network namespace, joined by a Sluice L2Fwd: over veth (af_packet) and over tap.
# Needs root and a kernel that allows namespaces.

. tests/lib/script.sh

if ! have_namespaces; then
	skip "live traffic" "it needs root and network namespaces"
	exit 0
fi
for tool in ping iperf3 ethtool jq tcpdump python3; do
	if ! command -v $tool >/dev/null; then
		skip "live traffic" "there is no $tool"
		exit 0
	fi
done

one=sluice-$$-1
two=sluice-$$-2
mid=sluice-$$-m

cleanup() {
	for ns in $one $two $mid; do
		ip netns delete $ns 2>/dev/null
	done
}

# The hosts know each other's addresses by 10.0.0.x and fd00::x, in VLAN 7 by 10.0.7.x.
host_setup() {
	local ns=$1 number=$2 dev=$3 mtu=$4
	ip -n $ns link set lo up
	ip -n $ns link set $dev mtu $mtu up
	ip -n $ns address add 10.0.0.$number/24 dev $dev
	ip -n $ns address add fd00::$number/64 dev $dev nodad
	if [ $have_vlan = yes ]; then
		ip -n $ns link add link $dev name vlan7 type vlan id 7
		ip -n $ns link set vlan7 up
		ip -n $ns address add 10.0.7.$number/24 dev vlan7
	fi
}

# Some kernels have no VLAN interfaces.
have_vlan=no
ip netns add $mid
ip -n $mid link add sl0 type veth peer name sl1
ip -n $mid link add link sl0 name vlan7 type vlan id 7 2>/dev/null && have_vlan=yes
ip netns delete $mid

# Frames with tags that the kernel would not make, seen at the other end as they were sent.
tags="8100 0007 88b5
8100 e00a 88b5
88a8 0064 8100 0007 88b5"

tagged() {
	local kind=$1 from=$2 dev=$3 got
	ip netns exec $two tcpdump -i $dev -U -w "$tmp/tagged.pcap" -c 3 \
		ether src 02:00:00:00:00:99 2>"$tmp/tcpdump" &
	script_pids+=($!)
	wait_for 5 grep -q listening "$tmp/tcpdump" || not_ok "$kind: tcpdump" "$(cat "$tmp/tcpdump")"
	on $one python3 - $from $tags <<-'END'
		import socket, sys
		link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		link.bind((sys.argv[1], 0))
		tag = ""
		for word in sys.argv[2:]:
		    tag += word
		    if word == "88b5":
		        link.send(bytes.fromhex("ffffffffffff" "020000000099" + tag + "5a" * 60))
		        tag = ""
	END
	wait_for 5 grep -q '^3 packets captured' "$tmp/tcpdump"
	got=$(tcpdump -xx -r "$tmp/tagged.pcap" 2>/dev/null |
		awk '/^\t0x/ {$1 = ""; hex = hex $0; next} {print hex; hex = ""} END {print hex}' |
		sed -n 's/^ ffff ffff ffff 0200 0000 0099 \(.*88b5\) 5a5a.*/\1/p')
	expect "$kind: frames with VLAN tags, one and two" "$tags" "$got"
}

bridge() {
	local kind=$1 left=$2 right=$3 mtu=$4
	cat <<-END
		ports:
		  left: {$kind: {iface: $left, mtu: $mtu}}
		  right: {$kind: {iface: $right, mtu: $mtu}}
		nodes:
		  from_left: {PortInc: {port: left}}
		  from_right: {PortInc: {port: right}}
		  bridge: L2Fwd
		  to_left: {PortOut: {port: left}}
		  to_right: {PortOut: {port: right}}
		graph:
		  - from_left -> [0]bridge[0] -> to_left
		  - from_right -> [1]bridge[1] -> to_right
	END
}

sluice_start() {
	ip netns exec $mid "$SLUICE" run "$tmp/bridge.yaml" --json >"$tmp/json" 2>"$tmp/log" &
	sluice_pid=$!
	script_pids+=($sluice_pid)
}

sluice_stop() {
	local code
	kill -INT $sluice_pid
	wait $sluice_pid
	code=$?
	[ $code = 0 ] || cat "$tmp/log"
	expect "$1: end" 0 $code
	expect "$1: nothing was received in part" 0 \
		"$(jq -s '.[-1].ports | [.[].rx_errors] | add' "$tmp/json")"
}

# ip netns exec gives way to the program, so the pid is the program's.
on() {
	ip netns exec "$@"
}

pings() {
	on $one ping -c 1 -W 1 10.0.0.2
}

traffic() {
	local kind=$1 mtu=$2
	if ! wait_for 10 pings; then
		cat "$tmp/log"
		not_ok "$kind: ping" "no answer within 10 s"
		return
	fi
	ok "$kind: ping"
	run_ok "$kind: ping6" on $one ping -6 -c 3 -i 0.2 -W 2 fd00::2
	if [ $have_vlan = yes ]; then
		run_ok "$kind: ping in a VLAN" on $one ping -c 3 -i 0.2 -W 2 10.0.7.2
	else
		skip "$kind: ping in a VLAN" "the kernel has no VLAN interfaces"
	fi
	tagged "$kind" $3 $4
	run_ok "$kind: frames of the full MTU of $mtu" \
		on $one ping -c 3 -i 0.2 -W 2 -M do -s $((mtu - 28)) 10.0.0.2
	ip netns exec $two iperf3 -s -1 -p 5201 >/dev/null 2>&1 &
	script_pids+=($!)
	wait_for 5 on $two sh -c 'ss -Htln sport = :5201 | grep -q .'
	if on $one iperf3 -c 10.0.0.2 -p 5201 -n 32M --json >"$tmp/iperf" 2>&1; then
		ok "$kind: iperf3 TCP, $(jq -r '.end.sum_received.bits_per_second / 1e6 | floor' \
			"$tmp/iperf") Mbit/s"
	else
		tail -n 20 "$tmp/iperf"
		not_ok "$kind: iperf3 TCP" "it did not get through"
	fi
}

# A packet whose checksum is wrong is dropped by its receiver and counted there.
checksum_errors() {
	on $1 nstat -as -z 2>/dev/null | awk '/TcpInCsumErrors|UdpInCsumErrors/ {n += $2} END {print n + 0}'
}

namespaces() {
	cleanup
	for ns in $one $two $mid; do
		ip netns add $ns
	done
}

veth_setup() {
	local mtu=$1
	namespaces
	ip -n $one link add eth0 mtu $mtu type veth peer name left netns $mid
	ip -n $two link add eth0 mtu $mtu type veth peer name right netns $mid
	ip -n $mid link set left mtu $mtu up
	ip -n $mid link set right mtu $mtu up
	for ns in $one $two; do
		on $ns ethtool -K eth0 tx off >/dev/null
	done
	host_setup $one 1 eth0 $mtu
	host_setup $two 2 eth0 $mtu
}

tap_setup() {
	local mtu=$1
	namespaces
	ip -n $mid link set lo up
	bridge tap left right $mtu >"$tmp/bridge.yaml"
	sluice_start
	wait_for 10 ip -n $mid link show right || cat "$tmp/log"
	# An interface keeps its program when it moves.
	ip -n $mid link set left netns $one
	ip -n $mid link set right netns $two
	host_setup $one 1 left $mtu
	host_setup $two 2 right $mtu
}

for mtu in 1500 9000; do
	veth_setup $mtu
	bridge af_packet left right $mtu >"$tmp/bridge.yaml"
	sluice_start
	traffic "veth, MTU $mtu" $mtu eth0 eth0
	expect "veth, MTU $mtu: checksums" 0 $(($(checksum_errors $one) + $(checksum_errors $two)))
	sluice_stop "veth, MTU $mtu"

	tap_setup $mtu
	traffic "tap, MTU $mtu" $mtu left right
	expect "tap, MTU $mtu: checksums" 0 $(($(checksum_errors $one) + $(checksum_errors $two)))
	sluice_stop "tap, MTU $mtu"
done

# The kernel leaves checksums of a veth to nobody; the port finishes them. Segments are another
# matter, so those stay off.
veth_setup 1500
for ns in $one $two; do
	on $ns ethtool -K eth0 tx on tso off gso off >/dev/null
done
bridge af_packet left right 1500 >"$tmp/bridge.yaml"
sluice_start
traffic "veth, checksums left to the port" 1500 eth0 eth0
expect "veth, checksums left to the port: checksums" 0 \
	$(($(checksum_errors $one) + $(checksum_errors $two)))
sluice_stop "veth, checksums left to the port"

# What the port does not carry whole, it refuses.
refused() {
	local name=$1 text=$2
	on $mid "$SLUICE" run "$tmp/bridge.yaml" --for 1s >"$tmp/out" 2>&1
	expect "$name: exit code" 3 $?
	grep -qF "$text" "$tmp/out" && ok "$name: message" || {
		cat "$tmp/out"
		not_ok "$name: message" "it does not say \"$text\""
	}
}

veth_setup 9000
bridge af_packet left right 1500 >"$tmp/bridge.yaml"
refused "an interface of MTU 9000 at a port of 1500" "write mtu: 9000"
veth_setup 1500
bridge af_packet left right 9000 >"$tmp/bridge.yaml"
refused "an interface of MTU 1500 at a port of 9000" "has an MTU of 1500 and would not carry 9000"
bridge af_packet nothing right 1500 >"$tmp/bridge.yaml"
refused "no interface" "there is no interface nothing"
bridge tap left new 1500 >"$tmp/bridge.yaml"
refused "an interface that is no tap" "there is an interface left already"

# After kill -9 the interfaces are gone and a new start needs no hand work.
namespaces
bridge tap left right 1500 >"$tmp/bridge.yaml"
sluice_start
wait_for 10 ip -n $mid link show right
kill -KILL $sluice_pid
wait $sluice_pid 2>/dev/null
sluice_start
if wait_for 10 ip -n $mid link show right; then
	ok "tap: killed and started again"
else
	cat "$tmp/log"
	not_ok "tap: killed and started again" "there is no interface"
fi
sluice_stop "tap: killed and started again"

if setpriv --reuid 65534 --clear-groups --inh-caps=-all true 2>/dev/null; then
	bridge tap left right 1500 >"$tmp/bridge.yaml"
	chmod 755 "$tmp"
	ip netns exec $mid setpriv --reuid 65534 --clear-groups --inh-caps=-all \
		"$SLUICE" run "$tmp/bridge.yaml" --for 1s >"$tmp/out" 2>&1
	expect "tap without rights: exit code" 3 $?
	expect "tap without rights: message" 2 "$(grep -c 'no permission to make' "$tmp/out")"
fi
exit $script_failed
