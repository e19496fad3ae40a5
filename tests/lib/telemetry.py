#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks as dpdk-telemetry.py does: telemetry.py SOCKET PID [PROGRAM NAME A B]. With the latter the
instance NAME is changed from the graph A to B and back, 50 times, while commands are asked.
Prints `ok` and `not ok` lines."""

import json
import socket
import subprocess
import sys
import threading

failed = False


def say(name, good, why=""):
    global failed
    failed |= not good
    print(f"ok {name}" if good else f"not ok {name}: {why}", flush=True)


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.info = json.loads(self.socket.recv(1024))

    def ask(self, command):
        self.socket.send(command.encode())
        reply = json.loads(self.socket.recv(self.info["max_output_len"]))
        (name, answer), = reply.items()
        assert name == command.split(",")[0], reply
        return answer


def commands(client, pid):
    say("the process", client.info["pid"] == pid, str(client.info))
    listed = client.ask("/")
    wanted = {f"/sluice/{name}" for name in ("graph", "nodes", "node", "ports", "workers", "links")}
    say("commands are listed", wanted <= set(listed), str(listed))
    told = client.ask("/help,/sluice/node")
    say("commands have help", "counters of a node" in str(told), str(told))
    graph = client.ask("/sluice/graph")
    say("/sluice/graph", graph["name"] and graph["nodes"] == 7 and graph["ports"] == 2 and
        graph["workers"] == 1 and graph["faults"] == 0, str(graph))
    nodes = client.ask("/sluice/nodes")
    say("/sluice/nodes", nodes == ["make", "tee", "q-1", "out", "in", "end", "away"], str(nodes))
    node = client.ask("/sluice/node,make")
    say("/sluice/node", node["module"] == "Source" and node["made"] > 0 and len(node["out"]) == 1,
        str(node))
    say("/sluice/node: a name of more than letters", client.ask("/sluice/node,q-1")["in"][0] > 0)
    for wrong in ("", ",none", "," + "x" * 200):
        say(f"/sluice/node{wrong[:8]}: none", client.ask(f"/sluice/node{wrong}") is None)
    ports = client.ask("/sluice/ports")
    say("/sluice/ports", [port["name"] for port in ports.values()] == ["a", "b"] and
        ports["0"]["driver"] == "ring", str(ports))
    workers = client.ask("/sluice/workers")
    say("/sluice/workers", workers["0"]["polls"] > 0, str(workers))
    links = client.ask("/sluice/links")
    say("/sluice/links", len(links) == graph["links"] and
        any(link["from"] == "make" and link["packets"] > 0 for link in links.values()), str(links))
    say("DPDK's own answer too", client.ask("/eal/params") is not None)


def asking(path, stop, asked, wrong):
    client = Client(path)
    while not stop.is_set():
        for command in ("graph", "nodes", "node,make", "node,swap", "ports", "workers", "links"):
            answer = client.ask(f"/sluice/{command}")
            if answer is None and command != "node,swap":
                wrong.append(command)
            asked.append(command)


def change(program, name, graph):
    """On a machine that is too busy a worker may not come to a stop in time: code 3, and again."""
    for _ in range(10):
        code = subprocess.run([program, "reload", graph, "--name", name], check=False,
                              capture_output=True).returncode
        if code != 3:
            break
    return code


def reloads(path, program, name, graphs):
    stop, asked, wrong = threading.Event(), [], []
    threads = [threading.Thread(target=asking, args=(path, stop, asked, wrong)) for _ in range(3)]
    for thread in threads:
        thread.start()
    codes = [change(program, name, graphs[i % 2]) for i in range(50)]
    stop.set()
    for thread in threads:
        thread.join()
    say("50 changes while three ask: the changes", codes == [0] * 50, str(codes))
    say("50 changes while three ask: the answers", len(asked) > 100 and not wrong,
        f"{len(asked)} answers, none for {wrong[:5]}")
    say("and all are counted", Client(path).ask("/sluice/graph")["changes"] >= 50)


def main():
    path, pid = sys.argv[1], int(sys.argv[2])
    commands(Client(path), pid)
    if len(sys.argv) > 3:
        reloads(path, sys.argv[3], sys.argv[4], sys.argv[5:])
    sys.exit(failed)


main()
