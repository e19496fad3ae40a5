#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plays syslog and the journal, in a mount namespace of its own: log_peer.py PROGRAM FOLDER.
An instance logs there. Prints `ok` and `not ok` lines."""

import os
import re
import signal
import socket
import subprocess
import sys

program, folder = sys.argv[1:]
graph = os.path.join(folder, "logged.yaml")
failed = False

GOOD = 'nodes: {make: {Source: {burst: 1}}}\ngraph: ["make -> Sink"]\n'
BAD = 'nodes: {make: {Sourze: {}}}\ngraph: ["make -> Sink"]\n'


def say(name, good, why=""):
    global failed
    failed |= not good
    print(f"ok {name}" if good else f"not ok {name}: {why}", flush=True)


def listen(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    peer.bind(path)
    peer.settimeout(30)
    return peer


def write(text):
    with open(graph + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.rename(graph + ".new", graph)


def logged(log, peer, *options):
    """Two messages of an instance: of a good reload and of a bad one; and its standard error."""
    write(GOOD)
    process = subprocess.Popen([program, "run", graph, "--quiet", "--name", "logged", "--log", log,
                                *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=dict(os.environ, NOTIFY_SOCKET=os.path.join(folder, "ready")))
    ready.recv(4096)
    messages = []
    for text in (GOOD, BAD):
        write(text)
        process.send_signal(signal.SIGHUP)
        ready.recv(4096)
        ready.recv(4096)
    process.terminate()
    ready.recv(4096)
    process.wait(30)
    peer.setblocking(False)
    try:
        while True:
            messages.append(peer.recv(65536).decode())
    except BlockingIOError:
        pass
    return messages, process.stderr.read().decode()


def fields(message):
    return dict(line.split("=", 1) for line in message.splitlines())


ready = listen(os.path.join(folder, "ready"))
for name in ("syslog", "journal"):
    process = subprocess.run([program, "run", graph, "--log", name], stdin=subprocess.DEVNULL,
                             capture_output=True, check=False, text=True)
    say(f"--log {name} where there is none", process.returncode == 3 and
        f"error: --log {name}: nobody listens at " in process.stderr, process.stderr)

syslog = listen("/dev/log")
messages, said = logged("syslog", syslog)
# The facility is daemon, 3; the levels are notice, 5, and error, 3.
say("syslog: a note", len(messages) == 2 and bool(re.fullmatch(
    rf"<29>.* sluice\[\d+\]: {graph} was read again", messages[0])), str(messages))
say("syslog: an error with its place", len(messages) == 2 and bool(re.match(
    rf"<27>.* sluice\[\d+\]: {graph}:1:16: error: no module", messages[1])), str(messages))
say("syslog: nothing on standard error", not said, said)
messages, _ = logged("syslog", syslog, "--log-level", "error")
say("syslog: errors only", len(messages) == 1 and messages[0].startswith("<27>"), str(messages))

journal = listen("/run/systemd/journal/socket")
messages, said = logged("journal", journal)
say("journal: two messages", len(messages) == 2, str(messages))
first, second = map(fields, messages[:2])
say("journal: a note", first == {"MESSAGE": f"{graph} was read again", "PRIORITY": "5",
                                 "SYSLOG_IDENTIFIER": "sluice"}, str(first))
say("journal: an error", second["PRIORITY"] == "3" and
    second["MESSAGE"].startswith(f"{graph}:1:16: error: no module"), str(second))
say("journal: nothing on standard error", not said, said)
sys.exit(failed)
