# SPDX-License-Identifier: BSD-3-Clause
# Every target of the project; the parts are in build/*.mk.

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

include build/flags.mk
include build/program.mk

include build/tests.mk build/lint.mk build/install.mk build/docs.mk build/bench.mk build/setup.mk
