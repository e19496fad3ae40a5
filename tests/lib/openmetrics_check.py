#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a page in OpenMetrics 1.0: openmetrics_check.py FILE. Families stand together, with type
and help first; counters end in _total; no sample is there twice; # EOF is the end."""

import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? (\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?: \d+)?")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1
    kinds, helps, units, seen, family = {}, {}, {}, set(), None
    for line in text.splitlines()[:-1]:
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            table = {"TYPE": kinds, "HELP": helps, "UNIT": units}[what]
            assert name not in table, f"{name} is described twice"
            table[name] = rest
            assert what != "UNIT" or name.endswith("_" + rest), f"{name} is not in {rest}"
            family = name
            continue
        match = SAMPLE.fullmatch(line)
        assert match, f"not a sample: {line}"
        name, labels, _ = match.groups()
        assert kinds[family] in ("counter", "gauge"), kinds[family]
        assert name == family + ("_total" if kinds[family] == "counter" else ""), line
        assert (name, labels) not in seen, f"twice: {line}"
        seen.add((name, labels))
    assert kinds.keys() == helps.keys() and len(seen) > 10


main()
