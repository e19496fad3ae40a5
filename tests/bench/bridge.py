# SPDX-License-Identifier: BSD-3-Clause
"""L2Fwd with one station a side and with a million, beside the bare lookup in rte_hash."""

import json
import os
import subprocess

import graphs
import measure
import sluice
from machine import steal_seconds
from nodes import SECONDS, cycles

LOOKUP = f"{os.environ.get('OUT', 'build/out')}/bench/hash_lookup"


def learned(half):
    def ready(line):
        return all(line['nodes'][name]['made'] >= half for name in ('learn0', 'learn1'))
    return ready


def bridge(machine, stations):
    text = graphs.bridge(graphs.Setting(machine), stations)
    half = max(stations // 2, 1)

    def take():
        run = sluice.run(machine, text, SECONDS, learned(half))
        drops = run.final['nodes']['bridge']['dropped']
        full = run.final['nodes']['bridge']['counters']['table_full']
        if full or drops.get('same_gate', 0):
            raise RuntimeError(f'the bridge did not learn {stations} stations: {drops}')
        return run.cycles_per_packet(), [run.lost]
    return take


def lookup_run(machine, seconds, stations):
    command = [LOOKUP, str(seconds), str(stations), '-l', str(machine.worker),
               *machine.eal_memory(512), '--no-pci', '--iova-mode=va', '--no-telemetry',
               '--log-level=error']
    process = machine.popen(command, stdout=subprocess.PIPE, text=True)
    try:
        text = process.communicate(timeout=120)[0]
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode:
        raise RuntimeError(f'hash_lookup ends with code {process.returncode}')
    result = json.loads(text)
    if result['hits'] != result['lookups']:
        raise RuntimeError(f'hash_lookup did not find all: {result}')
    return result


def lookup(machine, stations):
    def take():
        stolen = steal_seconds(machine.worker)
        result = lookup_run(machine, SECONDS, stations)
        lost = result['waited_seconds'] + steal_seconds(machine.worker) - stolen
        return result['cycles'] / result['lookups'], [{'lost': lost / SECONDS}]
    return take


def compare(machine, disturbances):
    group = {}
    for name, stations in (('one', 1), ('million', graphs.STATIONS)):
        group[f'{name} bridge'] = bridge(machine, stations)
        group[f'{name} without'] = cycles(machine, graphs.bridge_none(
            graphs.Setting(machine), stations))
        group[f'{name} lookup'] = lookup(machine, stations)
    values = measure.rounds('bridge', group, disturbances)
    return {name: {
        'stations': stations,
        'l2fwd': measure.spread(measure.differences(values[f'{name} bridge'],
                                                    values[f'{name} without'])),
        'rte_hash_lookup': measure.spread(values[f'{name} lookup']),
    } for name, stations in (('one', 1), ('million', graphs.STATIONS))}
