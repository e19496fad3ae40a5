#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a client of a control server may try: hostile_http.py SOCKET PID, or HOST:PORT PID with the
token in $TOKEN. The process must go on to make packets, and neither descriptors nor memory may
grow. One line a test, as tests/lib/script.sh has them."""

import json
import os
import random
import socket
import sys
import threading
import time

path, pid = sys.argv[1], int(sys.argv[2])
memory_slack_kb = 300_000 if os.environ.get("VARIANT") in ("asan", "tsan") else 24_000
failed = False
rng = random.Random(4)


def report(name, good, why=""):
    global failed
    print(f"ok {name}" if good else f"not ok {name}: {why}", flush=True)
    failed = failed or not good


tcp = not path.startswith("/")
token = os.environ.get("TOKEN", "")
# What waits for the server's limit of time is tried over one kind of socket, over both in check-long.
patient = not tcp or bool(os.environ.get("LONG"))


def connect(timeout=20):
    if tcp:
        host, _, port = path.rpartition(":")
        sock = socket.create_connection((host, int(port)))
    else:
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(path)
    sock.settimeout(timeout)
    return sock


def send(sock, data):
    """What the other end no longer wants is no fault."""
    try:
        sock.sendall(data)
        return True
    except (BrokenPipeError, ConnectionResetError, socket.timeout):
        return False


def receive(sock):
    parts = []
    try:
        while part := sock.recv(65536):
            parts.append(part)
    except (ConnectionResetError, socket.timeout):
        pass
    return b"".join(parts)


def ask(data):
    """The status and body that a whole request is answered with; the connection is closed then."""
    with connect() as sock:
        send(sock, data)
        answer = receive(sock)
    head, _, body = answer.partition(b"\r\n\r\n")
    words = head.split()
    return (int(words[1]) if len(words) > 1 and words[1].isdigit() else 0), body


def request(method, target, body=b"", headers=()):
    lines = [f"{method} {target} HTTP/1.1", f"Host: {path if tcp else 'sluice'}",
             "Connection: close", *headers]
    if tcp:
        lines.append(f"Authorization: Bearer {token}")
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def get(target):
    status, body = ask(request("GET", target))
    assert status == 200, f"{target}: {status} {body}"
    return json.loads(body)


def made():
    return get("/nodes/make")["made"]


def descriptors():
    return len(os.listdir(f"/proc/{pid}/fd"))


def memory_kb():
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def goes_on(name):
    before = made()
    report(f"{name}: the graph runs on", wait_until(lambda: made() > before), "no packets")


VALID = [
    request("GET", "/stats"),
    request("PUT", "/graph", b"nodes: {a: Source}\ngraph: [a -> Sink, x"),
    request("POST", "/nodes/fwd/add", b'{"mac": "02:00:00:00:00:01", "gate": 99}'),
    request("PUT", "/graph?dry_run=1&file=x", b"nodes: {}\n"),
]
ALPHABET = b"\0\r\n\t /?&=%{}[]\":;\xff\xfe\x80AGETPOST0123456789"


def mutated():
    data = bytearray(rng.choice(VALID))
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.choice(ALPHABET)
        elif kind == 1:
            del data[at : at + rng.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = bytes(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 40)))
        else:
            data[at:at] = data[: rng.randrange(1, len(data))]
        if not data:
            data = bytearray(b"\r\n")
    return bytes(data)


def noise():
    return bytes(rng.randrange(256) for _ in range(rng.randrange(1, 400)))


def malformed():
    kinds = {}
    for i in range(1000):
        data = mutated() if i % 4 else noise()
        # A request that is not whole is never answered: what comes at once tells the others.
        with connect(0.01) as sock:
            send(sock, data)
            status = receive(sock)[9:12]
        kinds[status] = kinds.get(status, 0) + 1
    report("1,000 malformed requests are answered or cut off", all(
        not status or status[:1] in b"12345" for status in kinds), str(kinds))


def paths():
    tries = ["/", "//", "/nodes/", "/nodes//", "/nodes/fwd/", "/nodes/fwd/add/x", "/nodes/%00",
             "/nodes/%ff%fe", "/%2e%2e/%2e%2e/etc/passwd", "/../x", "/nodes/fwd%2Fadd", "*", "x",
             "/stats?" + "a=b&" * 500, "/" + "a" * 20000, "/nodes/" + "%41" * 3000, "/{node}",
             "/nodes/{node}", "/graph?file=%ff", "/ports/none", "/nodes/fwd?%", "/links/x",
             "/events/", "/events?interval=", "/events?interval=0s", "/events?interval=%ff"]
    wrong = []
    for target in tries:
        for method in ("GET", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "X" * 900):
            status, _ = ask(request(method, target))
            if status >= 500 or (method == "DELETE" and status < 400 and status):
                wrong.append((method[:9], target[:30], status))
    report("unknown paths and methods", not wrong, str(wrong))
    status, body = ask(request("GET", "/nodes/%ff%fe"))
    report("a path that is not UTF-8 is answered in JSON",
           status == 404 and "errors" in json.loads(body), f"{status} {body}")
    status, body = ask(request("PUT", "/graph?file=%ff", b"nodes: {a: Sourze}\n"))
    report("a file's name that is not UTF-8 is answered in JSON",
           status == 400 and "errors" in json.loads(body), f"{status} {body}")


def bodies():
    status, body = ask(request("PUT", "/graph", headers=["Content-Length: 1000000000000"]))
    report("a huge body is refused at once", status == 413 and b"16 MiB" in body, f"{status}")
    block = b"#" * (1 << 20)
    with connect() as sock:
        send(sock, request("PUT", "/graph", headers=["Transfer-Encoding: chunked"]))
        for _ in range(17):
            send(sock, b"100000\r\n" + block + b"\r\n")
        send(sock, b"0\r\n\r\n")
        status = receive(sock)[9:12]
    report("a body in chunks that is too long is refused", status == b"413", str(status))
    with connect() as sock:
        send(sock, request("PUT", "/graph", headers=["Transfer-Encoding: chunked"]))
        n = 0
        while n < 100 and send(sock, b"100000\r\n" + block + b"\r\n"):
            n += 1
    report("a body without end is cut off", n < 50, f"{n} MiB were taken")
    status, body = ask(request("PUT", "/graph", b"#" * (16 << 20)))
    report("the longest body is read", status == 400 and b"empty" in body, f"{status} {body[:99]}")
    status, body = ask(request("PUT", "/graph", b"nodes: {a: Source}\0\n"))
    report("a NUL in the body", status == 400, f"{status} {body[:99]}")


def headers():
    def status(*lines):
        return ask(request("GET", "/stats", headers=lines))[0]

    report("a header of 1 MiB is refused", status("X: " + "a" * (1 << 20)) in (0, 400, 413, 431))
    report("100,000 headers are refused", status(*["X: y"] * 100_000) in (0, 400, 413, 431))
    report("a header in the form of none is refused or passed over",
           status("no colon", ": no name", "a b: c") in (0, 200, 400))
    if patient:
        report("two lengths are refused",
               status("Content-Length: 5", "Content-Length: 6") in (0, 400))
    report("a length that is none is refused", status("Content-Length: -1") in (0, 400, 413))
    with connect() as sock:
        n = 0
        send(sock, b"GET /stats HTTP/1.1\r\n")
        while n < 100 and send(sock, b"X: " + b"a" * 65536 + b"\r\n"):
            n += 1
    report("headers without end are cut off", n < 100, f"{n * 64} KiB were taken")
    goes_on("headers")


def listener():
    """A client of events, once it gets them."""
    sock = connect()
    send(sock, request("GET", "/events?interval=50ms"))
    assert b" 200 " in sock.recv(4096)
    return sock


def events():
    """Those who listen and never read, and those who leave."""
    for _ in range(100):
        listener().close()
    deaf = []
    for _ in range(16):
        def more():
            try:
                deaf.append(listener())
                return True
            except AssertionError:
                return False
        wait_until(more)
    status, body = ask(request("GET", "/events"))
    report("listeners to events: only so many", len(deaf) == 16 and status == 503, f"{len(deaf)}")
    goes_on("listeners that never read")
    for sock in deaf:
        sock.close()

    def again():
        try:
            listener().close()
            return True
        except AssertionError:
            return False
    report("listeners that left make room", wait_until(again))


def changes():
    """Two clients that change the graph at once: each change is done whole, after the other."""
    texts = [b"nodes: {make: {Source: {burst: 1}}, fwd: {L2Fwd: {size: 256}}, q: Queue}\n"
             b"graph: [make -> q -> fwd -> Sink]\n",
             b"nodes: {make: {Source: {burst: 1}}, fwd: {L2Fwd: {size: 256}}, q: Queue, "
             b"swap: MACSwap}\ngraph: [make -> q -> swap -> fwd -> Sink]\n"]
    wrong = []
    balance = []
    ask(request("PUT", "/graph?allow_loss=1", texts[0]))

    def client(text):
        for _ in range(20):
            status, body = ask(request("PUT", "/graph?allow_loss=1", text))
            # A machine that is too busy may refuse; nothing has changed then.
            if status == 503:
                continue
            if status != 200:
                wrong.append((status, body))
                continue
            nodes = json.loads(body)["nodes"]
            balance.append(("swap" in nodes["new"]) - ("swap" in nodes["removed"]))

    threads = [threading.Thread(target=client, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    has_swap = "swap" in get("/nodes")
    report("two that change the graph at once", not wrong and sum(balance) == has_swap,
           f"{wrong[:2]} {balance} {has_swap}")
    goes_on("two that change the graph at once")


def half_open():
    socks = [connect() for _ in range(20)]
    for i, sock in enumerate(socks):
        send(sock, [b"", b"GET /sta", b"PUT /graph HTTP/1.1\r\nContent-Length: 99\r\n\r\nno"][i % 3])
    goes_on("half-open connections")
    # Those that are let go free their places: no more than these wait for the server to close them.
    closed = 0
    for sock in socks:
        sock.settimeout(30)
        receive(sock)
        closed += 1
        sock.close()
    report("half-open connections are closed", closed == 20, f"{closed}")


def never_reads():
    socks = [connect() for _ in range(10)]
    for sock in socks:
        sock.setblocking(False)
        try:
            while True:
                sock.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            pass
    goes_on("clients that never read")
    for sock in socks:
        sock.close()


def many():
    """More than may be connected at a time: the others wait, and are served then."""
    socks = []
    for _ in range(100):
        sock = connect()
        send(sock, b"GE")
        socks.append(sock)
    for sock in socks:
        sock.close()
    goes_on("more connections than places")


def main():
    for _ in range(100):
        get("/stats")
    for _ in range(4):
        ask(request("PUT", "/graph", b"#" * (16 << 20)))
    fds, memory = descriptors(), memory_kb()
    for part in (malformed, paths, headers, bodies, half_open, never_reads, many, events, changes):
        if patient or part != half_open:
            part()
    goes_on("after all of it")
    report("descriptors do not grow", wait_until(lambda: descriptors() <= fds),
           f"from {fds} to {descriptors()}")
    report("memory does not grow", memory_kb() <= memory + memory_slack_kb,
           f"from {memory} to {memory_kb()} KB")


main()
sys.exit(failed)
