# SPDX-License-Identifier: BSD-3-Clause
# The tests: CUnit for code, whole graphs, bad graphs, scripts; under sanitizers; fuzz targets.

TEST_SRC := $(sort $(wildcard tests/unit/*.c))
TEST_OBJ := $(patsubst %.c,$(OUT)/obj/%.o,$(TEST_SRC))
UNIT := $(OUT)/tests/unit
# What of the command line is computing alone.
UNIT_CLI := $(patsubst %,$(OUT)/obj/core/cli/%.o,grid rates top/rows top/layout top/layout_ways)

# Ports that a test opens by itself get the test's answers to what they ask of the core: see
# tests/unit/ports.c.

UNIT_WRAP := -Wl,--wrap=port_fault,--wrap=port_note,--wrap=port_now_ns
# The tests need not be fast themselves, but be compiled fast.
ifeq ($(VARIANT),release)
$(TEST_OBJ): CFLAGS_ALL += -O1
endif

$(UNIT): $(TEST_OBJ) $(UNIT_CLI) $(LIB_OBJ)
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(UNIT_WRAP) -o $@ $^ $(LIBS) -lcunit

# make unit SUITES="value yaml"
.PHONY: unit
unit: $(UNIT)
	$(UNIT) $(SUITES)

# What `make check` and `make check-long` do when the packages are there.
RUN_ALL := OUT=$(OUT) CC='$(CC)' MAKE='$(MAKE)' VARIANT=$(VARIANT) tests/run-all.sh
.PHONY: run-tests run-tests-long
run-tests: $(PROGRAM) $(UNIT)
	@$(RUN_ALL) short
run-tests-long: $(PROGRAM) $(UNIT)
	@$(RUN_ALL) long

# The same tests with the sanitizers compiled in. The files of suppressions name DPDK's libraries
# and nothing of ours. With wide red zones all that is long would begin at a cache line, and
# nobody would see what asks for that alignment and does not get it elsewhere.
ASAN_ENV := ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1:max_redzone=32 \
	LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0 \
	UBSAN_OPTIONS=print_stacktrace=1
TSAN_ENV := TSAN_OPTIONS=suppressions=$(CURDIR)/tests/tsan.supp:history_size=7:second_deadlock_stack=1

.PHONY: asan tsan
asan:
	@$(INSTALL_DEPS) build check
	+@$(ASAN_ENV) $(AGAIN) VARIANT=asan run-tests
tsan:
	@$(INSTALL_DEPS) build check
	+@$(TSAN_ENV) $(AGAIN) VARIANT=tsan run-tests

# Peers of a vhost port that write anything at all into their rings, for so long; HOSTILE_SEED repeats
# what they write, if not when.
HOSTILE_SECONDS ?= 600
.PHONY: hostile run-hostile
hostile:
	@$(INSTALL_DEPS) build check
	+@$(ASAN_ENV) HOSTILE_SECONDS=$(HOSTILE_SECONDS) $(AGAIN) VARIANT=asan run-hostile
run-hostile: $(UNIT)
	@$(UNIT) vhost_hostile

# Each tests/fuzz/NAME.c is a target; tests/fuzz/seeds/NAME holds what it starts from. What is found
# stays in build/out/fuzz/NAME; a finding fails the rule.
FUZZ_SECONDS ?= 600
FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_PROGRAMS := $(FUZZ_NAMES:%=$(OUT)/fuzz/%/run)

.PHONY: fuzz run-fuzz
fuzz:
	@$(INSTALL_DEPS) build long
	+@$(ASAN_ENV) $(AGAIN) VARIANT=fuzz run-fuzz

$(OUT)/fuzz/%/run: $(OUT)/obj/tests/fuzz/%.o $(LIB_OBJ)
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

run-fuzz: $(FUZZ_PROGRAMS)
	@OUT=$(OUT) tests/run-fuzz.sh $(FUZZ_SECONDS) $(FUZZ_NAMES)
