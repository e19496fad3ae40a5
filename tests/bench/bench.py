#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark: prints one JSON object, and what it is doing on standard error.

BENCH_SECONDS (1): how long a window is; those within one process are half as long.
BENCH_PAIRS (7): how often each is measured.
BENCH_ONLY: words from ratios, chains, split, bursts, single, l2fwd, luanode, memory, start, parked,
watched, capture, instructions; all, if unset.
"""

import json
import os
import signal
import sys
import time

import bridge
import capture
import control
import instructions
import measure
import nodes
import process
import ratios
import sluice
import targets
from machine import Hugepages, Machine, environment, load, note

PARTS = ('ratios', 'chains', 'split', 'bursts', 'single', 'l2fwd', 'luanode', 'memory', 'start',
         'parked', 'watched', 'capture', 'instructions')


def parts_wanted():
    wanted = os.environ.get('BENCH_ONLY', '').split() or PARTS
    for word in wanted:
        if word not in PARTS:
            sys.exit(f'bench: BENCH_ONLY: there is no "{word}", only {", ".join(PARTS)}')
    return wanted


def measure_parts(machine, wanted, disturbances):
    result = {'ratios': {}, 'cycles_per_node': {}}
    spread = {}
    if 'ratios' in wanted:
        result['ports'] = {}
        for name in ratios.MODES:
            result['ratios'][name], result['ports'][name] = ratios.compare(
                machine, name, disturbances)
    if 'chains' in wanted:
        result['cycles'], per_node = nodes.chains(machine, disturbances)
        spread.update(per_node)
    if 'single' in wanted:
        single = nodes.single(machine, disturbances)
        spread['batch_of_one'] = single['chain']
        spread['batch_of_one_merging'] = single['merging']
    result['cycles_per_node'] = {name: value['median'] for name, value in spread.items()}
    result['spread'] = spread
    if 'split' in wanted:
        result['split'] = nodes.split(machine, disturbances)
    if 'bursts' in wanted:
        result['bursts'] = nodes.bursts(machine, disturbances)
    if 'l2fwd' in wanted:
        result['l2fwd'] = bridge.compare(machine, disturbances)
    if 'luanode' in wanted:
        result['luanode'] = nodes.luanode(machine, disturbances)
    if 'memory' in wanted:
        result['memory'] = process.memory(machine)
    if 'start' in wanted:
        result['seconds'] = process.first_packet(machine)
    if 'parked' in wanted:
        result['parked'] = control.parked(machine)
    if 'watched' in wanted:
        result['watched'] = control.watched(machine, disturbances)
    if 'capture' in wanted:
        result['capture'] = capture.compare(machine, disturbances)
    if 'instructions' in wanted:
        result['instructions'] = instructions.compare()
    return result


def bench():
    wanted = parts_wanted()
    begin = time.monotonic()
    with Hugepages() as hugepages:
        machine = Machine(hugepages)
        disturbances = measure.Disturbances()
        before = load()
        result = measure_parts(machine, wanted, disturbances)
        result['targets'] = targets.verdicts(result)
        result['disturbances'] = disturbances.result()
        result['settings'] = {'pairs': measure.PAIRS, 'seconds': measure.SECONDS,
                              'seconds_in_process': nodes.SECONDS}
        result['environment'] = environment(machine, sluice.version())
        result['environment']['load_before'] = before
        result['environment']['load_after'] = load()
    note(f'{time.monotonic() - begin:.0f} s')
    return result


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit('bench: stopped'))
    try:
        result = bench()
    except KeyboardInterrupt:
        sys.exit('bench: stopped')
    except (RuntimeError, OSError) as error:
        sys.exit(f'bench: {error}')
    text = json.dumps(result, indent=2)
    with open(f'{sluice.OUT}/bench/last.json', 'w', encoding='utf-8') as file:
        file.write(text + '\n')
    print(text)


if __name__ == '__main__':
    main()
