# SPDX-License-Identifier: BSD-3-Clause
# The body of tests/hostile.sh: makes damaged captures in the folder it is given, runs graphs that
# read them, and looks at what the program says and counts.

import json
import os
import random
import struct
import subprocess
import sys

folder = sys.argv[1]
sluice = os.environ["SLUICE"]
flips = 600 if os.environ["LONG"] else 96
SIZES = [60, 14, 0, 90]
A_RUN = 96  # captures that one run reads
failed = False


def say(name, why):
    global failed
    failed |= bool(why)
    print(f"not ok {name}: {why}" if why else f"ok {name}", flush=True)


def pcap(order="<"):
    """The bytes, and where each record ends."""
    data = struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    ends = []
    for i, size in enumerate(SIZES):
        data += struct.pack(order + "IIII", 1000 + i, i, size, size)
        data += bytes((i + j) & 255 for j in range(size))
        ends.append(len(data))
    return data, ends


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng():
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack("<HHI", 1, 0, 65535))
    ends = []
    for i, size in enumerate(SIZES):
        packet = bytes((i + j) & 255 for j in range(size))
        data += block(6, struct.pack("<IIIII", 0, 0, 1000 + i, size, size) + packet)
        ends.append(len(data))
    return data, ends


def run(arguments):
    try:
        done = subprocess.run([sluice, "run", *arguments, "--json"], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")


def missing(nodes):
    """What does not add up, in words, or None."""
    for name, node in nodes.items():
        came = sum(node["in"]) + node["made"]
        gone = sum(node["out"]) + node["consumed"] + node["held"] + sum(node["dropped"].values())
        if came != gone:
            return f"{name}: {came} packets came, {gone} are accounted for"
    return None


def outcome(code, out, err):
    """The nodes of a run (None: there was none), and what is wrong with it."""
    if code is None:
        return None, "it did not end in 60 s"
    if code not in (0, 1, 2, 3):
        return None, f"exit code {code}: {err[-300:]}"
    if code and not err:
        return None, f"exit code {code} and not a word why"
    if code > 1:
        return None, None
    nodes = json.loads(out)["nodes"]
    return nodes, missing(nodes)


def graph_of(names):
    """Reads each capture by a port of its own."""
    lines = ["ports:"]
    lines += [f"  p{i}: {{pcap: {{rx: {folder}/{name}}}}}" for i, name in enumerate(names)]
    lines.append("nodes:")
    lines += [f"  r{i}: {{PortInc: {{port: p{i}}}}}" for i in range(len(names))]
    lines.append("graph:")
    lines += [f"  - r{i} -> Sink" for i in range(len(names))]
    path = f"{folder}/many.yaml"
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return path


def read_together(names):
    """How many packets each capture gave (None: refused), and what is wrong."""
    got = dict.fromkeys(names)
    left = list(names)
    while left:
        code, out, err = run([graph_of(left)])
        nodes, why = outcome(code, out, err)
        if why:
            return got, why
        if nodes:
            for i, name in enumerate(left):
                got[name] = nodes[f"r{i}"]["made"]
            return got, None
        # What was found while reading, which may have begun, stands at no place of the graph.
        said = "".join(line for line in err.splitlines() if line.startswith(folder))
        refused = [name for name in left if f"/{name}\"" in said]
        if not refused:
            return got, f"exit code {code}, but no capture is named: {err[-300:]}"
        left = [name for name in left if name not in refused]
    return got, None


def save(name, data):
    with open(f"{folder}/{name}", "wb") as file:
        file.write(data)
    return name


def parts(names):
    return [names[i:i + A_RUN] for i in range(0, len(names), A_RUN)]


def cut_off(title, data, ends, header):
    wrong = []
    cuts = {save(f"cut{n}-{title}", data[:n]): n for n in range(len(data) + 1)}
    for names in parts(list(cuts)):
        got, why = read_together(names)
        if why:
            wrong.append(why)
            continue
        for name in names:
            n = cuts[name]
            whole = sum(end <= n for end in ends)
            if got[name] != (None if n < header else whole):
                wrong.append(f"cut to {n} bytes: {got[name]} packets instead of {whole}")
    say(f"{title} cut off at each of {len(data)} bytes", "; ".join(wrong[:5]))


def flipped(title, data, seed):
    rng = random.Random(seed)
    names = []
    for i in range(flips):
        bad = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            at = rng.randrange(len(bad) * 8)
            bad[at // 8] ^= 1 << at % 8
        names.append(save(f"flip{i}-{title}", bytes(bad)))
    wrong = [why for _, why in map(read_together, parts(names)) if why]
    say(f"{title} with flipped bits, {flips} times", "; ".join(wrong[:3]))
    return names


def through_filter(names):
    wrong = []
    for name in names:
        code, out, err = run(["graphs/filter.yaml", "--set", f"in={folder}/{name}",
                              "--set", f"out={folder}/out.pcap"])
        nodes, why = outcome(code, out, err)
        if not why and nodes:
            gone = nodes["tx"]["consumed"]
            gone += sum(sum(node["dropped"].values()) for node in nodes.values())
            if nodes["rx"]["made"] != gone:
                why = f"{nodes['rx']['made']} packets came, {gone} went"
        if why:
            wrong.append(f"{name}: {why}")
    say(f"{len(names)} damaged captures through graphs/filter.yaml", "; ".join(wrong[:3]))


little, little_ends = pcap()
big, big_ends = pcap(">")
modern, modern_ends = pcapng()
cut_off("little.pcap", little, little_ends, 24)
cut_off("big.pcap", big, big_ends, 24)
cut_off("modern.pcapng", modern, modern_ends, 48)
some = flipped("little.pcap", little, 1)[:6] + flipped("modern.pcapng", modern, 2)[:6]
through_filter(some + ["cut100-little.pcap", "cut10-little.pcap", "cut200-modern.pcapng"])
sys.exit(failed)
