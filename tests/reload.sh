#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reloads under load over the control socket: numbered packets pass a graph that is changed 200 times
# between shapes. Each arrives once and in order, and what L2Fwd knows survives.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

python3 tests/lib/reload_load.py "$SLUICE" "$tmp" || script_failed=1
exit $script_failed
