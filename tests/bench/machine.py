# SPDX-License-Identifier: BSD-3-Clause
"""The machine that is measured on: its cores, its hugepages, what it is, and what disturbs it."""

import os
import pathlib
import platform
import subprocess
import sys
import time

HUGEPAGES = pathlib.Path('/sys/kernel/mm/hugepages/hugepages-2048kB')
KERNEL_ARGUMENTS = ('isolcpus', 'nohz_full', 'rcu_nocbs', 'mitigations', 'hugepages', 'hugepagesz',
                    'default_hugepagesz', 'transparent_hugepage', 'idle', 'processor.max_cstate',
                    'intel_idle.max_cstate', 'intel_pstate', 'amd_pstate', 'iommu', 'nosmt')
HUGEPAGES_NEEDED = 224  # 448 MiB: more than any one of the programs takes
DISTURBED = 0.01        # the share of a window that a worker may lose to others


def note(text):
    print(text, file=sys.stderr, flush=True)


def read(path, default=''):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return default


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ''


class Hugepages:
    """As many free hugepages as are needed, for as long as this lasts; or none for anyone."""

    def __init__(self):
        self.before = None
        self.used = False

    def __enter__(self):
        free = int(read(HUGEPAGES / 'free_hugepages', '0'))
        if free < HUGEPAGES_NEEDED and os.access(HUGEPAGES / 'nr_hugepages', os.W_OK):
            before = int(read(HUGEPAGES / 'nr_hugepages', '0'))
            self.before = before
            self.write(before + HUGEPAGES_NEEDED - free)
        self.used = int(read(HUGEPAGES / 'free_hugepages', '0')) >= HUGEPAGES_NEEDED
        if not self.used:
            note('no hugepages can be had: all programs run without')
        return self

    def __exit__(self, *_):
        if self.before is not None:
            self.write(self.before)

    @staticmethod
    def write(number):
        try:
            (HUGEPAGES / 'nr_hugepages').write_text(str(number))
        except OSError as error:
            note(f'nr_hugepages cannot be set to {number}: {error}')


class Machine:
    def __init__(self, hugepages):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            sys.exit('bench: two cores are needed, one of them for the worker alone')
        self.cores = cores
        self.control = cores[0]
        self.worker = cores[-1]
        self.hugepages = hugepages.used
        # This program, and what the measured ones do besides, keeps off the worker's core.
        os.sched_setaffinity(0, {self.control})

    def popen(self, command, **more):
        """Starts a program that may use all cores."""
        return subprocess.Popen(command, preexec_fn=lambda: os.sched_setaffinity(0, self.cores),
                                **more)

    def eal_memory(self, mib):
        """Arguments for DPDK that give every program the same kind of memory."""
        if self.hugepages:
            return ['--in-memory', '--single-file-segments']
        return ['--no-huge', '--no-shconf', f'-m{mib}']


class Watch:
    """What the thread on the worker's core lost to others, between two moments."""

    def __init__(self, machine, pid, any_memory=False):
        self.machine = machine
        self.task = None
        for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
            if f'\nCpus_allowed_list:\t{machine.worker}\n' in read(task / 'status'):
                self.task = task
            else:
                os.sched_setaffinity(int(task.name), {machine.control})
        if not self.task:
            raise RuntimeError(f'no thread of process {pid} is bound to core {machine.worker}')
        if not any_memory and (status_mib(pid, 'HugetlbPages') > 0) != machine.hugepages:
            raise RuntimeError(f'process {pid} has not the kind of memory that it was given')
        self.begin()

    def sample(self):
        waited = int(read(self.task / 'schedstat', '0 0 0').split()[1]) / 1e9
        switched = int(read(self.task / 'status').split('nonvoluntary_ctxt_switches:')[1])
        return time.monotonic(), waited, switched, steal_seconds(self.machine.worker)

    def begin(self):
        self.first = self.sample()

    def end(self):
        """Returns the share of the time that was lost, and how often the thread was interrupted."""
        passed, waited, switched, stolen = (b - a for a, b in zip(self.first, self.sample()))
        return {'lost': (waited + stolen) / passed, 'switches': switched}


def status_mib(pid, field):
    """A line of a process's status that is in kB."""
    for line in read(f'/proc/{pid}/status').splitlines():
        if line.startswith(field + ':'):
            return int(line.split()[1]) / 1024
    return 0.0


def steal_seconds(core=None):
    name = 'cpu' if core is None else f'cpu{core}'
    for line in read('/proc/stat').splitlines():
        fields = line.split()
        if fields[0] == name and len(fields) > 8:
            return int(fields[8]) / os.sysconf('SC_CLK_TCK')
    return 0.0


def load():
    return {'average': read('/proc/loadavg').split()[:3], 'steal_seconds': steal_seconds()}


def cpuinfo(key):
    for line in read('/proc/cpuinfo').splitlines():
        name, _, value = line.partition(':')
        if name.strip() == key:
            return value.strip()
    return ''


def environment(machine, version):
    caches = {}
    for index in sorted(pathlib.Path('/sys/devices/system/cpu/cpu0/cache').glob('index*')):
        caches[f"L{read(index / 'level')} {read(index / 'type')}"] = read(index / 'size')
    return {
        'cpu': cpuinfo('model name') or platform.processor(),
        'cpu_flags': cpuinfo('flags'),
        'cores': {'worker': machine.worker, 'control': machine.control,
                  'online': os.cpu_count()},
        'caches': caches,
        'hypervisor': output('systemd-detect-virt', '--vm') or (
            'some' if 'hypervisor' in cpuinfo('flags').split() else 'none'),
        'kernel': platform.release(),
        'kernel_arguments': ' '.join(word for word in read('/proc/cmdline').split()
                                     if word.partition('=')[0] in KERNEL_ARGUMENTS),
        'memory': 'hugepages of 2 MiB' if machine.hugepages else 'no hugepages (--no-huge)',
        'dpdk': output('pkg-config', '--modversion', 'libdpdk'),
        'testpmd': output('dpkg-query', '-W', '-f', '${Version}', 'dpdk'),
        'sluice': version,
        'commit': output('git', 'rev-parse', 'HEAD'),
        'changed_files': len(output('git', 'status', '--porcelain').splitlines()),
    }
