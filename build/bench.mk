# SPDX-License-Identifier: BSD-3-Clause
# The benchmark: prints JSON; never a test, and never timed by one. It measures what is built for
# this very processor, whatever else was built before.

BENCH := $(OUT)/bench
BENCH_AGAIN = $(AGAIN) VARIANT=release MARCH=native
BENCH_PORTABLE = $(if $(filter instructions,$(or $(BENCH_ONLY),instructions)),$(shell command -v valgrind))

.PHONY: bench run-bench bench-table
bench:
	@$(INSTALL_DEPS) build check >&2
	+@$(BENCH_AGAIN) all build/out/bench/pass.so build/out/bench/hash_lookup >&2
	+@$(if $(BENCH_PORTABLE),$(AGAIN) VARIANT=portable MARCH=x86-64-v3 all >&2)
	+@$(BENCH_AGAIN) run-bench

run-bench:
	@OUT=$(OUT) PYTHONDONTWRITEBYTECODE=1 python3 tests/bench/bench.py

# Puts the figures of the last run into the document.
bench-table:
	@PYTHONDONTWRITEBYTECODE=1 python3 tests/bench/targets.py build/out/bench/last.json \
		docs/performance.md

$(BENCH)/pass.so: tests/bench/pass.c $(OUT)/flags
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) -shared -o $@ $<

$(BENCH)/hash_lookup: tests/bench/hash_lookup.c $(OUT)/flags
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $< $(LIBS)
