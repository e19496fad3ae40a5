#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The same as tests/guest.sh, by DPDK's vhost device.

exec tests/guest.sh ethdev
