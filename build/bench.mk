# SPDX-License-Identifier: BSD-3-Clause
# The benchmark: prints JSON; never a test, and never timed by one.

.PHONY: bench
bench:
	@$(INSTALL_DEPS) build check >&2
	@$(AGAIN) all >&2
	@OUT=$(OUT) tests/bench/bench.sh
