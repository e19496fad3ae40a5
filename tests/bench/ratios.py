# SPDX-License-Identifier: BSD-3-Clause
"""Two null ports, both directions: packets a second, ours beside testpmd's; with our own null
driver, and with the very device that testpmd has."""

import statistics

import graphs
import measure
import sluice
import testpmd
from machine import note

MODES = {
    'forward_vs_testpmd_io': ('io', '', graphs.NULL_PORT),
    'macswap_vs_testpmd': ('macswap', 'MACSwap', graphs.NULL_PORT),
    'forward_on_net_null_vs_testpmd_io': ('io', '', graphs.NET_NULL),
    'macswap_on_net_null_vs_testpmd': ('macswap', 'MACSwap', graphs.NET_NULL),
}


def better_burst(machine, mode, disturbances):
    """testpmd is compared at whichever of its bursts is the faster one here."""
    rates = {32: [], 64: []}
    for _ in range(min(measure.PAIRS, 3)):
        for burst, values in rates.items():
            def take(burst=burst):
                rate, lost = testpmd.run(machine, mode, burst, measure.SECONDS)
                return rate, [lost]
            values.append(disturbances.undisturbed(take))
    medians = {burst: statistics.median(values) for burst, values in rates.items()}
    note(f'testpmd {mode}: ' + ', '.join(f'burst {burst}: {rate / 1e6:.1f} Mpps'
                                         for burst, rate in medians.items()))
    return max(medians, key=medians.get), medians


def compare(machine, name, disturbances):
    mode, middle, port = MODES[name]
    text = graphs.p2p(graphs.Setting(machine), middle, port)
    burst, medians = better_burst(machine, mode, disturbances)

    def pair():
        run = sluice.run(machine, text, measure.SECONDS)
        rate, lost = testpmd.run(machine, mode, burst, measure.SECONDS)
        return ((run.packets_per_second(), rate, run.cycles_per_packet(),
                 run.cycles_per_second() / rate), [run.lost, lost])

    pairs = []
    for number in range(measure.PAIRS):
        ours, theirs, *cycles = disturbances.undisturbed(pair)
        pairs.append((ours, theirs, *cycles))
        note(f'{name} {number + 1}/{measure.PAIRS}: {ours / 1e6:.1f} and {theirs / 1e6:.1f} Mpps, '
             f'{ours / theirs:.3f}')
    ours, theirs, cycles, cycles_theirs = zip(*pairs)
    ratio = measure.spread([a / b for a, b in zip(ours, theirs)], 'pairs')
    more = {
        'sluice_mpps': measure.spread([rate / 1e6 for rate in ours]),
        'testpmd_mpps': measure.spread([rate / 1e6 for rate in theirs]),
        'sluice_cycles_per_packet': measure.spread(cycles),
        'testpmd_cycles_per_packet': measure.spread(cycles_theirs),
        'testpmd_burst': burst,
        'testpmd_mpps_by_burst': {str(key): measure.digits(rate / 1e6)
                                  for key, rate in medians.items()},
    }
    if len(theirs) > 1:
        more['testpmd_vs_itself'] = measure.spread([b / a for a, b in zip(theirs, theirs[1:])])
    return ratio, more
