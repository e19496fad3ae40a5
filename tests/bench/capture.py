# SPDX-License-Identifier: BSD-3-Clause
"""What an unfiltered capture of one link takes from the worker that it is on: windows without and with
it in turn, in one process, and the client on the other core."""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile

import graphs
import measure
import sluice
from machine import Watch, note

PORTS = {'null': graphs.NULL_PORT, 'net_null': graphs.NET_NULL}


def packets(line):
    return sum(port['tx_packets'] for port in line['ports'].values())


def window(machine, process):
    """Packets a second, and what the worker lost meanwhile."""
    first = last = process.line()
    watch = Watch(machine, process.process.pid)
    while last['seconds'] - first['seconds'] < measure.SECONDS * 0.98:
        last = process.line()
    lost = watch.end()
    return (packets(last) - packets(first)) / (last['seconds'] - first['seconds']), lost


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def captured(name):
    """By the captures that run; None: there is none."""
    connection = Connection(f'{os.environ["SLUICE_SOCKETS"]}/{name}.sock')
    connection.request('GET', '/captures', headers={'Host': 'sluice'})
    found = json.load(connection.getresponse())
    connection.close()
    running = [one for one in found if one['state'] == 'running']
    return sum(one['captured'] for one in running) if running else None


class Client:
    """`sluice capture` of one link to nowhere, on the core that is not the worker's."""

    def __init__(self, machine, process):
        self.name = pathlib.Path(process.graph.name).stem
        command = [sluice.PROGRAM, 'capture', 'from_left', '-w', '/dev/null', '--json', '--name',
                   self.name]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {machine.control}))
        while self.process.poll() is None and not captured(self.name):
            process.line()
        self.first = process.line()['seconds'], captured(self.name) or 0

    def end(self, process):
        """Packets a second that it took, and the share of what passed that was dropped."""
        seconds = process.line()['seconds'] - self.first[0]
        taken = (captured(self.name) or 0) - self.first[1]
        self.process.send_signal(signal.SIGINT)
        text = self.process.communicate(timeout=30)[1]
        if self.process.returncode:
            raise RuntimeError(f'capture ends with code {self.process.returncode}: {text}')
        result = json.loads(text.splitlines()[-1])
        return (taken / seconds, result['dropped'] / max(result['captured'] + result['dropped'], 1))


def client_begin(machine, process):
    """Where others use the cores, the worker may not get to stop for it in time."""
    for _ in range(20):
        client = Client(machine, process)
        if client.process.poll() is None:
            break
        client.process.stderr.close()
    return client


def pair(machine, process):
    def take():
        off, lost_off = window(machine, process)
        client = client_begin(machine, process)
        on, lost_on = window(machine, process)
        return (off, on, *client.end(process)), [lost_off, lost_on]
    return take


def compare(machine, disturbances):
    result = {}
    for name, port in PORTS.items():
        pairs = []
        with tempfile.TemporaryDirectory(prefix='sluice-bench-') as folder:
            os.environ['SLUICE_SOCKETS'] = folder
            text = graphs.p2p(graphs.Setting(machine), '', port)
            with sluice.Process(machine, text, measure.SECONDS / 5) as process:
                while not sluice.flows(process.line()):
                    pass
                for number in range(measure.PAIRS):
                    pairs.append(disturbances.undisturbed(pair(machine, process)))
                    off, on, taken, dropped = pairs[-1]
                    note(f'capture {name} {number + 1}/{measure.PAIRS}: {off / 1e6:.1f} without, '
                         f'{on / 1e6:.1f} Mpps with it, {on / off:.3f}; {taken / 1e6:.2f} Mpps '
                         f'captured, {dropped:.0%} dropped')
                process.stop()
            del os.environ['SLUICE_SOCKETS']
        off, on, taken, dropped = zip(*pairs)
        result[name] = {
            'lost': measure.spread([1 - b / a for a, b in zip(off, on)], 'pairs'),
            'mpps_without': measure.spread([rate / 1e6 for rate in off]),
            'mpps_with': measure.spread([rate / 1e6 for rate in on]),
            'captured_mpps': measure.spread([rate / 1e6 for rate in taken]),
            'dropped_share': measure.spread(dropped),
        }
    return result
