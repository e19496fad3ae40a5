#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The vhost port against the Linux virtio-net driver: guest_test.py PROGRAM GUEST FOLDER VIA
[ONLY...]. GUEST is what build/guest.sh made, VIA the data path, ONLY how names of tests begin. Prints
`ok` and `not ok` lines."""

import os
import re
import signal
import sys
import tempfile

from guest import Fault, Guest, Switch, wait_until

program, guest_folder, top, path = sys.argv[1:5]
only = sys.argv[5:]
failed = False

MERGEABLE, INDIRECT, EVENT, PACKED = 15, 28, 29, 34
SIDES = ("a", 0), ("b", 1)
SIZES = (0, 1, 17, 56, 500, 1472, 1473, 4000, 20000, 65507)


def say(name, good, why=""):
    global failed
    failed |= not good
    print(f"ok {name}" if good else f"not ok {name}: {' / '.join(why.split(chr(10)))}", flush=True)


class Test:
    """Steps of one name: each is a line; the first that fails ends the test."""

    def __init__(self, name, via):
        self.name = f"{name}, {via}"
        self.via = via
        self.wanted = not only or any(self.name.startswith(word) for word in only)

    def __enter__(self):
        self.folder = tempfile.mkdtemp(dir=top)
        self.switch = None
        self.step = "it runs"
        return self

    def does(self, step):
        """The step before has gone well."""
        if self.step != "it runs":
            say(f"{self.name}: {self.step}", True)
        self.step = step

    def __exit__(self, kind, fault, _):
        good = fault is None
        if not good and not isinstance(fault, (Fault, OSError)):
            if self.switch:
                self.switch.crash()
            return False
        said = self.switch.said() if self.switch else ""
        try:
            code = self.switch.stop()
        except Fault as late:
            code = str(late)
        say(f"{self.name}: {self.step}", good, f"{fault}; sluice said: {said[-300:]}")
        if good:
            say(f"{self.name}: sluice ends well and blames nobody", code == 0 and "broke" not in said,
                f"{code}: {said[-300:]}")
        return True


def ping(guest, size=56, at="a", count=1, seconds=3):
    other = {"a": "10.0.0.2", "b": "10.0.0.1"}[at]
    code, text = guest.ask(f"in_ {at} ping -c {count} -W {seconds} -s {size} {other}")
    return code == 0 and f"{count} packets received" in text, text


def talks(guest, why):
    """Both sides hear each other, if need be after a while."""
    wait_until(lambda: ping(guest, seconds=1)[0] and ping(guest, at="b", seconds=1)[0], why)


def sizes(guest):
    for size in SIZES:
        for at in "ab":
            wait_until(lambda: ping(guest, size, at)[0], f"an answer to a ping of {size} bytes from {at}", 30)


def iperf(guest, more=""):
    """Bytes that arrived by TCP within a second or so."""
    guest.run("in_ b iperf3 -s -1 -D >/dev/null; for i in $(seq 50); do in_ b netstat -ltn | grep -q :5201 && break;"
              " sleep 0.1; done")
    text = guest.run(f"in_ a iperf3 -c 10.0.0.2 -t 1 --connect-timeout 10000 -f k {more}")
    rates = re.findall(r"([\d.]+) Kbits/sec.*receiver", text)
    if not rates or float(rates[-1]) <= 0:
        raise Fault(f"iperf3 moved nothing: {text[-300:]}")


def agreed(guest, wanted, without):
    """Of both devices; the second one has packed rings."""
    for device, kind in (0, "split"), (1, "packed"):
        found = guest.features(device)
        if not wanted <= found or found & without or (PACKED in found) != (kind == "packed"):
            raise Fault(f"the {kind} device has agreed on features {sorted(found)}")


def devices(more):
    """One with split rings, one with packed ones."""
    return [f"packed=off{more}", f"packed=on{more}"]


def rings(via):
    """Each kind of ring and buffer: sizes, long frames, TCP."""
    kinds = {
        "mergeable": ("", {MERGEABLE}, set()),
        "not mergeable": (",mrg_rxbuf=off", set(), {MERGEABLE}),
        "direct, with flags": (",indirect_desc=off,event_idx=off", {MERGEABLE}, {INDIRECT, EVENT}),
    }
    for kind, (more, wanted, without) in kinds.items():
        test = Test(kind, via)
        if not test.wanted:
            continue
        with test:
            test.switch = Switch(program, test.folder, via).start()
            with Guest(guest_folder, test.folder, test.switch.paths, devices(more)) as guest:
                test.does("it is agreed on")
                guest.booted()
                agreed(guest, wanted, without)
                test.does("pings of all sizes, both ways")
                talks(guest, "an answer to a ping")
                sizes(guest)
                if MERGEABLE in wanted:
                    test.does("frames of 9,000 bytes")
                    for name, i in SIDES:
                        guest.run(f"in_ {name} ip-full link set eth{i} mtu 9000")
                    for size in 8000, 8972, 30000:
                        wait_until(lambda: ping(guest, size)[0], f"a long frame, {size}", 30)
                test.does("TCP")
                iperf(guest)
                iperf(guest, "-R")


def use_queues(guest, n):
    for name, i in SIDES:
        guest.run(f"in_ {name} ethtool -L eth{i} combined {n} 2>/dev/null;"
                  f" in_ {name} ethtool -l eth{i} | tail -n 2 | grep -q '^Combined:.*{n}$'")
    talks(guest, f"an answer to a ping with {n} pairs")
    iperf(guest, "-P 4")


def queues(via):
    """Several queue pairs; their number changes in the guest, and from one guest to the next."""
    test = Test("queues", via)
    if not test.wanted:
        return
    with test:
        test.switch = Switch(program, test.folder, via, queues=4).start()

        def new(n):
            return Guest(guest_folder, test.folder, test.switch.paths, devices(""), queues=n, cores=n)
        with new(4) as guest:
            test.does("four pairs")
            guest.booted()
            talks(guest, "an answer to a ping")
            for n in 4, 2, 3, 1, 4:
                test.does(f"{n} of four pairs are used")
                use_queues(guest, n)
        for n in 2, 4:
            with new(n) as guest:
                test.does(f"another guest with {n} pairs")
                guest.booted()
                use_queues(guest, n)


def load(guest):
    """TCP that goes on until the guest is told to end it."""
    guest.run("in_ b iperf3 -s -D >/dev/null;"
              " in_ a sh -c 'while :; do iperf3 -c 10.0.0.2 -t 1000 >/dev/null 2>&1; done' >/dev/null 2>&1 &")
    wait_until(lambda: ping(guest)[0], "an answer to a ping beside TCP")


def unload(guest):
    guest.run("for i in $(pidof sh); do grep -q iperf3 /proc/$i/cmdline && kill $i; done; killall iperf3; true")


def rebind(guest, name, i):
    """Takes a device from the driver, which is a reset of virtio, and gives it back."""
    guest.run(f"echo virtio{i} >/sys/bus/virtio/drivers/virtio_net/unbind && ip netns delete {name} &&"
              f" echo virtio{i} >/sys/bus/virtio/drivers/virtio_net/bind")
    guest.run(f"attach {name} {i}")


def come_and_go(via):
    """Resets, reboots, kills of either end, with traffic under way."""
    for serve in False, True:
        test = Test("qemu serves" if serve else "sluice serves", via)
        if not test.wanted:
            continue
        with test:
            test.switch = Switch(program, test.folder, via, client=serve).start()

            def new():
                return Guest(guest_folder, test.folder, test.switch.paths, devices(""), serve=serve)
            with new() as guest:
                test.does("a guest")
                guest.booted()
                talks(guest, "an answer to a ping")
                test.does("the driver is taken from the devices and given back")
                for name, i in SIDES:
                    rebind(guest, name, i)
                talks(guest, "an answer to a ping")
                test.does("the guest is reset under load")
                load(guest)
                guest.reset()
                talks(guest, "an answer to a ping")
                for turn in 1, 2:
                    test.does(f"sluice is killed under load, {turn} of 2")
                    load(guest)
                    test.switch.crash()
                    there = test.switch.said().count(" is there")
                    test.switch.start()
                    wait_until(lambda: test.switch.said().count(" is there") == there + 2, "the peers are back")
                    unload(guest)
                    # Nobody knows where a packed ring stands: QEMU neither.
                    if via == "own":
                        wait_until(lambda: test.switch.said().count("is not known") == turn, "a note of it")
                    rebind(guest, *SIDES[1])
                    talks(guest, "an answer to a ping")
                test.does("qemu is killed under load")
                load(guest)
            with new() as guest:
                guest.booted()
                talks(guest, "an answer to a ping")
                sizes(guest)


# What was started is ended when this is.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
os.chdir(top)
rings(path)
queues(path)
come_and_go(path)
sys.exit(failed)
