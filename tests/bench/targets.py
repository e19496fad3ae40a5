# SPDX-License-Identifier: BSD-3-Clause
"""What the figures should be, and the table that shows how they stand to that."""

import json
import sys

# What it is, where it is in the result, and what it should be.
TARGETS = [
    ('two null ports, forwarding, of testpmd io', 'ratios.forward_vs_testpmd_io', 'least', 0.95),
    ('two null ports, MACSwap, of testpmd macswap', 'ratios.macswap_vs_testpmd', 'least', 1.0),
    ("on testpmd's own null device, forwarding, of testpmd io",
     'ratios.forward_on_net_null_vs_testpmd_io', 'least', 0.95),
    ("on testpmd's own null device, MACSwap, of testpmd macswap",
     'ratios.macswap_on_net_null_vs_testpmd', 'least', 1.0),
    ('source to sink, cycles a packet', 'cycles.source_to_sink', 'below', 4.8),
    ('each further node that passes packets on, cycles a packet', 'spread.pass', 'most', 0.5),
    ('each further MACSwap, cycles a packet', 'spread.macswap', 'most', 4.2),
    ('a node at batches of one, cycles', 'spread.batch_of_one', 'below', 12),
    ('an empty process() in Lua, nanoseconds a packet', 'luanode.empty', 'below', 3),
    ('batch:select() in Lua, nanoseconds a packet more than Filter and the call',
     'luanode.select_more_than_filter_and_call', 'most', 1),
    ('memory of two null ports, MiB', 'memory.hugepages.all_mib', 'below', 64),
    ('the same without hugepages, MiB', 'memory.no_hugepages.all_mib', 'below', 64),
    ('from exec to the first packet, seconds', 'seconds.exec_to_first_packet', 'below', 0.4),
    ('parked by a change of graph, microseconds', 'parked.microseconds', 'below', 20),
    ('share of the rate that watching, a scrape a second and a page take', 'watched.share_lost',
     'below', 0.005),
    ("share of throughput that a capture of one link takes, on testpmd's own null device",
     'capture.net_null.lost', 'below', 0.15),
    ('captured packets of 64 bytes that the client takes, Mpps', 'capture.null.captured_mpps',
     'least', 1),
    ('instructions a packet that the control socket adds to the worker', 'instructions.more',
     'most', 0.1),
]
WORDS = {'least': 'at least', 'most': 'at most', 'below': 'under'}
MARKS = '<!-- figures -->\n', '<!-- end of figures -->\n'


def at(result, path):
    for key in path.split('.'):
        if not isinstance(result, dict) or key not in result:
            return None
        result = result[key]
    return result


def met(value, kind, limit):
    return {'least': value >= limit, 'most': value <= limit, 'below': value < limit}[kind]


def verdicts(result):
    """The targets that this result says something of."""
    found = []
    for what, path, kind, limit in TARGETS:
        value = at(result, path)
        if value is not None:
            median = value['median'] if isinstance(value, dict) else value
            found.append({'what': what, 'median': median, 'should_be': f'{WORDS[kind]} {limit}',
                          'met': met(median, kind, limit)})
    return found


def cell(value):
    if not isinstance(value, dict):
        return f'{value:g} | |'
    return f"{value['median']:g} | {value['min']:g} to {value['max']:g} |"


def lines(result):
    yield '| figure | median | range | should be | |'
    yield '| --- | ---: | --- | --- | --- |'
    for what, path, kind, limit in TARGETS:
        value = at(result, path)
        if value is not None:
            median = value['median'] if isinstance(value, dict) else value
            yield (f"| {what} | {cell(value)} {WORDS[kind]} {limit:g} | "
                   f"{'met' if met(median, kind, limit) else '**missed**'} |")
    yield ''
    yield '| cycles a packet | median | range |'
    yield '| --- | ---: | --- |'
    for name, text in (('forward_vs_testpmd_io', 'forwarding'), ('macswap_vs_testpmd', 'MACSwap')):
        more = at(result, f'ports.{name}')
        if more:
            yield f"| null ports, {text} | {cell(more['sluice_cycles_per_packet'])}"
            yield (f"| null ports, testpmd, burst {more['testpmd_burst']} | "
                   f"{cell(more['testpmd_cycles_per_packet'])}")
    for module, text in (('pass', 'passing on'), ('macswap', 'MACSwap')):
        for length, value in (at(result, f'cycles.{module}') or {}).items():
            yield f'| source, {text} {length} times, sink | {cell(value)}'
    for name, value in (result.get('split') or {}).items():
        yield f"| {name.replace('_', ' ')} over four nodes, and the merge | " \
              f"{cell(value['split_and_merge'])}"
    if at(result, 'spread.batch_of_one_merging'):
        yield ('| a node that two links enter, at batches of one | '
               f"{cell(at(result, 'spread.batch_of_one_merging'))}")
    for name, text in (('one', 'one station a side'), ('million', 'a million stations')):
        value = at(result, f'l2fwd.{name}')
        if value:
            yield f"| L2Fwd, {text} | {cell(value['l2fwd'])}"
            yield f"| rte_hash alone, one lookup, {text} | {cell(value['rte_hash_lookup'])}"
    for name, text in (('filter', 'Filter'), ('empty', 'LuaNode, an empty process()'),
                       ('call', 'LuaNode, one call that does nothing'),
                       ('select', 'LuaNode, batch:select()'), ('set', 'LuaNode, batch:set()'),
                       ('packets', 'LuaNode, a loop over packets')):
        value = at(result, f'luanode.{name}')
        if value:
            yield f'| {text}, at batches of 32, nanoseconds | {cell(value)}'
    if result.get('bursts'):
        yield ''
        yield '| batch size | source to sink | a node that passes on | a MACSwap | null ports |'
        yield '| ---: | ---: | ---: | ---: | ---: |'
        for burst, value in result['bursts'].items():
            yield f'| {burst} | ' + ' | '.join(
                f"{value[key]['median']:g}" for key in
                ('source_to_sink', 'per_pass_node', 'per_macswap_node', 'forward')) + ' |'
    environment = result['environment']
    lost = result['disturbances']
    yield ''
    yield (f"{environment['cpu']}, Linux {environment['kernel']}, DPDK {environment['dpdk']}, "
           f"{environment['sluice'].get('compiler', 'compiler unknown')}, "
           f"{environment['memory']}; commit {environment['commit'][:12]}; "
           f"{result['settings']['pairs']} rounds of {result['settings']['seconds']:g} s; "
           f"{lost['repeated']} windows taken again and {lost['kept_disturbed']} kept though "
           f"other programs took more than {lost['limit']:.0%} of them.")


def insert(path, result):
    """Puts the table in place of the one between the marks of a document."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    before, _, rest = text.partition(MARKS[0])
    _, mark, after = rest.partition(MARKS[1])
    if not mark:
        sys.exit(f'{path}: there are no marks {MARKS[0].strip()} and {MARKS[1].strip()}')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(before + MARKS[0] + '\n' + '\n'.join(lines(result)) + '\n\n' + MARKS[1] + after)


def main():
    """targets.py RESULT.json [DOCUMENT.md]: prints the table, or puts it into a document."""
    with open(sys.argv[1], encoding='utf-8') as file:
        result = json.load(file)
    if len(sys.argv) > 2:
        insert(sys.argv[2], result)
    else:
        print('\n'.join(lines(result)))


if __name__ == '__main__':
    main()
