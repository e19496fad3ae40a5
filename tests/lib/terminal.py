# SPDX-License-Identifier: BSD-3-Clause
# A terminal for tests: runs a program in a pty, keeps what is on its screen (by pyte), presses keys.

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

SECONDS = 20


# What pyte leaves out: lines that move up or down between the margins.
class Screen(pyte.Screen):
    def margins_lines(self):
        return self.margins or pyte.screens.Margins(0, self.lines - 1)

    def scroll_up(self, n=1):
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins_lines().bottom
        for _ in range(n or 1):
            self.index()
        self.cursor.x, self.cursor.y = x, y

    def scroll_down(self, n=1):
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins_lines().top
        for _ in range(n or 1):
            self.reverse_index()
        self.cursor.x, self.cursor.y = x, y


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down"}
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down"}


class Terminal:
    def __init__(self, command, columns=80, lines=24, term="screen-256color", **env):
        self.raw = b""
        self.screen = Screen(columns, lines)
        self.stream = Stream(self.screen)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            size = struct.pack("HHHH", lines, columns, 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            env = {**os.environ, "TERM": term, "LC_ALL": "C.UTF-8", **env}
            os.execvpe(command[0], command, env)
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, size)
        self.code = None

    # What it writes within so many seconds; false: it has ended.
    def read(self, seconds=0.05):
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    @property
    def text(self):
        return "\n".join(self.screen.display)

    # Until what is on the screen is so, or it has ended; whether it is.
    def until(self, condition, seconds=SECONDS):
        end = time.monotonic() + seconds
        while not condition(self.text):
            if not self.read() or time.monotonic() > end:
                return condition(self.text)
        return True

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        self.screen.reset()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def signal(self, number):
        os.kill(self.pid, number)

    # Its exit code once it has ended by itself, or the signal's number below zero; None: it goes on.
    def end(self, seconds=SECONDS):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0.01) and select.select([self.fd], [], [], 0)[0]:
                    pass
                self.code = os.waitstatus_to_exitcode(status)
                return self.code
        return None

    def close(self):
        if self.code is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        os.close(self.fd)
