# SPDX-License-Identifier: BSD-3-Clause
"""What a process takes from outside: its memory, and its time from exec to the first packet."""

import os
import subprocess
import tempfile
import time

import graphs
import measure
import sluice
from bridge import lookup_run
from machine import status_mib

# The head of a capture, then one packet of 64 bytes with its own head.
FIRST_PACKET_BYTES = 24 + 16 + 64


def memory(machine):
    """Resident memory and hugepages of two null ports at their MTU of 1500, while packets flow."""
    result = {}
    for name, head in (('hugepages', ''), ('no_hugepages', 'eal: --no-huge\n')):
        if name == 'hugepages' and not machine.hugepages:
            continue
        setting = graphs.Setting(machine)
        setting.head = 'idle: spin\n' + head
        with sluice.Process(machine, graphs.p2p(setting), 0.2) as process:
            process.line()
            pid = process.process.pid
            resident, huge = status_mib(pid, 'VmRSS'), status_mib(pid, 'HugetlbPages')
            process.stop()
        if (huge > 0) != (name == 'hugepages'):
            raise RuntimeError(f'{huge} MiB of hugepages are held, wanted: {name}')
        result[name] = {'resident_mib': measure.digits(resident),
                        'hugepages_mib': measure.digits(huge),
                        'all_mib': measure.digits(resident + huge)}
    return result


def first_packet_seconds(machine, folder):
    """From just before exec until a packet has come out of a pipe at the other end."""
    fifo = os.path.join(folder, 'out.pcap')
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    head = '' if machine.hugepages else 'eal: --no-huge\n'
    graph = sluice.write_graph(head + graphs.first_packet(fifo))
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    begin = time.monotonic()
    process = machine.popen([sluice.PROGRAM, 'run', graph.name, '--quiet'],
                            stdin=subprocess.DEVNULL)
    try:
        got = 0
        while got < FIRST_PACKET_BYTES and time.monotonic() - begin < 20:
            piece = os.read(reader, 4096)
            got += len(piece)
            if not piece:
                # Nobody writes yet, or nobody will.
                if process.poll():
                    raise RuntimeError(f'exit code {process.returncode} before a packet')
                time.sleep(0.0005)
        seconds = time.monotonic() - begin
        if process.wait(timeout=20):
            raise RuntimeError(f'exit code {process.returncode}')
        return seconds
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(reader)
        graph.close()


def first_packet(machine):
    """Warm: once before it counts. Beside it, what DPDK's start alone takes of it."""
    seconds, eal = [], []
    with tempfile.TemporaryDirectory(prefix='sluice-bench-') as folder:
        first_packet_seconds(machine, folder)
        for _ in range(measure.PAIRS):
            seconds.append(first_packet_seconds(machine, folder))
            eal.append(lookup_run(machine, 0, 1)['eal_seconds'])
    return {'exec_to_first_packet': measure.spread(seconds), 'dpdk_start': measure.spread(eal)}
