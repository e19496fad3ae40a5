# SPDX-License-Identifier: BSD-3-Clause
# The program: core, modules and drivers, linked as objects (an archive would drop constructors).

CORE_SRC := $(filter-out core/cli/%,$(sort $(wildcard core/*/*.c)))
CLI_SRC := $(sort $(wildcard core/cli/*.c core/cli/*/*.c))
MODULE_SRC := $(sort $(wildcard modules/*.c))
DRIVER_SRC := $(sort $(wildcard drivers/*.c))
LUA_SRC := $(sort $(wildcard lua/*.c))
LIB_OBJ := $(patsubst %.c,$(OUT)/obj/%.o,$(CORE_SRC) $(MODULE_SRC) $(DRIVER_SRC) $(LUA_SRC))
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
	$(NEED_PACKAGES)@mkdir -p $(OUT)
	@echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' > $@
FORCE:

# What `sluice version` says of the build. An unpacked release has a file VERSION instead of a
# repository.
VERSION_NOW = $(shell cat VERSION 2>/dev/null || git describe --tags --always --dirty 2>/dev/null || \
	echo unknown)
$(OUT)/build.h: $(OUT)/flags FORCE
	@{ echo '#define BUILD_VERSION "$(VERSION_NOW)"'; \
		sed 's/[\\"]/\\&/g; s/.*/#define BUILD_FLAGS "&"/' $(OUT)/flags; } > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
BUILD_OBJ := $(OUT)/obj/core/cli/version.o $(OUT)/obj/core/control/metrics.o
$(BUILD_OBJ): $(OUT)/build.h
$(BUILD_OBJ): CFLAGS_ALL += -iquote $(OUT)

# What is written in Lua lies in the program; the list says what there is: LIBRARY(symbol, name for
# require(), path).
LUA_LIB := $(sort $(wildcard lua/lib/*.lua lua/bench/*.lua lua/bench/*/*.lua))
LUA_LIB_ROW = LIBRARY($(subst /,_,$(1:lua/%.lua=%)), \
	"sluice.$(subst /,.,$(patsubst lib/%,%,$(1:lua/%.lua=%)))", "$(1)")
$(OUT)/library_list.h: $(OUT)/flags FORCE
	@printf '%s\n' $(foreach file,$(LUA_LIB),'$(call LUA_LIB_ROW,$(file))') > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(OUT)/obj/lua/library.o: $(OUT)/library_list.h $(LUA_LIB)
$(OUT)/obj/lua/library.o: CFLAGS_ALL += -iquote $(OUT)

# So does the page that the control socket serves, each file as it is and packed.
PAGE_KINDS := html css js svg
PAGE := $(patsubst core/control/page/%,%,$(sort $(foreach kind,$(PAGE_KINDS),\
	$(wildcard core/control/page/*.$(kind) core/control/page/vendor/*.$(kind)))))
PAGE_GZ := $(PAGE:%=$(OUT)/page/%.gz)
$(OUT)/page/%.gz: core/control/page/%
	@mkdir -p $(dir $@)
	gzip -9nc $< > $@
# A line for each: a number for its symbols, its path, and what its bytes are known by.
$(OUT)/page_list.h: $(OUT)/flags $(PAGE_GZ) FORCE
	@n=0; for file in $(PAGE); do \
		n=$$((n + 1)); \
		sum=$$(sha256sum core/control/page/$$file | cut -c 1-16); \
		echo "PAGE(page_$$n, \"$$file\", \"$$sum\")"; \
	done > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(OUT)/obj/core/control/page.o: $(OUT)/page_list.h
$(OUT)/obj/core/control/page.o: CFLAGS_ALL += -iquote $(OUT) -DPAGE_PACKED='"$(OUT)/page/"'

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

clean:
	rm -rf build/out

# The libraries of the page, anew from npm; they are in the tree, so that nobody else need do it.
.PHONY: page-vendor
page-vendor:
	build/page-vendor.sh
