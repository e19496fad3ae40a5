# SPDX-License-Identifier: BSD-3-Clause
"""The graphs that are measured, as texts."""

STATIONS = 1000000


class Setting:
    """What all graphs have in common; `burst` None: the default."""

    def __init__(self, machine, burst=None, watch=None):
        lines = ['idle: spin']
        if burst:
            lines.append(f'burst: {burst}')
        if watch:
            lines.append(f'watch: {watch}')
        if not machine.hugepages:
            lines.append('eal: --no-huge')
        self.core = machine.worker
        self.head = '\n'.join(lines) + '\n'

    def graph(self, nodes, links, sources, ports=''):
        text = self.head
        text += f'workers: [{{core: {self.core}, sources: [{", ".join(sources)}]}}]\n'
        if ports:
            text += f'ports:\n{ports}'
        text += 'nodes:\n' + ''.join(f'  {node}\n' for node in nodes)
        return text + 'graph:\n' + ''.join(f'  - {link}\n' for link in links)


NULL_PORT = '"null": {size: 64}'
# The device that testpmd has, in our program: the same code makes and frees the packets of both.
NET_NULL = 'ethdev: {devargs: "net_null%u,size=64"}'


def p2p(setting, middle='', port=NULL_PORT):
    """Two ports, each of which sends what the other one receives."""
    via = f' -> {middle}' if middle else ''
    return setting.graph(
        ['from_left: {PortInc: {port: left}}', 'from_right: {PortInc: {port: right}}',
         'to_left: {PortOut: {port: left}}', 'to_right: {PortOut: {port: right}}'],
        [f'from_left{via} -> to_right', f'from_right{via} -> to_left'],
        ['from_left', 'from_right'],
        ''.join(f'  {name}: {{{port.replace("%u", str(number))}}}\n'
                for number, name in enumerate(('left', 'right'))))


SOURCE = 'gen: {Source: {size: 64, fill: none}}'


def chain(setting, module, length):
    """A source, so many nodes of one module, and a sink."""
    return setting.graph([SOURCE], [' -> '.join(['gen'] + [module] * length + ['Sink'])], ['gen'])


def chain_merging(setting, length):
    """The same, but two links enter each node, so that it cannot run by itself at once."""
    names = [f'n{i}' for i in range(length)]
    links = [' -> '.join(['gen'] + names + ['Sink'])]
    links += [f'{a}[1] -> {b}' for a, b in zip(names, names[1:])]
    return setting.graph([SOURCE] + [f'{name}: BenchPass' for name in names], links, ['gen'])


LUA = {
    'empty': 'function process(batch) end',
    'call': 'function process(batch) batch:count(0) end',
    'select': "local f = filter('udp and dst port 53') "
              'function process(batch) batch:select(f) end',
    'set': "function process(batch) batch:set('ip.dscp', 46) end",
    'packets': 'function process(batch) for i, packet in batch:packets() do packet:u8(0) end end',
}


def node_for_each(setting, node, length):
    """A source of name look-ups, so many nodes of one kind with parameters, and a sink."""
    names = [f'n{i}' for i in range(length)]
    nodes = ['gen: {Source: {templates: [ether / ipv4 / udp dport=53 / pad 64]}}']
    return setting.graph(nodes + [f'{name}: {node}' for name in names],
                         [' -> '.join(['gen'] + names + ['Sink'])], ['gen'])


# A thousand flows, for what spreads by flow.
FLOWS = ('gen: {Source: {templates: [ether / ipv4 / udp sport=1000 dport=53 / pad 64], '
         'fields: [{field: ipv4.src, values: 1000, mode: random}]}}')


def split(setting, module, source):
    """Spread over four nodes, and merged again; without a module, one node in its place."""
    if not module:
        return setting.graph([source], ['gen -> BenchPass -> Sink'], ['gen'])
    links = ['gen -> split']
    links += [f'split[{i}] -> n{i} -> end' for i in range(4)]
    nodes = [source, f'split: {module}', 'end: Sink'] + [f'n{i}: BenchPass' for i in range(4)]
    return setting.graph(nodes, links, ['gen'])


def stations_source(name, half, mode, count=0):
    """Frames from half of the stations, those of side 1, to the other half, those of side 0."""
    fields = ', '.join(f'{{field: ether.{which}, values: {half}, mode: {mode}, seed: {seed}}}'
                       for seed, which in enumerate(('src', 'dst'), 1)) if half > 1 else ''
    return (f'{name}: {{Source: {{templates: [ether src=02:01:00:00:00:00 dst=02:00:00:00:00:00 '
            f'/ ipv4 / udp / pad 64], fields: [{fields}], count: {count}}}}}')


def stations_learn(name, half):
    """Frames from each station of side 0, once."""
    fields = f'{{field: ether.src, values: {half}}}' if half > 1 else ''
    return (f'{name}: {{Source: {{templates: [ether src=02:00:00:00:00:00 dst=02:01:00:00:00:00 '
            f'/ ipv4 / udp / pad 64], fields: [{fields}], count: {half}}}}}')


def bridge(setting, stations):
    """Half of the stations on either side, all learned at first; then frames between any two."""
    half = max(stations // 2, 1)
    nodes = [stations_source('gen', half, 'random'),
             stations_source('learn1', half, 'count', half), stations_learn('learn0', half),
             f'bridge: {{L2Fwd: {{size: {max(stations, 4096)}, learn: 100000000}}}}',
             'end0: Sink', 'end1: Sink']
    links = ['learn0 -> [0]bridge', 'learn1 -> [1]bridge', 'gen -> [1]bridge',
             'bridge[0] -> end0', 'bridge[1] -> end1']
    return setting.graph(nodes, links, ['gen', 'learn0', 'learn1'])


def bridge_none(setting, stations):
    """The same frames without the bridge."""
    return setting.graph([stations_source('gen', max(stations // 2, 1), 'random')],
                         ['gen -> Sink'], ['gen'])


def first_packet(fifo):
    """One packet, written where it can be seen from outside."""
    return ('ports:\n  left: {"null": {size: 64, count: 1}}\n'
            f'  right: {{pcap: {{tx: "{fifo}"}}}}\n'
            'nodes:\n  rx: {PortInc: {port: left}}\n  tx: {PortOut: {port: right}}\n'
            'graph:\n  - rx -> tx\n')
