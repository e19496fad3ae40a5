# SPDX-License-Identifier: BSD-3-Clause
# The program: core, modules and drivers, linked as objects (an archive would drop constructors).

CORE_SRC := $(filter-out core/cli/%,$(sort $(wildcard core/*/*.c)))
CLI_SRC := $(sort $(wildcard core/cli/*.c))
MODULE_SRC := $(sort $(wildcard modules/*.c))
DRIVER_SRC := $(sort $(wildcard drivers/*.c))
LIB_OBJ := $(patsubst %.c,$(OUT)/obj/%.o,$(CORE_SRC) $(MODULE_SRC) $(DRIVER_SRC))
CLI_OBJ := $(patsubst %.c,$(OUT)/obj/%.o,$(CLI_SRC))
PROGRAM := $(OUT)/sluice

.PHONY: all clean
all: $(PROGRAM)

$(PROGRAM): $(LIB_OBJ) $(CLI_OBJ)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

$(OUT)/obj/%.o: %.c $(OUT)/flags
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# Everything is rebuilt when the flags change.
FLAGS_NOW := $(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL)
$(OUT)/flags: FORCE
	@mkdir -p $(OUT)
	@echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' > $@
FORCE:

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf build/out
