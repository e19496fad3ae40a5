# SPDX-License-Identifier: BSD-3-Clause
"""What the worker executes for each packet with the control socket and without, by callgrind, on a
program that is built for x86-64-v3: valgrind knows no AVX-512."""

import glob
import os
import re
import shutil
import subprocess
import tempfile

import sluice
from machine import note

PROGRAM = f'{sluice.OUT}/portable/sluice'
PACKETS = 1000000  # a second run has twice as many; what both do besides falls out
GRAPH = '''eal: --no-huge
nodes:
  gen: {{Source: {{size: 64, count: {count}}}}}
graph: [gen -> MACSwap -> MACSwap -> Sink]
'''


def instructions(count, more):
    """Of the thread that executes most beside the main thread: the worker."""
    with tempfile.TemporaryDirectory(prefix='sluice-bench-') as folder, \
            sluice.write_graph(GRAPH.format(count=count)) as graph:
        run = subprocess.run(
            ['valgrind', '--tool=callgrind', '--separate-threads=yes',
             f'--callgrind-out-file={folder}/out', PROGRAM, 'run', graph.name, '--quiet', *more],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env={**os.environ, 'SLUICE_SOCKETS': folder})
        if run.returncode:
            raise RuntimeError(f'exit code {run.returncode}: {run.stderr}')
        counts = []
        for path in glob.glob(f'{folder}/out-*'):
            if not path.endswith('-01'):
                with open(path, encoding='utf-8') as file:
                    counts.append(int(re.search(r'^totals: (\d+)', file.read(), re.M)[1]))
        return max(counts)


def per_packet(more):
    return (instructions(2 * PACKETS, more) - instructions(PACKETS, more)) / PACKETS


def compare():
    if not shutil.which('valgrind') or not os.access(PROGRAM, os.X_OK):
        note('instructions: not counted, there is no valgrind')
        return None
    with_control, without = per_packet([]), per_packet(['--no-control'])
    note(f'instructions: {with_control:.2f} a packet with the control socket, {without:.2f} without')
    return {'with_control': round(with_control, 3), 'without_control': round(without, 3),
            'more': round(abs(with_control - without), 3)}
