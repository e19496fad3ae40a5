# SPDX-License-Identifier: BSD-3-Clause
"""Runs a graph and reads what `sluice run --json` says of it."""

import json
import os
import signal
import subprocess
import tempfile

from machine import Watch

OUT = os.environ.get('OUT', 'build/out')
PROGRAM = f'{OUT}/sluice'
MODULE = f'{OUT}/bench/pass.so'


class Run:
    """One run: counters when the window opened, when it closed, and at the end."""

    def __init__(self, first, last, final, lost):
        self.first, self.last, self.final, self.lost = first, last, final, lost

    def packets_per_second(self):
        """Packets sent by all ports, within the window."""
        def sent(line):
            return sum(port['tx_packets'] for port in line['ports'].values())
        return (sent(self.last) - sent(self.first)) / (self.last['seconds'] -
                                                       self.first['seconds'])

    def cycles_per_packet(self, whole=False):
        """Busy cycles for each packet made; `whole`: of all the run, for one that reads the time
        too rarely to be cut."""
        def counts(line):
            return (sum(worker['busy_cycles'] for worker in line['workers']),
                    sum(node['made'] for node in line['nodes'].values()))
        cycles, packets = (b - a for a, b in zip(counts(self.first), counts(self.last)))
        # A worker that never ran within the window was disturbed, which is noted elsewhere.
        if whole or not cycles or not packets:
            cycles, packets = counts(self.final)
        return cycles / packets

    def cycles_per_second(self):
        worker = self.final['workers'][0]
        return (worker['busy_cycles'] + worker['idle_cycles']) / self.final['seconds']


def write_graph(text):
    file = tempfile.NamedTemporaryFile('w', prefix='sluice-bench-', suffix='.yaml')
    file.write(text)
    file.flush()
    return file


class Process:
    """A graph that runs, and reports every `period` seconds."""

    def __init__(self, machine, text, period, more=()):
        self.graph = write_graph(text)
        self.text = text
        self.stderr = tempfile.TemporaryFile('w+')
        self.process = machine.popen(
            [PROGRAM, 'run', self.graph.name, '--json', '--module', MODULE,
             '--stats', f'{max(round(period * 1000), 1)}ms', *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.stderr, text=True)

    def __enter__(self):
        return self

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            self.fail()
        return json.loads(text)

    def stop(self):
        """Ends the run; returns its last line."""
        self.process.send_signal(signal.SIGINT)
        lines = self.process.stdout.read().splitlines()
        if self.process.wait(timeout=20) or not lines:
            self.fail()
        return json.loads(lines[-1])

    def fail(self):
        self.process.kill()
        self.stderr.seek(0)
        raise RuntimeError(f'exit code {self.process.wait()}: {self.stderr.read()}\n{self.text}')

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.stderr.close()
        self.graph.close()


def flows(line):
    return any(node['made'] for node in line['nodes'].values())


def run(machine, text, seconds, ready=flows):
    """The window opens with the first report of which `ready` is true, and closes with the first
    one that is `seconds` later."""
    with Process(machine, text, seconds / 5) as process:
        first = process.line()
        while not ready(first):
            first = process.line()
        watch = Watch(machine, process.process.pid)
        last = process.line()
        while last['seconds'] - first['seconds'] < seconds * 0.98:
            last = process.line()
        lost = watch.end()
        return Run(first, last, process.stop(), lost)


def version():
    text = subprocess.run([PROGRAM, 'version', '--json'], capture_output=True, text=True,
                          check=True).stdout
    return json.loads(text)
