#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The vhost port against the Linux virtio-net driver in a QEMU guest under emulation: all kinds of
# rings, several queues, resets, and either end killed. Long. tests/guest.sh [own|ethdev]: the data
# path. ONLY="queues": tests whose names begin so.

. tests/lib/script.sh

if [ -z "${LONG:-}" ]; then
	skip "the Linux driver in a guest" "this is for make check-long"
elif ! command -v qemu-system-x86_64 >/dev/null; then
	skip "the Linux driver in a guest" "qemu-system-x86_64 is not installed"
elif [ ! -e build/out/guest/initrd ]; then
	skip "the Linux driver in a guest" "there is no build/out/guest, which make guest builds"
else
	export PYTHONDONTWRITEBYTECODE=1
	background python3 tests/lib/guest_test.py "$SLUICE" "$PWD/build/out/guest" "$tmp" "${1:-own}" \
		${ONLY:+"$ONLY"}
	wait "${script_pids[0]}" || script_failed=1
fi
exit $script_failed
