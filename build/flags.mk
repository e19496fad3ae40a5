# SPDX-License-Identifier: BSD-3-Clause
# Compiler and flags. VARIANT: release (default), debug, asan, tsan, fuzz; each has its own folder.

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
VARIANT ?= release
MARCH ?= native
OUT := build/out$(if $(filter-out release,$(VARIANT)),/$(VARIANT))

PKGS := libdpdk yaml-0.1 jansson libpcap
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)

WARN := -Wall -Wextra -Werror -Wshadow=local -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wno-missing-field-initializers

OPT.release := -O3
OPT.debug := -Og -DSLUICE_DEBUG
OPT.asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DSLUICE_DEBUG
OPT.tsan := -O1 -fno-omit-frame-pointer -fsanitize=thread -DRTE_USE_C11_MEM_MODEL -DSLUICE_DEBUG

# -march comes after pkg-config's -march=corei7: whatever comes last wins.
CFLAGS_ALL := -std=gnu2x -g $(OPT.$(VARIANT)) $(PKG_CFLAGS:-I%=-isystem %) -march=$(MARCH) \
	$(WARN) -D_GNU_SOURCE -DALLOW_EXPERIMENTAL_API -iquote core -fPIC $(CFLAGS)
LDFLAGS_ALL := $(filter -fsanitize=%,$(OPT.$(VARIANT))) -rdynamic $(LDFLAGS)
LIBS := $(PKG_LIBS) -ldl -lpthread -lm
