#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Passes a TCP port of the loopback on to a Unix socket: forward.py SOCKET PORTFILE. The port,
which the system picks, is written to PORTFILE."""

import os
import socket
import socketserver
import sys
import threading


class Passing(socketserver.BaseRequestHandler):
    def handle(self):
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(sys.argv[1])
            thread = threading.Thread(target=pump, args=(other, self.request), daemon=True)
            thread.start()
            pump(self.request, other)
            thread.join()


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


def main():
    with Server(("127.0.0.1", 0), Passing) as server:
        with open(sys.argv[2] + ".new", "w", encoding="ascii") as file:
            file.write(str(server.server_address[1]))
        os.rename(sys.argv[2] + ".new", sys.argv[2])
        server.serve_forever()


main()
