# SPDX-License-Identifier: BSD-3-Clause
# What `sluice top` shows in a terminal: top_screen.py PROGRAM FOLDER PID, with FOLDER/graph.yaml
# running as `shown`. Prints ok and not ok as the scripts do.

import os
import re
import signal
import subprocess
import sys
import termios

from terminal import Terminal

program, folder, pid = sys.argv[1], sys.argv[2], int(sys.argv[3])
failed = False

# As a terminal sends them that was told to by keypad().
DOWN, RIGHT, HOME, END = "\x1bOB", "\x1bOC", "\x1b[1~", "\x1b[4~"


def check(name, good, why=""):
    global failed
    if good:
        print(f"ok {name}")
    else:
        failed = True
        print(f"not ok {name}: {why}")


# The screen comes to be so.
def comes(name, terminal, condition):
    good = terminal.until(condition)
    check(name, good, "the screen is\n" + terminal.text if not good else "")


def top(*options, **how):
    name = how.pop("name", "shown")
    return Terminal([program, "top", "--name", name, "--interval", "200ms", *options], **how)


# The names in the first column, below the titles.
def names(text):
    lines = text.split("\n")
    start = [i for i, line in enumerate(lines) if line.startswith("node ") or "module" in line]
    rows = lines[start[0] + 1 : -1] if start else []
    return [row.split()[0] for row in rows if row.strip()]


def run(file, name):
    child = subprocess.Popen(
        [program, "run", file, "--quiet", "--name", name],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return child


def stop(child):
    child.kill()
    child.wait()


def table():
    t = top(columns=100)
    comes("the table has every node", t, lambda x: sorted(names(x)) == sorted(
        ["make", "two", "fwd", "swap", "q", "left", "bad", "tx"]))
    comes("rates since the last sample", t, lambda x: "since the start" not in x
          and re.search(r"^make +Source .* [0-9.]+[kM] ", x, re.M))
    comes("drops by reason", t, lambda x: re.search(r"^bad .* discarded [0-9.]+[kM]?/s", x, re.M))
    comes("the fill of a queue", t, lambda x: re.search(r"^q +Queue .* [0-9]+ % ", x, re.M))
    comes("the load of a worker", t, lambda x: re.search(r"worker 0 core \d+ +\[[#.]{10}\] <?\d+ %", x))
    comes("the rates of a port", t, lambda x: re.search(r"^out +null .* [0-9.]+[kM]", x, re.M))
    comes("sorted by share", t, lambda x: "share↓" in x)
    t.press("n")
    comes("sorted by name", t, lambda x: "node↓" in x and names(x) == sorted(names(x)))
    t.press("r")
    comes("the other way round", t,
          lambda x: "node↑" in x and names(x) == sorted(names(x), reverse=True))
    t.press(">")
    comes("by the column to the right", t, lambda x: "module↓" in x)
    t.press("<<")
    comes("by the one to the left, and round", t, lambda x: "dropped↓" in x and names(x)[0] == "bad")
    t.press("/Sw")
    comes("a filter as it is typed", t, lambda x: "filter: Sw_" in x and names(x) == ["swap"])
    t.press("zz")
    comes("a filter that nothing fits", t, lambda x: "no node is called so" in x)
    t.press("\x1b")
    comes("Esc: all again", t, lambda x: len(names(x)) == 8 and "filter" not in x.split("\n")[0])
    t.press("p")
    comes("pause", t, lambda x: "[paused]" in x)
    held = t.screen.display[0]
    for _ in range(8):
        t.read()
    check("nothing moves in a pause", t.screen.display[0] == held, t.screen.display[0])
    t.press("p+")
    comes("goes on, with a longer interval", t,
          lambda x: "[paused]" not in x and "every 0.4 s" in x and x.split("\n")[0] != held)
    t.press("--")
    comes("a shorter interval", t, lambda x: "every 0.1 s" in x)
    t.press("?")
    comes("help", t, lambda x: "a longer or shorter interval" in x)
    t.press("x")
    comes("and back", t, lambda x: len(names(x)) == 8)
    t.press("n\r")
    comes("one node alone", t, lambda x: "bad: Discard" in x and "counters" in x)
    t.press("\x1b")
    t.press(DOWN + "\r")
    comes("another one, with its parameters", t,
          lambda x: "fwd: L2Fwd" in x and "parameters" in x and re.search(r"ageing +300s", x))
    t.press("\x1bq")
    check("q ends it", t.end() == 0, t.code)
    check("the terminal is as it was", b"\x1b[?1049l" in t.raw[-60:], repr(t.raw[-80:]))
    mode = termios.tcgetattr(t.fd)[3]
    check("its modes are as they were", mode & termios.ECHO and mode & termios.ICANON, mode)
    t.close()


def picture():
    t = top(columns=100, lines=40)
    comes("before the picture", t, lambda x: "make" in x)
    t.press("g")
    comes("boxes", t, lambda x: all(re.search(f"│ {name} +│", x) for name in ["make", "two"])
          and "┌──" in x and "└──" in x)
    comes("arrows", t, lambda x: "▼" in x and "│" in x and "─┐" in x)
    comes("rates in the boxes", t, lambda x: re.search(r"│ [0-9.]+[kM]/s +\S+ % │", x))
    comes("drops in the boxes", t, lambda x: re.search(r"drops [0-9.]+[kM]?/s", x))
    t.press("\t\t\r")
    comes("a box's node alone", t, lambda x: "two: Tee" in x or "make: Source" in x)
    t.press("\x1b")
    comes("Esc: the picture again", t, lambda x: "┌──" in x)
    t.press("t")
    comes("the table again", t, lambda x: len(names(x)) == 8)
    t.press("q")
    t.end()
    t.close()
    t = top(columns=100, lines=40, term="screen", LC_ALL="C", LANG="C")
    t.press("g")
    comes("a picture without Unicode", t,
          lambda x: re.search(r"\+-{14}\+", x) and "v" in x and x.isascii())
    t.press("q")
    t.end()
    t.close()


def sizes():
    t = top(columns=20, lines=5)
    comes("20 columns of 5 lines", t, lambda x: x.startswith("sluice top") and len(names(x)) == 2)
    t.press("g")
    comes("a picture there", t, lambda x: "│ make" in x)
    t.press("?")
    comes("help there", t, lambda x: "quit" in x)
    t.press("xt")
    for columns, lines in [(100, 30), (1, 1), (3, 2), (300, 90), (80, 24)]:
        t.resize(columns, lines)
        t.press("g")
        for _ in range(4):
            t.read()
        t.press("t")
    comes("after many sizes", t, lambda x: len(names(x)) == 8 and len(x.split("\n")[0]) == 80)
    t.press("q")
    check("it ends after that", t.end() == 0, t.code)
    t.close()


def terminals():
    for term in ["vt100", "vt220", "xterm-mono", "linux", "xterm-256color"]:
        t = top(term=term, columns=100)
        comes(f"TERM={term}", t, lambda x: len(names(x)) == 8)
        t.press("gtq")
        check(f"TERM={term}: ends", t.end() == 0, t.code)
        if term in ("vt100", "vt220"):
            check(f"TERM={term}: no colour", not re.search(rb"\x1b\[(3[0-7]|[0-9;]*;3[0-7])m", t.raw))
        t.close()
    t = top(NO_COLOR="1")
    comes("NO_COLOR", t, lambda x: len(names(x)) >= 4)
    t.press("q")
    t.end()
    check("NO_COLOR: no colour", not re.search(rb"\x1b\[(3[0-7]|[0-9;]*;3[0-7])m", t.raw))
    t.close()
    for term, why in [("dumb", "cannot place its cursor"), ("nonsense", "is not known here")]:
        t = top(term=term)
        code = t.end()
        check(f"TERM={term}: an error", code == 3 and why in t.text.replace("\n", ""),
              f"{code} {t.text.strip()}")
        t.close()


def signals():
    for number, wanted in [(signal.SIGINT, 0), (signal.SIGTERM, -15), (signal.SIGHUP, -1),
                           (signal.SIGQUIT, -3), (signal.SIGABRT, -6)]:
        t = top()
        t.until(lambda x: "make" in x)
        t.signal(number)
        code = t.end()
        mode = termios.tcgetattr(t.fd)[3]
        check(f"{signal.Signals(number).name}: it ends, and the terminal is as it was",
              code == wanted and b"\x1b[?1049l" in t.raw[-80:] and mode & termios.ECHO,
              f"{code} {t.raw[-80:]!r}")
        t.close()
    t = top()
    t.until(lambda x: "make" in x)
    t.press("\x03")
    check("Ctrl-C: it ends", t.end() == 0, t.code)
    t.close()


def restarts():
    graph = os.path.join(folder, "graph.yaml")
    child = run(graph, "gone")
    while subprocess.run([program, "stats", "--name", "gone"], capture_output=True).returncode:
        pass
    t = top(name="gone", columns=100)
    comes("before it goes", t, lambda x: len(names(x)) == 8 and "since" not in x)
    stop(child)
    comes("it has gone: waits", t, lambda x: "waiting for gone ..." in x and len(names(x)) == 8)
    t.press("n")
    comes("keys work while it waits", t, lambda x: "node↓" in x)
    child = run(graph, "gone")
    comes("it is there again: goes on", t, lambda x: "waiting" not in x and "since" not in x
          and re.search(r"^make +Source .* [0-9.]+[kM] ", x, re.M))
    check("no rate is negative or huge", not re.search(r"-\d|[0-9]T|\d\d\dG", t.text), t.text)
    os.kill(child.pid, signal.SIGSTOP)
    comes("it hangs: waits", t, lambda x: "waiting for gone ..." in x)
    os.kill(child.pid, signal.SIGCONT)
    comes("it goes on: so does top", t, lambda x: "waiting" not in x)
    t.press("g")
    comes("the picture before a change", t, lambda x: "│ make" in x)
    with open(graph) as file:
        changed = file.read().replace("swap", "other")
    with open(os.path.join(folder, "changed.yaml"), "w") as file:
        file.write(changed)
    subprocess.run([program, "reload", os.path.join(folder, "changed.yaml"), "--name", "gone"],
                   capture_output=True)
    t.press("t")
    comes("a change of the graph", t, lambda x: "other" in names(x) and "swap" not in names(x))
    stop(child)
    t.press("q")
    check("it ends while it waits", t.end() == 0, t.code)
    t.close()


def many():
    lines = ["nodes:", "  make: {Source: {burst: 1}}", "  end: Sink", "graph:"]
    rows = [[f"n{row}x{i}" for i in range(10)] for row in range(20)]
    nodes = [f"  {name}: {'Tee' if row == 0 else 'MACSwap'}" for row, all in enumerate(rows)
             for name in all]
    lines[3:3] = nodes + ["  spread: Tee"]
    links = ["  - make -> spread"]
    for i in range(10):
        links.append(f"  - spread[{i}] -> " + " -> ".join(row[i] for row in rows) + " -> end")
    with open(os.path.join(folder, "many.yaml"), "w") as file:
        file.write("\n".join(lines + links) + "\n")
    child = run(os.path.join(folder, "many.yaml"), "many")
    while subprocess.run([program, "stats", "--name", "many"], capture_output=True).returncode:
        if child.poll() is not None:
            check("200 nodes run", False, child.returncode)
            return
    t = top("--sort", "node", name="many", columns=120, lines=40)
    comes("200 nodes in the table", t, lambda x: "end" in names(x))
    t.press(END)
    comes("End: the last rows", t, lambda x: names(x)[-1:] == ["spread"])
    t.press("g")
    comes("the picture moves to the node that is chosen", t, lambda x: "│ spread" in x or "│ make" in x)
    t.press(HOME)
    comes("200 nodes in the picture", t, lambda x: "│ make" in x)
    t.press(END)
    comes("End: its foot", t, lambda x: re.search(r"│ end +│", x))
    t.press(RIGHT * 12)
    comes("to the right", t, lambda x: "n19x9" in x or "n18x9" in x)
    t.press("q")
    check("200 nodes: it ends", t.end() == 0, t.code)
    t.close()
    stop(child)


for part in [table, picture, sizes, terminals, signals, restarts, many]:
    part()
sys.exit(failed)
