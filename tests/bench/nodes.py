# SPDX-License-Identifier: BSD-3-Clause
"""Cycles for each packet within one process: chains, a split and its merge, small batches."""

import graphs
import measure
import sluice

SECONDS = measure.SECONDS / 2
LENGTHS = (1, 4, 8, 16)
BURSTS = (1, 4, 16, 32, 64)
UNWATCHED = 1 << 20
LUA_BURST = 32
LUA_NODES = 4


def cycles(machine, text, whole=False):
    def take():
        run = sluice.run(machine, text, SECONDS)
        return run.cycles_per_packet(whole), [run.lost]
    return take


def chains(machine, disturbances):
    """Each further node, from chains of 1 and 16."""
    setting = graphs.Setting(machine)
    group = {'source to sink': cycles(machine, graphs.chain(setting, 'BenchPass', 0))}
    for length in LENGTHS:
        for module in ('BenchPass', 'MACSwap'):
            group[module, length] = cycles(machine, graphs.chain(setting, module, length))
    values = measure.rounds('chains', {name_of(key): take for key, take in group.items()},
                            disturbances)

    def of(module, length):
        return values[name_of((module, length))]
    result = {'source_to_sink': measure.spread(values['source to sink'])}
    per_node = {}
    for name, module in (('pass', 'BenchPass'), ('macswap', 'MACSwap')):
        result[name] = {str(length): measure.spread(of(module, length)) for length in LENGTHS}
        per_node[name] = measure.spread(measure.differences(of(module, 16), of(module, 1), 15))
    return result, per_node


def name_of(key):
    return key if isinstance(key, str) else f'{key[1]} {key[0]}'


def split(machine, disturbances):
    """Four ways and their merge, less one node in their place."""
    setting = graphs.Setting(machine)
    ways = {
        'round_robin': ('RoundRobin', graphs.SOURCE),
        'round_robin_by_batch': ('{RoundRobin: {each: batch}}', graphs.SOURCE),
        'hash_split': ('HashSplit', graphs.FLOWS),
    }
    group = {}
    for name, (module, source) in ways.items():
        group[name] = cycles(machine, graphs.split(setting, module, source))
        group[f'{name} without'] = cycles(machine, graphs.split(setting, '', source))
    values = measure.rounds('split', group, disturbances)
    return {name: {'cycles_per_packet': measure.spread(values[name]),
                   'split_and_merge': measure.spread(measure.differences(
                       values[name], values[f'{name} without']))}
            for name in ways}


def bursts(machine, disturbances):
    """What the size of batches does to the source, to each node, and to forwarding."""
    group = {}
    for burst in BURSTS:
        setting = graphs.Setting(machine, burst)
        group[f'source {burst}'] = cycles(machine, graphs.chain(setting, 'BenchPass', 0))
        group[f'pass {burst}'] = cycles(machine, graphs.chain(setting, 'BenchPass', 16))
        group[f'macswap {burst}'] = cycles(machine, graphs.chain(setting, 'MACSwap', 16))
        group[f'forward {burst}'] = cycles(machine, graphs.p2p(setting))
    values = measure.rounds('batches', group, disturbances)
    return {str(burst): {
        'source_to_sink': measure.spread(values[f'source {burst}']),
        'per_pass_node': measure.spread(measure.differences(
            values[f'pass {burst}'], values[f'source {burst}'], 16)),
        'per_macswap_node': measure.spread(measure.differences(
            values[f'macswap {burst}'], values[f'source {burst}'], 16)),
        'forward': measure.spread(values[f'forward {burst}']),
    } for burst in BURSTS}


def single(machine, disturbances):
    """A node at batches of one packet, unwatched; and where two links enter each node."""
    setting = graphs.Setting(machine, 1, UNWATCHED)
    group = {}
    for length in (1, 16):
        group[f'chain {length}'] = cycles(
            machine, graphs.chain(setting, 'BenchPass', length), whole=True)
        group[f'merging {length}'] = cycles(
            machine, graphs.chain_merging(setting, length), whole=True)
    values = measure.rounds('batches of one', group, disturbances)
    return {name: measure.spread(measure.differences(
        values[f'{name} 16'], values[f'{name} 1'], 15)) for name in ('chain', 'merging')}


def luanode(machine, disturbances):
    """Nanoseconds a packet of a node in Lua at batches of 32, and of Filter beside it."""
    setting = graphs.Setting(machine, LUA_BURST)

    def nanoseconds(node, length):
        def take():
            run = sluice.run(machine, graphs.node_for_each(setting, node, length), SECONDS)
            return run.cycles_per_packet() / run.cycles_per_second() * 1e9, [run.lost]
        return take
    group = {'none': nanoseconds('', 0),
             'filter': nanoseconds('{Filter: {expression: udp and dst port 53}}', LUA_NODES)}
    for name, code in graphs.LUA.items():
        group[name] = nanoseconds(f'{{LuaNode: {{code: "{code}"}}}}', LUA_NODES)
    values = measure.rounds('nodes in Lua', group, disturbances)
    each = {name: measure.differences(values[name], values['none'], LUA_NODES)
            for name in group if name != 'none'}
    result = {name: measure.spread(value) for name, value in each.items()}
    result['select_more_than_filter_and_call'] = measure.spread(
        [select - call - it for select, call, it in
         zip(each['select'], each['call'], each['filter'])])
    return result
