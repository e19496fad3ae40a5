# SPDX-License-Identifier: BSD-3-Clause
# make lint: form, static analysis, and the project's own rules.

LINT_C := $(CORE_SRC) $(CLI_SRC) $(MODULE_SRC) $(DRIVER_SRC) $(LUA_SRC) $(TEST_SRC) \
	$(sort $(wildcard tests/fuzz/*.c tests/bench/*.c tests/modules/*.c))
LINT_H := $(sort $(wildcard core/*.h core/*/*.h drivers/*.h lua/*.h tests/*/*.h))
LINT := $(OUT)/lint
# Our warnings are the compiler's matter; clang-tidy has its own.
LINT_FLAGS := $(filter-out $(WARN) -rdynamic,$(CFLAGS_ALL)) -iquote $(OUT) -iquote tests/unit \
	-Wno-unknown-warning-option

.PHONY: lint run-lint lint-format lint-rules lint-cppcheck lint-together
lint:
	@$(INSTALL_DEPS) build check lint
	+@$(AGAIN) --keep-going run-lint
	@echo "lint: nothing found"

run-lint: lint-format lint-rules lint-together lint-cppcheck $(LINT_C:%.c=$(LINT)/%.tidy)

.PHONY: format
format:
	clang-format -i $(LINT_C) $(LINT_H)

lint-format:
	@clang-format --dry-run -Werror $(LINT_C) $(LINT_H)

lint-rules: $(PROGRAM)
	@OUT=$(OUT) build/lint-rules.sh

# A graph compiled to C will include its modules in one file; so they must not clash.
lint-together: $(OUT)/flags
	@mkdir -p $(LINT)
	@printf '#include "%s"\n' $(MODULE_SRC) > $(LINT)/together.c
	@$(CC) $(CFLAGS_ALL) -iquote . -fsyntax-only $(LINT)/together.c

lint-cppcheck: $(OUT)/build.h
	@mkdir -p $(LINT)/cppcheck
	@cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 -j2 \
		--enable=warning,performance,portability --cppcheck-build-dir=$(LINT)/cppcheck \
		--suppressions-list=build/cppcheck.supp -D_GNU_SOURCE -D__x86_64__ -D__SSE2__ \
		-I core -I $(OUT) $(filter-out tests/%,$(LINT_C))

$(LINT)/core/control/page.tidy: LINT_FLAGS += -DPAGE_PACKED='"$(OUT)/page/"'
$(LINT)/%.tidy: %.c $(LINT_H) .clang-tidy $(OUT)/build.h
	@mkdir -p $(dir $@)
	@clang-tidy --quiet $< -- $(LINT_FLAGS) 2>$@.log || { cat $@.log; exit 1; }
	@touch $@
