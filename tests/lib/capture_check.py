#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Captures from running graphs and compares the packets with what went in:
capture_check.py PROGRAM FOLDER. One line a test, as tests/lib/script.sh has them."""

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time

program, folder = sys.argv[1:]
captures = 200
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
NUMBERED = {"Source": {
    "templates": ["ether / ipv4 / udp / pad 60"],
    "fields": [{"field": "bytes", "offset": 42, "bytes": 6, "values": 1 << 48}],
}}


def report(name, good, why=""):
    global failed
    print(f"ok {name}" if good else f"not ok {name}: {why}", flush=True)
    failed = failed or not good


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("sluice")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)
        self.sock.settimeout(60)


class Instance:
    def __init__(self, name, graph):
        self.name = name
        self.path = os.path.join(os.environ["SLUICE_SOCKETS"], name + ".sock")
        self.file = os.path.join(folder, name + ".yaml")
        with open(self.file, "w", encoding="utf-8") as out:
            json.dump(graph, out)
        self.process = subprocess.Popen([program, "run", self.file, "--name", name, "--json"],
                                        stdout=subprocess.PIPE, text=True)
        wait_for(self.answers)

    def answers(self):
        try:
            return self.ask("GET", "/")[0] == 200
        except OSError:
            return False

    def ask(self, method, target, body=None):
        connection = Connection(self.path)
        connection.request(method, target, body)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)

    def change(self, graph):
        """Where others use the cores, a worker may not get to stop in time: then nothing changed."""
        for _ in range(20):
            status, answer = self.ask("PUT", "/graph?file=g.yaml&allow_loss=1", json.dumps(graph))
            if status != 503 or "did not come to a stop" not in str(answer):
                break
        report_once(f"{self.name}: the graph is changed", status == 200, str(answer))

    def stream(self, target):
        """An answer that goes on."""
        for _ in range(20):
            connection = Connection(self.path)
            connection.request("GET", target)
            answer = connection.getresponse()
            if answer.status != 503:
                return connection, answer
            text = answer.read()
            connection.close()
            if b"did not come to a stop" not in text:
                break
        return None, answer

    def capture(self, *args, **kwargs):
        """The command; it is tried again where a worker did not stop in time."""
        return subprocess.Popen([program, "capture", "--name", self.name, "--json", *args],
                                stderr=subprocess.PIPE, text=True, **kwargs)

    def captured(self, *args):
        file = os.path.join(folder, "out.pcapng")
        for _ in range(20):
            client = self.capture("-w", file, *args)
            text = client.communicate(timeout=60)[1]
            if "did not come to a stop" not in text:
                break
        return Pcapng(file), client.returncode, text

    def consumed(self, node="good"):
        return self.ask("GET", f"/nodes/{node}")[1]["consumed"]

    def running(self):
        return self.ask("GET", "/captures")[1]

    def stop(self):
        self.ask("POST", "/stop")
        text = self.process.stdout.read()
        return self.process.wait(timeout=60), json.loads(text.splitlines()[-1])


def report_once(name, good, why):
    """Said only where it went wrong."""
    if not good:
        report(name, good, why)


class Pcapng:
    """Interfaces, packets (interface, ns, length, direction, bytes), statistics and comments."""

    def __init__(self, file=None, data=None):
        if file:
            with open(file, "rb") as source:
                data = source.read()
        self.interfaces, self.packets, self.statistics, self.whole = [], [], [], True
        at = 0
        while at < len(data):
            if len(data) - at < 12:
                self.whole = False
                break
            kind, length = struct.unpack_from("<II", data, at)
            block = data[at:at + length]
            if len(block) < length:
                self.whole = False
                break
            assert struct.unpack_from("<I", block, length - 4)[0] == length
            self.block(kind, block)
            at += length

    @staticmethod
    def options(block, at):
        found = {}
        while at + 4 <= len(block) - 4:
            code, length = struct.unpack_from("<HH", block, at)
            if not code:
                break
            found[code] = block[at + 4:at + 4 + length]
            at += 4 + (length + 3 & ~3)
        return found

    def block(self, kind, block):
        if kind == 0x0a0d0d0a:
            self.section = self.options(block, 24)
        elif kind == 1:
            options = self.options(block, 16)
            self.interfaces.append({"name": options[2].decode(), "description": options[3].decode(),
                                    "resolution": options[9][0],
                                    "filter": options.get(11, b"")[1:].decode()})
        elif kind == 6:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", block, 8)
            flags = self.options(block, 28 + (captured + 3 & ~3)).get(2, bytes(4))
            self.packets.append((self.interfaces[interface]["name"], high << 32 | low, length,
                                 struct.unpack("<I", flags)[0], block[28:28 + captured]))
        elif kind == 5:
            options = self.options(block, 20)
            self.statistics.append({
                "received": struct.unpack("<Q", options[4])[0],
                "dropped": struct.unpack("<Q", options[5])[0],
                "comment": options.get(1, b"").decode()})

    def numbers(self):
        return [int.from_bytes(packet[4][42:48], "big") for packet in self.packets]


def frames():
    """Packets of all kinds, more than a batch of them: small, tagged, jumbo, in many segments."""
    head = bytes.fromhex("020000000002020000000001")
    for i in range(300):
        size = (14, 60, 61, 64, 1514, 1518, 2100, 9000, 16000)[i % 9]
        kind = b"\x08\x00" if i % 2 or size < 60 else b"\x81\x00\x00\x07\x88\xb5"
        body = bytes((i * 7 + k * 13) & 255 for k in range(size))
        yield (head + kind + body)[:max(size, 14)]


def exact():
    """A capture file through a pipe, so that the capture is there before the packets are."""
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    instance = Instance("exact", {
        "ports": {"left": {"pcap": {"rx": pipe}}, "right": {"pcap": {"tx": "/dev/null"}}},
        "nodes": {"rx": {"PortInc": {"port": "left"}}, "tx": {"PortOut": {"port": "right"}},
                  "swap": "MACSwap"},
        "graph": ["rx -> swap -> tx"]})
    sent = list(frames())
    outputs = [os.path.join(folder, f"exact{i}.pcapng") for i in range(4)]
    wishes = [["rx[0]"], ["[0]tx"], ["left"], ["right"]]
    clients = []
    for output, wish in zip(outputs, wishes):
        def start(output=output, wish=wish):
            client = instance.capture("-w", output, "-c", str(len(sent)), *wish)
            n = len(clients) + 1
            wait_for(lambda: client.poll() is not None or len(instance.running()) == n)
            return client
        client = start()
        for _ in range(20):
            if client.poll() is None:
                break
            client = start()
        clients.append(client)
    with open(pipe, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for frame in sent:
            out.write(struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame)
    try:
        texts = [client.communicate(timeout=120)[1] for client in clients]
        instance.process.wait(timeout=60)
    finally:
        for process in (*clients, instance.process):
            process.kill()
    got = [Pcapng(output) for output in outputs]
    swapped = [frame[6:12] + frame[:6] + frame[12:] for frame in sent]
    for name, file, wanted, text in zip(("a link", "what enters a node", "a port that receives",
                                         "a port that sends"), got,
                                        (sent, swapped, sent, swapped), texts):
        report(f"{name}: all packets, byte for byte",
               [packet[4] for packet in file.packets] == wanted,
               f"{len(file.packets)} of {len(wanted)} {text}")
        report_once(f"{name}: lengths", all(packet[2] == len(packet[4])
                                            for packet in file.packets), "")
        report_once(f"{name}: it is whole", file.whole, "")
    report("packets of a port have their direction",
           {packet[3] for packet in got[2].packets} == {1}
           and {packet[3] for packet in got[3].packets} == {2}
           and {packet[3] for packet in got[0].packets} == {0}, "")
    report("interfaces bear the names of links",
           got[0].interfaces[0]["name"] == "rx[0]"
           and got[1].interfaces[0]["description"] == "swap[0] -> [0]tx"
           and got[0].interfaces[0]["resolution"] == 9, str([f.interfaces for f in got]))
    times = [packet[1] for packet in got[0].packets]
    report("times are those of now, and in order",
           times == sorted(times) and abs(times[0] - time.time_ns()) < 60e9, str(times[:3]))
    report("the graph's file is named", instance.file in got[0].section[1].decode(),
           str(got[0].section))
    report("counts are those of the packets",
           got[0].statistics[0]["received"] == len(sent)
           and got[0].statistics[0]["dropped"] == 0, str(got[0].statistics))


def numbered(shape=0):
    nodes = {"make": NUMBERED, "fwd": "MACSwap",
             "last": {"Queue": {"backpressure": "on"}}, "check": {"LuaNode": {"code": CHECK}},
             "good": "Sink", "wrong": "Sink", "swap": "MACSwap"}
    links = "make -> swap -> fwd"
    if shape:
        nodes["more"] = "MACSwap"
        links = "make -> swap -> more -> fwd"
    if shape == 2:
        del nodes["swap"]
        links = "make -> more -> fwd"
    return {"nodes": nodes, "graph": [links, "fwd -> last -> check -> good", "check[1] -> wrong"]}


def wishes(instance):
    file, code, text = instance.captured("-c", "500", "make")
    numbers = file.numbers()
    report("count: so many packets, and it ends", len(numbers) == 500 and code == 0, text)
    report("the first packets come one after the other",
           numbers == list(range(numbers[0], numbers[0] + 500)), str(numbers[:5]))
    file, _, text = instance.captured("-c", "100", "-s", "20", "make")
    report("snaplen: cut, with the packet's length",
           len(file.packets) == 100
           and all(len(p[4]) == 20 and p[2] == 60 for p in file.packets), text)
    file, _, text = instance.captured("-c", "100", "--sample", "7", "make")
    numbers = file.numbers()
    report("sample: one in so many",
           numbers == list(range(numbers[0], numbers[0] + 700, 7)), str(numbers[:5]))
    file, _, text = instance.captured("-c", "50", "make", "ether[47] & 1 = 0 and udp")
    report("filter: only what matches",
           len(file.packets) == 50 and all(n % 2 == 0 for n in file.numbers())
           and file.interfaces[0]["filter"] == "ether[47] & 1 = 0 and udp", text)
    file, _, text = instance.captured("-c", "200", "--both", "swap")
    pairs = {}
    for name, _, _, direction, data in file.packets:
        pairs.setdefault(int.from_bytes(data[42:48], "big"), {})[(name, direction)] = data[:12]
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    report("both directions: what enters and what leaves",
           len(whole) >= 90 and all(
               pair[("make[0]", 1)] == pair[("swap[0]", 2)][6:] + pair[("swap[0]", 2)][:6]
               for pair in whole), f"{len(whole)} {text}")


def slow(instance):
    read, write = os.pipe()
    client = instance.capture("make", stdout=write)
    os.close(write)
    client_runs = wait_for(lambda: client.poll() is not None or instance.running())
    client.send_signal(signal.SIGSTOP)
    dropping = wait_for(lambda: any(c["dropped"] for c in instance.running()))
    before = instance.consumed()
    goes_on = wait_for(lambda: instance.consumed() > before + 20000)
    report("a reader that is stopped: drops are counted", client_runs and dropping,
           str(instance.running()))
    report("a reader that is stopped: the graph goes on", goes_on, "")
    client.kill()
    client.wait()
    os.close(read)
    client.stderr.close()
    report("a reader that is killed: the capture is gone", wait_for(lambda: not instance.running()),
           str(instance.running()))


def many(instance):
    """Begun and ended at all kinds of links and moments, some left by the client in the middle."""
    targets = ["/nodes/make/capture", "/nodes/swap/capture?direction=both",
               "/nodes/fwd/capture?filter=udp", "/nodes/check/capture?direction=in&snaplen=64",
               "/nodes/last/capture?sample=3"]
    short = []
    for i in range(captures):
        connection, answer = instance.stream(targets[i % len(targets)] +
                                             ("&" if "?" in targets[i % len(targets)] else "?") +
                                             ("count=0" if i % 2 else "count=20"))
        if not connection:
            short.append((i, answer.status))
            continue
        data = answer.read(200 if i % 2 else None)
        if len(data) < 200:
            short.append((i, len(data)))
        answer.close()
        connection.close()
    report(f"{captures} captures", not short, str(short[:3]))
    report("all of them are gone", wait_for(lambda: not instance.running()),
           str(instance.running()))
    streams = [instance.stream("/nodes/make/capture") for _ in range(17)]
    report("16 at once, and no more", [s[1].status for s in streams] == [200] * 16 + [503],
           str([s[1].status for s in streams]))
    for connection, answer in streams:
        if connection:
            answer.close()
            connection.close()
    report("the 16 are gone", wait_for(lambda: not instance.running()), str(instance.running()))


def changes(instance):
    file = os.path.join(folder, "change.pcapng")

    def begin(*args):
        for _ in range(20):
            client = instance.capture("-w", file, *args)
            if wait_for(lambda: client.poll() is not None or instance.running()) \
                    and client.poll() is None:
                break
        return client

    def seen():
        return sum(link["captured"] for c in instance.running() for link in c["links"])

    client = begin("--both", "swap")
    for shape in (1, 0, 1):
        instance.change(numbered(shape))
        before = seen()
        report_once("the capture goes on", wait_for(lambda: seen() > before), str(before))
    instance.change(numbered(2))
    text = client.communicate(timeout=60)[1]
    got = Pcapng(file)
    descriptions = {interface["description"] for interface in got.interfaces}
    report("a graph that changes: new links are new interfaces", descriptions ==
           {"make[0] -> [0]swap", "swap[0] -> [0]fwd", "swap[0] -> [0]more"}, str(descriptions))
    report("the node goes: the capture ends with the reason",
           client.returncode == 0 and json.loads(text.splitlines()[-1])["reason"] ==
           "the node is gone" and got.whole, text)
    instance.change(numbered())
    client = begin("make")
    wait_for(lambda: seen() > 1000)
    code, final = instance.stop()
    text = client.communicate(timeout=60)[1]
    got = Pcapng(file)
    report("the instance stops: the file ends well", got.whole and len(got.packets) > 1000
           and got.statistics and client.returncode == 0
           and json.loads(text.splitlines()[-1])["reason"] == "the run ended", text)
    return code, final


def load():
    instance = Instance("load", numbered())
    try:
        wishes(instance)
        slow(instance)
        many(instance)
        code, final = changes(instance)
    finally:
        instance.process.terminate()
    nodes = final["nodes"]
    report("it ends cleanly", code == 0, str(code))
    report("each number came once and in order", nodes["wrong"]["in"] == [0]
           and nodes["check"]["out"][1] == 0 and nodes["check"]["out"][0] > 0, str(nodes["check"]))
    held = sum(node["dropped"].get("stopped", 0) for node in nodes.values())
    report("every packet made is consumed, but those that the end held",
           nodes["make"]["made"] == nodes["good"]["consumed"] + held,
           f"{nodes['make']} {nodes['good']} {held}")


exact()
load()
sys.exit(failed)
