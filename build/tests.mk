# SPDX-License-Identifier: BSD-3-Clause
# The tests: CUnit for code, whole graphs, bad graphs.

TEST_SRC := $(sort $(wildcard tests/unit/*.c))
TEST_OBJ := $(patsubst %.c,$(OUT)/obj/%.o,$(TEST_SRC))
UNIT := $(OUT)/tests/unit

$(UNIT): $(TEST_OBJ) $(LIB_OBJ)
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lcunit

.PHONY: unit
unit: $(UNIT)
	$(UNIT) $(SUITES)
