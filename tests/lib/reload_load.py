#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Changes a running graph 200 times over its control socket while numbered packets pass:
reload_load.py PROGRAM FOLDER. One line a test, as tests/lib/script.sh has them."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time

reloads = 200
failed = False

# What is not the next number leaves by gate 1.
CHECK = """
local expected = 0
function process(batch)
  for _, packet in batch:packets() do
    if packet:u48(42) == expected then
      expected = expected + 1
    else
      packet:gate(1)
    end
  end
end
"""
SOURCE = {"Source": {
    "templates": ["ether / ipv4 / udp / pad 60"],
    "fields": [{"field": "bytes", "offset": 42, "bytes": 6, "values": 1 << 48}],
}}
# Between the source and L2Fwd, which all shapes have; `last` is the queue before the check.
SHAPES = [
    ({}, "make -> fwd", False),
    ({"swap": "MACSwap", "back": "MACSwap"}, "make -> swap -> back -> fwd", False),
    ({"q": {"Queue": {"backpressure": "on"}}}, "make -> q -> fwd", False),
    ({"q": {"Queue": {"backpressure": "on", "size": 256}}}, "make -> q -> fwd", False),
    ({"q": {"Queue": {"backpressure": "on", "size": 1024}}, "swap": "MACSwap"},
     "make -> MACSwap -> swap -> q -> fwd", False),
    ({}, "make -> fwd", True),
    ({"swap": "MACSwap", "back": "MACSwap"}, "make -> swap -> back -> fwd", True),
]


def report(name, good, why=""):
    global failed
    print(f"ok {name}" if good else f"not ok {name}: {why}", flush=True)
    failed = failed or not good


def shape(i, cores):
    nodes, links, wants_two = SHAPES[(i * 5 + i // 7) % len(SHAPES)]
    first, last = cores[0], cores[-1]
    queues = [name for name in nodes if name == "q"]
    workers = [{"core": last, "sources": ["last", *queues, "make"]}]
    if wants_two and first != last:
        workers = [{"core": first, "sources": ["make"]},
                   {"core": last, "sources": ["last", *queues]}]
    return json.dumps({
        "burst": 1 + i % 40,
        "nodes": {
            "make": SOURCE,
            "fwd": {"L2Fwd": {"size": 64 << i % 3}},
            "last": {"Queue": {"backpressure": "on"}},
            "check": {"LuaNode": {"code": CHECK}},
            "good": "Sink", "wrong": "Sink", "other": "Sink",
            **nodes,
        },
        "graph": [links, "fwd[1] -> last -> check -> good", "check[1] -> wrong",
                  "fwd[0] -> other"],
        "workers": workers,
    })


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.path.join(os.environ["SLUICE_SOCKETS"], "load.sock"))
        self.sock.settimeout(60)


def ask(method, target, body=None):
    connection = Connection("sluice")
    connection.request(method, target, body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text)


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def answers():
    try:
        return ask("GET", "/")[0] == 200
    except OSError:
        return False


def consumed():
    return ask("GET", "/nodes/good")[1]["consumed"]


def switch(cores):
    """Each once packets have come through since the last one."""
    parked, refused = [], []
    for i in range(1, reloads + 1):
        before = consumed()
        if not wait_for(lambda: consumed() > before):
            refused.append((i, "no packets"))
            break
        # Where others use the cores, a worker may not get to stop in time: then nothing has changed.
        for _ in range(20):
            status, answer = ask("PUT", "/graph?file=load.yaml", shape(i, cores))
            if status != 503 or "did not come to a stop" not in str(answer):
                break
        if status == 200:
            parked.append(answer["parked_ns"])
        else:
            refused.append((i, answer))
    report(f"{reloads} reloads", not refused, str(refused[:3]))
    return sorted(parked)


def run(program, folder, cores, popen=subprocess.Popen, begun=lambda pid: None):
    """How long workers were parked by each change, in ns, sorted; `begun` is called when it runs."""
    file = os.path.join(folder, "load.yaml")
    with open(file, "w", encoding="utf-8") as out:
        out.write(shape(0, cores))
    with popen([program, "run", file, "--name", "load", "--json"], stdout=subprocess.PIPE,
               text=True) as process:
        try:
            wait_for(answers)
            begun(process.pid)
            status, answer = ask("POST", "/nodes/fwd/add",
                                 '{"mac": "02:00:00:00:00:02", "gate": 1}')
            report("a station is added", status == 200, str(answer))
            parked = switch(cores)
            info = ask("POST", "/nodes/fwd/info")[1]
            report("L2Fwd's table survives", info.get("static") == 1, str(info))
            ask("POST", "/stop")
            nodes = json.loads(process.stdout.read())["nodes"]
        finally:
            process.terminate()
    report("it ends cleanly", process.returncode == 0, str(process.returncode))
    held = sum(node["dropped"].get("stopped", 0) for node in nodes.values())
    lost = {name: node["dropped"] for name, node in nodes.items()
            if any(reason != "stopped" for reason in node["dropped"])}
    report("no packet is dropped", not lost, str(lost))
    report("every packet made is consumed, but those that the end held",
           nodes["make"]["made"] == nodes["good"]["consumed"] + held,
           f"{nodes['make']} {nodes['good']} {held}")
    report("each number comes once and in order",
           nodes["check"]["out"] == [nodes["good"]["consumed"], 0]
           and nodes["wrong"]["in"] == [0] and nodes["check"]["counters"]["errors"] == 0,
           str(nodes["check"]))
    print(f"{nodes['good']['consumed']} packets")
    return parked


def main():
    parked = run(*sys.argv[1:], sorted(os.sched_getaffinity(0)))
    print(f"workers were parked for "
          f"{parked[len(parked) // 2] / 1000:.1f} us (median), {parked[-1] / 1000:.1f} us at most")
    sys.exit(failed)


if __name__ == '__main__':
    main()
