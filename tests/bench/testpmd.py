# SPDX-License-Identifier: BSD-3-Clause
"""Runs testpmd between two null ports, over its own prompt."""

import re
import select
import subprocess
import time

from machine import Watch

PROMPT = 'testpmd> '


class Prompt:
    def __init__(self, process):
        self.process = process

    def wait(self, seconds=20):
        """Returns what is said up to the next prompt."""
        end = time.monotonic() + seconds
        text = b''
        while not text.endswith(PROMPT.encode()):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise RuntimeError(f'testpmd shows no prompt: {text.decode()[-400:]}')
            piece = self.process.stdout.read1(65536)
            if not piece:
                raise RuntimeError(f'testpmd has ended: {text.decode()[-400:]}')
            text += piece
        return text.decode()

    def ask(self, command):
        self.process.stdin.write(command.encode() + b'\n')
        self.process.stdin.flush()
        return self.wait()


def command(machine, mode, burst):
    # Line by line: it writes its prompt past the buffer that all else goes through.
    return ['stdbuf', '-oL', 'dpdk-testpmd', '-l', f'{machine.control},{machine.worker}',
            '--main-lcore', str(machine.control), *machine.eal_memory(256),
            '--no-pci', '--iova-mode=va', '--no-telemetry', '--log-level=error',
            '--vdev', 'net_null0,size=64', '--vdev', 'net_null1,size=64',
            '--', '-i', '--nb-cores=1', f'--forward-mode={mode}', f'--burst={burst}',
            '--total-num-mbufs=16384']


def run(machine, mode, burst, seconds):
    """Returns packets sent a second by both ports, and what the worker lost."""
    process = machine.popen(command(machine, mode, burst), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        prompt = Prompt(process)
        prompt.wait()
        prompt.ask('start')
        # Its rates are those since it was asked before, by its own clock.
        time.sleep(seconds / 5)
        watch = Watch(machine, process.pid)
        for _ in range(5):
            prompt.ask('show port stats all')
            watch.begin()
            time.sleep(seconds)
            text = prompt.ask('show port stats all')
            lost = watch.end()
            rates = [int(rate) for rate in re.findall(r'Tx-pps:\s+(\d+)', text)]
            if len(rates) == 2 and all(rates):
                break
        else:
            raise RuntimeError(f'testpmd sends nothing: {text[-800:]}')
        prompt.ask('stop')
        process.stdin.write(b'quit\n')
        process.stdin.close()
        process.stdout.read()
        if process.wait(timeout=20):
            raise RuntimeError(f'testpmd ends with code {process.returncode}')
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
    return sum(rates), lost
