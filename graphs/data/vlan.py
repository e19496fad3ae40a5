# SPDX-License-Identifier: BSD-3-Clause
# A VLAN interface for record.sh, on kernels that have none: vlan.py PARENT NAME ID makes a tap NAME;
# what the kernel sends there leaves PARENT with a tag, and what comes in with that tag is received.

import fcntl
import select
import socket
import struct
import sys

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
ETH_P_ALL = 0x0003
SOL_PACKET, PACKET_AUXDATA = 263, 8
TP_STATUS_VLAN_VALID = 0x10
PACKET_OUTGOING = 4

parent, name, tag = sys.argv[1], sys.argv[2], int(sys.argv[3])
tap = open("/dev/net/tun", "r+b", buffering=0)
fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
wire.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
wire.bind((parent, ETH_P_ALL))

while True:
    ready, _, _ = select.select([tap, wire], [], [])
    if tap in ready:
        frame = tap.read(65536)
        wire.send(frame[:12] + struct.pack("!HH", 0x8100, tag) + frame[12:])
    if wire in ready:
        frame, controls, _, sender = wire.recvmsg(65536, 64)
        if sender[2] == PACKET_OUTGOING:
            continue
        for level, kind, data in controls:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                # status, len, snaplen, mac, net, vlan_tci, vlan_tpid: the kernel took the tag out.
                status, _, _, _, _, tci, _ = struct.unpack("IIIHHHH", data[:20])
                if status & TP_STATUS_VLAN_VALID and tci & 0xFFF == tag:
                    tap.write(frame)
