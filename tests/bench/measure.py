# SPDX-License-Identifier: BSD-3-Clause
"""How figures are taken: interleaved, repeated where the machine was disturbed, with their range."""

import os
import statistics
import sys

from machine import DISTURBED, note

SECONDS = float(os.environ.get('BENCH_SECONDS', '1'))
PAIRS = int(os.environ.get('BENCH_PAIRS', '7'))
REPEATS = 3

if SECONDS <= 0 or PAIRS < 1:
    sys.exit('bench: BENCH_SECONDS should be above 0 and BENCH_PAIRS at least 1')


def digits(value, count=4):
    return float(f'{value:.{count}g}')


def spread(values, count='runs'):
    """Median and range; the number of values under the name of what they are."""
    return {'median': digits(statistics.median(values)), 'min': digits(min(values)),
            'max': digits(max(values)), count: len(values)}


class Disturbances:
    """What was taken again, and what stayed disturbed for all that."""

    def __init__(self):
        self.repeated = 0
        self.kept = 0
        self.worst = 0.0

    def undisturbed(self, measure):
        """`measure` returns a value and what the workers lost in each of its windows."""
        best = None
        for attempt in range(REPEATS + 1):
            value, losses = measure()
            lost = max(loss['lost'] for loss in losses)
            if best is None or lost < best[1]:
                best = value, lost
            if lost <= DISTURBED:
                break
            if attempt < REPEATS:
                self.repeated += 1
        else:
            self.kept += 1
        self.worst = max(self.worst, best[1])
        return best[0]

    def result(self):
        return {'limit': DISTURBED, 'repeated': self.repeated, 'kept_disturbed': self.kept,
                'worst_kept': digits(self.worst, 2)}


def rounds(name, group, disturbances):
    """Measures all of a group in turn, and that PAIRS times; returns a list of values by name."""
    values = {key: [] for key in group}
    for number in range(PAIRS):
        for key, measure in group.items():
            values[key].append(disturbances.undisturbed(measure))
        note(f'{name} {number + 1}/{PAIRS}: ' +
             ', '.join(f'{key} {values[key][-1]:.4g}' for key in group))
    return values


def differences(more, less, per=1):
    """Round by round, what one costs more than the other."""
    return [(a - b) / per for a, b in zip(more, less)]
