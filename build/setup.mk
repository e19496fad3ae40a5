# SPDX-License-Identifier: BSD-3-Clause
# What a newcomer calls: packages, the demo, the tests. make has asked pkg-config before the
# packages are there, so whatever installs starts make afresh for the rest.

# SETUP=no: take what is there.
SETUP ?= yes
INSTALL_DEPS := $(if $(filter yes,$(SETUP)),build/install-deps.sh,:)
# 24 MB to download, once; what is in PATH is taken first.
BRING_TOOLS := $(if $(filter yes,$(SETUP)),build/tools.sh prometheus influxdb,:)
# 28 MB to download, once. That it cannot be had is said by what has a use for it.
GUEST := build/out/guest
BRING_GUEST := $(if $(filter yes,$(SETUP)),build/guest.sh $(GUEST) || :,:)
# All cores are used, unless -j says otherwise.
AGAIN = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: setup demo check check-long guest
setup:
	@$(INSTALL_DEPS) build

demo: setup
	+@$(AGAIN) all
	@build/demo.sh

check:
	@$(INSTALL_DEPS) build check
	@$(BRING_TOOLS)
	+@$(AGAIN) run-tests

check-long:
	@$(INSTALL_DEPS) build check long
	@$(BRING_TOOLS)
	@$(BRING_GUEST)
	+@$(AGAIN) run-tests-long

# The guest of tests/guest.sh and of `sluice bench --vnf-in vm`.
guest:
	@build/guest.sh $(GUEST)
