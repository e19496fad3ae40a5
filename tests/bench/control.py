# SPDX-License-Identifier: BSD-3-Clause
"""What control costs the workers: the time they are parked for a change of graph, and what those
who look on take from them."""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time

import graphs
import measure
import sluice
from machine import Watch, note

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import reload_load  # noqa: E402 (the path is set just above)

NAME = 'bench'
LOOKING = 2 * measure.PAIRS  # pairs; the difference that is looked for is small


@contextlib.contextmanager
def sockets():
    """A folder for control sockets that nobody else uses."""
    before = os.environ.get('SLUICE_SOCKETS')
    with tempfile.TemporaryDirectory(prefix='sluice-bench-') as folder:
        os.environ['SLUICE_SOCKETS'] = folder
        try:
            yield folder
        finally:
            if before is None:
                del os.environ['SLUICE_SOCKETS']
            else:
                os.environ['SLUICE_SOCKETS'] = before


def parked(machine):
    """The 200 changes of the test under load: source and graph on one core, control on the other;
    by the time stamp counter of the worker."""
    with sockets() as folder:
        times = reload_load.run(sluice.PROGRAM, folder, [machine.worker], machine.popen,
                                lambda pid: Watch(machine, pid, any_memory=True))
    if reload_load.failed or not times:
        raise RuntimeError('packets were lost, or a change was refused')
    note(f'parked: {times[len(times) // 2] / 1e3:.1f} us median, {times[-1] / 1e3:.1f} us at most')
    return {'microseconds': measure.spread([time / 1e3 for time in times], 'changes')}


class Onlookers:
    """Everybody who looks on at once: tables, scrapes, and the streams of open pages, each OFTEN
    times as often as people would. What they cost once a second is too little to be seen."""

    OFTEN = 50
    PAGES = 5  # whose streams come ten times a second, which is as often as they may

    def __init__(self, folder):
        self.socket = os.path.join(folder, NAME + '.sock')
        self.ended = threading.Event()
        self.scrapes = 0

    def curl(self, *more):
        return ['curl', '-sN', '--unix-socket', self.socket, *more]

    def scrape(self):
        while not self.ended.wait(1 / self.OFTEN):
            subprocess.run(self.curl('http://sluice/metrics'), stdout=subprocess.DEVNULL,
                           check=False)
            self.scrapes += 1

    def __enter__(self):
        self.begin = time.monotonic()
        commands = [[sluice.PROGRAM, 'stats', '--name', NAME, '--watch',
                     f'{1000 // self.OFTEN}ms']]
        commands += [self.curl('http://sluice/events?interval=100ms')] * self.PAGES
        self.processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL)
                          for command in commands]
        self.thread = threading.Thread(target=self.scrape)
        self.thread.start()
        return self

    def __exit__(self, *raised):
        self.ended.set()
        self.thread.join()
        self.often = self.scrapes / (time.monotonic() - self.begin)
        alone = [process for process in self.processes if process.poll() is not None]
        for process in self.processes:
            process.kill()
            process.wait()
        if alone and not any(raised):
            raise RuntimeError(f'{alone[0].args} ended with code {alone[0].returncode}')


def rate(process):
    """Packets a second within a window of at least two seconds, so that each comes to look."""
    first = last = process.line()
    while last['seconds'] - first['seconds'] < max(measure.SECONDS, 2):
        last = process.line()
    sent = [sum(port['tx_packets'] for port in line['ports'].values()) for line in (first, last)]
    return (sent[1] - sent[0]) / (last['seconds'] - first['seconds'])


def watched(machine, disturbances):
    """Rates of one run of two null ports, in turn alone, looked at, and alone again."""
    text = graphs.p2p(graphs.Setting(machine))
    shares, floor, often = [], [], []
    with sockets() as folder, sluice.Process(machine, text, 0.1, ['--name', NAME]) as process:
        while not sluice.flows(process.line()):
            pass
        watch = Watch(machine, process.process.pid)

        def taken():
            watch.begin()
            before = rate(process)
            with Onlookers(folder) as onlookers:
                process.line()
                during = rate(process)
            process.line()
            after = rate(process)
            return (before, during, after, onlookers.often), [watch.end()]

        for number in range(LOOKING):
            before, during, after, times = disturbances.undisturbed(taken)
            shares.append(1 - 2 * during / (before + after))
            floor.append(1 - after / before)
            often.append(times)
            note(f'watched {number + 1}/{LOOKING}: {shares[-1]:.4f} at {times:.0f} a second, '
                 f'with nobody {floor[-1]:.4f}')
        process.stop()
    return {'share_lost': measure.spread([a / b for a, b in zip(shares, often)], 'pairs'),
            'share_lost_often': measure.spread(shares, 'pairs'),
            'scrapes_per_second': measure.spread(often, 'pairs'),
            'nobody_looks': measure.spread(floor, 'pairs')}
