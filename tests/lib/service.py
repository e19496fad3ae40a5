#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plays the service manager: service.py PROGRAM FOLDER. Starts an instance with a notification
socket, reloads it well and badly, and stops it. Prints `ok` and `not ok` lines."""

import os
import re
import signal
import socket
import subprocess
import sys

program, folder = sys.argv[1:]
graph = os.path.join(folder, "service.yaml")
failed = False

GOOD = 'nodes: {make: {Source: {burst: 1}}}\ngraph: ["make -> Sink"]\n'
MORE = 'nodes: {make: {Source: {burst: 1}}}\ngraph: ["make -> MACSwap -> Sink"]\n'
BAD = 'nodes: {make: {Sourze: {}}}\ngraph: ["make -> Sink"]\n'


def say(name, good, why=""):
    global failed
    failed |= not good
    print(f"ok {name}" if good else f"not ok {name}: {why}", flush=True)


class Manager:
    """The socket, and the messages that came; those of the watchdog are counted apart."""

    def __init__(self, name):
        self.path = os.path.join(folder, name)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(30)
        self.watchdogs = 0

    def next(self):
        while True:
            try:
                message = self.socket.recv(4096).decode()
            except TimeoutError:
                return "nothing for 30 s"
            if message != "WATCHDOG=1":
                return message
            self.watchdogs += 1

    def nothing_left(self):
        """What came without having been asked for, after the program has ended."""
        self.socket.setblocking(False)
        left = []
        try:
            while True:
                left.append(self.socket.recv(4096).decode())
        except BlockingIOError:
            return [message for message in left if message != "WATCHDOG=1"]


def write(text):
    with open(graph + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(graph + ".new", graph)


def start(manager, *options, **variables):
    environment = dict(os.environ, NOTIFY_SOCKET=manager.path, **variables)
    return subprocess.Popen([program, "run", graph, "--quiet", "--name", "service", *options],
                            env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ask(*words):
    return subprocess.run([program, *words, "--name", "service"], check=False, text=True,
                          capture_output=True)


def reloads(process, manager, name, status):
    """Where others use the cores, a worker may not come to a stop in time; then it is tried again."""
    for _ in range(20):
        process.send_signal(signal.SIGHUP)
        first, second = manager.next(), manager.next()
        if "reload failed" in status or "reload failed" not in second:
            break
    say(f"{name}: it says that it reloads",
        bool(re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=\d+\nSTATUS=.*", first)), first)
    say(f"{name}: and that it is done", second == f"READY=1\nSTATUS=runs {graph}: {status}", second)


def whole_life():
    manager = Manager("notify")
    write(GOOD)
    process = start(manager, WATCHDOG_USEC="200000")
    message = manager.next()
    say("ready", message == f"READY=1\nSTATUS=runs {graph}: 2 nodes, 0 ports, 1 worker", message)
    answer = ask("stats", "--json")
    say("when it is ready it answers", answer.returncode == 0, answer.stderr)
    write(MORE)
    reloads(process, manager, "a reload", "3 nodes, 0 ports, 1 worker")
    write(BAD)
    reloads(process, manager, "a bad reload",
            "3 nodes, 0 ports, 1 worker; the last reload failed, the old graph runs on")
    write(GOOD)
    for _ in range(20):
        if "did not come to a stop" not in ask("reload", graph).stderr:
            break
    message = manager.next()
    say("a change from elsewhere", message == f"STATUS=runs {graph}: 2 nodes, 0 ports, 1 worker",
        message)
    before = manager.watchdogs
    while manager.watchdogs < before + 2:
        try:
            manager.watchdogs += manager.socket.recv(4096) == b"WATCHDOG=1"
        except TimeoutError:
            break
    say("the watchdog is told, again and again", manager.watchdogs >= before + 2)
    process.terminate()
    message = manager.next()
    say("stopping", message == "STOPPING=1\nSTATUS=stops", message)
    code = process.wait(30)
    say("a clean end", code == 0, str(code))
    left = manager.nothing_left()
    say("nothing else was told", not left, str(left))
    said = process.stderr.read().decode()
    say("the log: a reload, and what was wrong with the other",
        f"note: {graph} was read again" in said and f"{graph}:1:16: error: no module" in said, said)


def never_ready():
    manager = Manager("notify2")
    write(BAD)
    process = start(manager)
    code = process.wait(30)
    say("a wrong graph: its code", code == 2, str(code))
    say("a wrong graph: it was never ready", not manager.nothing_left())
    process.stderr.close()


def without_watchdog():
    manager = Manager("notify3")
    write(GOOD)
    process = start(manager, "--for", "300ms")
    process.wait(30)
    process.stderr.close()
    messages = [manager.next(), manager.next()]
    say("a run that ends by itself", messages[0].startswith("READY=1") and
        messages[1].startswith("STOPPING=1"), str(messages))
    say("no watchdog is asked for, none is told", not manager.watchdogs)


def prefixes():
    """Where standard error is the journal's stream, lines have their level in front."""
    write(GOOD)
    path = os.path.join(folder, "stream")
    for ours in (True, False):
        with open(path, "w", encoding="ascii") as stream:
            info = os.fstat(stream.fileno())
            variable = f"{info.st_dev}:{info.st_ino + (not ours)}"
            process = subprocess.Popen([program, "run", graph, "--quiet", "--name", "prefix"],
                                       env=dict(os.environ, JOURNAL_STREAM=variable,
                                                NOTIFY_SOCKET=ready.path),
                                       stdin=subprocess.DEVNULL, stderr=stream)
            ready.next()
            for text in (GOOD, BAD):
                write(text)
                process.send_signal(signal.SIGHUP)
                ready.next()
                ready.next()
            process.terminate()
            ready.next()
            process.wait(30)
        with open(path, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        wanted = ["<5>sluice: note:", f"<3>{graph}:1:16: error:"]
        if not ours:
            wanted = [line[3:] for line in wanted]
        say(f"levels in front of lines{'' if ours else ', but of nobody else'}",
            len(lines) == 2 and all(map(str.startswith, lines, wanted)), str(lines))
        write(GOOD)


whole_life()
never_ready()
without_watchdog()
ready = Manager("notify4")
prefixes()
sys.exit(failed)
