#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Damaged captures: a small one cut off at every byte, and small ones with bits flipped, given to
# `sluice run`. It must end with a code of 0 to 3 and say why where that is not 0, give out every
# packet that stands before the damage, and what it counted must add up. Many are read by one run.
# LONG=1: more flips.

cd "$(dirname "$0")/.." && . tests/lib/script.sh

if ! command -v python3 >/dev/null; then
	skip "damaged captures" "there is no python3"
	exit 0
fi
OUT=$OUT SLUICE=$SLUICE LONG=${LONG:-} python3 tests/lib/hostile.py "$tmp" || script_failed=1
exit $script_failed
