#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The vhost port against the Linux virtio-net driver: guest_test.py PROGRAM GUEST FOLDER [ONLY...].
GUEST is what build/guest.sh made. Prints `ok` and `not ok` lines. ONLY: names of tests."""

import os
import re
import signal
import sys
import tempfile

from guest import Fault, Guest, Switch, wait_until

program, guest_folder, top = sys.argv[1:4]
only = sys.argv[4:]
failed = False

MERGEABLE, INDIRECT, PACKED = 15, 28, 34
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
    for device in 0, 1:
        found = guest.features(device)
        if not set(wanted) <= found or found & set(without):
            raise Fault(f"device {device} has agreed on features {sorted(found)}")


def rings(via):
    """Each kind of ring and buffer: sizes, long frames, TCP."""
    kinds = {
        "split": ("packed=off,mrg_rxbuf=on", (MERGEABLE,), (PACKED,)),
        "packed": ("packed=on,mrg_rxbuf=on", (MERGEABLE, PACKED), ()),
        "split, not mergeable": ("packed=off,mrg_rxbuf=off", (), (MERGEABLE, PACKED)),
        "packed, not mergeable": ("packed=on,mrg_rxbuf=off", (PACKED,), (MERGEABLE,)),
        "split, direct": ("packed=off,indirect_desc=off,event_idx=off", (MERGEABLE,), (INDIRECT,)),
        "packed, direct": ("packed=on,indirect_desc=off,event_idx=off", (MERGEABLE, PACKED), (INDIRECT,)),
    }
    for kind, (device, wanted, without) in kinds.items():
        test = Test(kind, via)
        if not test.wanted:
            continue
        with test:
            test.switch = Switch(program, test.folder, via).start()
            with Guest(guest_folder, test.folder, test.switch.paths, [device, device]) as guest:
                test.does("it is agreed on")
                guest.booted()
                agreed(guest, wanted, without)
                test.does("pings of all sizes, both ways")
                talks(guest, "an answer to a ping")
                sizes(guest)
                if MERGEABLE in wanted:
                    test.does("frames of 9,000 bytes")
                    for name, i in ("a", 0), ("b", 1):
                        guest.run(f"in_ {name} ip-full link set eth{i} mtu 9000")
                    for size in 8000, 8972, 30000:
                        wait_until(lambda: ping(guest, size)[0], f"a long frame, {size}", 30)
                test.does("TCP")
                iperf(guest)
                iperf(guest, "-R")


def queues(via):
    """Several queue pairs; their number changes in the guest, and from one guest to the next."""
    for kind in "split", "packed":
        test = Test(f"queues, {kind}", via)
        if not test.wanted:
            continue
        device = f"packed={'on' if kind == 'packed' else 'off'}"
        with test:
            test.switch = Switch(program, test.folder, via, queues=4).start()
            with Guest(guest_folder, test.folder, test.switch.paths, [device] * 2, queues=4, cores=4) as guest:
                test.does("four pairs")
                guest.booted()
                talks(guest, "an answer to a ping")
                for n in 4, 2, 3, 1, 4:
                    test.does(f"{n} of four pairs are used")
                    for name, i in ("a", 0), ("b", 1):
                        guest.run(f"in_ {name} ethtool -L eth{i} combined {n} || in_ {name} ethtool -l eth{i} |"
                                  f" grep -q 'Combined:.*{n}'")
                    talks(guest, f"an answer to a ping with {n} pairs")
                    iperf(guest, "-P 4")
            for n in 2, 4:
                with Guest(guest_folder, test.folder, test.switch.paths, [device] * 2, queues=n, cores=n) as guest:
                    test.does(f"another guest with {n} pairs")
                    guest.booted()
                    for name, i in ("a", 0), ("b", 1):
                        guest.ask(f"in_ {name} ethtool -L eth{i} combined {n}")
                    talks(guest, f"an answer to a ping with {n} pairs")
                    iperf(guest, "-P 4")


def load(guest):
    """TCP that goes on until the guest is told to end it."""
    guest.run("in_ b iperf3 -s -D >/dev/null; sleep 0.5;"
              " in_ a sh -c 'while :; do iperf3 -c 10.0.0.2 -t 1000 >/dev/null 2>&1; done' >/dev/null 2>&1 &")
    wait_until(lambda: ping(guest)[0], "an answer to a ping beside TCP")


def come_and_go(via):
    """Resets, reboots, kills of either end, with traffic under way."""
    for kind in "split", "packed":
        for serve in False, True:
            test = Test(f"{kind}, {'qemu' if serve else 'sluice'} serves", via)
            if not test.wanted:
                continue
            device = f"packed={'on' if kind == 'packed' else 'off'}"
            with test:
                test.switch = Switch(program, test.folder, via, client=serve).start()

                def new():
                    return Guest(guest_folder, test.folder, test.switch.paths, [device] * 2, serve=serve)
                with new() as guest:
                    test.does("a guest")
                    guest.booted()
                    talks(guest, "an answer to a ping")
                    test.does("the driver is taken from the device and given back")
                    guest.run("for i in 0 1; do echo virtio$i >/sys/bus/virtio/drivers/virtio_net/unbind &&"
                              " echo virtio$i >/sys/bus/virtio/drivers/virtio_net/bind; done;"
                              " ip netns delete a; ip netns delete b; echo 'guest: ready'")
                    guest.booted()
                    talks(guest, "an answer to a ping")
                    test.does("the guest is reset under load")
                    load(guest)
                    guest.reset()
                    talks(guest, "an answer to a ping")
                    for turn in "first", "second":
                        test.does(f"sluice is killed under load, the {turn} time")
                        load(guest)
                        test.switch.crash()
                        test.switch.start()
                        talks(guest, "an answer to a ping")
                        guest.run("killall sh iperf3 2>/dev/null; true")
                    test.does("qemu is killed under load")
                    load(guest)
                with new() as guest:
                    guest.booted()
                    talks(guest, "an answer to a ping")
                    sizes(guest)


# What was started is ended when this is.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
os.chdir(top)
for path in "own", "ethdev":
    rings(path)
    queues(path)
    come_and_go(path)
sys.exit(failed)
