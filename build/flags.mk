# SPDX-License-Identifier: BSD-3-Clause
# Compiler and flags. VARIANT: release (default), portable, debug, asan, tsan, fuzz; each has its own
# folder.
# MARCH: native (default), or x86-64-v3 (default of portable) and the like for a program that other
# machines, and valgrind, run too.

VARIANT ?= release
ifeq ($(origin CC),default)
CC := $(if $(filter fuzz,$(VARIANT)),clang,gcc)
endif
MARCH ?= $(if $(filter portable,$(VARIANT)),x86-64-v3,native)
OUT := build/out$(if $(filter-out release,$(VARIANT)),/$(VARIANT))

PKGS := libdpdk yaml-0.1 jansson libpcap lua5.4 libmicrohttpd libcurl ncursesw libsystemd zlib
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

# Said by the first rule that compiles, and not before: `make demo` installs what is missing.
ifeq ($(PKG_CFLAGS),)
NEED_PACKAGES = $(error $(or $(NO_PACKAGES),$(shell pkg-config --cflags $(PKGS) 2>&1)))
NO_PACKAGES = $(addprefix Packages that Sluice is built with are missing. `make demo` and `make \
	setup` install them; by hand: sudo apt-get install$(empty) ,$(MISSING_PACKAGES))
MISSING_PACKAGES = $(shell build/install-deps.sh --print build)
else ifeq ($(shell command -v $(firstword $(CC))),)
NEED_PACKAGES = $(error there is no compiler `$(CC)`: `make setup` installs gcc, CC= names another)
endif

# What the optimizer warns of depends on the processor: a warning ends no build of a user's.
WARN := -Wall -Wextra $(if $(filter-out release portable,$(VARIANT)),-Werror) \
	-Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wno-missing-field-initializers
ifeq ($(findstring clang,$(CC)),)
WARN += -Wshadow=local
# Fences order what a process shares with its peer in another one, which no sanitizer sees.
WARN += $(if $(filter tsan,$(VARIANT)),-Wno-tsan)
endif

OPT.release := -O3
OPT.portable := -O3
OPT.debug := -Og -DSLUICE_DEBUG
OPT.asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSLUICE_DEBUG
OPT.tsan := -O1 -fno-omit-frame-pointer -fsanitize=thread -DRTE_USE_C11_MEM_MODEL -DSLUICE_DEBUG
OPT.fuzz := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -DSLUICE_DEBUG

# -march comes after pkg-config's -march=corei7: whatever comes last wins.
CFLAGS_ALL := -std=gnu2x -g $(OPT.$(VARIANT)) $(PKG_CFLAGS:-I%=-isystem %) -march=$(MARCH) \
	$(WARN) -D_GNU_SOURCE -DALLOW_EXPERIMENTAL_API -iquote core -iquote . -fPIC $(CFLAGS)
ifeq ($(OPT.$(VARIANT)),)
$(error VARIANT=$(VARIANT) is not one of release, portable, debug, asan, tsan, fuzz)
endif
LDFLAGS_ALL := $(filter -fsanitize=%,$(OPT.$(VARIANT))) -rdynamic $(LDFLAGS)
LIBS := $(PKG_LIBS) -ldl -lpthread -lm
