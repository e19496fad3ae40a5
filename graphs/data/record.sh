#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Records graphs/data/demo.pcap: real programs talk between two network namespaces, and tcpdump
# listens. Needs root. Addresses are always the same; times, ports and numbers are the programs'.

set -eu
cd "$(dirname "$0")/../.."
build/install-deps.sh record
capture=$PWD/graphs/data/demo.pcap
client=sluice-client-$$
server=sluice-server-$$
tmp=$(mktemp -d)
pids=()

cleanup() {
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	wait 2>/dev/null || true
	ip netns delete "$client" 2>/dev/null || true
	ip netns delete "$server" 2>/dev/null || true
	rm -rf "$tmp" "/etc/netns/$client"
	rmdir /etc/netns 2>/dev/null || true
}
trap cleanup EXIT
trap 'exit 1' INT TERM

on_client() {
	ip netns exec "$client" "$@"
}

on_server() {
	ip netns exec "$server" "$@"
}

# host NAMESPACE DEVICE NUMBER: addresses that end in the number, jumbo frames, VLAN 5, and no
# offloads: what the kernel would leave to a card must be done in the packets.
host() {
	local ns=$1 device=$2 number=$3
	ip netns exec "$ns" sysctl -q -w net.ipv6.conf.all.accept_dad=0 \
		net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.router_solicitations=0
	ip -n "$ns" link set lo up
	ip netns exec "$ns" ethtool -K "$device" rx off tx off tso off gso off gro off \
		rxvlan off txvlan off >/dev/null
	ip -n "$ns" link set "$device" address "02:00:00:00:00:0$number" mtu 9000 up
	ip -n "$ns" address add "10.0.0.$number/24" dev "$device"
	ip -n "$ns" address add "2001:db8::$number/64" dev "$device" nodad
	ip netns exec "$ns" python3 graphs/data/vlan.py "$device" "$device.5" 5 &
	pids+=($!)
	until ip -n "$ns" link show "$device.5" >/dev/null 2>&1; do
		sleep 0.05
	done
	ip -n "$ns" link set "$device.5" address "02:00:00:00:00:0$number" mtu 1500 up
	ip -n "$ns" address add "10.0.5.$number/24" dev "$device.5"
	ip -n "$ns" address add "2001:db8:5::$number/64" dev "$device.5" nodad
}

ip netns add "$client"
ip netns add "$server"
ip -n "$client" link add client type veth peer name server netns "$server"

host "$client" client 1
host "$server" server 2
ip netns exec "$client" tcpdump --immediate-mode -Z root -q -i client -U -n -w "$tmp/demo.pcap" \
	2>"$tmp/tcpdump" &
tcpdump=$!
pids+=("$tcpdump")
until [ -s "$tmp/demo.pcap" ]; do
	sleep 0.05
done

# The server: names, and pages of three sizes.
mkdir "$tmp/www"
echo '<h1>It works</h1>' >"$tmp/www/index.html"
seq -f 'line %04g of a page that takes several segments' 400 >"$tmp/www/page.txt"
ip netns exec "$server" dnsmasq --no-daemon --no-resolv --no-hosts --bind-dynamic \
	--conf-file=/dev/null --pid-file= --user=root --local=/example/ --host-record=www.example,10.0.0.2,2001:db8::2 \
	--host-record=vlan.example,10.0.5.2 --mx-host=example,www.example \
	--txt-record=example,"a text record" 2>"$tmp/dnsmasq" &
pids+=($!)
ip netns exec "$server" python3 -m http.server --bind :: --directory "$tmp/www" 80 \
	>/dev/null 2>"$tmp/http" &
pids+=($!)
mkdir -p "/etc/netns/$client"
echo 'nameserver 10.0.0.2' >"/etc/netns/$client/resolv.conf"
for port in 53 80; do
	until on_server bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null; do
		sleep 0.05
	done
done

# ARP and neighbour discovery come by themselves with the first packets.
on_client ping -q -c 3 -i 0.2 10.0.0.2 >/dev/null
on_client ping -q -c 2 -i 0.2 2001:db8::2 >/dev/null
# Large frames: one in one piece, one that is cut into fragments.
on_client ping -q -c 2 -i 0.2 -M do -s 8000 10.0.0.2 >/dev/null
on_client ping -q -c 1 -s 12000 10.0.0.2 >/dev/null
# TCP: whole pages over IPv4 and IPv6, in jumbo segments and, in the VLAN, in ordinary ones.
on_client curl -s -4 -o /dev/null http://www.example/
on_client curl -s -6 -o /dev/null http://www.example/page.txt
on_client curl -s -4 -o /dev/null http://vlan.example/page.txt
on_client curl -s -4 -o /dev/null http://www.example/nothing-here
on_client ping -q -c 2 -i 0.2 10.0.5.2 >/dev/null
on_client ping -q -c 1 2001:db8:5::2 >/dev/null
# What goes wrong: no such name, nobody at a port (TCP, UDP), and nobody at an address.
on_client curl -s -o /dev/null http://no-such-name.example/ || true
on_client curl -s -o /dev/null http://10.0.0.2:81/ || true
on_client python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"is anybody there?", ("10.0.0.2", 9))'
on_client ping -q -c 1 -W 1 10.0.0.99 >/dev/null || true
# A look-up over IPv6, and one by TCP.
on_client python3 - <<'END'
import socket

def query(name, kind):
    labels = b"".join(bytes([len(l)]) + l.encode() for l in name.split("."))
    return b"\x12\x34\x01\0\0\1\0\0\0\0\0\0" + labels + b"\0" + bytes([0, kind, 0, 1])

with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
    s.settimeout(2)
    for name, kind in (("www.example", 28), ("example", 15), ("example", 16)):
        s.sendto(query(name, kind), ("2001:db8::2", 53))
        s.recv(512)
with socket.create_connection(("10.0.0.2", 53), 2) as s:
    q = query("www.example", 1)
    s.sendall(len(q).to_bytes(2, "big") + q)
    s.recv(512)
END

# tcpdump has written all that it saw when it has ended.
kill "$tcpdump"
wait "$tcpdump" || true
mv "$tmp/demo.pcap" "$capture"
echo "$capture: $(tcpdump -n -r "$capture" 2>/dev/null | wc -l) packets"
